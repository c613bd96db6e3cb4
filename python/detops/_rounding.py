# SPDX-License-Identifier: Apache-2.0
"""The warning that boxes are too small for where they lie, in float32.

What the operators are given is float32. Of coordinates in float64 it keeps 24 bits: at 5,000,000,
as metres of a map have it, half a metre.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._names import as_called

# By what a row is: x1, y1, x2, y2; four corners; centre, sizes and heading.
_COLUMNS: Final = {"box": 4, "corners": 8, "box3d": 7}


class RoundingWarning(UserWarning):
    """Rounding float64 to float32 moves a coordinate by more than a thousandth of the box's side.

    Boxes so small, so far from the origin, may be decided wrongly. Subtract an origin near them
    from all coordinates first, in float64.
    """


def warn_of_rounding(boxes: NDArray[Any], what: str, geometry: str) -> None:
    """``geometry`` says what a row is: "box", "corners" or "box3d"."""
    if geometry == "corners" and boxes.shape[1:] == (4, 2):
        boxes = boxes.reshape(-1, 8)
    if boxes.ndim == 0 or boxes.shape[-1] < _COLUMNS[geometry] or boxes.size == 0:
        return  # has no boxes, or is refused later
    rows = np.require(boxes.reshape(-1, boxes.shape[-1]), np.float64, ("C", "A"))
    count = _core._count_moved(rows, geometry)
    if count:
        warnings.warn(
            f"{as_called(what)} is {boxes.dtype}, and rounding it to float32 moves {count} of "
            f"{len(rows)} boxes by more than a thousandth of a side, which can change what is "
            "decided; subtract an origin near the boxes from their coordinates first",
            RoundingWarning,
            stacklevel=_outside_level(),
        )


def _outside_level() -> int:
    """How many frames above the function that warns the first outside of this package is."""
    level = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals["__name__"].startswith("detops."):
        frame = frame.f_back
        level += 1
    return level

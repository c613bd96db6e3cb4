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

_TOLERANCE = 1e-3  # of a box's shortest side
# By what the columns are: x1, y1, x2, y2; four corners; centre, sizes and heading.
_COLUMNS: Final = {"box": 4, "corners": 8, "box3d": 7}
_COORDINATES: Final = {"box": 4, "corners": 8, "box3d": 3}


class RoundingWarning(UserWarning):
    """Rounding float64 to float32 moves a coordinate by more than a thousandth of the box's side.

    Boxes so small, so far from the origin, may be decided wrongly. Subtract an origin near them
    from all coordinates first, in float64.
    """


def warn_of_rounding(
    exact: NDArray[Any], rounded: NDArray[np.float32], what: str, geometry: str
) -> None:
    """``geometry`` says what a row is: "box", "corners" or "box3d"."""
    columns = _COLUMNS[geometry]
    if geometry == "corners" and exact.shape[1:] == (4, 2):
        exact, rounded = exact.reshape(-1, 8), rounded.reshape(-1, 8)
    if exact.ndim == 0 or exact.shape[-1] < columns or exact.size == 0:
        return  # has no boxes, or is refused later
    coordinates = slice(_COORDINATES[geometry])
    with np.errstate(invalid="ignore", over="ignore"):  # infinite ones
        moved = np.abs(exact[..., coordinates] - rounded[..., coordinates]).max(-1)
        side = _shortest_side(exact, geometry)
        count = np.count_nonzero((moved > _TOLERANCE * side) & (side > 0))
    if count:
        warnings.warn(
            f"{what} is {exact.dtype}, and rounding it to float32 moves {count} of {side.size} "
            "boxes by more than a thousandth of a side, which can change what is decided; subtract "
            "an origin near the boxes from their coordinates first",
            RoundingWarning,
            stacklevel=_outside_level(),
        )


def _shortest_side(boxes: NDArray[Any], geometry: str) -> NDArray[Any]:
    if geometry == "box":
        sides = np.abs(boxes[..., 2:4] - boxes[..., :2])
    elif geometry == "box3d":
        sides = boxes[..., 3:6]
    else:
        corners = boxes[..., :8].reshape(*boxes.shape[:-1], 4, 2)
        edges = np.roll(corners, -1, -2) - corners
        sides = np.hypot(edges[..., 0], edges[..., 1])
    shortest: NDArray[Any] = sides.min(-1)
    return shortest


def _outside_level() -> int:
    """How many frames above the function that warns the first outside of this package is."""
    level = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals["__name__"].startswith("detops."):
        frame = frame.f_back
        level += 1
    return level

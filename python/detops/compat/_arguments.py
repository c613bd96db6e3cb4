# SPDX-License-Identifier: Apache-2.0
"""What the drop-ins check of their arguments, before detops sees them.

As everywhere, an error names the function, the argument, what came and what to pass.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._convert import to_native, to_numpy


def shown(value: Any) -> str:
    """ "None", "'giou'", "-3"; of what may be long, the type alone."""
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    return f"of type {type(value).__name__}"


def number(function: str, argument: str, value: Any) -> float:
    """A float that is not NaN."""
    if not isinstance(value, bool | str | bytes):
        try:
            result = float(value)
        except (TypeError, ValueError, OverflowError):
            pass
        else:
            if math.isnan(result):
                raise ValueError(f"{function}: {argument} is NaN; expected a number")
            return result
    raise TypeError(f"{function}: {argument} is {shown(value)}; expected a number")


def whole(function: str, argument: str, value: Any) -> int:
    """An int, also of a float."""
    result = number(function, argument, value)
    if math.isinf(result):
        raise ValueError(f"{function}: {argument} is {result}; expected an integer")
    return int(value)


def refuse_shape(what: str, shape: Any, expected: str) -> None:
    raise ValueError(f"{what} has shape {tuple(shape)}; expected {expected}")


def read_predictions(
    function: str, predictions: Any, fewest: int, most: float, expected: str
) -> NDArray[Any]:
    """[N, C] of any array or table of numbers; none where it is empty."""
    what = f"{function}: predictions"
    values = to_numpy(predictions, what, expected, "float32")
    if values.size == 0:
        return np.empty((0, fewest), np.float32)
    if values.dtype.kind not in "fiu":
        raise TypeError(f"{what} has dtype {values.dtype}; pass float32")
    if values.ndim != 2 or not fewest <= values.shape[1] <= most:
        refuse_shape(what, values.shape, expected)
    return values


def boxes_of(function: str, predictions: NDArray[Any], expected: str) -> NDArray[np.float32]:
    """Their boxes [N, 4], with a warning where rounding them matters."""
    what = f"{function}: predictions"
    return to_native(predictions[:, :4], what, expected, "box", half_allowed=False)

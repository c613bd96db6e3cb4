# SPDX-License-Identifier: Apache-2.0
"""Arrays of other element types as float32 or float16, where that is safe."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

_LAYOUT: Final = ("C", "A")  # row-major and aligned
_LARGEST_EXACT = 2**24  # float32 holds every integer up to here
# What follows asks np.count_nonzero: out of memory is a SystemError in NumPy's any() and max().


def to_native(array: Any, name: str, half_allowed: bool) -> NDArray[Any]:
    """A row-major, aligned array in this machine's byte order.

    Half stays half where it may, smaller floats widen exactly, wider ones are rounded to float32.
    """
    wanted = "float32 or float16" if half_allowed else "float32"
    array = _as_numpy(array, name, wanted)
    if array.dtype.kind == "f":
        return _from_floats(array, name, half_allowed)
    if array.dtype.kind in "iu":
        return _from_integers(array, name, wanted)
    raise TypeError(f"{name}: dtype is {array.dtype}; pass {wanted}")


def _as_numpy(array: Any, name: str, wanted: str) -> NDArray[Any]:
    try:
        if hasattr(array, "__dlpack__") and not isinstance(array, np.ndarray):
            array = np.from_dlpack(array)
        return np.asarray(array)
    except ValueError as error:  # rows of several lengths, for one
        raise ValueError(f"{name}: {error}") from error
    except (BufferError, RuntimeError) as error:
        raise TypeError(f"{name}: NumPy can't read it: {error}; pass {wanted}") from error


def _from_floats(array: NDArray[Any], name: str, half_allowed: bool) -> NDArray[Any]:
    if half_allowed and array.dtype.itemsize == 2:
        return np.require(array, np.float16, _LAYOUT)
    with np.errstate(over="ignore"):
        result = np.require(array, np.float32, _LAYOUT)
    if array.dtype.itemsize > 4 and np.count_nonzero(np.isinf(result) & np.isfinite(array)):
        raise TypeError(
            f"{name}: has {array.dtype} values beyond the range of float32; scale them, or pass "
            "float32 with inf where that is meant"
        )
    return result


def _from_integers(array: NDArray[Any], name: str, wanted: str) -> NDArray[Any]:
    if array.dtype.itemsize > 2:
        if np.count_nonzero((array > _LARGEST_EXACT) | (array < -_LARGEST_EXACT)):
            raise TypeError(
                f"{name}: has {array.dtype} values beyond 2**24, which float32 does not hold "
                f"exactly; pass {wanted}"
            )
    return np.require(array, np.float32, _LAYOUT)

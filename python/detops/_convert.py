# SPDX-License-Identifier: Apache-2.0
"""What is no float32 or float16 array yet, as one, where that is safe.

``what`` is the argument as errors begin with it: "poly_nms: dets".
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy import ma
from numpy.typing import NDArray

from ._rounding import warn_of_rounding
from ._tables import corners_of_polygons, from_arrow, from_pandas

_LAYOUT: Final = ("C", "A")  # row-major and aligned
_FILLED: Final = "array.filled(value)"
_REMEDIES: Final = {  # by the dims of a masked array
    1: f"array.compressed(), and the same rows of the other arrays, or {_FILLED}",
    2: f"the rows without masked values, numpy.ma.compress_rows(array), or {_FILLED}",
}
_LARGEST_EXACT = 2**24  # float32 holds every integer up to here
# What follows asks np.count_nonzero: out of memory is a SystemError in NumPy's any() and max().


def to_native(array: Any, what: str, shape: str, geometry: str, half_allowed: bool) -> NDArray[Any]:
    """A row-major, aligned array in this machine's byte order.

    Half stays half where it may, smaller floats widen exactly, wider ones are rounded to float32.
    ``shape`` says what the argument wants; ``geometry`` which columns are coordinates of what.
    """
    wanted = "float32 or float16" if half_allowed else "float32"
    values = to_numpy(array, what, shape, wanted)
    if values.dtype.kind == "f":
        return _from_floats(values, what, geometry, half_allowed)
    if values.dtype.kind in "iu":
        return _from_integers(values, what, wanted)
    if values.dtype == object and values.size == 0:  # an empty table or series
        return np.empty(values.shape, np.float32)
    raise TypeError(f"{what} has dtype {values.dtype}; pass {wanted}")


def to_numpy(array: Any, what: str, shape: str, wanted: str) -> NDArray[Any]:
    """Of any library, table or list, in the type that it has."""
    if array is None:
        raise TypeError(f"{what} is None; expected an array of shape {shape}")
    if isinstance(array, ma.MaskedArray):
        raise TypeError(f"{what} is a masked array; pass {_REMEDIES.get(array.ndim, _FILLED)}")
    try:
        values = _read(array, what)
    except ValueError as error:  # rows of several lengths, for one
        raise ValueError(f"{what} can't be read as an array: {error}") from error
    except (AttributeError, BufferError, RuntimeError) as error:
        raise TypeError(f"{what} can't be read by NumPy: {error}; pass {wanted}") from error
    if values.ndim == 0 and not isinstance(array, np.ndarray) and values.dtype.kind in "OSU":
        raise TypeError(
            f"{what} is of type {type(array).__name__}; expected an array of shape {shape}"
        )
    if values.dtype == object and values.ndim == 1:
        first = next((value for value in values if value is not None), None)
        if hasattr(first, "geom_type"):
            return corners_of_polygons(values, what)
    return values


def _read(array: Any, what: str) -> NDArray[Any]:
    library = type(array).__module__.split(".")[0]
    if library == "pyarrow":
        array = from_arrow(array, what)
    elif library == "geopandas":
        array = getattr(array, "geometry", array)  # a GeometryArray, .values, has none
    elif library == "pandas":
        array = from_pandas(array, what)
    elif hasattr(array, "__dlpack__") and not isinstance(array, np.ndarray):
        array = np.from_dlpack(array)
    return np.asarray(array)


def _from_floats(array: NDArray[Any], what: str, geometry: str, half_allowed: bool) -> NDArray[Any]:
    if half_allowed and array.dtype.itemsize == 2:
        return np.require(array, np.float16, _LAYOUT)
    with np.errstate(over="ignore"):
        result = np.require(array, np.float32, _LAYOUT)
    if array.dtype.itemsize > 4:
        if np.count_nonzero(np.isinf(result) & np.isfinite(array)):
            raise TypeError(
                f"{what} has {array.dtype} values beyond the range of float32; scale them, or pass "
                "float32 with inf where that is meant"
            )
        if geometry:
            warn_of_rounding(array, what, geometry)
    return result


def _from_integers(array: NDArray[Any], what: str, wanted: str) -> NDArray[Any]:
    if array.dtype.itemsize > 2:
        if np.count_nonzero((array > _LARGEST_EXACT) | (array < -_LARGEST_EXACT)):
            raise TypeError(
                f"{what} has {array.dtype} values beyond 2**24, which float32 does not hold "
                f"exactly; subtract an origin, or pass {wanted}"
            )
    return np.require(array, np.float32, _LAYOUT)

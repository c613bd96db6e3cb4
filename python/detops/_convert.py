# SPDX-License-Identifier: Apache-2.0
"""What is no float32 or float16 array yet, as one, where that is safe.

``what`` is the argument as errors begin with it: "poly_nms: dets". float64 is rounded to float32,
with a warning where boxes are too small for where they lie.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

_LAYOUT: Final = ("C", "A")  # row-major and aligned
_LARGEST_EXACT = 2**24  # float32 holds every integer up to here
_TOLERANCE = 1e-3  # of a box's side, for rounding
# What follows asks np.count_nonzero: out of memory is a SystemError in NumPy's any() and max().


class RoundingWarning(UserWarning):
    """Rounding float64 to float32 moves coordinates by more than a thousandth of a box's side."""


def to_native(array: Any, what: str, shape: str, geometry: str, half_allowed: bool) -> NDArray[Any]:
    """A row-major, aligned array in this machine's byte order.

    Half stays half where it may, smaller floats widen exactly, wider ones are rounded to float32.
    ``shape`` says what the argument wants; ``geometry`` which columns are coordinates of what.
    """
    wanted = "float32 or float16" if half_allowed else "float32"
    values = _as_numpy(array, what, shape, wanted)
    if values.dtype.kind == "f":
        return _from_floats(values, what, geometry, half_allowed)
    if values.dtype.kind in "iu":
        return _from_integers(values, what, wanted)
    raise TypeError(f"{what} has dtype {values.dtype}; pass {wanted}")


def _as_numpy(array: Any, what: str, shape: str, wanted: str) -> NDArray[Any]:
    if array is None or isinstance(array, (str, bytes)):
        shown = "None" if array is None else f"a {type(array).__name__}"
        raise TypeError(f"{what} is {shown}; expected an array of shape {shape}")
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError(
            f"{what} is a masked array; pass the rows that count, as in a[~a.mask.any(1)].data, "
            "or a.filled(value)"
        )
    try:
        library = type(array).__module__.split(".")[0]
        if library == "pyarrow":
            array = _from_arrow(array, what)
        elif library in ("pandas", "geopandas"):
            array = _from_pandas(array, what)
        elif hasattr(array, "__dlpack__") and not isinstance(array, np.ndarray):
            array = np.from_dlpack(array)
        values: NDArray[Any] = np.asarray(array)
    except ValueError as error:  # rows of several lengths, for one
        raise ValueError(f"{what} can't be read as an array: {error}") from error
    except (BufferError, RuntimeError) as error:
        raise TypeError(f"{what} can't be read by NumPy: {error}; pass {wanted}") from error
    if values.dtype == object and values.ndim == 1 and hasattr(next(iter(values), None), "exterior"):
        return _corners_of_polygons(values, what)
    return values


def _from_pandas(table: Any, what: str) -> Any:
    """A DataFrame or Series, also with the nullable types and Arrow's."""
    if type(table).__name__ == "GeoSeries":
        return np.asarray(table)
    columns = table.dtypes if hasattr(table, "columns") else [table.dtype]
    if all(isinstance(dtype, np.dtype) for dtype in columns):
        return table.to_numpy()
    if np.count_nonzero(table.isna()):
        row = int(np.argwhere(table.isna().to_numpy())[0][0])
        raise TypeError(f"{what} has a missing value in row {row}; drop such rows, .dropna()")
    kinds = {getattr(dtype, "kind", "O") for dtype in columns}
    return table.to_numpy(dtype=np.int64 if kinds <= set("iu") else np.float64)


def _from_arrow(array: Any, what: str) -> Any:
    """A FixedSizeListArray, whose lists may be nested, a Tensor, or a column of numbers."""
    if hasattr(array, "combine_chunks"):
        array = array.combine_chunks()
    if not hasattr(array, "type") or not hasattr(array, "null_count"):  # a Tensor
        return array.to_numpy()
    dims = [len(array)]
    while True:
        if array.null_count:
            raise TypeError(f"{what} has null values; drop them, .drop_null()")
        if not hasattr(array.type, "list_size"):
            break
        dims.append(array.type.list_size)
        array = array.flatten()
    return array.to_numpy(zero_copy_only=False).reshape(dims)


def _corners_of_polygons(polygons: NDArray[Any], what: str) -> NDArray[Any]:
    """[N, 8] of shapely's polygons, whose rings end where they begin."""
    corners = np.empty((len(polygons), 8))
    for i, polygon in enumerate(polygons):
        if not hasattr(polygon, "exterior"):
            raise TypeError(f"{what}: row {i} is of type {type(polygon).__name__}, not a polygon")
        ring = np.asarray(polygon.exterior.coords)[:-1, :2]  # without z
        if len(ring) != 4 or len(polygon.interiors):
            holes = f" and {len(polygon.interiors)} holes" if len(polygon.interiors) else ""
            raise ValueError(
                f"{what}: row {i} is a polygon of {len(ring)} corners{holes}; expected four "
                "corners, as minimum_rotated_rectangle has"
            )
        corners[i] = ring.ravel()
    return corners


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
            _warn_of_rounding(array, result, what, geometry)
    return result


def _warn_of_rounding(
    exact: NDArray[Any], rounded: NDArray[np.float32], what: str, geometry: str
) -> None:
    columns = {"box": 4, "corners": 8, "box3d": 7}[geometry]
    if geometry == "corners" and exact.shape[1:] == (4, 2):
        exact, rounded = exact.reshape(-1, 8), rounded.reshape(-1, 8)
    if exact.ndim == 0 or exact.shape[-1] < columns or exact.size == 0:
        return  # another shape is refused later
    coordinates = 3 if geometry == "box3d" else columns
    with np.errstate(invalid="ignore", over="ignore"):  # infinite ones
        moved = np.abs(exact - rounded)[..., :coordinates].max(-1)
        side = _shortest_side(exact, geometry)
        count = np.count_nonzero(moved > _TOLERANCE * np.where(side > 0, side, np.inf))
    if count:
        warnings.warn(
            f"{what} is {exact.dtype}, and rounding it to float32 moves {count} of {side.size} "
            "boxes by more than a thousandth of a side, which can change what is decided; subtract "
            "an origin near the boxes from their coordinates first",
            RoundingWarning,
            stacklevel=_outside_level(),
        )


def _shortest_side(boxes: NDArray[Any], geometry: str) -> NDArray[Any]:
    sides: NDArray[Any]
    if geometry == "box":
        sides = np.abs(boxes[..., 2:4] - boxes[..., :2])
    elif geometry == "box3d":
        sides = boxes[..., 3:6]
    else:
        corners = boxes[..., :8].reshape(*boxes.shape[:-1], 4, 2)
        edges = np.roll(corners, -1, -2) - corners
        sides = np.hypot(edges[..., 0], edges[..., 1])
    return np.min(sides, -1, keepdims=False)  # type: ignore[no-any-return]


def _outside_level() -> int:
    """For warnings: how many frames above the caller's the first outside of this package is."""
    level = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals["__name__"].startswith("detops."):
        frame = frame.f_back
        level += 1
    return level


def _from_integers(array: NDArray[Any], what: str, wanted: str) -> NDArray[Any]:
    if array.dtype.itemsize > 2:
        if np.count_nonzero((array > _LARGEST_EXACT) | (array < -_LARGEST_EXACT)):
            raise TypeError(
                f"{what} has {array.dtype} values beyond 2**24, which float32 does not hold "
                f"exactly; pass {wanted}"
            )
    return np.require(array, np.float32, _LAYOUT)

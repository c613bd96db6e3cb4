# SPDX-License-Identifier: Apache-2.0
"""Tables and polygons of other libraries, as NumPy arrays. None of them is imported here."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray


def from_pandas(table: Any, what: str) -> Any:
    """A DataFrame or Series, also with pandas' nullable types and Arrow's."""
    columns = list(table.dtypes) if hasattr(table, "columns") else [table.dtype]
    is_series = not hasattr(table, "columns")
    if all(isinstance(dtype, np.dtype) for dtype in columns):
        return table.to_numpy()
    if is_series and table.dtype.name == "geometry":
        return table.to_numpy()
    for dtype in columns:
        if getattr(dtype, "kind", "O") not in "fiub" and not _holds_lists(dtype):
            raise TypeError(f"{what} has a column of dtype {dtype}; pass numbers alone")
    missing = table.isna().to_numpy()
    if np.count_nonzero(missing):
        row = int(np.argwhere(missing)[0][0])
        raise TypeError(f"{what} has a missing value in row {row}; drop such rows, .dropna()")
    if is_series and _holds_lists(table.dtype):
        return from_arrow(table.array.__arrow_array__(), what)
    if any(_holds_lists(dtype) for dtype in columns):
        numbers = [from_pandas(table.iloc[:, i], what) for i in range(len(columns))]
        return np.column_stack(numbers)
    kinds = "".join({dtype.kind for dtype in columns})
    return table.to_numpy(dtype={"i": "i8", "u": "u8", "b": "?"}.get(kinds, "f8"))


def _holds_lists(dtype: Any) -> bool:
    """Whether a column of pandas is one of Arrow's lists."""
    return hasattr(getattr(dtype, "pyarrow_dtype", None), "value_type")


def from_arrow(array: Any, what: str) -> Any:
    """A FixedSizeListArray (lists may be nested), a Tensor, a Table, or a column of numbers."""
    if hasattr(array, "columns"):
        return np.column_stack([from_arrow(column, what) for column in array.columns])
    if hasattr(array, "combine_chunks"):
        array = array.combine_chunks()
    if not hasattr(array, "null_count"):  # a Tensor
        return array.to_numpy()
    dims = [len(array)]
    while True:
        if array.null_count:
            row = array.is_null().to_pylist().index(True) // max(int(np.prod(dims[1:])), 1)
            raise TypeError(f"{what} has a null in row {row}; drop such rows, .drop_null()")
        if not hasattr(array.type, "list_size"):
            values = array.to_numpy(zero_copy_only=False)
            if values.dtype == object:
                raise TypeError(
                    f"{what} has Arrow's type {array.type}; pass numbers, or a FixedSizeListArray "
                    "of them"
                )
            return values.reshape(dims)
        dims.append(array.type.list_size)
        array = array.flatten()


def corners_of_polygons(polygons: NDArray[Any], what: str) -> NDArray[Any]:
    """[N, 8] of shapely's polygons, whose rings end where they begin."""
    shapely = sys.modules["shapely"]
    four_corners = (
        (shapely.get_type_id(polygons) == shapely.GeometryType.POLYGON)
        & (shapely.get_num_coordinates(polygons) == 5)
        & (shapely.get_num_interior_rings(polygons) == 0)
    )
    if np.count_nonzero(four_corners) < len(polygons):
        row = int(np.argmin(four_corners))
        raise ValueError(
            f"{what} has {_described(polygons[row])} in row {row}; expected polygons of four "
            "corners, as minimum_rotated_rectangle is"
        )
    rings = shapely.get_coordinates(polygons).reshape(-1, 5, 2)
    return np.ascontiguousarray(rings[:, :4]).reshape(-1, 8)


def _described(geometry: Any) -> str:
    if getattr(geometry, "geom_type", None) != "Polygon":
        return f"a {geometry.geom_type}" if geometry is not None else "None"
    corners = max(len(geometry.exterior.coords) - 1, 0)
    return f"a polygon of {corners} corners" + (" with holes" if geometry.interiors else "")

# SPDX-License-Identifier: Apache-2.0
"""What the functions take, for type checkers: arrays of any library, and nested lists of numbers.

A string is no list of numbers here, though Python has it as a sequence.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray


class DlpackArray(Protocol):
    def __dlpack__(self, *, stream: Any = ...) -> Any: ...
    def __dlpack_device__(self) -> tuple[Any, Any]: ...


class NumpyReadable(Protocol):
    """Tables of pandas, arrays of pyarrow, series of GeoPandas."""

    def __array__(self) -> NDArray[Any]: ...


class Polygon(Protocol):
    """shapely's."""

    @property
    def exterior(self) -> Any: ...


# Nested lists, level by level: of a protocol that names itself, str would be one. Those of one
# level may also be a memoryview, an array.array, or an array of ctypes.
class Row(Protocol):
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[float | np.number[Any] | NDArray[Any] | Polygon]: ...


class Rows(Protocol):
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Row]: ...


class Batch(Protocol):
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Rows]: ...


class Maps(Protocol):
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Batch]: ...


# What has no __dlpack__: the results are NumPy's.
HostArray: TypeAlias = NumpyReadable | Row | Rows | Batch | Maps
Array: TypeAlias = DlpackArray | HostArray
ArrayT = TypeVar("ArrayT", bound=DlpackArray)

Numpy: TypeAlias = NDArray[Any]
Floats: TypeAlias = NDArray[np.floating[Any]]
Indices: TypeAlias = NDArray[np.signedinteger[Any]]

Mode: TypeAlias = Literal["iou", "iof"]
Layout: TypeAlias = Literal["NCHW", "NHWC"]
Order: TypeAlias = Literal["score", "index"]
IndexType: TypeAlias = Any  # int32 or int64, as any library spells it; None is int64

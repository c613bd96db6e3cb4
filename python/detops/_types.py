# SPDX-License-Identifier: Apache-2.0
"""What the functions take, for type checkers: arrays of any library, and nested lists of numbers.

A string is no list of numbers here, though Python has it as a sequence.
"""

from __future__ import annotations

import array
import ctypes
from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias, TypeVar

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


_Number: TypeAlias = "float | np.number[Any]"
_Row: TypeAlias = "Sequence[_Number] | NDArray[Any]"
_Nested: TypeAlias = (
    "Sequence[_Row] | Sequence[Sequence[_Row]] | Sequence[Sequence[Sequence[_Row]]]"
)
_Buffer: TypeAlias = "memoryview[Any] | array.array[Any] | ctypes.Array[Any]"

# What is no array with __dlpack__: the results are NumPy's.
HostArray: TypeAlias = "NumpyReadable | _Buffer | Sequence[_Number] | _Nested | Sequence[Polygon]"
Array: TypeAlias = "DlpackArray | HostArray"
ArrayT = TypeVar("ArrayT", bound=DlpackArray)

Numpy: TypeAlias = "NDArray[Any]"
Floats: TypeAlias = "NDArray[np.floating[Any]]"
Indices: TypeAlias = "NDArray[np.signedinteger[Any]]"
IndexType: TypeAlias = Any  # int32 or int64, as any library spells it; None is int64

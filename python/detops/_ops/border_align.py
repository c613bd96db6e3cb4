# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any, Literal, overload

from .. import _core
from .._types import Array, ArrayT, Floats, HostArray, IndexType, Indices, Layout, Numpy


@overload
def border_align(
    input: Numpy,
    boxes: Array,
    pool_size: int,
    layout: Layout = "NCHW",
    return_argmax: Literal[False] = False,
    dtype: IndexType = None,
) -> Floats: ...
@overload
def border_align(
    input: Numpy,
    boxes: Array,
    pool_size: int,
    layout: Layout = "NCHW",
    *,
    return_argmax: Literal[True],
    dtype: IndexType = None,
) -> tuple[Floats, Indices]: ...
@overload
def border_align(
    input: ArrayT,
    boxes: Array,
    pool_size: int,
    layout: Layout = "NCHW",
    return_argmax: Literal[False] = False,
    dtype: IndexType = None,
) -> ArrayT: ...
@overload
def border_align(
    input: ArrayT,
    boxes: Array,
    pool_size: int,
    layout: Layout = "NCHW",
    *,
    return_argmax: Literal[True],
    dtype: IndexType = None,
) -> tuple[ArrayT, ArrayT]: ...
@overload
def border_align(
    input: HostArray,
    boxes: Array,
    pool_size: int,
    layout: Layout = "NCHW",
    return_argmax: Literal[False] = False,
    dtype: IndexType = None,
) -> Floats: ...
@overload
def border_align(
    input: HostArray,
    boxes: Array,
    pool_size: int,
    layout: Layout = "NCHW",
    *,
    return_argmax: Literal[True],
    dtype: IndexType = None,
) -> tuple[Floats, Indices]: ...


def border_align(
    input: Array,
    boxes: Array,
    pool_size: int,
    layout: Layout = "NCHW",
    return_argmax: bool = False,
    dtype: IndexType = None,
) -> Any:
    """The maximum of pool_size + 1 bilinear samples along each border of each box.

    input: [N, 4C, H, W], or [N, H, W, 4C] with layout="NHWC"; C channels each for top, left, bottom
        and right; float32 or float16
    boxes: [N, K, 4] as x1, y1, x2, y2, in pixels of input; without boxes the results have K = 0
    pool_size: 1 or more
    layout: of input and of the results
    return_argmax: also which sample was the maximum, 0 to pool_size
    dtype: of these; int64 unless int32 is asked for

    Returns [N, C, K, 4], or [N, K, 4, C] with layout="NHWC"; with return_argmax a pair of such
    arrays. Samples outside of input count as 0, as do all of a box with NaN or infinity.

    >>> import numpy as np
    >>> features = np.arange(36, dtype=np.float32).reshape(1, 4, 3, 3)
    >>> boxes = np.array([[[0, 0, 2, 1]]], np.float32)
    >>> border_align(features, boxes, pool_size=2)  # top, left, bottom, right
    array([[[[ 2., 12., 23., 32.]]]], dtype=float32)
    """
    return _core.border_align(input, boxes, pool_size, layout, return_argmax, dtype)

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any, overload

from .. import _core
from .._types import Array, ArrayT, HostArray, IndexType, Indices, Numpy


@overload
def points_in_boxes(points: Numpy, boxes: Array, dtype: IndexType = None) -> Indices: ...
@overload
def points_in_boxes(points: ArrayT, boxes: Array, dtype: IndexType = None) -> ArrayT: ...
@overload
def points_in_boxes(points: HostArray, boxes: Array, dtype: IndexType = None) -> Indices: ...


def points_in_boxes(points: Array, boxes: Array, dtype: IndexType = None) -> Any:
    """The first box that holds each point, or -1.

    points: [B, M, 3] float32, or [M, 3] of one frame
    boxes: [B, T, 7] float32, or [T, 7] with points [M, 3], as cx, cy, cz, dx, dy, dz, heading: the
        geometric centre, the full sizes, and the angle from x to y in radians
    dtype: of the indices; int64 unless int32 is asked for

    Returns [B, M], or [M] without a batch. The sides along x and y count with a margin of 1e-5. A
    point with NaN is in no box; a box with NaN, or with a size of 0 or less but for that margin,
    holds nothing.

    >>> import numpy as np
    >>> points = np.array([[0, 0, 0], [1, 0, 0], [9, 9, 9]], np.float32)
    >>> boxes = np.array([[1, 0, 0, 1, 1, 1, 0], [0, 0, 0, 4, 1, 1, 0]], np.float32)
    >>> points_in_boxes(points, boxes)
    array([ 1,  0, -1])
    >>> points_in_boxes(points[None], boxes[None])
    array([[ 1,  0, -1]])
    """
    return _core.points_in_boxes(points, boxes, dtype)

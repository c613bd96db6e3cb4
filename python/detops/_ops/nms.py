# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any, overload

from .. import _core
from .._types import Array, ArrayT, HostArray, IndexType, Indices, Numpy


@overload
def nms(boxes: Numpy, scores: Array, iou_threshold: float, dtype: IndexType = None) -> Indices: ...
@overload
def nms(boxes: ArrayT, scores: Array, iou_threshold: float, dtype: IndexType = None) -> ArrayT: ...
@overload
def nms(
    boxes: HostArray, scores: Array, iou_threshold: float, dtype: IndexType = None
) -> Indices: ...


def nms(boxes: Array, scores: Array, iou_threshold: float, dtype: IndexType = None) -> Any:
    """Non-maximum suppression of upright boxes, as torchvision.ops.nms.

    boxes: [N, 4] as x1, y1, x2, y2; float32 or float16
    scores: [N] of the same library and device
    iou_threshold: a box goes if it overlaps a better one by more than this
    dtype: of the indices; int64 unless int32 is asked for

    Returns the indices kept, [K], best first. On a CUDA device the call waits for K.

    Equal scores: the lower index is the better one. A NaN score is the best of all, as in PyTorch's
    order. A box with a NaN coordinate is kept and suppresses nothing. With a threshold of 1 or more
    all are kept; below 0 boxes without overlap suppress each other too; NaN is a ValueError. The
    IoU is computed in float32, as torchvision's, and may differ from the exact one in the last
    place: poly_nms decides exactly.

    >>> import numpy as np
    >>> boxes = np.array([[0, 0, 10, 10], [1, 0, 11, 10], [20, 0, 30, 10]], np.float32)
    >>> nms(boxes, np.array([.7, .8, .9], np.float32), 0.5)
    array([2, 1])
    >>> nms([], [], 0.5)  # an image without detections
    array([], dtype=int64)
    """
    return _core.nms(boxes, scores, iou_threshold, dtype)

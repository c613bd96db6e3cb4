# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any, overload

from .. import _core
from .._types import Array, ArrayT, Floats, HostArray, Mode, Numpy


@overload
def bbox_overlaps(
    bboxes1: Numpy,
    bboxes2: Array,
    mode: Mode = "iou",
    aligned: bool = False,
    offset: int = 0,
) -> Floats: ...
@overload
def bbox_overlaps(
    bboxes1: ArrayT,
    bboxes2: Array,
    mode: Mode = "iou",
    aligned: bool = False,
    offset: int = 0,
) -> ArrayT: ...
@overload
def bbox_overlaps(
    bboxes1: HostArray,
    bboxes2: Array,
    mode: Mode = "iou",
    aligned: bool = False,
    offset: int = 0,
) -> Floats: ...


def bbox_overlaps(
    bboxes1: Array, bboxes2: Array, mode: Mode = "iou", aligned: bool = False, offset: int = 0
) -> Any:
    """IoU or IoF of boxes, all pairs or aligned.

    bboxes1: [M, 4] as x1, y1, x2, y2; float32 or float16
    bboxes2: [N, 4] of the same library and device
    mode: "iou", or "iof" for the intersection over the area of bboxes1
    aligned: only the pairs (i, i); M == N
    offset: 0, or 1 to count pixels: it is added to every length

    Returns [M, N], aligned [M], of the inputs' type. Two boxes without area give 0/0: NaN. So does
    a NaN coordinate. [] is no boxes.

    >>> import numpy as np
    >>> boxes = np.array([[0, 0, 10, 10], [5, 5, 15, 15]], np.float32)
    >>> bbox_overlaps(boxes, boxes).round(4)
    array([[1.    , 0.1429],
           [0.1429, 1.    ]], dtype=float32)
    """
    return _core.bbox_overlaps(bboxes1, bboxes2, mode, aligned, offset)

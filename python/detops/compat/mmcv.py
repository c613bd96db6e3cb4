# SPDX-License-Identifier: Apache-2.0
"""Drop-ins for mmcv.ops, on PyTorch tensors on the CPU or a CUDA device.

>>> import torch
>>> from detops.compat.mmcv import bbox_overlaps
>>> bbox_overlaps(torch.tensor([[0., 0, 2, 2]]), torch.tensor([[1., 0, 3, 2]]))
tensor([[0.3333]])
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn

import detops

from .._types import Mode
from ._margins import with_margin

__all__ = [
    "BorderAlign",
    "bbox_overlaps",
    "border_align",
    "nms",
    "nms_quadri",
    "points_in_boxes_part",
]


def bbox_overlaps(
    bboxes1: Tensor, bboxes2: Tensor, mode: str = "iou", aligned: bool = False, offset: int = 0
) -> Tensor:
    """IoU or IoF of boxes [m, 4] and [n, 4]: [m, n], or [m] if aligned.

    As mmcv, without boxes the last dim may be anything; an aligned result is then [0], as in mmcv
    2.x ([0, 1] in 1.x). What mmcv asserts is a ValueError here. float64 goes in and out, but is
    computed in float32.
    """
    first, second = (b.detach() if len(b) else b.new_empty((0, 4)) for b in (bboxes1, bboxes2))
    ious = detops.bbox_overlaps(first, second, cast(Mode, mode), aligned, offset)
    return ious.to(bboxes1.dtype) if bboxes1.is_floating_point() else ious


def border_align(input: Tensor, boxes: Tensor, pool_size: int, /) -> Tensor:
    """Border features [B, C, K, 4] of [B, 4C, H, W] and boxes [B, K, 4].

    As mmcv, with a gradient for input.
    """
    pooled: Tensor = torch.ops.detops.border_align(input, boxes, pool_size)[0]
    return pooled


class BorderAlign(nn.Module):
    """border_align as a layer.

    >>> BorderAlign(pool_size=10)
    BorderAlign(pool_size=10)
    """

    def __init__(self, pool_size: int) -> None:
        super().__init__()
        self.pool_size = pool_size

    def forward(self, input: Tensor, boxes: Tensor) -> Tensor:
        return border_align(input, boxes, self.pool_size)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(pool_size={self.pool_size})"


def points_in_boxes_part(points: Tensor, boxes: Tensor) -> Tensor:
    """The first box that holds each point, or -1: [B, M, 3] and [B, T, 7] to int32 [B, M].

    As mmcv, and unlike detops.points_in_boxes: z of a box is its bottom, and there is no margin
    around it. Works on the CPU too.
    """
    boxes = boxes.detach().float()
    # Rounded once, as mmcv's kernel does.
    middle = (boxes[..., 2:3].double() + boxes[..., 5:6].double() / 2).float()
    boxes = torch.cat([boxes[..., :2], middle, boxes[..., 3:]], -1)
    return detops.points_in_boxes(points.detach(), with_margin(torch, boxes, 0.0), dtype="int32")


def nms(
    boxes: Any,
    scores: Any,
    iou_threshold: float,
    offset: int = 0,
    score_threshold: float = 0,
    max_num: int = -1,
) -> tuple[Any, Any]:
    """Suppression of upright boxes [N, 4]: what is kept as [K, 5] with its scores, and int64 [K].

    Tensors, or NumPy arrays for which both results are NumPy's. As mmcv: best first; with offset=1
    the last pixel belongs to a box; score_threshold above 0 leaves only boxes with better scores;
    max_num above 0 is the most that are kept; iou_threshold counts as float32.

    Of equal scores the lower index is the better one, where mmcv does not say. With offset=1 and
    coordinates that are no integers an IoU can differ from mmcv's by a rounding.

    >>> dets, inds = nms(np.array([[0, 0, 9, 9], [1, 0, 10, 9]], np.float32),
    ...                  np.array([.8, .9], np.float32), 0.5, offset=1)
    >>> inds
    array([1])
    """
    if offset not in (0, 1):
        raise ValueError(f"nms: offset is {offset}; expected 0 or 1")
    if isinstance(boxes, np.ndarray):
        tensors = torch.from_numpy(boxes), torch.as_tensor(scores)
        dets, kept = nms(*tensors, iou_threshold, offset, score_threshold, max_num)
        return dets.numpy(), kept.numpy()
    if score_threshold > 0:
        candidates = (scores > score_threshold).nonzero()[:, 0]
        chosen = boxes[candidates], scores[candidates]
        dets, kept = nms(*chosen, iou_threshold, offset, max_num=max_num)
        return dets, candidates[kept]
    corners = boxes.detach()
    if offset == 1:
        corners = torch.cat([corners[:, :2], corners[:, 2:] + 1], 1)
    kept = detops.nms(corners, scores.detach(), float(np.float32(iou_threshold)))
    if max_num > 0:
        kept = kept[:max_num]
    return torch.cat([boxes[kept], scores[kept].reshape(-1, 1)], 1), kept


def nms_quadri(
    dets: Tensor, scores: Tensor, iou_threshold: float, labels: Tensor | None = None
) -> tuple[Tensor, Tensor | None]:
    """Suppression of quadrilaterals [N, 8]: what is kept as [K, 9] with its scores, and int64 [K].

    As mmcv: the best score first; ``(dets, None)`` for no boxes; labels change nothing, as in
    mmcv's kernels. A box goes at an IoU above iou_threshold, as in mmcv's CUDA kernel (its CPU code
    takes equal ones too).

    The IoU is the geometric one of any quadrilaterals. mmcv 2.x computes that of rectangles, also
    far from the origin, for it moves each pair there first. Of other shapes it does not: a corner
    counts as inside a box where it lies in the rectangle over two of the box's sides. For the
    parallelogram (0,0) (4,0) (6,2) (2,2) and the square from (.1,1) to (.9,1.8) beside it, mmcv
    gives 0.08.
    """
    if dets.shape[0] == 0:
        return dets, None
    kept = detops.poly_nms(dets.detach(), iou_threshold, scores.detach(), "score")
    return torch.cat([dets[kept], scores[kept].reshape(-1, 1)], 1), kept

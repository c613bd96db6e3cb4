# SPDX-License-Identifier: Apache-2.0
"""Drop-ins for mmcv.ops, on PyTorch tensors on the CPU or a CUDA device.

>>> import torch
>>> from detops.compat.mmcv import bbox_overlaps
>>> bbox_overlaps(torch.tensor([[0., 0, 2, 2]]), torch.tensor([[1., 0, 3, 2]]))
tensor([[0.3333]])
"""

from __future__ import annotations

import operator
from numbers import Integral
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn

import detops

from .._names import named_for
from .._rounding import warn_of_rounding
from .._types import Mode
from ._arguments import number, refuse_shape, shown
from ._margins import with_margin
from ._tensors import checked, from_numpy

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
    first, second = _boxes("bboxes1", bboxes1, "(m, 4)"), _boxes("bboxes2", bboxes2, "(n, 4)")
    ious = detops.bbox_overlaps(first, second, cast(Mode, mode), aligned, offset)
    return ious.to(bboxes1.dtype) if bboxes1.is_floating_point() else ious


def _boxes(argument: str, boxes: Tensor, shape: str) -> Tensor:
    checked("bbox_overlaps", argument, boxes, shape)
    return boxes.new_empty((0, 4)) if boxes.shape[:1] == (0,) else boxes.detach()


def border_align(input: Tensor, boxes: Tensor, pool_size: int, /) -> Tensor:
    """Border features [B, C, K, 4] of [B, 4C, H, W] and boxes [B, K, 4].

    As mmcv, with a gradient for input.
    """
    checked("border_align", "input", input, "(B, 4C, H, W)")
    checked("border_align", "boxes", boxes, "(B, K, 4)")
    try:
        size = operator.index(pool_size)
    except TypeError:
        text = f"border_align: pool_size is {shown(pool_size)}; expected an integer"
        raise TypeError(text) from None
    pooled: Tensor = torch.ops.detops.border_align(input, boxes, size)[0]
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


@named_for("points_in_boxes")
def points_in_boxes_part(points: Tensor, boxes: Tensor) -> Tensor:
    """The first box that holds each point, or -1: [B, M, 3] and [B, T, 7] to int32 [B, M].

    As mmcv, and unlike detops.points_in_boxes: z of a box is its bottom, and there is no margin
    around it. Works on the CPU too.
    """
    function, shape = "points_in_boxes_part", "(B, T, 7)"
    checked(function, "points", points, "(B, M, 3)")
    if checked(function, "boxes", boxes, shape).shape[-1:] != (7,):
        refuse_shape(f"{function}: boxes", boxes.shape, shape)
    if boxes.dtype == torch.float64 and not boxes.is_cuda:
        warn_of_rounding(boxes.detach().numpy(), f"{function}: boxes", "box3d")
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
    if not isinstance(offset, Integral) or offset not in (0, 1):
        raise ValueError(f"nms: offset is {shown(offset)}; expected 0 or 1")
    threshold = float(np.float32(number("nms", "iou_threshold", iou_threshold)))
    score_threshold = number("nms", "score_threshold", score_threshold)
    most = number("nms", "max_num", max_num)
    if isinstance(boxes, np.ndarray):
        tensors = from_numpy("nms", "boxes", boxes, "(N, 4)"), _scores(scores)
        dets, kept = nms(*tensors, threshold, offset, score_threshold, max_num)
        return dets.numpy(), kept.numpy()
    checked("nms", "boxes", boxes, "(N, 4)", "a PyTorch tensor or NumPy array")
    checked("nms", "scores", scores, "(N,)")
    if boxes.shape == (0,):
        boxes = boxes.reshape(0, 4)
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        refuse_shape("nms: boxes", boxes.shape, "(N, 4)")
    if scores.shape != boxes.shape[:1]:
        raise ValueError(
            f"nms: scores has shape {tuple(scores.shape)}, but boxes has {tuple(boxes.shape)}; "
            "expected (N,) with boxes of (N, 4)"
        )
    if score_threshold > 0:
        candidates = (scores > score_threshold).nonzero()[:, 0]
        chosen = boxes[candidates], scores[candidates]
        dets, kept = nms(*chosen, threshold, offset, max_num=max_num)
        return dets, candidates[kept]
    corners = boxes.detach()
    if offset == 1:
        corners = torch.cat([corners[:, :2], corners[:, 2:] + 1], 1)
    kept = detops.nms(corners, scores.detach(), threshold)
    if most > 0:
        kept = kept[: int(most)]
    return torch.cat([boxes[kept], scores[kept].reshape(-1, 1)], 1), kept


def _scores(scores: Any) -> Tensor:
    return scores if isinstance(scores, Tensor) else from_numpy("nms", "scores", scores, "(N,)")


@named_for("poly_nms")
def nms_quadri(
    dets: Tensor, scores: Tensor, iou_threshold: float, labels: Tensor | None = None
) -> tuple[Tensor, Tensor | None]:
    """Suppression of quadrilaterals [N, 8]: what is kept as [K, 9] with its scores, and int64 [K].

    As mmcv: the best score first; ``(dets, None)`` for no boxes; labels change nothing, as in
    mmcv's kernels. A box goes at an IoU above iou_threshold, as in mmcv's CUDA kernel (its CPU code
    takes equal ones too).

    The IoU is the geometric one of any quadrilaterals. mmcv 2.2.0 computes that of rectangles,
    moving each pair to the origin first. Of other shapes, as of rotated rectangles whose corners
    were rounded far from the origin, it does not: a corner counts as inside a box where it lies in
    the rectangle over two of the box's sides. For the parallelogram (0,0) (4,0) (6,2) (2,2) and the
    square from (.1,1) to (.9,1.8) beside it, mmcv gives 0.08.
    """
    checked("nms_quadri", "dets", dets, "(N, 8)")
    checked("nms_quadri", "scores", scores, "(N,)")
    if dets.shape[:1] == (0,):
        return dets, None
    if dets.ndim != 2 or dets.shape[1] != 8:
        refuse_shape("nms_quadri: dets", dets.shape, "(N, 8)")
    kept = detops.poly_nms(dets.detach(), iou_threshold, scores.detach(), "score")
    return torch.cat([dets[kept], scores[kept].reshape(-1, 1)], 1), kept

# SPDX-License-Identifier: Apache-2.0
"""Drop-ins for torchvision.ops, on PyTorch tensors on the CPU or a CUDA device.

>>> import torch
>>> from detops.compat.torchvision import box_iou, nms
>>> boxes = torch.tensor([[0., 0, 10, 10], [1, 0, 11, 10], [20, 0, 30, 10]])
>>> nms(boxes, torch.tensor([.7, .8, .9]), 0.5)
tensor([2, 1])
>>> box_iou(torch.tensor([[0., 0, 2, 2]]), torch.tensor([[1., 0, 2, 2]]), fmt="xywh")
tensor([[0.3333]])
"""

from __future__ import annotations

import torch
from torch import Tensor

import detops

from .._names import named_for
from ._arguments import refuse_shape
from ._tensors import checked

__all__ = ["box_iou", "nms"]


def nms(boxes: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    """The indices kept of boxes [N, 4], int64 [K], best first.

    The same decisions as torchvision's for float32 and float16. float64 is rounded to float32, with
    a warning where that matters. Equal scores: the lower index is the better one, on a GPU as well.
    """
    boxes, scores = (
        checked("nms", "boxes", boxes, "(N, 4)"),
        checked("nms", "scores", scores, "(N,)"),
    )
    return detops.nms(boxes.detach(), scores.detach(), iou_threshold)


@named_for("bbox_overlaps", bboxes1="boxes1", bboxes2="boxes2")
def box_iou(boxes1: Tensor, boxes2: Tensor, fmt: str = "xyxy") -> Tensor:
    """IoU of boxes [N, 4] and [M, 4]: [N, M].

    fmt: "xyxy", "xywh" or "cxcywh"; rotated boxes are refused. As in torchvision, float16 and
    integers give float32, and float64 goes in and out; but all are computed in float32. No gradient
    and no dimensions before N: both are refused.
    """
    corners1, corners2 = _corners("boxes1", boxes1, fmt), _corners("boxes2", boxes2, fmt)
    ious: Tensor = detops.bbox_overlaps(corners1, corners2)
    both_float64 = torch.promote_types(boxes1.dtype, boxes2.dtype) == torch.float64
    return ious.double() if both_float64 else ious


def _corners(argument: str, boxes: Tensor, fmt: str) -> Tensor:
    checked("box_iou", argument, boxes, "(N, 4)")
    if fmt not in ("xyxy", "xywh", "cxcywh"):
        raise ValueError(f'box_iou: fmt is {fmt!r}; expected "xyxy", "xywh" or "cxcywh"')
    if boxes.numel() > 0 and (boxes.ndim != 2 or boxes.shape[1] != 4):
        refuse_shape(f"box_iou: {argument}", boxes.shape, "(N, 4)")
    if boxes.dtype != torch.float64:
        boxes = boxes.float()
    if fmt == "xyxy":
        return boxes
    position, size = boxes[..., :2], boxes[..., 2:]
    if fmt == "xywh":
        return torch.cat([position, position + size], -1)
    return torch.cat([position - size / 2, position + size / 2], -1)

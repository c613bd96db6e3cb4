# SPDX-License-Identifier: Apache-2.0
"""torch.ops.detops: the operators with fake kernels, for torch.compile and torch.export.

Arguments are those of the functions of detops; results that these leave out by default (argmax,
rois_num) are always there, and indices are int64. border_align has a gradient; asking for the
gradient of another operator is an error of PyTorch's. What is one of some words is a str: the
schemas of PyTorch's operators have no Literal.
"""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor
from torch.library import custom_op, get_ctx

import detops

from ._torch_border_align import border_align_backward
from ._types import Layout, Mode, Order


def _float_type(*tensors: Tensor) -> torch.dtype:
    return torch.float16 if all(t.dtype == torch.float16 for t in tensors) else torch.float32


@custom_op("detops::bbox_overlaps", mutates_args=())
def bbox_overlaps(
    bboxes1: Tensor, bboxes2: Tensor, mode: str = "iou", aligned: bool = False, offset: int = 0
) -> Tensor:
    return detops.bbox_overlaps(
        bboxes1.detach(), bboxes2.detach(), cast(Mode, mode), aligned, offset
    )


@bbox_overlaps.register_fake
def _(
    bboxes1: Tensor, bboxes2: Tensor, mode: str = "iou", aligned: bool = False, offset: int = 0
) -> Tensor:
    rows, columns = bboxes1.shape[0], bboxes2.shape[0]
    shape = (rows,) if aligned else (rows, columns)
    return bboxes1.new_empty(shape, dtype=_float_type(bboxes1, bboxes2))


@custom_op("detops::poly_nms", mutates_args=())
def poly_nms(
    dets: Tensor, iou_threshold: float, scores: Tensor | None = None, order: str = "score"
) -> Tensor:
    return detops.poly_nms(
        dets.detach(),
        iou_threshold,
        None if scores is None else scores.detach(),
        cast(Order, order),
    )


@poly_nms.register_fake
def _(
    dets: Tensor, iou_threshold: float, scores: Tensor | None = None, order: str = "score"
) -> Tensor:
    return dets.new_empty((get_ctx().new_dynamic_size(),), dtype=torch.int64)


@custom_op("detops::border_align", mutates_args=())
def border_align(
    input: Tensor, boxes: Tensor, pool_size: int, layout: str = "NCHW"
) -> tuple[Tensor, Tensor]:
    return detops.border_align(
        input.detach(), boxes.detach(), pool_size, cast(Layout, layout), return_argmax=True
    )


@border_align.register_fake
def _(input: Tensor, boxes: Tensor, pool_size: int, layout: str = "NCHW") -> tuple[Tensor, Tensor]:
    images, count = boxes.shape[0], boxes.shape[1]
    if layout == "NHWC":
        shape = (images, count, 4, input.shape[3] // 4)
    else:
        shape = (images, input.shape[1] // 4, count, 4)
    output = input.new_empty(shape, dtype=_float_type(input, boxes))
    return output, input.new_empty(shape, dtype=torch.int64)


def _save_border_align(ctx: Any, inputs: Any, output: Any) -> None:
    input, boxes, ctx.pool_size, ctx.layout = inputs
    ctx.input_shape, ctx.input_dtype = input.shape, input.dtype
    ctx.mark_non_differentiable(output[1])
    ctx.save_for_backward(boxes, output[1])


def _differentiate_border_align(ctx: Any, grad_output: Tensor, _: Any) -> Any:
    boxes, argmax = ctx.saved_tensors
    grad_input = border_align_backward(
        grad_output, boxes, argmax, ctx.input_shape, ctx.pool_size, ctx.layout
    )
    return grad_input.to(ctx.input_dtype), None, None, None


border_align.register_autograd(_differentiate_border_align, setup_context=_save_border_align)


@custom_op("detops::generate_proposals", mutates_args=())
def generate_proposals(
    scores: Tensor,
    bbox_deltas: Tensor,
    img_size: Tensor,
    anchors: Tensor,
    variances: Tensor,
    pre_nms_top_n: int = 6000,
    post_nms_top_n: int = 1000,
    nms_thresh: float = 0.5,
    min_size: float = 0.1,
    eta: float = 1.0,
    pixel_offset: bool = False,
    layout: str = "NCHW",
) -> tuple[Tensor, Tensor, Tensor]:
    return detops.generate_proposals(
        scores.detach(),
        bbox_deltas.detach(),
        img_size.detach(),
        anchors.detach(),
        variances.detach(),
        pre_nms_top_n,
        post_nms_top_n,
        nms_thresh,
        min_size,
        eta,
        pixel_offset,
        cast(Layout, layout),
    )


@generate_proposals.register_fake
def _(scores: Tensor, *_: Any, **__: Any) -> tuple[Tensor, Tensor, Tensor]:
    rows = get_ctx().new_dynamic_size()
    rois = scores.new_empty((rows, 4), dtype=torch.float32)
    probs = scores.new_empty((rows, 1), dtype=torch.float32)
    return rois, probs, scores.new_empty((scores.shape[0],), dtype=torch.int64)


@custom_op("detops::points_in_boxes", mutates_args=())
def points_in_boxes(points: Tensor, boxes: Tensor) -> Tensor:
    return detops.points_in_boxes(points.detach(), boxes.detach())


@points_in_boxes.register_fake
def _(points: Tensor, boxes: Tensor) -> Tensor:
    return points.new_empty(points.shape[:-1], dtype=torch.int64)

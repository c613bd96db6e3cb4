# SPDX-License-Identifier: Apache-2.0
"""A drop-in for paddle.vision.ops.generate_proposals, on Paddle's or any other arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import detops

from ._arguments import number, whole

if TYPE_CHECKING:
    from .._types import DlpackArray

__all__ = ["generate_proposals"]

_ALL = 2**31 - 1

ArrayT = TypeVar("ArrayT", bound="DlpackArray")


def generate_proposals(
    scores: ArrayT,
    bbox_deltas: Any,
    img_size: Any,
    anchors: Any,
    variances: Any,
    pre_nms_top_n: float = 6000,
    post_nms_top_n: float = 1000,
    nms_thresh: float = 0.5,
    min_size: float = 0.1,
    eta: float = 1.0,
    pixel_offset: bool = False,
    return_rois_num: bool = False,
    name: str | None = None,
) -> tuple[ArrayT, ArrayT, ArrayT | None]:
    """Region proposals of [N, A, H, W] scores and [N, 4A, H, W] deltas.

    As Paddle: three results, the counts int32 and None unless return_rois_num. post_nms_top_n of 0
    or less keeps all; nms_thresh of 0 or less means no suppression, and then all are kept, whatever
    post_nms_top_n says. Paddle's adaptive suppression (eta below 1) is refused.

    >>> import numpy as np
    >>> anchors = np.array([[[[0, 0, 9, 9]]]], np.float32)
    >>> generate_proposals(np.ones((1, 1, 1, 1), np.float32), np.zeros((1, 4, 1, 1), np.float32),
    ...                    np.array([[20, 20]], np.float32), anchors, np.ones_like(anchors))
    (array([[0., 0., 9., 9.]], dtype=float32), array([[1.]], dtype=float32), None)
    """
    function = "generate_proposals"
    suppresses = number(function, "nms_thresh", nms_thresh) > 0
    most = whole(function, "post_nms_top_n", post_nms_top_n) if suppresses else 0
    rois, probs, rois_num = detops.generate_proposals(
        scores,
        bbox_deltas,
        img_size,
        anchors,
        variances,
        whole(function, "pre_nms_top_n", pre_nms_top_n),
        most if most > 0 else _ALL,
        nms_thresh if suppresses else 1.0,  # no IoU is above 1
        min_size,
        eta,
        pixel_offset,
        dtype="int32",
    )
    return rois, probs, rois_num if return_rois_num else None

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any, Literal, overload

from .. import _core
from .._types import Array, ArrayT, Floats, IndexType, Indices, Layout, Numpy


@overload
def generate_proposals(
    scores: Numpy,
    bbox_deltas: Array,
    img_size: Array,
    anchors: Array,
    variances: Array,
    pre_nms_top_n: int = 6000,
    post_nms_top_n: int = 1000,
    nms_thresh: float = 0.5,
    min_size: float = 0.1,
    eta: float = 1.0,
    pixel_offset: bool = False,
    layout: Layout = "NCHW",
    return_rois_num: Literal[True] = True,
    dtype: IndexType = None,
) -> tuple[Floats, Floats, Indices]: ...
@overload
def generate_proposals(
    scores: Numpy,
    bbox_deltas: Array,
    img_size: Array,
    anchors: Array,
    variances: Array,
    pre_nms_top_n: int = 6000,
    post_nms_top_n: int = 1000,
    nms_thresh: float = 0.5,
    min_size: float = 0.1,
    eta: float = 1.0,
    pixel_offset: bool = False,
    layout: Layout = "NCHW",
    *,
    return_rois_num: Literal[False],
    dtype: IndexType = None,
) -> tuple[Floats, Floats]: ...
@overload
def generate_proposals(
    scores: ArrayT,
    bbox_deltas: Array,
    img_size: Array,
    anchors: Array,
    variances: Array,
    pre_nms_top_n: int = 6000,
    post_nms_top_n: int = 1000,
    nms_thresh: float = 0.5,
    min_size: float = 0.1,
    eta: float = 1.0,
    pixel_offset: bool = False,
    layout: Layout = "NCHW",
    return_rois_num: Literal[True] = True,
    dtype: IndexType = None,
) -> tuple[ArrayT, ArrayT, ArrayT]: ...
@overload
def generate_proposals(
    scores: ArrayT,
    bbox_deltas: Array,
    img_size: Array,
    anchors: Array,
    variances: Array,
    pre_nms_top_n: int = 6000,
    post_nms_top_n: int = 1000,
    nms_thresh: float = 0.5,
    min_size: float = 0.1,
    eta: float = 1.0,
    pixel_offset: bool = False,
    layout: Layout = "NCHW",
    *,
    return_rois_num: Literal[False],
    dtype: IndexType = None,
) -> tuple[ArrayT, ArrayT]: ...


def generate_proposals(
    scores: Array,
    bbox_deltas: Array,
    img_size: Array,
    anchors: Array,
    variances: Array,
    pre_nms_top_n: int = 6000,
    post_nms_top_n: int = 1000,
    nms_thresh: float = 0.5,
    min_size: float = 0.1,
    eta: float = 1.0,
    pixel_offset: bool = False,
    layout: Layout = "NCHW",
    return_rois_num: bool = True,
    dtype: IndexType = None,
) -> Any:
    """Region proposals of N images: top-k, decode, clip, drop the small, non-maximum suppression.

    scores: [N, A, H, W] float32, or [N, H, W, A] with layout="NHWC"
    bbox_deltas: [N, 4A, H, W] float32, or [N, H, W, 4A]
    img_size: [N, 2] float32, height and width
    anchors, variances: [H, W, A, 4] float32
    pre_nms_top_n: the best so many are decoded; 0 or less for all
    post_nms_top_n: at most so many are kept of each image
    nms_thresh: a proposal goes if it overlaps a better one by more than this; above 0, and from 1
        on it suppresses nothing
    min_size: shorter sides are dropped, as are those below 1
    eta: 1; there is no adaptive suppression
    pixel_offset: lengths count pixels
    return_rois_num: also how many each image has
    dtype: of these counts; int64 unless int32 is asked for

    Returns rois [R, 4], probs [R, 1] and rois_num [N], all images one after the other. An image
    without proposals gets one of zeros. A NaN score is the best of all and is returned as NaN; a
    proposal whose coordinates are NaN is dropped. On a CUDA device the call waits for R.

    >>> import numpy as np
    >>> scores = np.array([[[[.9, .1]]]], np.float32)  # one anchor at each of 1 x 2 places
    >>> deltas = np.zeros((1, 4, 1, 2), np.float32)
    >>> anchors = np.array([[[[0, 0, 9, 9]], [[4, 0, 30, 9]]]], np.float32)
    >>> rois, probs, count = generate_proposals(
    ...     scores, deltas, np.array([[20, 20]], np.float32), anchors, np.ones_like(anchors))
    >>> rois
    array([[ 0.,  0.,  9.,  9.],
           [ 4.,  0., 20.,  9.]], dtype=float32)
    >>> probs.ravel(), count
    (array([0.9, 0.1], dtype=float32), array([2]))
    """
    return _core.generate_proposals(
        scores,
        bbox_deltas,
        img_size,
        anchors,
        variances,
        pre_nms_top_n,
        post_nms_top_n,
        nms_thresh,
        min_size,
        eta,
        pixel_offset,
        layout,
        return_rois_num,
        dtype,
    )

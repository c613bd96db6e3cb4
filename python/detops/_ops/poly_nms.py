# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any, overload

from .. import _core
from .._types import Array, ArrayT, HostArray, IndexType, Indices, Numpy, Order


@overload
def poly_nms(
    dets: Numpy,
    iou_threshold: float,
    scores: Array | None = None,
    order: Order = "score",
    dtype: IndexType = None,
) -> Indices: ...
@overload
def poly_nms(
    dets: ArrayT,
    iou_threshold: float,
    scores: Array | None = None,
    order: Order = "score",
    dtype: IndexType = None,
) -> ArrayT: ...
@overload
def poly_nms(
    dets: HostArray,
    iou_threshold: float,
    scores: Array | None = None,
    order: Order = "score",
    dtype: IndexType = None,
) -> Indices: ...


def poly_nms(
    dets: Array,
    iou_threshold: float,
    scores: Array | None = None,
    order: Order = "score",
    dtype: IndexType = None,
) -> Any:
    """Non-maximum suppression of quadrilaterals, convex or concave.

    dets: [N, 9] float32 as x1, y1, ..., x4, y4, score, in either orientation; with scores apart
        [N, 8] or [N, 4, 2], or polygons of shapely or GeoPandas with four corners
    iou_threshold: a box goes if it overlaps a better one by more than this
    scores: [N] float32, where dets has none
    order: "score" for the best first, "index" for ascending indices, as the C function gives them
    dtype: of the indices; int64 unless int32 is asked for

    Returns the indices kept, [K]. On a CUDA device the call waits for K.

    Equal scores: the lower index is the better one. A NaN score is the best of all. A box without
    area, or with a NaN or infinite coordinate, is kept and suppresses nothing. With a threshold of
    1 or more all are kept; below 0 every pair counts as overlapping, so the best box alone is left;
    NaN is a ValueError.

    Decisions are those of exact arithmetic on the given coordinates, as float32, and on the
    threshold as float32: a box whose IoU equals it stays, and the order of the corners does not
    matter. float64 that loses more than a thousandth of a box's side is a RoundingWarning.

    >>> import numpy as np
    >>> dets = np.array([[0, 0, 1, 0, 1, 1, 0, 1, .7],
    ...                  [.1, 0, 1.1, 0, 1.1, 1, .1, 1, .8],
    ...                  [5, 5, 6, 5, 6, 6, 5, 6, .9]], np.float32)
    >>> poly_nms(dets, 0.5)
    array([2, 1])
    >>> poly_nms(dets[:, :8].reshape(-1, 4, 2), 0.5, scores=dets[:, 8], order="index")
    array([1, 2])
    >>> poly_nms([[0, 0, 2, 0, 2, 3, 0, 3, 2],
    ...           [0, 1, 3, 1, 3, 3, 0, 3, 1]], 0.5)  # the IoU is 4 / 8
    array([0, 1])
    """
    return _core.poly_nms(dets, iou_threshold, scores, order, dtype)

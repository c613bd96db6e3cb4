# SPDX-License-Identifier: Apache-2.0
"""Drop-ins for supervision's non-maximum suppression: sv.box_non_max_suppression and its sister.

predictions are [N, 5] as x1, y1, x2, y2, score, or [N, 6] with a class, and only boxes of the same
class suppress each other. As in supervision, the result is a mask [N], and an overlap equal to
iou_threshold does not suppress. supervision computes upright boxes in float64 and oriented ones
with OpenCV; detops in float32, and exactly: an overlap within 1e-6 of the threshold may decide
otherwise. float64 that loses more than a thousandth of a box's side is a RoundingWarning.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import detops

from .._convert import to_native
from ._arguments import boxes_of, number, read_predictions, refuse_shape
from ._greedy import Array, by_category, checked_metric, equal_scores, kept

__all__ = ["box_non_max_suppression", "oriented_box_non_max_suppression"]

Mask = NDArray[np.bool_]

_SHAPE = "(N, 5) or (N, 6)"


def box_non_max_suppression(
    predictions: Any, iou_threshold: float = 0.5, overlap_metric: Any = "IOU"
) -> Mask:
    """Which upright boxes are kept.

    overlap_metric: "IOU", "IOS" or a member of sv.OverlapMetric; "IOS" is the intersection over the
        area of the smaller box

    >>> predictions = np.array([[0, 0, 4, 4, .9, 0], [0, 0, 4, 4, .8, 0], [0, 0, 4, 4, .7, 1]])
    >>> box_non_max_suppression(predictions)
    array([ True, False,  True])
    """
    name = "box_non_max_suppression"
    metric = checked_metric(name, "overlap_metric", overlap_metric)
    threshold = _threshold(name, iou_threshold)
    values = read_predictions(name, predictions, 5, 6, _SHAPE)
    boxes = boxes_of(name, values, _SHAPE)
    mask = np.zeros(len(values), np.bool_)
    for order in _orders(values):
        mask[kept(boxes, order, metric, threshold)] = True
    return mask


def oriented_box_non_max_suppression(
    predictions: Any, oriented_boxes: Any, iou_threshold: float = 0.5, overlap_metric: Any = "IOU"
) -> Mask:
    """Which oriented boxes are kept: [N, 4, 2] or [N, 8] corners; of predictions, only the scores
    and classes count.

    overlap_metric: "IOU" alone, so far. The threshold is rounded to float32.

    >>> corners = np.array([[[10, 10], [50, 10], [50, 30], [10, 30]],
    ...                     [[11, 11], [51, 11], [51, 31], [11, 31]]], np.float32)
    >>> oriented_box_non_max_suppression([[0, 0, 0, 0, .9], [0, 0, 0, 0, .8]], corners)
    array([ True, False])
    """
    name = "oriented_box_non_max_suppression"
    if checked_metric(name, "overlap_metric", overlap_metric) != "IOU":
        raise ValueError(f'{name}: overlap_metric is "IOS", which is for upright boxes only')
    threshold = _threshold(name, iou_threshold)
    values = read_predictions(name, predictions, 5, 6, _SHAPE)
    what, expected = f"{name}: oriented_boxes", "(N, 4, 2) or (N, 8)"
    corners = to_native(oriented_boxes, what, expected, "corners", half_allowed=False)
    if corners.size == 0:
        corners = np.empty((0, 8), np.float32)
    if corners.shape[1:] not in ((4, 2), (8,)):
        refuse_shape(what, corners.shape, expected)
    if len(corners) != len(values):
        raise ValueError(f"{name}: {len(values)} predictions with {len(corners)} oriented_boxes")
    mask = np.zeros(len(values), np.bool_)
    for order in _orders(values):
        scores = equal_scores(order)
        mask[order[detops.poly_nms(corners[order], threshold, scores)]] = True
    return mask


def _threshold(function: str, iou_threshold: Any) -> float:
    threshold = number(function, "iou_threshold", iou_threshold)
    if not 0 <= threshold <= 1:
        raise ValueError(f"{function}: iou_threshold is {iou_threshold}; expected 0 to 1")
    return threshold


def _orders(values: Array) -> Any:
    """The order of each class by itself, ties as supervision has them."""
    order = np.flip(values[:, 4].argsort())
    return by_category(order, values[:, 5]) if values.shape[1] == 6 else [order]

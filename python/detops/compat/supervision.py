# SPDX-License-Identifier: Apache-2.0
"""Drop-ins for supervision's non-maximum suppression: sv.box_non_max_suppression and its sister.

predictions are [N, 5] as x1, y1, x2, y2, score, or [N, 6] with a class, and only boxes of the same
class suppress each other. As in supervision, the result is a mask [N], and an overlap equal to
iou_threshold does not suppress. supervision computes upright boxes in float64 and oriented ones
with OpenCV; detops in float32, and exactly: an overlap within 1e-6 of the threshold may decide
otherwise.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import detops

from ._greedy import Array, by_category, checked_metric, equal_scores, kept

__all__ = ["box_non_max_suppression", "oriented_box_non_max_suppression"]

Mask = NDArray[np.bool_]


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
    metric = checked_metric("box_non_max_suppression", "overlap_metric", overlap_metric)
    values = _read("box_non_max_suppression", predictions, iou_threshold)
    boxes = values[:, :4].astype(np.float32)
    mask = np.zeros(len(values), np.bool_)
    for order in _orders(values):
        mask[kept(boxes, order, metric, iou_threshold)] = True
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
    values = _read(name, predictions, iou_threshold)
    corners = np.asarray(oriented_boxes)
    if len(corners) != len(values):
        raise ValueError(f"{name}: {len(values)} predictions with {len(corners)} oriented_boxes")
    mask = np.zeros(len(values), np.bool_)
    for order in _orders(values):
        scores = equal_scores(order)
        mask[order[detops.poly_nms(corners[order], iou_threshold, scores)]] = True
    return mask


def _read(function: str, predictions: Any, iou_threshold: float) -> Array:
    if not 0 <= iou_threshold <= 1:
        raise ValueError(f"{function}: iou_threshold is {iou_threshold}; expected 0 to 1")
    values = np.asarray(predictions)
    if values.size == 0:
        return np.empty((0, 5))
    if values.ndim != 2 or values.shape[1] not in (5, 6):
        raise ValueError(f"{function}: predictions has shape {values.shape}; expected (N, 5|6)")
    return values


def _orders(values: Array) -> Any:
    """The order of each class by itself, ties as supervision has them."""
    order = np.flip(values[:, 4].argsort())
    return by_category(order, values[:, 5]) if values.shape[1] == 6 else [order]

# SPDX-License-Identifier: Apache-2.0
"""Suppression of NumPy's boxes in an order of the caller's, for the drop-ins that have their own.

``order`` has the indices of the boxes that take part, the best first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import detops

Array = NDArray[Any]
Order = NDArray[np.intp]

METRICS: Final = ("IOU", "IOS")


def checked_metric(function: str, argument: str, metric: Any) -> str:
    """The metric's name, also of an enum's member."""
    name = getattr(metric, "value", metric)
    if name not in METRICS:
        raise ValueError(f'{function}: {argument} is {metric!r}; expected "IOU" or "IOS"')
    return str(name)


def kept(boxes: Array, order: Order, metric: str, threshold: float) -> Order:
    """Those that no better box overlaps by more than threshold, the best first."""
    if metric == "IOU":
        return order[detops.nms(boxes[order], equal_scores(order), threshold)]
    return np.array([best for best, _ in merged(boxes, order, metric, threshold)], np.intp)


def merged(
    boxes: Array, order: Order, metric: str, threshold: float
) -> Iterator[tuple[int, Order]]:
    """Each box that is kept, with those that it suppresses, all of them the best first."""
    while len(order):
        best, others = int(order[0]), order[1:]
        suppressed = _overlaps(boxes[best : best + 1], boxes[others], metric) > threshold
        yield best, others[suppressed]
        order = others[~suppressed]


def by_category(order: Order, categories: Array) -> Iterator[Order]:
    """The order of each category by itself, in ascending order of categories."""
    for category in np.unique(categories):
        yield order[categories[order] == category]


def equal_scores(order: Order) -> NDArray[np.float32]:
    """With equal scores the lower index is the better one: boxes keep their order."""
    return np.zeros(len(order), np.float32)


def _overlaps(box: Array, others: Array, metric: str) -> Array:
    """[N] of a box [1, 4] with others [N, 4]; the area of the smaller one divides for "IOS"."""
    if metric == "IOU":
        return detops.bbox_overlaps(box, others).ravel()
    of_box = detops.bbox_overlaps(box, others, mode="iof")
    of_others = detops.bbox_overlaps(others, box, mode="iof")
    return np.maximum(of_box.ravel(), of_others.ravel())

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
_BLOCK: Final = 64  # boxes whose overlaps are computed in one call, also if another suppresses them


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
        best = order[:_BLOCK]
        overlaps = _overlaps(boxes[best], boxes[order], metric)
        undecided = np.ones(len(order), np.bool_)
        for i, box in enumerate(best):
            if undecided[i]:
                undecided[i] = False
                suppressed = undecided & (overlaps[i] > threshold)
                undecided ^= suppressed
                yield int(box), order[suppressed]
        order = order[undecided]


def by_category(order: Order, categories: Array) -> Iterator[Order]:
    """The order of each category by itself, in ascending order of categories."""
    for category in np.unique(categories):
        yield order[categories[order] == category]


def equal_scores(order: Order) -> NDArray[np.float32]:
    """With equal scores the lower index is the better one: boxes keep their order."""
    return np.zeros(len(order), np.float32)


def _overlaps(best: Array, boxes: Array, metric: str) -> Array:
    """[B, N] of boxes [B, 4] and [N, 4]; the area of the smaller one divides for "IOS"."""
    if metric == "IOU":
        return detops.bbox_overlaps(best, boxes)
    of_best = detops.bbox_overlaps(best, boxes, mode="iof")
    return np.maximum(of_best, detops.bbox_overlaps(boxes, best, mode="iof").T)

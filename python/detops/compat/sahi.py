# SPDX-License-Identifier: Apache-2.0
"""Drop-ins for the functions of sahi.postprocess.combine, without PyTorch.

predictions are [N, 6] as x1, y1, x2, y2, score, category; match_metric is "IOU", or "IOS" for the
intersection over the area of the smaller box. As in SAHI, an overlap equal to match_threshold
counts; a threshold of 0 or less matches all boxes; of equal scores the box with the smaller
x1, y1, x2, y2 is the better one. Boxes are computed with as float32, which is what SAHI passes;
float64 is rounded, with a RoundingWarning where that matters.

SAHI's own pipeline uses them after

    import sahi.postprocess.combine as combine
    from detops.compat import sahi
    combine.nms, combine.batched_nms = sahi.nms, sahi.batched_nms

There is no ``nmm``, which merges transitively.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._arguments import boxes_of, number, read_predictions
from ._greedy import Array, Order, by_category, checked_metric, kept, merged

__all__ = ["batched_greedy_nmm", "batched_nms", "greedy_nmm", "nms"]

_SHAPES = {5: "(N, 6), or (N, 5) without categories", 6: "(N, 6)"}


def nms(predictions: Any, match_metric: str = "IOU", match_threshold: float = 0.5) -> list[int]:
    """The indices kept, best first.

    >>> nms([[0, 0, 10, 10, .8, 0], [1, 0, 11, 10, .9, 0], [20, 0, 30, 10, .7, 0]])
    [1, 2]
    """
    boxes, order, _ = _read("nms", predictions)
    metric, threshold = _matching("nms", match_metric, match_threshold)
    return [int(i) for i in _nms(boxes, order, metric, threshold)]


def batched_nms(
    predictions: Any, match_metric: str = "IOU", match_threshold: float = 0.5
) -> list[int]:
    """nms of each category by itself; the indices kept of all of them, best first.

    >>> batched_nms([[0, 0, 10, 10, .8, 0], [1, 0, 11, 10, .9, 1], [0, 1, 10, 10, .7, 0]])
    [1, 0]
    """
    boxes, order, values = _read("batched_nms", predictions, columns=6)
    metric, threshold = _matching("batched_nms", match_metric, match_threshold)
    best = [_nms(boxes, own, metric, threshold) for own in by_category(order, values[:, 5])]
    indices = np.concatenate([order[:0], *best])
    return [int(i) for i in indices[np.argsort(-values[indices, 4], kind="stable")]]


def greedy_nmm(
    predictions: Any, match_metric: str = "IOU", match_threshold: float = 0.5
) -> dict[int, list[int]]:
    """Each index kept, with those to merge into it; best first.

    >>> greedy_nmm([[0, 0, 10, 10, .8, 0], [1, 0, 11, 10, .9, 0], [20, 0, 30, 10, .7, 0]])
    {1: [0], 2: []}
    """
    boxes, order, _ = _read("greedy_nmm", predictions)
    metric, threshold = _matching("greedy_nmm", match_metric, match_threshold)
    return _greedy_nmm(boxes, order, metric, threshold)


def batched_greedy_nmm(
    predictions: Any, match_metric: str = "IOU", match_threshold: float = 0.5
) -> dict[int, list[int]]:
    """greedy_nmm of each category by itself, one after the other.

    >>> batched_greedy_nmm([[0, 0, 10, 10, .8, 1], [1, 0, 11, 10, .9, 1], [0, 1, 10, 10, .7, 0]])
    {2: [], 1: [0]}
    """
    boxes, order, values = _read("batched_greedy_nmm", predictions, columns=6)
    metric, threshold = _matching("batched_greedy_nmm", match_metric, match_threshold)
    result: dict[int, list[int]] = {}
    for own in by_category(order, values[:, 5]):
        result.update(_greedy_nmm(boxes, own, metric, threshold))
    return result


def _read(function: str, predictions: Any, columns: int = 5) -> tuple[Array, Order, Array]:
    """Boxes, their order, and all that came; without categories five columns are enough."""
    expected = _SHAPES[columns]
    values = read_predictions(function, predictions, columns, np.inf, expected)
    x1, y1, x2, y2, scores = values[:, :5].T
    order = np.lexsort((y2, x2, y1, x1, -scores))
    return boxes_of(function, values, expected), order, values


def _matching(function: str, metric: Any, threshold: Any) -> tuple[str, float]:
    return (
        checked_metric(function, "match_metric", metric),
        number(function, "match_threshold", threshold),
    )


def _nms(boxes: Array, order: Order, metric: str, threshold: float) -> Order:
    return kept(boxes, order, metric, _just_below(threshold)) if threshold > 0 else order[:1]


def _greedy_nmm(boxes: Array, order: Order, metric: str, threshold: float) -> dict[int, list[int]]:
    if threshold <= 0:
        return {int(best): order[1:].tolist() for best in order[:1]}
    below = _just_below(threshold)
    return {best: others.tolist() for best, others in merged(boxes, order, metric, below)}


def _just_below(threshold: float) -> float:
    """What float32 overlaps exceed if they reach threshold, which SAHI compares as float32."""
    return float(np.nextafter(np.float32(threshold), np.float32(-np.inf)))

# SPDX-License-Identifier: Apache-2.0
"""Random arguments, by seed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def boxes(rng: np.random.Generator, count: int, side: float = 100) -> Array:
    corner = rng.uniform(0, side, (count, 2))
    return np.concatenate([corner, corner + rng.uniform(0, side / 3, (count, 2))], 1).astype("f")


def quads(rng: np.random.Generator, count: int, side: float = 60) -> Array:
    """Turned rectangles of either orientation, with scores that repeat."""
    centre = rng.uniform(0, side, (count, 1, 2))
    half = rng.uniform(2, 15, (count, 1, 2))
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * half
    angle = rng.uniform(0, 2 * np.pi, (count, 1))
    c, s = np.cos(angle), np.sin(angle)
    x, y = corners[..., 0], corners[..., 1]
    turned = np.stack([x * c - y * s, x * s + y * c], 2) + centre
    turned[::2] = turned[::2, ::-1]
    scores = rng.integers(0, 8, (count, 1)) / 8
    return np.concatenate([turned.reshape(count, 8), scores], 1).astype("f")


def features(
    rng: np.random.Generator, n: int, c: int, h: int, w: int, k: int
) -> tuple[Array, Array]:
    """[N, 4C, H, W] and boxes [N, K, 4], some beyond the image."""
    low = rng.uniform(-2, [w, h], (n, k, 2))
    high = rng.uniform(-2, [w + 2, h + 2], (n, k, 2))
    return rng.standard_normal((n, 4 * c, h, w)).astype("f"), np.concatenate([low, high], 2).astype(
        "f"
    )


def proposals(rng: np.random.Generator, n: int, a: int, h: int, w: int) -> dict[str, Array]:
    """Arguments of generate_proposals in NHWC."""
    ys, xs = np.meshgrid(np.arange(h) * 8, np.arange(w) * 8, indexing="ij")
    centre = np.stack([xs, ys], 2)[:, :, None]
    half = rng.uniform(2, 12, (a, 2))
    anchors = np.concatenate([centre - half, centre + half], 3).astype("f")
    return {
        "scores": rng.random((n, h, w, a)).astype("f"),
        "bbox_deltas": rng.normal(0, 0.3, (n, h, w, 4 * a)).astype("f"),
        "img_size": np.tile(np.array([[h * 8, w * 8]], "f"), (n, 1)),
        "anchors": anchors,
        "variances": np.full(anchors.shape, 0.5, "f"),
    }


def to_nchw(arguments: dict[str, Array]) -> dict[str, Array]:
    result = dict(arguments)
    for name in ("scores", "bbox_deltas"):
        result[name] = np.ascontiguousarray(arguments[name].transpose(0, 3, 1, 2))
    return result


def lidar(rng: np.random.Generator, batch: int, points: int, count: int) -> tuple[Array, Array]:
    cloud = rng.uniform(-10, 10, (batch, points, 3)) * [1, 1, 0.2]
    centre = rng.uniform(-10, 10, (batch, count, 3)) * [1, 1, 0.2]
    size = rng.uniform(0.5, 6, (batch, count, 3))
    heading = rng.uniform(-7, 7, (batch, count, 1))
    return cloud.astype("f"), np.concatenate([centre, size, heading], 2).astype("f")

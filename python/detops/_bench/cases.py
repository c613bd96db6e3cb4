# SPDX-License-Identifier: Apache-2.0
"""Questions that other libraries answer too. `detops bench` times all others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import detops

from . import peers

Array = NDArray[Any]
Answer = Callable[[], Any]


@dataclass
class Case:
    operator: str
    size: str
    detops: Answer
    # By name; each raises ImportError where the peer is not installed, before anything is timed.
    peers: dict[str, Callable[[], Answer]]


def floats(values: Any) -> Array:
    return np.asarray(values, np.float32)


def boxes(rng: np.random.Generator, count: int) -> Array:
    corner = rng.uniform(0, 25 * count**0.5, (count, 2))
    return floats(np.concatenate([corner, corner + rng.uniform(10, 50, (count, 2))], 1))


def clustered(rng: np.random.Generator, scattered: Array) -> Array:
    """What a detector gives: each of these boxes twenty times, a little moved and scaled."""
    found = np.repeat(scattered, 20, 0)
    moved = rng.normal(0, 0.05, found[:, :4].shape)
    if found.shape[1] == 4:
        return floats(found + moved * np.tile(found[:, 2:] - found[:, :2], 2))
    centre = found[:, :2] + moved[:, :2] * found[:, 2:4]
    size = found[:, 2:4] * np.exp(moved[:, 2:])
    return floats(
        np.concatenate([centre, size, found[:, 4:] + rng.normal(0, 3, (len(found), 1))], 1)
    )


def rotated_boxes(rng: np.random.Generator, count: int) -> Array:
    """cx, cy, w, h, degrees."""
    centre = rng.uniform(0, 25 * count**0.5, (count, 2))
    size = np.stack([rng.uniform(10, 50, count), rng.uniform(5, 25, count)], 1)
    return floats(np.concatenate([centre, size, rng.uniform(0, 180, (count, 1))], 1))


def corners(rotated: Array) -> Array:
    """[N, 8] of rotated boxes."""
    centre, half = rotated[:, None, :2], rotated[:, None, 2:4] / 2
    angle = np.deg2rad(rotated[:, 4:5].astype("f8"))
    c, s = np.cos(angle), np.sin(angle)
    local = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * half
    x, y = local[..., 0], local[..., 1]
    quads = np.stack([x * c - y * s, x * s + y * c], 2) + centre
    return floats(quads.reshape(-1, 8))


def as_quads(upright: Array) -> Array:
    return upright[:, [0, 1, 2, 1, 2, 3, 0, 3]]


def scores_of(rng: np.random.Generator, count: int) -> Array:
    """All different and above 0, so that everyone has the same order."""
    return ((rng.permutation(count) + 1) / (count + 1)).astype(np.float32)


def proposals(rng: np.random.Generator, n: int, a: int, h: int, w: int) -> dict[str, Array]:
    ys, xs = np.meshgrid(np.arange(h) * 4.0, np.arange(w) * 4.0, indexing="ij")
    centre = np.stack([xs, ys], 2)[:, :, None]
    half = np.array([[16, 8], [12, 12], [8, 16]])[:a]
    anchors = np.concatenate([centre - half, centre + half], 3).astype(np.float32)
    return {
        "scores": scores_of(rng, n * a * h * w).reshape(n, a, h, w),
        "bbox_deltas": rng.normal(0, 0.2, (n, 4 * a, h, w)).astype("f"),
        "img_size": np.tile(np.array([[h * 4, w * 4]], "f"), (n, 1)),
        "anchors": anchors,
        "variances": np.ones_like(anchors),
    }


def lidar(rng: np.random.Generator, points: int, count: int) -> tuple[Array, Array]:
    cloud = rng.uniform([-75, -75, -3], [75, 75, 3], (1, points, 3))
    centre = rng.uniform([-75, -75, -3], [75, 75, 3], (1, count, 3))
    size = rng.uniform([1, 1, 1], [5, 2, 2], (1, count, 3))
    heading = rng.uniform(-np.pi, np.pi, (1, count, 1))
    return cloud.astype("f"), np.concatenate([centre, size, heading], 2).astype(np.float32)


def rotated_case(rng: np.random.Generator, scene: str, rotated: Array) -> Case:
    scores, quads = scores_of(rng, len(rotated)), corners(rotated)
    return Case(
        "poly_nms",
        scene,
        partial(detops.poly_nms, quads, 0.1, scores),
        peers.rotated_nms(rotated, quads, scores, 0.1),
    )


def upright_cases(rng: np.random.Generator, scene: str, upright: Array) -> Iterator[Case]:
    scores, quads = scores_of(rng, len(upright)), as_quads(upright)
    answers = {
        "poly_nms": partial(detops.poly_nms, quads, 0.5, scores),
        "nms": partial(detops.nms, upright, scores, 0.5),
    }
    for name, answer in answers.items():
        yield Case(name, scene, answer, peers.nms(upright, scores, 0.5))


def cases() -> Iterator[Case]:
    rng = np.random.default_rng(23)
    for count in (100, 2000):
        a, b = boxes(rng, count), boxes(rng, count)
        yield Case(
            "bbox_overlaps",
            f"[{count},4] x [{count},4]",
            partial(detops.bbox_overlaps, a, b),
            peers.box_iou(a, b),
        )
    for count in (500, 2000, 10000):
        yield rotated_case(rng, f"{count} rotated boxes, scattered", rotated_boxes(rng, count))
    yield from upright_cases(rng, "10000 upright boxes, scattered", boxes(rng, 10000))
    dense = clustered(rng, rotated_boxes(rng, 500))
    case = rotated_case(rng, "10000 rotated boxes, clustered", dense)
    del case.peers["shapely"]  # takes half a minute for each call
    yield case
    dense = clustered(rng, boxes(rng, 500))
    yield from upright_cases(rng, "10000 upright boxes, clustered", dense)
    arguments = proposals(rng, 1, 3, 200, 304)
    limits = {"pre_nms_top_n": 12000, "post_nms_top_n": 2000}
    yield Case(
        "generate_proposals",
        "A 3, 200x304, pre 12000 post 2000",
        lambda: detops.generate_proposals(**arguments, **limits)[0],  # type: ignore[call-overload]
        peers.proposals(arguments, 12000, 2000, 0.5),
    )
    cloud, cubes = lidar(rng, 272414, 66)
    yield Case(
        "points_in_boxes",
        "[1,272414,3] in [1,66,7]",
        partial(detops.points_in_boxes, cloud, cubes),
        peers.points_in_boxes(cloud, cubes),
    )

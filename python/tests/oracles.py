# SPDX-License-Identifier: Apache-2.0
"""The operators in plain NumPy, written from the contract in each operator's README.

Slow and short; they share nothing with the library. Floats are rounded as the contract says, so
that results can be compared exactly where it fixes them.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
F = np.float32


def bbox_overlaps(a: Array, b: Array, mode: str, aligned: bool, offset: int) -> Array:
    dtype = a.dtype
    a, b, off = a.astype(F), b.astype(F), F(offset)
    area_a = (a[:, 2] - a[:, 0] + off) * (a[:, 3] - a[:, 1] + off)
    area_b = (b[:, 2] - b[:, 0] + off) * (b[:, 3] - b[:, 1] + off)
    if not aligned:
        a, area_a = a[:, None], area_a[:, None]
    lt, rb = np.maximum(a[..., :2], b[..., :2]), np.minimum(a[..., 2:], b[..., 2:])
    size = np.maximum(rb - lt + off, F(0))
    inter = size[..., 0] * size[..., 1]
    base = np.maximum(area_a + area_b - inter if mode == "iou" else area_a, off)
    with np.errstate(all="ignore"):
        result: Array = (inter / base).astype(dtype)
    return result


def _clip(polygon: list[Any], p: Any, q: Any) -> list[Any]:
    """The part of a polygon to the left of the line from p to q."""

    def side(v: Any) -> Any:
        return (q[0] - p[0]) * (v[1] - p[1]) - (q[1] - p[1]) * (v[0] - p[0])

    result = []
    for i, v in enumerate(polygon):
        u = polygon[i - 1]
        su, sv = side(u), side(v)
        if (su < 0) != (sv < 0) and su != 0 and sv != 0:
            t = su / (su - sv)
            result.append((u[0] + t * (v[0] - u[0]), u[1] + t * (v[1] - u[1])))
        if sv >= 0:
            result.append(v)
    return result


def _area(polygon: list[Any]) -> Any:
    return sum(
        polygon[i - 1][0] * v[1] - polygon[i - 1][1] * v[0] for i, v in enumerate(polygon)
    ) / Fraction(2)


def convex_iou(a: Array, b: Array) -> Fraction:
    """Exact IoU of two convex quadrilaterals of either orientation."""
    polygons = []
    for quad in (a, b):
        polygon = [(Fraction(float(x)), Fraction(float(y))) for x, y in quad.reshape(4, 2)]
        polygons.append(polygon if _area(polygon) >= 0 else polygon[::-1])
    areas = [_area(p) for p in polygons]
    if areas[0] == 0 or areas[1] == 0:
        return Fraction(0)
    common = polygons[0]
    for i, v in enumerate(polygons[1]):
        common = _clip(common, polygons[1][i - 1], v)
    inter = _area(common) if len(common) > 2 else Fraction(0)
    return Fraction(inter / (areas[0] + areas[1] - inter))


def score_order(scores: Array) -> Array:
    """NaN first, then falling, equal ones by index."""
    with np.errstate(invalid="ignore"):
        order: Array = np.lexsort((np.arange(len(scores)), -scores, ~np.isnan(scores)))
    return order


def poly_nms(dets: Array, threshold: float) -> list[int]:
    """Kept indices, the best first; convex quadrilaterals."""
    kept: list[int] = []
    for i in score_order(dets[:, 8]):
        if all(convex_iou(dets[i, :8], dets[k, :8]) <= F(threshold) for k in kept):
            kept.append(int(i))
    return kept


def _sample(plane: Array, x: np.float32, y: np.float32) -> Array:
    """Bilinear sample of [C, H, W] at one place."""
    height, width = plane.shape[1:]
    if not (-1 <= y <= height and -1 <= x <= width):
        return np.zeros(plane.shape[0], F)
    x, y = max(x, F(0)), max(y, F(0))
    xl, yl = int(x), int(y)
    if yl >= height - 1:
        yl = yh = height - 1
        y = F(yl)
    else:
        yh = yl + 1
    if xl >= width - 1:
        xl = xh = width - 1
        x = F(xl)
    else:
        xh = xl + 1
    ly, lx = F(y - F(yl)), F(x - F(xl))
    hy, hx = F(1) - ly, F(1) - lx
    result: Array = (
        (hy * hx * plane[:, yl, xl] + hy * lx * plane[:, yl, xh]) + ly * hx * plane[:, yh, xl]
    ) + ly * lx * plane[:, yh, xh]
    return result


def border_align(features: Array, boxes: Array, pool: int) -> tuple[Array, Array]:
    """[N, 4C, H, W] and [N, K, 4] to [N, C, K, 4], and the argmax."""
    dtype = features.dtype
    features, boxes = features.astype(F), boxes.astype(F)
    n, c, k = features.shape[0], features.shape[1] // 4, boxes.shape[1]
    output, argmax = np.zeros((n, c, k, 4), F), np.zeros((n, c, k, 4), np.int64)
    for i, j, border in np.ndindex(n, k, 4):
        x1, y1, x2, y2 = boxes[i, j]
        step = [((x2 - x1) / F(pool), F(0)), (F(0), (y2 - y1) / F(pool))][border % 2]
        x, y = (x1, y1) if border < 2 else (x2, y2)
        sign = F(1) if border < 2 else F(-1)
        plane = features[i, border * c : (border + 1) * c]
        best = None
        for sample in range(pool + 1):
            value = _sample(plane, x, y)
            if best is None:
                best = value
            else:
                greater = value > best
                best = np.where(greater, value, best)
                argmax[i, greater, j, border] = sample
            x, y = F(x + sign * step[0]), F(y + sign * step[1])
        output[i, :, j, border] = best
    return output.astype(dtype), argmax


def generate_proposals(
    scores: Array,
    deltas: Array,
    sizes: Array,
    anchors: Array,
    variances: Array,
    pre: int,
    post: int,
    threshold: float,
    min_size: float,
    pixel_offset: bool,
) -> tuple[Array, Array, Array]:
    """NHWC; exp is the machine's, so rois agree to a few ulp."""
    off = F(1 if pixel_offset else 0)
    anchors, variances = anchors.reshape(-1, 4), variances.reshape(-1, 4)
    all_rois, all_probs, counts = [], [], []
    for image in range(scores.shape[0]):
        score, delta = scores[image].ravel(), deltas[image].reshape(-1, 4)
        order = score_order(score)
        if 0 < pre < len(order):
            order = order[:pre]
        score, delta, box, var = score[order], delta[order], anchors[order], variances[order]
        sides = sizes[image]
        low, high = [], []
        for axis in (0, 1):
            length = (box[:, axis + 2] - box[:, axis]) + off
            centre = box[:, axis] + F(0.5) * length
            centre = centre + delta[:, axis] * length * var[:, axis]
            grown = np.exp(np.minimum(delta[:, axis + 2] * var[:, axis + 2], F(4.1351666)))
            half = grown * length * F(0.5)
            limit = sides[1 - axis] - off
            low.append(np.maximum(np.minimum(centre - half, limit), F(0)))
            high.append(np.maximum(np.minimum(centre + half - off, limit), F(0)))
        rois = np.stack([low[0], low[1], high[0], high[1]], 1)
        length_x, length_y = rois[:, 2] - rois[:, 0] + off, rois[:, 3] - rois[:, 1] + off
        least = max(F(min_size), F(1))
        good = (length_x >= least) & (length_y >= least)
        if pixel_offset:
            good &= rois[:, 0] + F(0.5) * length_x <= sides[1]
            good &= rois[:, 1] + F(0.5) * length_y <= sides[0]
        rois, score = rois[good], score[good]
        if len(rois) == 0:
            rois, score = np.zeros((1, 4), F), np.zeros(1, F)
            kept = [0]
        else:
            kept = []
            area = (rois[:, 2] - rois[:, 0] + off) * (rois[:, 3] - rois[:, 1] + off)
            for i in range(len(rois)):
                if len(kept) == post:
                    break
                others = rois[kept]
                lt = np.maximum(rois[i, :2], others[:, :2])
                size = np.maximum(np.minimum(rois[i, 2:], others[:, 2:]) - lt + off, F(0))
                inter = size[:, 0] * size[:, 1]
                if not np.any(inter / ((area[i] + area[kept]) - inter) > F(threshold)):
                    kept.append(i)
        all_rois.append(rois[kept])
        all_probs.append(score[kept, None])
        counts.append(len(kept))
    return np.concatenate(all_rois), np.concatenate(all_probs), np.array(counts)


def points_in_boxes(points: Array, boxes: Array) -> Array:
    result = np.full(points.shape[:2], -1)
    for batch in range(points.shape[0]):
        x, y, z = points[batch].T
        for t in range(boxes.shape[1] - 1, -1, -1):
            cx, cy, cz, dx, dy, dz, heading = boxes[batch, t]
            c, s = F(np.cos(-np.float64(heading))), F(np.sin(-np.float64(heading)))
            lx = (x - cx) * c - (y - cy) * s
            ly = (x - cx) * s + (y - cy) * c
            margin = np.float64(F(1e-5))
            inside = np.abs(z - cz) <= np.float64(dz) / 2
            inside &= np.abs(lx).astype(np.float64) < np.float64(dx) / 2 + margin
            inside &= np.abs(ly).astype(np.float64) < np.float64(dy) / 2 + margin
            result[batch, inside] = t
    return result

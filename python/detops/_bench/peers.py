# SPDX-License-Identifier: Apache-2.0
"""What users run today. Each function gives, by name, who answers a question; a peer is imported
when it is its turn, and gets its arguments in the form it likes, outside the timing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Answer = Callable[[], Any]
Peers = dict[str, Callable[[], Answer]]


def box_iou(a: Array, b: Array) -> Peers:
    def torchvision() -> Answer:
        import torch
        from torchvision.ops import box_iou

        ta, tb = torch.from_numpy(a), torch.from_numpy(b)
        return lambda: box_iou(ta, tb).numpy()

    def powerboxes() -> Answer:
        from powerboxes import parallel_iou_distance

        return lambda: 1 - parallel_iou_distance(a, b)

    def shapely() -> Answer:
        from shapely import area, box, intersection

        pa, pb = box(*a.T)[:, None], box(*b.T)[None]

        def ious() -> Array:
            inter = area(intersection(pa, pb))
            result: Array = inter / (area(pa) + area(pb) - inter)
            return result

        return ious

    few = {"shapely": shapely} if len(a) <= 200 else {}
    return {"torchvision": torchvision, "powerboxes": powerboxes, **few}


def nms(boxes: Array, scores: Array, threshold: float) -> Peers:
    def torchvision() -> Answer:
        import torch
        from torchvision.ops import nms

        tb, ts = torch.from_numpy(boxes), torch.from_numpy(scores)
        return lambda: np.sort(nms(tb, ts, threshold).numpy())

    def powerboxes() -> Answer:
        from powerboxes import rtree_nms

        double = scores.astype("f8")
        return lambda: np.sort(rtree_nms(boxes, double, threshold, -1.0))

    def lsnms() -> Answer:
        from lsnms import nms

        doubles, double = boxes.astype("f8"), scores.astype("f8")
        return lambda: np.sort(nms(doubles, double, threshold, 0.0))

    def opencv() -> Answer:
        import cv2

        corner_and_size = np.concatenate([boxes[:, :2], boxes[:, 2:] - boxes[:, :2]], 1)
        return lambda: np.sort(cv2.dnn.NMSBoxes(corner_and_size, scores, 0.0, threshold))

    return {"torchvision": torchvision, "powerboxes": powerboxes, "lsnms": lsnms, "opencv": opencv}


def rotated_nms(rotated: Array, quads: Array, scores: Array, threshold: float) -> Peers:
    """rotated as cx, cy, w, h, degrees, and the corners of the same boxes."""

    def powerboxes() -> Answer:
        from powerboxes import rtree_rotated_nms

        doubles, double = rotated.astype("f8"), scores.astype("f8")
        return lambda: np.sort(rtree_rotated_nms(doubles, double, threshold, -1.0))

    def opencv() -> Answer:
        import cv2

        rectangles = [((x, y), (w, h), angle) for x, y, w, h, angle in rotated.tolist()]
        return lambda: np.sort(cv2.dnn.NMSBoxesRotated(rectangles, scores, 0.0, threshold))

    def shapely() -> Answer:
        from shapely import STRtree, area, intersection, polygons

        shapes = polygons(quads.reshape(-1, 4, 2).astype("f8"))

        def keep() -> Array:
            areas = area(shapes)
            left, right = STRtree(shapes).query(shapes, predicate="intersects")
            inter = area(intersection(shapes[left], shapes[right]))
            over = inter / (areas[left] + areas[right] - inter) > threshold
            over &= scores[left] > scores[right]
            worse: dict[int, list[int]] = {}
            for i, k in zip(left[over].tolist(), right[over].tolist(), strict=True):
                worse.setdefault(i, []).append(k)
            kept = np.ones(len(scores), bool)
            for i in np.argsort(-scores).tolist():
                if kept[i]:
                    kept[worse.get(i, [])] = False
            return np.flatnonzero(kept)

        return keep

    # OpenCV compares all pairs.
    slow = {"opencv": opencv} if len(scores) <= 2000 else {}
    return {"powerboxes": powerboxes, "shapely": shapely, **slow}


def proposals(arguments: dict[str, Array], pre: int, post: int, threshold: float) -> Peers:
    def paddle() -> Answer:
        import paddle
        from paddle.vision.ops import generate_proposals

        tensors = {name: paddle.to_tensor(value) for name, value in arguments.items()}
        return lambda: generate_proposals(
            **tensors,
            pre_nms_top_n=pre,
            post_nms_top_n=post,
            nms_thresh=threshold,
            return_rois_num=True,
        )[0].numpy()

    def torchvision() -> Answer:
        import torch
        from torchvision.ops import clip_boxes_to_image, nms, remove_small_boxes

        t = {name: torch.from_numpy(value) for name, value in arguments.items()}

        def answer() -> Any:
            scores = t["scores"][0].permute(1, 2, 0).reshape(-1)
            deltas = t["bbox_deltas"][0].permute(1, 2, 0).reshape(-1, 4)
            best, index = scores.topk(pre)
            anchors, variances = t["anchors"].view(-1, 4)[index], t["variances"].view(-1, 4)[index]
            size = anchors[:, 2:] - anchors[:, :2]
            moved = deltas[index] * variances
            centre = anchors[:, :2] + size / 2 + moved[:, :2] * size
            half = size * moved[:, 2:].clamp(max=4.1351666).exp() / 2
            boxes = torch.cat([centre - half, centre + half], 1)
            boxes = clip_boxes_to_image(boxes, t["img_size"][0].tolist())
            large = remove_small_boxes(boxes, 1.0)
            boxes, best = boxes[large], best[large]
            return boxes[nms(boxes, best, threshold)[:post]].numpy()

        return answer

    return {"paddle": paddle, "torchvision": torchvision}


def points_in_boxes(points: Array, boxes: Array) -> Peers:
    def numpy() -> Answer:
        def answer() -> Array:
            result = np.full(points.shape[:2], -1)
            x, y, z = points[0].T
            for i in range(boxes.shape[1] - 1, -1, -1):
                cx, cy, cz, dx, dy, dz, heading = boxes[0, i]
                c, s = np.cos(heading), np.sin(heading)
                along, across = (x - cx) * c + (y - cy) * s, (y - cy) * c - (x - cx) * s
                inside = np.abs(z - cz) <= dz / 2
                inside &= (np.abs(along) < dx / 2 + 1e-5) & (np.abs(across) < dy / 2 + 1e-5)
                result[0, inside] = i
            return result

        return answer

    return {"numpy": numpy}

# SPDX-License-Identifier: Apache-2.0
"""Errors of the drop-ins name the function that was called, its argument, what came and what to
pass: each argument of each function made wrong in turn."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

import numpy as np
import pytest
import scenes
from frameworks import require

from detops.compat import openpcdet, sahi, supervision

RNG = np.random.default_rng(3)
BOXES, DETS = scenes.boxes(RNG, 6), scenes.quads(RNG, 6)
SCORES = RNG.random(6, dtype=np.float32)
PREDICTIONS = np.column_stack([BOXES, SCORES, np.zeros(6, "f")])
CLOUD, CUBES = scenes.lidar(RNG, 1, 20, 3)
PROPOSALS = scenes.to_nchw(scenes.proposals(RNG, 1, 2, 3, 3))
FEATURES = scenes.features(RNG, 1, 2, 5, 6, 3)

MATCHING = {"match_metric": "IOU", "match_threshold": 0.5}
OVERLAP = {"iou_threshold": 0.5, "overlap_metric": "IOU"}
# Of each function, arguments that are right. Arrays become tensors for those that take tensors.
CALLS: dict[str, dict[str, Any]] = {
    **{f"sahi.{name}": {"predictions": PREDICTIONS, **MATCHING} for name in sahi.__all__},
    "supervision.box_non_max_suppression": {"predictions": PREDICTIONS, **OVERLAP},
    "supervision.oriented_box_non_max_suppression": {
        "predictions": PREDICTIONS,
        "oriented_boxes": DETS[:, :8],
        **OVERLAP,
    },
    "openpcdet.points_in_boxes_gpu": {"points": CLOUD, "boxes": CUBES},
    "openpcdet.points_in_boxes_cpu": {"points": CLOUD[0], "boxes": CUBES[0]},
    "paddle.generate_proposals": {
        **PROPOSALS,
        "pre_nms_top_n": 10.0,
        "post_nms_top_n": 10,
        "nms_thresh": 0.5,
        "min_size": 0.1,
        "eta": 1.0,
    },
    "torchvision.nms": {"boxes": BOXES, "scores": SCORES, "iou_threshold": 0.5},
    "torchvision.box_iou": {"boxes1": BOXES, "boxes2": BOXES, "fmt": "xywh"},
    "mmcv.nms": {
        "boxes": BOXES,
        "scores": SCORES,
        "iou_threshold": 0.5,
        "offset": 0,
        "score_threshold": 0.1,
        "max_num": 3,
    },
    "mmcv.bbox_overlaps": {
        "bboxes1": BOXES,
        "bboxes2": BOXES,
        "mode": "iou",
        "aligned": False,
        "offset": 0,
    },
    "mmcv.border_align": {"input": FEATURES[0], "boxes": FEATURES[1], "pool_size": 3},
    "mmcv.points_in_boxes_part": {"points": CLOUD, "boxes": CUBES},
    "mmcv.nms_quadri": {"dets": DETS[:, :8], "scores": SCORES, "iou_threshold": 0.5},
}
ON_TENSORS = ("torchvision", "mmcv")


def load(name, arguments):
    """The function, how it is called, and its arguments in order."""
    module, function = name.split(".")
    if module in ON_TENSORS:
        torch = require("torch")
        arguments = {
            k: torch.tensor(v) if isinstance(v, np.ndarray) else v for k, v in arguments.items()
        }
    return getattr(importlib.import_module(f"detops.compat.{module}"), function), arguments


def wrong_values(right, tensors):
    """What is no such argument, whichever it is."""
    yield from (None, "words", object(), {})
    if hasattr(right, "shape"):
        yield from (7, True, [right, [1]])
        shapes = [(), (2,), (3, 2), (2, 3, 4, 5, 6), (1,) * 9]
        arrays = [np.zeros(shape, "f") for shape in shapes] + [np.array(["a", "b"])]
        if not tensors:
            yield from arrays
            return
        torch = require("torch")
        yield from (torch.tensor(array) for array in arrays[:-1])
        yield from (torch.zeros(right.shape, dtype=t) for t in (torch.complex64, torch.bool))
    elif not isinstance(right, str):
        yield from (float("nan"), [1], np.zeros(2))


@pytest.mark.parametrize("name", CALLS)
def test_every_argument_made_wrong_is_named(name):
    function, arguments = load(name, CALLS[name])
    shown = list(inspect.signature(function).parameters)
    assert list(arguments) == [parameter for parameter in shown if parameter in arguments]
    function(*arguments.values())
    for argument, right in arguments.items():
        for wrong in wrong_values(right, name.split(".")[0] in ON_TENSORS):
            with pytest.raises((TypeError, ValueError)) as error:
                function(*{**arguments, argument: wrong}.values())
            text, about = str(error.value), f"{function.__name__}: {argument} "
            assert text.startswith(about), f"{text!r} of {argument}={wrong!r}"
            assert "; " in text or "can't be read" in text, text  # what to pass


def test_all_functions_are_here():
    for module in ("sahi", "supervision", "openpcdet"):
        peers = importlib.import_module(f"detops.compat.{module}").__all__
        assert {f"{module}.{peer}" for peer in peers} <= CALLS.keys()
    require("torch")
    for module in ON_TENSORS:
        peers = importlib.import_module(f"detops.compat.{module}").__all__
        assert {f"{module}.{peer}" for peer in peers} - CALLS.keys() <= {"mmcv.BorderAlign"}


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: sahi.nms(None),
            "nms: predictions is None; expected an array of shape (N, 6), or (N, 5) without "
            "categories",
        ),
        (
            lambda: sahi.batched_nms(np.zeros((2, 3))),
            "batched_nms: predictions has shape (2, 3); expected (N, 6)",
        ),
        (
            lambda: sahi.greedy_nmm(PREDICTIONS, "IOU", None),
            "greedy_nmm: match_threshold is None; expected a number",
        ),
        (
            lambda: supervision.box_non_max_suppression(PREDICTIONS, iou_threshold=None),
            "box_non_max_suppression: iou_threshold is None; expected a number",
        ),
        (
            lambda: openpcdet.points_in_boxes_cpu(np.zeros((3, 2)), CUBES[0]),
            "points_in_boxes_cpu: points has shape (3, 2); expected (M, 3)",
        ),
        (
            lambda: openpcdet.points_in_boxes_gpu(np.zeros((1, 3, 2)), CUBES),
            "points_in_boxes_gpu: points has shape (1, 3, 2); expected (B, M, 3), or (M, 3)",
        ),
    ],
)
def test_what_the_texts_are(call, text):
    with pytest.raises((TypeError, ValueError)) as error:
        call()
    assert str(error.value) == text


def test_what_the_texts_of_tensors_are():
    torch = require("torch")
    from detops.compat import mmcv, torchvision

    boxes = torch.tensor(BOXES)
    for call, text in (
        (
            lambda: torchvision.nms(None, boxes[:, 0], 0.5),
            "nms: boxes is None; expected a PyTorch tensor of shape (N, 4)",
        ),
        (
            lambda: torchvision.box_iou(boxes, torch.zeros(2, 3)),
            "box_iou: boxes2 has shape (2, 3); expected (N, 4)",
        ),
        (
            lambda: mmcv.nms(None, boxes[:, 0], 0.5),
            "nms: boxes is None; expected a PyTorch tensor or NumPy array of shape (N, 4)",
        ),
        (
            lambda: mmcv.nms(boxes, boxes[:3, 0], 0.5),
            "nms: scores has shape (3,), but boxes has (6, 4); expected (N,) with boxes of (N, 4)",
        ),
        (
            lambda: mmcv.nms_quadri(torch.zeros(2, 8), torch.zeros(3), 0.5),
            "nms_quadri: scores has shape (3,), but dets has (2, 8); expected (N,) with dets of "
            "(N, 8) or (N, 4, 2)",
        ),
        (
            lambda: mmcv.points_in_boxes_part(torch.zeros(1, 5, 2), torch.zeros(1, 5, 7)),
            "points_in_boxes_part: points has shape (1, 5, 2); expected (B, M, 3), or (M, 3)",
        ),
        (
            lambda: mmcv.BorderAlign(None)(torch.zeros(1, 4, 2, 2), torch.zeros(1, 1, 4)),
            "border_align: pool_size is None; expected an integer",
        ),
    ):
        with pytest.raises((TypeError, ValueError)) as error:
            call()
        assert str(error.value) == text


def test_numpy_arrays_of_mmcv_that_tensors_can_not_be():
    """Masks, bytes in the other order and negative strides."""
    require("torch")
    from detops.compat import mmcv

    _, expected = mmcv.nms(BOXES, SCORES, 0.5)
    for boxes in (BOXES.astype(BOXES.dtype.newbyteorder()), BOXES[::-1].copy()[::-1]):
        np.testing.assert_array_equal(mmcv.nms(boxes, SCORES, 0.5)[1], expected)
    with pytest.raises(TypeError, match="nms: boxes is a masked array; pass"):
        mmcv.nms(np.ma.masked_less(BOXES, 3), SCORES, 0.5)
    with pytest.raises(TypeError, match="nms: boxes has dtype <U1; pass float32"):
        mmcv.nms(np.full((6, 4), "a"), SCORES, 0.5)

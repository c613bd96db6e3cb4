# SPDX-License-Identifier: Apache-2.0
"""The drop-ins for suppression, each held against its peer where that is installed."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import scenes
from frameworks import require

from detops.compat import sahi, supervision

F = np.float32
SEEDS = range(4)
THRESHOLDS = (0.0, 0.25, 0.5, 0.7, 1.0)


def predictions(seed: int, count: int, categories: int = 3, grid: int = 0) -> np.ndarray:
    """[N, 6] with scores that repeat. On a grid IoUs often equal a threshold, and boxes repeat."""
    rng = np.random.default_rng(seed)
    boxes = scenes.boxes(rng, count, 100 if grid == 0 else grid)
    if grid:
        boxes = np.round(boxes)
        boxes[:, 2:] = np.maximum(boxes[:, 2:], boxes[:, :2] + 1)
    scores = rng.integers(1, 20, count) / 20
    return np.c_[boxes, scores, rng.integers(0, categories, count)].astype(F)


def recorded(function, calls):
    """The function, which also notes that it was called."""

    def call(*arguments, **options):
        calls.append(function.__name__)
        return function(*arguments, **options)

    return call


SCENES = [
    predictions(seed, count, grid=grid) for seed in SEEDS for count, grid in ((60, 0), (200, 9))
]


# --- SAHI ---
@pytest.mark.parametrize("function", sahi.__all__)
@pytest.mark.parametrize("metric", ["IOU", "IOS"])
@pytest.mark.parametrize("threshold", [-0.5, 0.0, 0.25, 0.6, 1.0])
def test_sahi(function, metric, threshold):
    peer = getattr(require("sahi.postprocess.combine"), function)
    drop_in = getattr(sahi, function)
    for scene in SCENES:
        expected = peer(scene, metric, threshold)
        actual = drop_in(scene, metric, threshold)
        assert actual == expected
        if isinstance(expected, dict):
            assert list(actual) == list(expected)  # their order
    assert drop_in(scene[:0], metric, threshold) == peer(scene[:0], metric, threshold)
    assert drop_in(scene) == peer(scene)


def test_sahi_with_so_many_boxes_that_it_searches():
    combine = require("sahi.postprocess.combine")
    scene = predictions(5, 2500)
    scene[:, :4] += np.random.default_rng(6).uniform(0, 300, (2500, 1)).astype(F)
    for metric in ("IOU", "IOS"):
        assert sahi.nms(scene, metric, 0.5) == combine.nms(scene, metric, 0.5)
        assert sahi.greedy_nmm(scene, metric, 0.5) == combine.greedy_nmm(scene, metric, 0.5)


def test_sahi_with_its_functions_replaced(monkeypatch):
    combine = require("sahi.postprocess.combine")
    prediction = require("sahi.prediction")
    scene = predictions(7, 100)

    def processed(agnostic):
        objects = [
            prediction.ObjectPrediction(
                bbox=row[:4].tolist(),
                category_id=int(row[5]),
                score=float(row[4]),
                shift_amount=[0, 0],
            )
            for row in scene
        ]
        keep = combine.NMSPostprocess(0.5, "IOU", agnostic)(objects)
        return [(kept.bbox.to_xyxy(), kept.category.id, kept.score.value) for kept in keep]

    expected = processed(True), processed(False)
    calls = []
    for name in ("nms", "batched_nms"):
        monkeypatch.setattr(combine, name, recorded(getattr(sahi, name), calls))
    assert (processed(True), processed(False)) == expected
    assert calls == ["nms", "batched_nms"]


# --- supervision ---
@pytest.mark.parametrize("metric", ["IOU", "IOS"])
@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_supervision_upright(metric, threshold):
    sv = require("supervision")
    for scene, columns in product(SCENES, (5, 6)):
        rows = scene[:, :columns]
        member = getattr(sv.OverlapMetric, metric)
        expected = sv.box_non_max_suppression(rows, threshold, member)
        for same in (member, metric):
            actual = supervision.box_non_max_suppression(rows, threshold, same)
            assert actual.dtype == np.bool_
            np.testing.assert_array_equal(actual, expected)
    none = supervision.box_non_max_suppression(scene[:0], threshold, metric)
    assert none.shape == (0,) and none.dtype == np.bool_


@pytest.mark.parametrize("threshold", [0.05, 0.3, 0.5, 0.7])
@pytest.mark.parametrize("shape", [(-1, 4, 2), (-1, 8)], ids=str)
def test_supervision_oriented(threshold, shape):
    sv = require("supervision")
    kept = []
    for seed, columns in product(SEEDS, (5, 6)):
        quads = scenes.quads(np.random.default_rng(seed), 80, side=20)
        rows = np.c_[quads[:, :4], quads[:, 8], np.arange(80) % 2][:, :columns]
        corners = quads[:, :8].reshape(shape)
        expected = sv.oriented_box_non_max_suppression(rows, corners, threshold)
        actual = supervision.oriented_box_non_max_suppression(rows, corners, threshold)
        np.testing.assert_array_equal(actual, expected)
        kept.append(actual.mean())
    assert 0 < min(kept) < 1
    assert supervision.oriented_box_non_max_suppression(rows[:0], corners[:0]).shape == (0,)


def test_supervision_with_its_functions_replaced(monkeypatch):
    sv = require("supervision")
    core = require("supervision.detection.core")
    scene = predictions(8, 100)
    detections = sv.Detections(
        xyxy=scene[:, :4], confidence=scene[:, 4], class_id=scene[:, 5].astype(int)
    )
    expected = detections.with_nms(0.4)
    calls = []
    drop_in = recorded(supervision.box_non_max_suppression, calls)
    monkeypatch.setattr(core, "box_non_max_suppression", drop_in)
    assert detections.with_nms(0.4) == expected
    assert calls == ["box_non_max_suppression"]


# --- what both refuse ---
@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda p: sahi.nms(p, "GIOU"), "nms: match_metric is 'GIOU'"),
        (lambda p: sahi.greedy_nmm(p, "iou"), "greedy_nmm: match_metric"),
        (lambda p: supervision.box_non_max_suppression(p, 1.5), "iou_threshold is 1.5"),
        (lambda p: supervision.box_non_max_suppression(p, 0.5, "GIOU"), "overlap_metric is 'GIOU'"),
        (lambda p: supervision.box_non_max_suppression(p[:, :4]), r"has shape \(60, 4\)"),
        (
            lambda p: supervision.oriented_box_non_max_suppression(
                p, np.zeros((60, 8)), 0.5, "IOS"
            ),
            "upright boxes only",
        ),
        (
            lambda p: supervision.oriented_box_non_max_suppression(p, np.zeros((3, 8))),
            "60 predictions with 3 oriented_boxes",
        ),
    ],
)
def test_wrong_calls_name_function_and_argument(call, text):
    with pytest.raises(ValueError, match=text):
        call(SCENES[0])


# --- torchvision ---
@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_torchvision_nms(dtype, threshold):
    torch = require("torch")
    ops = require("torchvision.ops")
    from detops.compat import torchvision

    for scene in SCENES:
        boxes = torch.tensor(scene[:, :4]).to(getattr(torch, dtype))
        # Distinct: torchvision does not say which of equal scores comes first.
        scores = torch.randperm(len(boxes), generator=torch.Generator().manual_seed(1))
        scores = scores.to(boxes.dtype)
        expected = ops.nms(boxes.float(), scores.float(), threshold)  # its CPU code has no float16
        actual = torchvision.nms(boxes.requires_grad_(), scores, iou_threshold=threshold)
        assert actual.dtype == torch.int64 and actual.equal(expected)
    assert torchvision.nms(boxes[:0], scores[:0], threshold).equal(expected[:0])


@pytest.mark.parametrize("fmt", ["xyxy", "xywh", "cxcywh"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int64", "int32"])
def test_torchvision_box_iou(fmt, dtype):
    torch = require("torch")
    ops = require("torchvision.ops")
    from detops.compat import torchvision

    both = [torch.tensor(scene[:, :4]) for scene in SCENES[:2]]
    both = [ops.box_convert(b, "xyxy", fmt).round().to(getattr(torch, dtype)) for b in both]
    expected = ops.box_iou(*both, fmt=fmt)
    actual = torchvision.box_iou(*both, fmt=fmt)
    assert actual.dtype == expected.dtype
    # Corners with halves, which float16 does not hold: torchvision computes with their rounding.
    tolerance = 0.02 if dtype == "float16" else 1e-6
    torch.testing.assert_close(actual, expected, rtol=0, atol=tolerance, equal_nan=True)
    if dtype == "float32":
        assert actual.equal(expected) or torch.isnan(expected).any()
    assert torchvision.box_iou(both[0][:0], both[1], fmt=fmt).shape == (0, len(both[1]))


def test_torchvision_box_iou_refuses_what_it_has_not():
    torch = require("torch")
    from detops.compat import torchvision

    with pytest.raises(ValueError, match="box_iou: fmt is 'xywhr'"):
        torchvision.box_iou(torch.zeros(1, 5), torch.zeros(1, 5), fmt="xywhr")
    with pytest.raises(ValueError):
        torchvision.box_iou(torch.zeros(2, 3, 4), torch.zeros(2, 3, 4))
    with pytest.raises(TypeError):  # rather than drop a gradient
        torchvision.box_iou(torch.zeros(3, 4, requires_grad=True), torch.zeros(3, 4))


# --- mmcv ---
def mmcv_nms(boxes, scores, threshold, offset=0, score_threshold=0, max_num=-1):
    """As nms_cpu of mmcv has it, in float32."""
    order = [i for i in np.argsort(-scores, kind="stable") if scores[i] > score_threshold]
    if score_threshold <= 0:
        order = list(np.argsort(-scores, kind="stable"))
    x1, y1, x2, y2 = boxes.T
    areas = (x2 - x1 + F(offset)) * (y2 - y1 + F(offset))
    kept = []
    for i in order:
        w = np.maximum(F(0), np.minimum(x2[i], x2[kept]) - np.maximum(x1[i], x1[kept]) + F(offset))
        h = np.maximum(F(0), np.minimum(y2[i], y2[kept]) - np.maximum(y1[i], y1[kept]) + F(offset))
        inter = w * h
        with np.errstate(invalid="ignore"):
            if not np.any(inter / (areas[i] + areas[kept] - inter) > F(threshold)):
                kept.append(i)
    return np.array(kept[:max_num] if max_num > 0 else kept, np.int64)


@pytest.mark.parametrize("offset", [0, 1])
@pytest.mark.parametrize(
    "other",
    [{}, {"score_threshold": 0.3}, {"max_num": 5}, {"score_threshold": 0.5, "max_num": 3}],
    ids=str,
)
@pytest.mark.parametrize("threshold", [0.0, 0.25, 0.6])
def test_mmcv_nms(offset, other, threshold):
    torch = require("torch")
    from detops.compat import mmcv

    for scene in SCENES:
        boxes, scores = np.round(scene[:, :4]), np.ascontiguousarray(scene[:, 4])
        expected = mmcv_nms(boxes, scores, threshold, offset, **other)
        dets, kept = mmcv.nms(boxes, scores, threshold, offset, **other)
        assert isinstance(dets, np.ndarray) and kept.dtype == np.int64
        np.testing.assert_array_equal(kept, expected)
        np.testing.assert_array_equal(dets, np.c_[boxes, scores][expected])
        tensors = torch.tensor(boxes, requires_grad=True), torch.tensor(scores)
        dets, kept = mmcv.nms(*tensors, iou_threshold=threshold, offset=offset, **other)
        np.testing.assert_array_equal(kept.numpy(), expected)
        assert dets.requires_grad and dets.shape == (len(expected), 5)
    none, inds = mmcv.nms(boxes[:0], scores[:0], threshold, offset, **other)
    assert none.shape == (0, 5) and inds.shape == (0,)


def test_mmcv_itself_agrees_on_nms():
    torch = require("torch")
    peer = require("mmcv.ops").nms
    from detops.compat import mmcv

    for scene, offset in product(SCENES, (0, 1)):
        boxes = torch.tensor(scene[:, :4]).round()
        scores = torch.randperm(len(boxes)).float()
        for expected, actual in zip(
            peer(boxes, scores, 0.5, offset), mmcv.nms(boxes, scores, 0.5, offset), strict=True
        ):
            assert actual.equal(expected)


def test_mmcv_nms_refuses_other_offsets():
    require("torch")
    from detops.compat import mmcv

    with pytest.raises(ValueError, match="nms: offset is 2"):
        mmcv.nms(np.zeros((1, 4), F), np.zeros(1, F), 0.5, offset=2)

# SPDX-License-Identifier: Apache-2.0
"""The drop-ins against their peers' formulas, and against Paddle itself where it is installed."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import scenes
from frameworks import require

import detops
from detops.compat import openpcdet
from detops.compat._margins import size_for_limit, with_margin
from detops.compat.paddle import generate_proposals

F = np.float32


def held_by(points, boxes, margin, bottom):
    """check_pt_in_box3d of mmcv (bottom, no margin) and of OpenPCDet, for all pairs: [T, M]."""
    rows = []
    for cx, cy, cz, dx, dy, dz, heading in boxes:
        if bottom:
            cz = F(np.float64(cz) + np.float64(dz) / 2)
        c, s = F(np.cos(-np.float64(heading))), F(np.sin(-np.float64(heading)))
        x, y, z = points.T
        lx, ly = (x - cx) * c + (y - cy) * -s, (x - cx) * s + (y - cy) * c
        limit = np.float64(F(margin))
        rows.append(
            (np.abs(z - cz) <= np.float64(dz) / 2)
            & (np.abs(lx).astype("f8") < np.float64(dx) / 2 + limit)
            & (np.abs(ly).astype("f8") < np.float64(dy) / 2 + limit)
        )
    return np.array(rows).reshape(len(boxes), len(points))


def on_the_border(seed):
    """Points a few floats around the faces of axis-parallel boxes, where margins decide."""
    rng = np.random.default_rng(seed)
    boxes = np.zeros((12, 7), "f")
    boxes[:, 3:6] = rng.uniform(0.001, 50, (12, 3))
    faces = []
    for margin in (0, 1e-5, 1e-2):
        for box in boxes:
            edge = F(np.float64(box[3]) / 2 + np.float64(F(margin)))
            for step in range(-3, 4):
                faces.append([edge + step * np.spacing(edge), 0, 0])
    return np.array(faces, "f"), boxes


def first_of(held):
    return np.where(held.any(0), held.argmax(0), -1)


@pytest.mark.parametrize("margin", [0.0, 1e-2])
def test_sizes_for_other_margins_decide_alike(margin):
    for seed in range(20):
        points, boxes = on_the_border(seed)
        expected = held_by(points, boxes, margin, bottom=False)
        adjusted = with_margin(np, boxes, margin)
        assert adjusted.dtype == np.float32
        for box, row in zip(adjusted, expected, strict=True):
            actual = detops.points_in_boxes(points[None], box[None, None])[0]
            np.testing.assert_array_equal(actual == 0, row)
        assert expected.any() and not expected.all()


def test_sizes_for_other_margins_are_those_of_tensors_too():
    torch = require("torch")
    for seed in range(5):
        _, boxes = on_the_border(seed)
        adjusted = with_margin(torch, torch.tensor(boxes), 1e-2)
        assert adjusted.dtype == torch.float32
        np.testing.assert_array_equal(adjusted.numpy(), with_margin(np, boxes, 1e-2))


def test_sizes_at_the_ends_of_the_range():
    sizes = size_for_limit(np, np.array([0.0, -1.0, np.inf, np.nan, 1e30]))
    assert sizes[:2].tolist() == [-1, -1] and sizes[2] == np.inf
    assert not sizes[3] > 0 and sizes[4] > 1e30


def test_mmcv_points_in_boxes_part():
    torch = require("torch")
    from detops.compat import mmcv

    for seed in range(10):
        cloud, boxes = scenes.lidar(np.random.default_rng(seed), 2, 400, 8)
        result = mmcv.points_in_boxes_part(torch.tensor(cloud), torch.tensor(boxes))
        assert result.dtype == torch.int32
        for batch in range(2):
            expected = first_of(held_by(cloud[batch], boxes[batch], 0.0, bottom=True))
            np.testing.assert_array_equal(result[batch].numpy(), expected)


@pytest.mark.parametrize("points", [0, 1, 400, 10_000])
def test_openpcdet(points):
    """With so few points that one call takes all boxes, and so many that each box has its own."""
    for seed in range(5):
        cloud, boxes = scenes.lidar(np.random.default_rng(seed), 1, points, 8)
        gpu = openpcdet.points_in_boxes_gpu(cloud, boxes)
        assert gpu.dtype == np.int32
        expected = held_by(cloud[0], boxes[0], 1e-5, bottom=False)
        np.testing.assert_array_equal(gpu[0], first_of(expected))

        cpu = openpcdet.points_in_boxes_cpu(cloud[0], boxes[0])
        assert isinstance(cpu, np.ndarray) and cpu.dtype == np.int32
        np.testing.assert_array_equal(cpu, held_by(cloud[0], boxes[0], 1e-2, bottom=False))
    assert openpcdet.points_in_boxes_cpu(cloud[0], boxes[0, :0]).shape == (0, points)


def test_openpcdet_refuses_other_shapes():
    cloud, boxes = scenes.lidar(np.random.default_rng(1), 1, 10, 3)
    for wrong in (boxes[0, :, :6], boxes, boxes[0, 0]):
        with pytest.raises(ValueError, match="points_in_boxes_cpu: boxes has shape"):
            openpcdet.points_in_boxes_cpu(cloud[0], wrong)
    with pytest.raises(ValueError, match="points"):
        openpcdet.points_in_boxes_cpu(cloud[0, :, :2], boxes[0])


def test_openpcdet_on_tensors():
    torch = require("torch")
    cloud, boxes = scenes.lidar(np.random.default_rng(1), 1, 400, 8)
    gpu = openpcdet.points_in_boxes_gpu(torch.tensor(cloud), torch.tensor(boxes))
    np.testing.assert_array_equal(gpu.numpy(), openpcdet.points_in_boxes_gpu(cloud, boxes))
    learned = torch.tensor(boxes[0], requires_grad=True)
    cpu = openpcdet.points_in_boxes_cpu(torch.tensor(cloud[0]), learned)
    assert isinstance(cpu, torch.Tensor) and cpu.dtype == torch.int32
    np.testing.assert_array_equal(cpu.numpy(), openpcdet.points_in_boxes_cpu(cloud[0], boxes[0]))


def test_mmcv_bbox_overlaps():
    torch = require("torch")
    from detops.compat import mmcv

    boxes = torch.tensor(scenes.boxes(np.random.default_rng(1), 6))
    expected = detops.bbox_overlaps(boxes, boxes)
    assert mmcv.bbox_overlaps(boxes, boxes).equal(expected)
    assert mmcv.bbox_overlaps(boxes.clone().requires_grad_(), boxes).equal(expected)
    assert mmcv.bbox_overlaps(boxes, boxes, aligned=True).shape == (6,)
    assert mmcv.bbox_overlaps(boxes.double(), boxes.double()).dtype == torch.float64
    empty = torch.tensor([])
    assert mmcv.bbox_overlaps(empty, boxes).shape == (0, 6)
    assert mmcv.bbox_overlaps(boxes, empty).shape == (6, 0)
    assert mmcv.bbox_overlaps(empty, empty).shape == (0, 0)
    none = torch.zeros(0, 4)
    assert mmcv.bbox_overlaps(none, none, aligned=True).shape == (0,)
    assert mmcv.bbox_overlaps(empty, empty, aligned=True).shape == (0,)
    assert mmcv.bbox_overlaps(none.double(), boxes.double()).dtype == torch.float64


@pytest.mark.parametrize(
    ("shapes", "options"),
    [
        (((0, 4), (3, 4)), {"aligned": True}),
        (((3, 4), (0, 4)), {"aligned": True}),
        (((0, 4), (3, 5)), {}),
        (((3, 5), (0, 4)), {}),
        (((0, 4), (0, 4)), {"mode": "giou"}),
        (((3, 4), (3, 4)), {"mode": "giou"}),
        (((0, 4), (0, 4)), {"offset": 2}),
    ],
    ids=str,
)
def test_mmcv_bbox_overlaps_refuses_what_mmcv_does(shapes, options):
    torch = require("torch")
    from detops.compat import mmcv

    with pytest.raises(ValueError, match=": "):
        mmcv.bbox_overlaps(*map(torch.zeros, shapes), **options)


def test_mmcv_border_align():
    torch = require("torch")
    from detops.compat import mmcv

    features, boxes = map(torch.tensor, scenes.features(np.random.default_rng(1), 2, 3, 5, 6, 4))
    layer = mmcv.BorderAlign(pool_size=3)
    assert repr(layer) == "BorderAlign(pool_size=3)"
    expected = detops.border_align(features, boxes, 3)
    assert layer(features, boxes).equal(expected)
    leaf = features.clone().requires_grad_()
    pooled = mmcv.border_align(leaf, boxes, 3)
    assert pooled.equal(expected)
    pooled.sum().backward()
    # Each sample that lies inside shares out a weight of one.
    assert 0 < leaf.grad.sum() <= pooled.numel()


def test_mmcv_nms_quadri():
    torch = require("torch")
    from detops.compat import mmcv

    dets = torch.tensor(scenes.quads(np.random.default_rng(1), 40))
    kept_dets, kept = mmcv.nms_quadri(dets[:, :8], dets[:, 8], 0.2, labels=torch.zeros(40))
    assert kept.dtype == torch.int64
    assert kept.equal(detops.poly_nms(dets, 0.2, order="score"))
    assert kept_dets.equal(dets[kept])
    # Where mmcv has an IoU of 0.08.
    apart = torch.tensor([[0, 0, 4, 0, 6, 2, 2, 2], [0.1, 1, 0.9, 1, 0.9, 1.8, 0.1, 1.8]])
    assert len(mmcv.nms_quadri(apart, torch.tensor([1.0, 2.0]), 0.0)[1]) == 2
    none, indices = mmcv.nms_quadri(dets[:0, :8], dets[:0, 8], 0.2)
    assert none.shape == (0, 8) and indices is None


def test_paddle_conventions():
    arguments = scenes.to_nchw(scenes.proposals(np.random.default_rng(1), 2, 3, 4, 5))
    rois, probs, count = generate_proposals(**arguments, return_rois_num=True)
    assert count.dtype == np.int32 and count.sum() == len(rois) == len(probs)
    assert generate_proposals(**arguments)[2] is None
    with pytest.raises(ValueError, match="eta"):
        generate_proposals(**arguments, eta=0.9)
    with pytest.raises(ValueError, match="nms_thresh"):
        generate_proposals(**arguments, nms_thresh=float("nan"))


@pytest.mark.parametrize("post_nms_top_n", [0, -1])
def test_paddle_keeps_all_for_no_post_nms_top_n(post_nms_top_n):
    arguments = scenes.to_nchw(scenes.proposals(np.random.default_rng(1), 2, 3, 4, 5))
    expected = generate_proposals(**arguments, post_nms_top_n=60, return_rois_num=True)
    actual = generate_proposals(**arguments, post_nms_top_n=post_nms_top_n, return_rois_num=True)
    for a, e in zip(actual, expected, strict=True):
        np.testing.assert_array_equal(a, e)


@pytest.mark.parametrize("nms_thresh", [0.0, -0.5])
def test_paddle_does_not_suppress_for_no_threshold(nms_thresh):
    arguments = scenes.to_nchw(scenes.proposals(np.random.default_rng(1), 2, 3, 4, 5))
    arguments["bbox_deltas"] = np.repeat(arguments["bbox_deltas"][:, :4], 3, 1)  # duplicates
    arguments["anchors"] = np.repeat(arguments["anchors"][:, :, :1], 3, 2)
    some, _, _ = generate_proposals(**arguments)
    rois, probs, count = generate_proposals(
        **arguments, nms_thresh=nms_thresh, post_nms_top_n=7, return_rois_num=True
    )
    assert len(rois) == len(probs) == count.sum() > len(some)
    assert (count > 7).all() and (np.diff(probs[: count[0], 0]) <= 0).all()


@pytest.mark.parametrize(
    "other",
    [
        {},
        {"pixel_offset": True},
        {"post_nms_top_n": 0},
        {"post_nms_top_n": -1, "pixel_offset": True},
        # Paddle's CPU kernel does not sort what it selects.
        {"nms_thresh": 0.0, "pre_nms_top_n": 0},
        {"nms_thresh": -1.0, "pre_nms_top_n": 0, "post_nms_top_n": 5},
    ],
    ids=str,
)
@pytest.mark.parametrize("seed", range(5))
def test_paddle_itself_agrees(seed, other):
    paddle = require("paddle")
    peer = paddle.vision.ops.generate_proposals
    assert list(inspect.signature(peer).parameters) == list(
        inspect.signature(generate_proposals).parameters
    )
    arrays = scenes.to_nchw(scenes.proposals(np.random.default_rng(seed), 2, 3, 8, 9))
    tensors = {name: paddle.to_tensor(value) for name, value in arrays.items()}
    options = {
        "pre_nms_top_n": 150,
        "post_nms_top_n": 60,
        "return_rois_num": True,
        **other,
    }
    expected = peer(**tensors, **options)
    actual = generate_proposals(**tensors, **options)
    for a, e in zip(actual, expected, strict=True):
        assert isinstance(a, paddle.Tensor) and a.dtype == e.dtype and a.shape == e.shape
        np.testing.assert_allclose(a.numpy(), e.numpy(), rtol=1e-4, atol=1e-3)

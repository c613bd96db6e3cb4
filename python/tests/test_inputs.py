# SPDX-License-Identifier: Apache-2.0
"""What people have: no boxes at all, boxes apart from scores, doubles, masks."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scenes
from frameworks import require

import detops
from detops.compat import openpcdet, sahi, supervision

RNG = np.random.default_rng(11)
BOXES, DETS = scenes.boxes(RNG, 12), scenes.quads(RNG, 40)
SCORES = RNG.random(12, dtype=np.float32)
CORNERS, QUAD_SCORES = DETS[:, :8], DETS[:, 8]
EXPECTED = detops.poly_nms(DETS, 0.1)
CLOUD, CUBES = scenes.lidar(RNG, 1, 200, 9)
IMAGE = np.zeros((1, 4, 2, 2), "f")


def same(dets, scores=None):
    np.testing.assert_array_equal(detops.poly_nms(dets, 0.1, scores), EXPECTED)


# --- the best first ---


def test_the_first_hundred_are_the_best_hundred():
    dets = scenes.quads(np.random.default_rng(1), 1000, side=2000)
    assert 400 < len(detops.poly_nms(dets, 0.1)) < 1000
    kept = detops.poly_nms(dets, 0.1)
    scores = dets[kept, 8]
    assert (np.diff(scores) <= 0).all() and scores[0] == dets[:, 8].max()
    np.testing.assert_array_equal(detops.poly_nms(dets, 0.1, order="index"), np.sort(kept))
    boxes = scenes.boxes(np.random.default_rng(1), 1000)
    kept = detops.nms(boxes, dets[:, 8], 0.5)
    assert (np.diff(dets[kept, 8]) <= 0).all()


def test_thresholds_at_the_ends_do_what_the_functions_say():
    twice = np.concatenate([DETS, DETS])
    boxes, scores = np.concatenate([BOXES, BOXES]), np.concatenate([SCORES, SCORES])
    for threshold in (1, 1.5, np.inf):
        assert len(detops.poly_nms(twice, threshold)) == len(twice)
        assert len(detops.nms(boxes, scores, threshold)) == len(boxes)
    for threshold in (-1e-9, -1, -np.inf):
        assert detops.poly_nms(twice, threshold).tolist() == [QUAD_SCORES.argmax()]
        assert detops.nms(boxes, scores, threshold).tolist() == [SCORES.argmax()]
    for call in (lambda: detops.poly_nms(DETS, np.nan), lambda: detops.nms(BOXES, SCORES, np.nan)):
        with pytest.raises(ValueError, match="iou_threshold is NaN; expected a number"):
            call()


def test_a_score_of_nan_is_the_best():
    scores = SCORES.copy()
    scores[7] = np.nan
    assert detops.nms(BOXES, scores, 0.5)[0] == 7
    dets = DETS.copy()
    dets[7, 8] = np.nan
    assert detops.poly_nms(dets, 0.5)[0] == 7


# --- no boxes ---

NONE = {
    "list": [],
    "flat": np.empty(0),
    "columns": np.empty((0, 4)),
    "other_columns": np.empty((0, 5), np.float32),
    "integers": np.empty(0, int),
}


@pytest.mark.parametrize("none", NONE.values(), ids=NONE)
def test_no_boxes_are_no_error(none):
    assert detops.nms(none, [], 0.5).tolist() == []
    assert detops.nms(none, np.empty(0, "f"), 0.5, dtype="int32").dtype == np.int32
    for order in ("score", "index"):
        assert detops.poly_nms(none, 0.5, order=order).tolist() == []
        assert detops.poly_nms(none, 0.5, scores=[], order=order).tolist() == []
    assert detops.bbox_overlaps(none, BOXES).shape == (0, 12)
    assert detops.bbox_overlaps(BOXES, none).shape == (12, 0)
    assert detops.bbox_overlaps(none, none, aligned=True).shape == (0,)
    assert detops.points_in_boxes(CLOUD, none).tolist() == [[-1] * 200]
    assert detops.points_in_boxes(CLOUD[0], none).tolist() == [-1] * 200
    assert detops.points_in_boxes(none, CUBES[0]).tolist() == []
    assert detops.border_align(IMAGE, none, 3).shape == (1, 1, 0, 4)
    values, argmax = detops.border_align(IMAGE, none, 3, return_argmax=True)
    assert values.shape == argmax.shape == (1, 1, 0, 4)


def test_no_corners_in_pairs_are_no_boxes():
    """With and without scores, which nothing has."""
    none = np.empty((0, 4, 2))
    assert detops.poly_nms(none, 0.5).tolist() == []
    assert detops.poly_nms(none.astype("f"), 0.5, order="index").tolist() == []
    assert detops.poly_nms(none, 0.5, scores=[]).tolist() == []
    for wrong in (np.empty((0, 4, 3)), np.empty((1, 4, 2))):
        with pytest.raises(ValueError, match=r"poly_nms: dets has shape .*; expected \(N, 9\)"):
            detops.poly_nms(wrong, 0.5)


def test_no_boxes_do_not_excuse_another_argument():
    with pytest.raises(ValueError, match=r"nms: scores has shape \(12,\), but boxes has \(0,\)"):
        detops.nms([], SCORES, 0.5)
    with pytest.raises(ValueError, match=r"border_align: input has shape \(1, 3, 2, 2\)"):
        detops.border_align(IMAGE[:, :3], [], 3)
    with pytest.raises(ValueError, match=r"border_align: input has shape \(4, 2, 2\)"):
        detops.border_align(IMAGE[0], [], 3)
    with pytest.raises(ValueError, match=r"points has shape \(1, 200, 2\)"):
        detops.points_in_boxes(CLOUD[..., :2], [])


def test_no_boxes_of_a_tensor_library():
    torch = require("torch")
    for none in (torch.empty(0), torch.empty(0, 4)):
        kept = detops.poly_nms(none, 0.5)
        assert kept.shape == (0,) and kept.dtype == torch.int64
        assert detops.nms(none, torch.empty(0), 0.5).shape == (0,)


# --- boxes and scores apart, points without a batch ---


def test_corners_in_pairs_and_in_rows():
    same(CORNERS, QUAD_SCORES)
    same(CORNERS.reshape(-1, 4, 2), QUAD_SCORES)
    same(CORNERS.reshape(-1, 4, 2).tolist(), QUAD_SCORES.tolist())


def test_points_of_one_frame_without_a_batch():
    held = detops.points_in_boxes(CLOUD, CUBES)
    np.testing.assert_array_equal(detops.points_in_boxes(CLOUD[0], CUBES[0]), held[0])
    for points, boxes in ((CLOUD, CUBES[0]), (CLOUD[0], CUBES)):
        with pytest.raises(ValueError, match="points_in_boxes: boxes has shape .*, but points has"):
            detops.points_in_boxes(points, boxes)


# --- doubles ---


def footprints(count):
    """Of 3 to 10 m, on a map whose origin is far."""
    rng = np.random.default_rng(5)
    low = rng.uniform(0, 700, (count, 2)) + [1.2e7, 4.9e6]
    return np.concatenate([low, low + rng.uniform(3, 10, (count, 2))], 1)


def upright(boxes):
    x1, y1, x2, y2 = boxes.T
    return np.stack([x1, y1, x2, y1, x2, y2, x1, y2], 1)


def test_doubles_that_lose_a_thousandth_of_a_side_are_a_warning():
    boxes = footprints(2000)
    scores = np.random.default_rng(6).random(2000)
    with pytest.warns(detops.RoundingWarning) as caught:
        rounded = detops.nms(boxes, scores, 0.3)
    assert len(caught) == 1 and caught[0].filename == __file__
    text = str(caught[0].message)
    assert text.startswith("nms: boxes is float64, and rounding it to float32 moves ")
    assert "of 2000 boxes by more than a thousandth of a side" in text
    assert "subtract an origin" in text
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kept = detops.nms(boxes - np.tile(boxes[0, :2], 2), scores, 0.3)
        detops.nms(boxes.astype("f"), scores, 0.3)
    assert kept.tolist() != rounded.tolist()


def test_each_function_warns_and_names_its_argument():
    boxes, scores = footprints(20), np.ones(20)
    cubes = np.concatenate([boxes, np.ones((20, 3))], 1)
    cubes[:, 3:6] = 2
    joined = np.column_stack([upright(boxes), scores])
    calls = [
        ("poly_nms: dets", lambda: detops.poly_nms(joined, 0.5)),
        ("poly_nms: dets", lambda: detops.poly_nms(joined[:, :8].reshape(-1, 4, 2), 0.5, scores)),
        ("bbox_overlaps: bboxes2", lambda: detops.bbox_overlaps(BOXES, boxes)),
        ("bbox_overlaps: bboxes2", lambda: detops.bbox_overlaps(BOXES.astype("f2"), boxes)),
        ("border_align: boxes", lambda: detops.border_align(IMAGE, boxes[None], 3)),
        ("points_in_boxes: boxes", lambda: detops.points_in_boxes(CLOUD[0], cubes)),
        ("points_in_boxes_gpu: boxes", lambda: openpcdet.points_in_boxes_gpu(CLOUD, cubes[None])),
        ("points_in_boxes_cpu: boxes", lambda: openpcdet.points_in_boxes_cpu(CLOUD[0], cubes)),
    ]
    for argument, call in calls:
        with pytest.warns(detops.RoundingWarning, match=f"^{argument} is float64") as caught:
            call()
        assert [warning.filename for warning in caught] == [__file__]


def test_drop_ins_for_suppression_warn_where_rounding_changes_what_they_decide():
    boxes = footprints(2000)
    scores = np.random.default_rng(6).random(2000)
    near = boxes - np.tile(boxes[0, :2], 2)
    classes = np.arange(2000) % 3

    def with_boxes(some):
        return np.column_stack([some, scores, classes])

    calls = [
        (f"{function}: predictions", lambda b, f=function: getattr(sahi, f)(with_boxes(b)))
        for function in sahi.__all__
    ] + [
        (
            "box_non_max_suppression: predictions",
            lambda b: supervision.box_non_max_suppression(with_boxes(b), 0.3).tolist(),
        ),
        (
            "oriented_box_non_max_suppression: oriented_boxes",
            lambda b: supervision.oriented_box_non_max_suppression(
                with_boxes(b), upright(b), 0.3
            ).tolist(),
        ),
    ]
    for argument, call in calls:
        with pytest.warns(detops.RoundingWarning, match=f"^{argument} is float64") as caught:
            rounded = call(boxes)
        assert [warning.filename for warning in caught] == [__file__]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert call(near) != rounded
            assert call(near.astype("f")) == call(near)


def test_drop_ins_for_tensors_warn_by_their_own_names():
    torch = require("torch")
    from detops.compat import mmcv, torchvision

    boxes, scores = torch.tensor(footprints(20)), torch.ones(20)
    cubes = torch.cat([boxes, torch.ones(20, 3, dtype=torch.float64)], 1)
    cubes[:, 3:6] = 2
    near = torch.tensor(BOXES)
    calls = [
        ("nms: boxes", lambda: torchvision.nms(boxes, scores, 0.5)),
        ("box_iou: boxes2", lambda: torchvision.box_iou(near, boxes)),
        ("nms: boxes", lambda: mmcv.nms(boxes, scores, 0.5)),
        ("nms: boxes", lambda: mmcv.nms(boxes.numpy(), scores.numpy(), 0.5)),
        ("bbox_overlaps: bboxes2", lambda: mmcv.bbox_overlaps(near, boxes)),
        (
            "points_in_boxes_part: boxes",
            lambda: mmcv.points_in_boxes_part(torch.tensor(CLOUD), cubes[None]),
        ),
        (
            "nms_quadri: dets",
            lambda: mmcv.nms_quadri(torch.tensor(upright(footprints(20))), scores, 0.5),
        ),
    ]
    for argument, call in calls:
        with pytest.warns(detops.RoundingWarning, match=f"^{argument} is float64") as caught:
            call()
        assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.filterwarnings("error")
def test_doubles_that_lose_less_are_no_warning():
    """A thousandth of a side of 4 is 0.004; near 60,000 coordinates move by 2**-9 at most."""
    box = np.array([[60000, 60000, 60004, 60004]]) + 2.0**-9
    detops.nms(box, [1], 0.5)
    detops.nms(np.float64([[0, 0, np.inf, 1], [np.nan, 0, 1, 1], [5, 5, 5, 5]]), [1, 2, 3], 0.5)
    detops.nms(np.float64([[1e7 + 0.3, 0, 1e7 + 0.3, 1]]), [1], 0.5)  # without area
    with pytest.raises(detops.RoundingWarning):
        detops.nms(box[:, :4] * [1, 1, 0, 0] + [0, 0, 60001, 60001], [1], 0.5)


# --- masked arrays ---


def test_masked_arrays_are_refused():
    masked = np.ma.masked_invalid(np.where(np.eye(12, 4) > 0, np.nan, BOXES).astype("f"))
    text = r"nms: boxes is a masked array; pass the rows .*compress_rows.* or array.filled\(value\)"
    with pytest.raises(TypeError, match=text):
        detops.nms(masked, SCORES, 0.5)
    rows = ~masked.mask.any(1)
    kept = detops.nms(np.ma.compress_rows(masked), SCORES[rows], 0.5)
    np.testing.assert_array_equal(kept, detops.nms(BOXES[rows], SCORES[rows], 0.5))


def test_masked_arrays_of_other_dims_are_told_what_works_for_them():
    """numpy.ma.compress_rows is for two dims alone."""
    scores = np.ma.masked_less(SCORES, np.median(SCORES))
    text = (
        r"nms: scores is a masked array; pass array.compressed\(\), and the same rows of the other"
    )
    with pytest.raises(TypeError, match=text):
        detops.nms(BOXES, scores, 0.5)
    detops.nms(BOXES[~scores.mask], scores.compressed(), 0.5)
    text = r"poly_nms: dets is a masked array; pass array.filled\(value\)$"
    with pytest.raises(TypeError, match=text):
        detops.poly_nms(np.ma.masked_less(CORNERS.reshape(-1, 4, 2), 0), 0.5, QUAD_SCORES)

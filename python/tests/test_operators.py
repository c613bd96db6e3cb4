# SPDX-License-Identifier: Apache-2.0
"""Each operator against the NumPy oracle."""

from __future__ import annotations

import numpy as np
import oracles
import pytest
import scenes
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import detops

seeds = st.integers(0, 2**32 - 1)


def examples(count):
    """Neither a slow machine nor a busy one is a failure."""
    return settings(max_examples=count, deadline=None, suppress_health_check=[HealthCheck.too_slow])


# Any float at all: the rules for NaN, inf and empty boxes are part of the contract.
any_boxes = hnp.arrays(
    np.float32,
    st.tuples(st.integers(0, 9), st.just(4)),
    elements=st.floats(width=32) | st.integers(-4, 4).map(float),
)


@examples(40)
@given(any_boxes, any_boxes, st.sampled_from(["iou", "iof"]), st.sampled_from([0, 1]))
def test_bbox_overlaps_of_any_floats(a, b, mode, offset):
    with np.errstate(all="ignore"):
        expected = oracles.bbox_overlaps(a, b, mode, False, offset)
    np.testing.assert_array_equal(detops.bbox_overlaps(a, b, mode, offset=offset), expected)


@examples(40)
@given(seeds, st.sampled_from(["f4", "f2"]), st.booleans(), st.sampled_from([0, 1]))
def test_bbox_overlaps(seed, dtype, aligned, offset):
    rng = np.random.default_rng(seed)
    a = scenes.boxes(rng, 17).astype(dtype)
    b = scenes.boxes(rng, 17 if aligned else 33).astype(dtype)
    with np.errstate(all="ignore"):
        expected = oracles.bbox_overlaps(a, b, "iou", aligned, offset)
    actual = detops.bbox_overlaps(a, b, aligned=aligned, offset=offset)
    assert actual.dtype == a.dtype
    np.testing.assert_array_equal(actual, expected)


@examples(40)
@given(seeds, st.integers(0, 24), st.sampled_from([0.0, 0.1, 0.5]))
def test_poly_nms(seed, count, threshold):
    dets = scenes.quads(np.random.default_rng(seed), count)
    best_first = oracles.poly_nms(dets, threshold)
    np.testing.assert_array_equal(detops.poly_nms(dets, threshold), best_first)
    by_index = detops.poly_nms(dets, threshold, order="index")
    np.testing.assert_array_equal(by_index, sorted(best_first))
    for corners in (dets[:, :8], dets[:, :8].reshape(count, 4, 2)):
        apart = detops.poly_nms(corners, threshold, scores=dets[:, 8])
        np.testing.assert_array_equal(apart, best_first)


def test_poly_nms_orders_nan_first_and_ties_by_index():
    dets = np.zeros((6, 9), np.float32)  # without area: all are kept
    dets[:, 8] = [0.5, np.nan, 0.5, np.inf, -np.inf, np.nan]
    np.testing.assert_array_equal(detops.poly_nms(dets, 0.1), [1, 5, 3, 0, 2, 4])


def test_poly_nms_threshold_below_zero_leaves_the_best():
    dets = scenes.quads(np.random.default_rng(1), 20)
    np.testing.assert_array_equal(detops.poly_nms(dets, -1.0), oracles.score_order(dets[:, 8])[:1])


@examples(15)
@given(seeds, st.sampled_from(["f4", "f2"]), st.integers(1, 4))
def test_border_align(seed, dtype, pool):
    features, boxes = scenes.features(np.random.default_rng(seed), 2, 3, 5, 7, 4)
    features, boxes = features.astype(dtype), boxes.astype(dtype)
    expected, expected_argmax = oracles.border_align(features, boxes, pool)
    output, argmax = detops.border_align(features, boxes, pool, return_argmax=True)
    assert output.dtype == features.dtype and argmax.dtype == np.int64
    np.testing.assert_array_equal(output, expected)
    np.testing.assert_array_equal(argmax, expected_argmax)

    nhwc = np.ascontiguousarray(features.transpose(0, 2, 3, 1))
    output, argmax = detops.border_align(nhwc, boxes, pool, "NHWC", True, dtype="int32")
    assert argmax.dtype == np.int32
    np.testing.assert_array_equal(output, expected.transpose(0, 2, 3, 1))
    np.testing.assert_array_equal(argmax, expected_argmax.transpose(0, 2, 3, 1))
    np.testing.assert_array_equal(detops.border_align(features, boxes, pool), expected)


@examples(25)
@given(seeds, st.sampled_from([0, 20, 1000]), st.sampled_from([3, 1000]), st.booleans())
def test_generate_proposals(seed, pre, post, pixel_offset):
    arguments = scenes.proposals(np.random.default_rng(seed), 2, 3, 4, 5)
    options = {"pre_nms_top_n": pre, "post_nms_top_n": post, "pixel_offset": pixel_offset}
    expected = oracles.generate_proposals(*arguments.values(), pre, post, 0.5, 0.1, pixel_offset)
    actual = detops.generate_proposals(**arguments, **options, layout="NHWC")
    np.testing.assert_array_equal(actual[2], expected[2])
    np.testing.assert_array_equal(actual[1], expected[1])
    np.testing.assert_allclose(actual[0], expected[0], rtol=1e-5, atol=1e-4)

    nchw = detops.generate_proposals(**scenes.to_nchw(arguments), **options)
    for a, b in zip(actual, nchw, strict=True):
        np.testing.assert_array_equal(a, b)
    assert len(detops.generate_proposals(**scenes.to_nchw(arguments), return_rois_num=False)) == 2


def test_generate_proposals_of_nothing_is_one_zero_box():
    arguments = scenes.proposals(np.random.default_rng(0), 1, 1, 2, 2)
    arguments["img_size"][:] = 0
    rois, probs, count = detops.generate_proposals(**arguments, layout="NHWC")
    assert rois.tolist() == [[0, 0, 0, 0]] and probs.tolist() == [[0]] and count.tolist() == [1]


@examples(40)
@given(seeds, st.integers(1, 3), st.integers(0, 200), st.integers(0, 12))
def test_points_in_boxes(seed, batch, points, count):
    cloud, boxes = scenes.lidar(np.random.default_rng(seed), batch, points, count)
    expected = oracles.points_in_boxes(cloud, boxes)
    actual = detops.points_in_boxes(cloud, boxes)
    assert actual.dtype == np.int64
    np.testing.assert_array_equal(actual, expected)
    narrow = detops.points_in_boxes(cloud, boxes, dtype=np.int32)
    assert narrow.dtype == np.int32
    np.testing.assert_array_equal(narrow, expected)


@pytest.mark.parametrize("count", [511, 512, 513, 5000])
def test_indices_are_widened_in_place_at_every_size(count):
    cloud, boxes = scenes.lidar(np.random.default_rng(count), 1, count, 30)
    wide = detops.points_in_boxes(cloud, boxes)
    np.testing.assert_array_equal(wide, detops.points_in_boxes(cloud, boxes, dtype="int32"))
    assert wide.min() == -1 and wide.max() > 0


def upright(x1, y1, x2, y2, score):
    return [x1, y1, x2, y1, x2, y2, x1, y2, score]


@pytest.mark.parametrize("threshold", [0.5, np.float32(0.5)])
def test_polygons_whose_iou_is_the_threshold_are_kept(threshold):
    """However their corners are ordered, and wherever they lie."""
    pair = np.array([upright(0, 0, 2, 3, 2), upright(0, 1, 3, 3, 1)], np.float32)  # 4 of 8
    for start in range(4):
        for step in (1, -1):
            corners = [(start + step * i) % 4 for i in range(4)]
            other = pair[1, :8].reshape(4, 2)[corners].ravel()
            for offset in (0, 1e4, -123456):
                dets = np.array([pair[0], [*other, 1]], np.float32)
                dets[:, :8] += np.float32(offset)
                assert detops.poly_nms(dets, threshold).tolist() == [0, 1]
                below = np.nextafter(np.float32(0.5), np.float32(0))
                assert detops.poly_nms(dets, below).tolist() == [0]


def test_thresholds_of_polygons_are_rounded_to_float32():
    three_fifths = [upright(0, 0, 4, 1, 2), upright(1, 0, 5, 1, 1)]
    seven_tenths = [upright(0, 0, 17, 1, 2), upright(3, 0, 20, 1, 1)]
    assert float(np.float32(0.6)) > 0.6 and detops.poly_nms(three_fifths, 0.6).tolist() == [0, 1]
    assert float(np.float32(0.7)) < 0.7 and detops.poly_nms(seven_tenths, 0.7).tolist() == [0]


def test_the_other_contracts_are_float_formulas():
    """The examples of their READMEs, where exact arithmetic would decide otherwise."""
    boxes = np.array([[0, 0, 9, 1.2], [3, 0, 12, 1.2]], np.float32)  # the IoU is 1/2
    assert detops.bbox_overlaps(boxes, boxes)[0, 1] == np.float32(0.50000006)
    assert detops.nms(boxes, np.array([2, 1], np.float32), 0.5).tolist() == [0]
    quads = [upright(*box, score) for box, score in zip(boxes, (2, 1), strict=True)]
    assert detops.poly_nms(quads, 0.5).tolist() == [0, 1]

    _, _, count = detops.generate_proposals(
        np.array([2, 1], np.float32).reshape(1, 1, 1, 2),
        np.zeros((1, 4, 1, 2), np.float32),
        np.array([[99, 99]], np.float32),
        boxes.reshape(1, 2, 1, 4),
        np.ones((1, 2, 1, 4), np.float32),
        nms_thresh=0.5,
    )
    assert count.tolist() == [1]

    def holds(point, *centre):
        box = [*centre, 2, 2, 2, 0]
        return detops.points_in_boxes([[point]], [[box]]).item() == 0

    assert holds([0, 0, 1], 0, 0, 0) and not holds([0, 0, 1.0000001], 0, 0, 0)
    assert holds([0, 0, 1], 0, 0, -3e-8)
    assert holds([1.000009, 0, 0], 0, 0, 0) and not holds([1.00001, 0, 0], 0, 0, 0)

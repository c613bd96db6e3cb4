# SPDX-License-Identifier: Apache-2.0
"""nms, the suppression of upright boxes, against plain NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import oracles
import pytest
import scenes
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

import detops

Array = NDArray[Any]
F = np.float32

seeds = st.integers(0, 2**32 - 1)
thresholds = st.sampled_from([-0.5, 0.0, 0.1, 0.25, 1 / 3, 0.5, 0.9, 1.0, np.inf])


def examples(count):
    """Neither a slow machine nor a busy one is a failure."""
    return settings(max_examples=count, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def ious(box: Array, others: Array) -> Array:
    """float32, rounded after each operation; halves are widened before."""
    box, others = box.astype(F), others.astype(F)
    low, high = np.maximum(box[:2], others[:, :2]), np.minimum(box[2:], others[:, 2:])
    side = np.maximum(high - low, F(0))
    inter = side[:, 0] * side[:, 1]
    area = (box[2] - box[0]) * (box[3] - box[1])
    areas = (others[:, 2] - others[:, 0]) * (others[:, 3] - others[:, 1])
    result: Array = inter / np.maximum((area + areas) - inter, F(0))
    return result


def greedy(boxes: Array, scores: Array, threshold: float) -> list[int]:
    """Kept indices, best first. No comparison with NaN is true."""
    kept: list[int] = []
    with np.errstate(all="ignore"):
        for i in oracles.score_order(scores.astype(F)):
            if not np.any(ious(boxes[i], boxes[kept]).astype(np.float64) > threshold):
                kept.append(int(i))
    return kept


def scattered(seed: int, count: int) -> tuple[Array, Array]:
    """Overlapping boxes, with scores that repeat."""
    rng = np.random.default_rng(seed)
    return scenes.boxes(rng, count), (rng.integers(0, 16, count) / 16).astype("f")


def test_the_threshold_is_not_rounded_up():
    """As in torchvision: 3/5 as a float is above 0.6, though not above 0.6 as a float."""
    boxes = np.array([[0, 0, 5, 1], [0, 0, 3, 1]], F)
    scores = np.array([2, 1], F)
    assert detops.nms(boxes, scores, 0.6).tolist() == [0]
    assert detops.nms(boxes, scores, float(F(0.6))).tolist() == [0, 1]


BOXES, SCORES = scattered(1, 40)
EXPECTED = greedy(BOXES, SCORES, 0.3)


@examples(60)
@given(seeds, st.integers(0, 60), thresholds, st.sampled_from(["f4", "f2"]))
def test_nms(seed, count, threshold, dtype):
    boxes, scores = (array.astype(dtype) for array in scattered(seed, count))
    actual = detops.nms(boxes, scores, threshold)
    assert actual.dtype == np.int64
    np.testing.assert_array_equal(actual, greedy(boxes, scores, threshold))
    narrow = detops.nms(boxes, scores, threshold, dtype="int32")
    assert narrow.dtype == np.int32
    np.testing.assert_array_equal(narrow, actual)


# Any float at all: the rules for NaN, inf, inverted and empty boxes are part of the contract.
# Few distinct integers give touching and equal boxes, and IoUs that are equal to the threshold.
@st.composite
def any_boxes_and_scores(draw):
    width = draw(st.sampled_from([16, 32]))
    dtype = np.dtype(f"f{width // 8}")
    numbers = st.floats(width=width) | st.integers(-4, 4).map(float)
    count = draw(st.integers(0, 9))
    boxes = draw(hnp.arrays(dtype, (count, 4), elements=numbers))
    return boxes, draw(hnp.arrays(dtype, count, elements=numbers))


@examples(100)
@given(any_boxes_and_scores(), thresholds)
def test_nms_of_any_floats(arguments, threshold):
    boxes, scores = arguments
    expected = greedy(boxes, scores, threshold)
    np.testing.assert_array_equal(detops.nms(boxes, scores, threshold), expected)


@pytest.mark.parametrize("count", [511, 512, 513, 2000])
def test_many_boxes(count):
    rng = np.random.default_rng(count)
    boxes = scenes.boxes(rng, count, side=20 * count**0.5)
    scores = rng.random(count, F)
    for threshold in (0.0, 0.3, 0.7):
        expected = greedy(boxes, scores, threshold)
        np.testing.assert_array_equal(detops.nms(boxes, scores, threshold), expected)


def test_order_is_nan_first_and_ties_by_index():
    boxes = np.zeros((8, 4), F)  # without area: all are kept
    scores = np.array([0.5, np.nan, 0.5, np.inf, -np.inf, np.nan, -0.0, 0.0], F)
    best_first = [1, 5, 3, 0, 2, 6, 7, 4]
    np.testing.assert_array_equal(detops.nms(boxes, scores, 0.1), best_first)
    np.testing.assert_array_equal(detops.nms(boxes, scores.astype("f2"), 0.1), best_first)


@pytest.mark.parametrize("dtype", ["f4", "f2"])
@pytest.mark.parametrize(
    ("width", "iou"), [(4, F(0.25)), (3, F(1) / F(3)), (2, F(0.5))], ids=["1/4", "1/3", "1/2"]
)
def test_threshold_is_strict_and_a_float(width, iou, dtype):
    boxes = np.array([[0, 0, width, 1], [0, 0, 1, 1]], dtype)
    scores = np.array([2, 1], dtype)
    assert detops.nms(boxes, scores, iou).tolist() == [0, 1]
    assert detops.nms(boxes, scores, np.nextafter(iou, F(0))).tolist() == [0]


def test_iou_of_halves_is_not_rounded_to_half():
    scores = np.array([2, 1], "f2")
    assert F(np.float16(1 / 3)) < F(0.3333) < F(1 / 3)
    assert detops.nms(np.array([[0, 0, 3, 1], [0, 0, 1, 1]], "f2"), scores, 0.3333).tolist() == [0]
    assert F(0.6) < F(0.60005) < F(np.float16(0.6))
    boxes = np.array([[0, 0, 5, 1], [0, 0, 3, 1]], "f2")
    assert detops.nms(boxes, scores, 0.60005).tolist() == [0, 1]


def test_lists_and_views_and_other_types():
    def check(boxes, scores):
        np.testing.assert_array_equal(detops.nms(boxes, scores, 0.3), EXPECTED)

    check(BOXES.tolist(), SCORES.tolist())
    check(BOXES.astype("f8"), SCORES.astype("f8"))
    check(np.asfortranarray(BOXES), np.repeat(SCORES, 2)[::2])
    check(np.concatenate([BOXES, BOXES], 1)[:, :4], np.stack([SCORES, SCORES], 1)[:, 0])
    # The scores are sixteenths, which half holds exactly. The types differ, so all become float32.
    check(BOXES, SCORES.astype("f2"))
    integers = np.array([[0, 0, 10, 10], [1, 0, 11, 10], [20, 0, 30, 10]])
    assert detops.nms(integers, [0.7, 0.8, 0.9], 0.5).tolist() == [2, 1]


def test_result_owns_its_memory_and_inputs_are_left_alone():
    boxes, scores = BOXES.copy(), SCORES.copy()
    result = detops.nms(boxes, scores, 0.3)
    assert type(result) is np.ndarray and result.flags.owndata and result.flags.writeable
    np.testing.assert_array_equal(boxes, BOXES)
    np.testing.assert_array_equal(scores, SCORES)


@pytest.mark.parametrize("dtype", ["f4", "f2"])
def test_empty_arrays(dtype):
    boxes, scores = np.zeros((0, 4), dtype), np.zeros(0, dtype)
    assert detops.nms(boxes, scores, 0.5).shape == (0,)
    assert detops.nms(boxes, scores, 0.5).dtype == np.int64
    assert detops.nms(boxes, scores, 0.5, dtype=np.int32).dtype == np.int32


@pytest.mark.parametrize(
    ("boxes", "scores", "text"),
    [
        (BOXES[:, :3], SCORES, r"boxes has shape \(40, 3\)"),
        (BOXES[0], SCORES, "boxes"),
        (BOXES[None], SCORES, "boxes"),
        (F(3), SCORES, "boxes is a scalar"),
        (BOXES, SCORES[:-1], "scores"),
        (BOXES, SCORES[:, None], "scores"),
        (BOXES, F(3), "scores is a scalar"),
        (BOXES[:0], SCORES, "scores"),
    ],
    ids="columns box batch scalar short_scores score_column score_scalar no_boxes".split(),
)
def test_wrong_shapes_are_value_errors(boxes, scores, text):
    with pytest.raises(ValueError, match=text):
        detops.nms(boxes, scores, 0.5)


def test_threshold_nan_is_a_value_error():
    with pytest.raises(ValueError, match="iou_threshold"):
        detops.nms(BOXES, SCORES, float("nan"))


@pytest.mark.parametrize(
    "call",
    [
        lambda: detops.nms(BOXES, SCORES),
        lambda: detops.nms(BOXES, None, 0.5),
        lambda: detops.nms(BOXES, SCORES, "0.5"),
        lambda: detops.nms(BOXES, SCORES, 0.5, dtype="float32"),
        lambda: detops.nms(BOXES, SCORES.astype(bool), 0.5),
    ],
)
def test_wrong_calls_are_type_errors(call):
    with pytest.raises(TypeError):
        call()

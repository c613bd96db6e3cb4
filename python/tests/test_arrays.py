# SPDX-License-Identifier: Apache-2.0
"""What may be passed, what is read in place, and what is refused."""

from __future__ import annotations

import array
import pickle

import numpy as np
import pytest
import scenes

import detops
from detops import _core

RNG = np.random.default_rng(7)
BOXES = scenes.boxes(RNG, 12)
SCORES = RNG.random(12, dtype=np.float32)
EXPECTED = detops.bbox_overlaps(BOXES, BOXES)


def test_arrays_are_read_in_place():
    for dtype in ("f4", "f2"):
        boxes = BOXES.astype(dtype)
        assert _core._address(boxes) == boxes.ctypes.data
    assert _core._address(BOXES[3:]) == BOXES.ctypes.data + 3 * 16
    flat = array.array("f", range(8))
    assert _core._address(flat) == flat.buffer_info()[0]
    assert _core._address(memoryview(BOXES)) == BOXES.ctypes.data


def test_read_only_arrays_are_taken():
    boxes = BOXES.copy()
    boxes.flags.writeable = False
    assert _core._address(boxes) == boxes.ctypes.data
    np.testing.assert_array_equal(detops.bbox_overlaps(boxes, boxes), EXPECTED)


def test_results_own_their_memory_and_inputs_are_left_alone():
    before = BOXES.copy()
    result = detops.bbox_overlaps(BOXES, BOXES)
    assert type(result) is np.ndarray
    assert result.flags.owndata and result.flags.writeable and result.flags.c_contiguous
    np.testing.assert_array_equal(BOXES, before)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(result)), EXPECTED)


@pytest.mark.parametrize(
    "view",
    [
        lambda b: np.asfortranarray(b),
        lambda b: np.repeat(b, 2, axis=0)[::2],
        lambda b: b[::-1].copy()[::-1],
        lambda b: np.concatenate([b, b], 1)[:, :4],
        lambda b: b.astype(">f4"),
        lambda b: b.astype("f8"),
        lambda b: b.astype("g"),
        lambda b: b.tolist(),
        lambda b: [tuple(row) for row in b],
        lambda b: memoryview(b),
        lambda b: np.frombuffer(b"x" + b.tobytes(), "f4", offset=1).reshape(b.shape),
        lambda b: np.array([(tuple(r), 0) for r in b], [("box", "f4", 4), ("tag", "i1")])["box"],
    ],
    ids="fortran strided reversed sliced big_endian float64 longdouble lists tuples memoryview "
    "unaligned record_field".split(),
)
def test_other_arrangements_give_the_same(view):
    np.testing.assert_array_equal(detops.bbox_overlaps(view(BOXES), view(BOXES)), EXPECTED)
    np.testing.assert_array_equal(detops.bbox_overlaps(BOXES, view(BOXES)), EXPECTED)


def test_half_is_kept_or_widened_but_never_mixed():
    half = BOXES.astype("f2")
    widened = half.astype("f4")
    assert detops.bbox_overlaps(half, half.astype(">f2")).dtype == np.float16
    mixed = detops.bbox_overlaps(half, widened)
    np.testing.assert_array_equal(mixed, detops.bbox_overlaps(widened, widened))
    cloud, boxes = scenes.lidar(RNG, 1, 50, 5)
    cloud = cloud.astype("f2")
    np.testing.assert_array_equal(
        detops.points_in_boxes(cloud, boxes), detops.points_in_boxes(cloud.astype("f4"), boxes)
    )


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i8"])
def test_integers_are_taken_where_float32_holds_them(dtype):
    boxes = np.array([[0, 0, 10, 10], [5, 5, 15, 15]], dtype)
    expected = detops.bbox_overlaps(boxes.astype("f4"), boxes.astype("f4"))
    np.testing.assert_array_equal(detops.bbox_overlaps(boxes, boxes), expected)


@pytest.mark.parametrize("value", [2**24 + 1, -(2**24) - 1, 2**62])
def test_integers_that_would_be_rounded_are_refused(value):
    with pytest.raises(
        TypeError,
        match=r"bboxes1 has int64 values beyond 2\*\*24.*subtract an origin, or pass float32",
    ):
        detops.bbox_overlaps(np.array([[0, 0, 1, value]]), BOXES)


def test_doubles_that_would_become_infinite_are_refused():
    with pytest.raises(TypeError, match="bboxes1 has float64 values beyond the range of float32"):
        detops.bbox_overlaps(np.array([[0, 0, 1, 1e300]]), BOXES)
    assert np.isnan(detops.bbox_overlaps(np.array([[0, 0, np.nan, np.inf]]), BOXES)).all()


def test_numbers_may_be_numpys():
    dets = scenes.quads(RNG, 9)
    expected = detops.poly_nms(dets, 0.5)
    for number in (np.float32(0.5), np.float64(0.5), np.array(0.5)):
        np.testing.assert_array_equal(detops.poly_nms(dets, number), expected)
    np.testing.assert_array_equal(detops.bbox_overlaps(BOXES, BOXES, offset=np.int64(0)), EXPECTED)


@pytest.mark.parametrize("dtype", ["int32", np.int32, np.dtype("int32"), np.dtype("i4")])
def test_index_types_in_every_spelling(dtype):
    dets = scenes.quads(RNG, 9)
    assert detops.poly_nms(dets, 0.5, dtype=dtype).dtype == np.int32
    assert detops.poly_nms(dets, 0.5).dtype == np.int64


def test_empty_arrays():
    none = np.zeros((0, 4), "f")
    assert detops.bbox_overlaps(none, BOXES).shape == (0, 12)
    assert detops.bbox_overlaps(BOXES, none).shape == (12, 0)
    assert detops.bbox_overlaps(none, none, aligned=True).shape == (0,)
    assert detops.poly_nms(np.zeros((0, 9), "f"), 0.1).shape == (0,)
    assert detops.poly_nms(np.zeros((0, 8), "f"), 0.1, np.zeros(0, "f")).shape == (0,)
    assert detops.points_in_boxes(np.zeros((2, 0, 3), "f"), np.zeros((2, 3, 7), "f")).shape == (
        2,
        0,
    )
    no_boxes = detops.points_in_boxes(np.zeros((1, 5, 3), "f"), np.zeros((1, 0, 7), "f"))
    assert no_boxes.tolist() == [[-1] * 5]
    arguments = scenes.proposals(RNG, 0, 2, 3, 3)
    rois, probs, count = detops.generate_proposals(**arguments, layout="NHWC")
    assert rois.shape == (0, 4) and probs.shape == (0, 1) and count.shape == (0,)
    with pytest.raises(ValueError, match="input has shape .*; dim 0 is 0"):
        detops.border_align(np.zeros((0, 4, 2, 2), "f"), np.zeros((0, 1, 4), "f"), 1)


def test_broadcast_arrays_that_would_not_fit_in_memory():
    huge = np.broadcast_to(np.float32(0), (2**40, 4))
    with pytest.raises((MemoryError, ValueError)):
        detops.bbox_overlaps(huge, BOXES)

# SPDX-License-Identifier: Apache-2.0
"""Errors name the function, its argument, what came and what to pass."""

from __future__ import annotations

import numpy as np
import pytest
import scenes

import detops

RNG = np.random.default_rng(7)
BOXES = scenes.boxes(RNG, 12)
SCORES = RNG.random(12, dtype=np.float32)
DETS9, DETS8 = np.zeros((5, 9), "f"), np.zeros((5, 8), "f")
IMAGE = np.zeros((1, 4, 2, 2), "f")


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: detops.bbox_overlaps(BOXES[:, :3], BOXES),
            "bbox_overlaps: bboxes1 has shape (12, 3); expected (M, 4)",
        ),
        (
            lambda: detops.bbox_overlaps(BOXES[0], BOXES),
            "bbox_overlaps: bboxes1 has shape (4,); expected (M, 4)",
        ),
        (
            lambda: detops.bbox_overlaps(BOXES, np.float32(3)),
            "bbox_overlaps: bboxes2 is a scalar; expected (N, 4)",
        ),
        (
            lambda: detops.bbox_overlaps(np.zeros([1] * 9, "f"), BOXES),
            "bbox_overlaps: bboxes1 has 9 dims; expected (M, 4)",
        ),
        (
            lambda: detops.bbox_overlaps(BOXES, BOXES[:3], aligned=True),
            "bbox_overlaps: bboxes2 has shape (3, 4), but bboxes1 has (12, 4); expected (M, 4) "
            "with bboxes1 of (M, 4)",
        ),
        (
            lambda: detops.bbox_overlaps(BOXES, BOXES, "giou"),
            "bbox_overlaps: mode is 'giou'; expected 'iou' or 'iof'",
        ),
        (
            lambda: detops.bbox_overlaps(BOXES, BOXES, None),
            "bbox_overlaps: mode is None; expected 'iou' or 'iof'",
        ),
        (
            lambda: detops.bbox_overlaps(BOXES, BOXES, offset=2),
            "bbox_overlaps: offset is 2; expected 0 or 1",
        ),
        (
            lambda: detops.bbox_overlaps(BOXES, BOXES, offset=2**40),
            "bbox_overlaps: offset is 1099511627776; expected at least -2147483648 and at most "
            "2147483647",
        ),
        (
            lambda: detops.poly_nms(DETS8, 0.1),
            "poly_nms: dets has shape (5, 8); expected (N, 9), or (N, 8) with scores=",
        ),
        (
            lambda: detops.poly_nms(DETS9, 0.1, np.zeros(5, "f")),
            "poly_nms: dets has shape (5, 9); expected (N, 8) or (N, 4, 2) with scores=",
        ),
        (
            lambda: detops.poly_nms(DETS8, 0.1, np.zeros(3, "f")),
            "poly_nms: scores has shape (3,), but dets has (5, 8); expected (N,) with dets of "
            "(N, 8) or (N, 4, 2)",
        ),
        (
            lambda: detops.poly_nms(DETS9, float("nan")),
            "poly_nms: iou_threshold is NaN; expected a number",
        ),
        (
            lambda: detops.poly_nms(DETS9, 0.1, order="best"),
            "poly_nms: order is 'best'; expected 'score' or 'index'",
        ),
        (
            lambda: detops.nms(BOXES, SCORES[:3], 0.1),
            "nms: scores has shape (3,), but boxes has (12, 4); expected (N,) with boxes of (N, 4)",
        ),
        (
            lambda: detops.border_align(IMAGE, BOXES[None], 0),
            "border_align: pool_size is 0; expected 1 or more",
        ),
        (
            lambda: detops.border_align(IMAGE[:, :3], BOXES[None], 1),
            "border_align: input has shape (1, 3, 2, 2); dim 1 is 3, expected a multiple of 4",
        ),
        (
            lambda: detops.border_align(IMAGE[0], BOXES[None], 1),
            "border_align: input has shape (4, 2, 2); expected (N, 4C, H, W)",
        ),
        (
            lambda: detops.border_align(IMAGE, BOXES, 1),
            "border_align: boxes has shape (12, 4); expected (N, K, 4)",
        ),
        (
            lambda: detops.border_align(IMAGE, BOXES[None], 1, "CHWN"),
            "border_align: layout is 'CHWN'; expected 'NCHW' or 'NHWC'",
        ),
        (
            lambda: detops.points_in_boxes(np.zeros((1, 5, 2), "f"), np.zeros((1, 5, 7))),
            "points_in_boxes: points has shape (1, 5, 2); expected (B, M, 3), or (M, 3)",
        ),
        (
            lambda: detops.points_in_boxes(np.zeros((2, 5, 3), "f"), np.zeros((1, 5, 7))),
            "points_in_boxes: boxes has shape (1, 5, 7), but points has (2, 5, 3); expected "
            "(B, T, 7), or (T, 7) with points of (B, M, 3), or (M, 3)",
        ),
        (
            lambda: detops.points_in_boxes(np.zeros((5, 3), "f"), np.zeros((5, 6))),
            "points_in_boxes: boxes has shape (5, 6); expected (B, T, 7), or (T, 7)",
        ),
    ],
)
def test_wrong_values_name_the_argument_and_what_to_pass(call, text):
    with pytest.raises(ValueError) as error:
        call()
    assert str(error.value) == text


@pytest.mark.parametrize(
    "change",
    [
        {"eta": 0.5},
        {"nms_thresh": 0.0},
        {"post_nms_top_n": -1},
        {"min_size": float("nan")},
        {"anchors": np.zeros((1, 1, 1, 4), "f")},
        {"scores": np.zeros((1, 2, 2), "f")},
        {"layout": "nchw"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_wrong_proposals_are_value_errors(change):
    arguments = scenes.to_nchw(scenes.proposals(RNG, 1, 2, 3, 3))
    with pytest.raises(ValueError, match=f"generate_proposals: {next(iter(change))} "):
        detops.generate_proposals(**{**arguments, **change})


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: detops.bbox_overlaps(BOXES),
            "bbox_overlaps() missing 1 required positional argument: 'bboxes2'",
        ),
        (
            lambda: detops.bbox_overlaps(None, BOXES),
            "bbox_overlaps: bboxes1 is None; expected an array of shape (M, 4)",
        ),
        (
            lambda: detops.nms(BOXES, None, 0.1),
            "nms: scores is None; expected an array of shape (N,)",
        ),
        (lambda: detops.nms(BOXES, SCORES, None), "nms: iou_threshold is None; expected a number"),
        (
            lambda: detops.bbox_overlaps(BOXES, BOXES, unknown=1),
            "bbox_overlaps() got an unexpected keyword argument 'unknown'",
        ),
        (
            lambda: detops.bbox_overlaps(BOXES, BOXES, offset=0.5),
            "bbox_overlaps: offset is 0.5; expected an integer",
        ),
        (
            lambda: detops.bbox_overlaps(BOXES, BOXES, aligned="no"),
            "bbox_overlaps: aligned is 'no'; expected True or False",
        ),
        (
            lambda: detops.nms(BOXES, SCORES, "0.1"),
            "nms: iou_threshold is '0.1'; expected a number",
        ),
        (
            lambda: detops.poly_nms(DETS9, [0.1]),
            "poly_nms: iou_threshold is of type list; expected a number",
        ),
        (
            lambda: detops.poly_nms(DETS9, 0.1, dtype="float32"),
            "poly_nms: dtype is float32; expected int32 or int64",
        ),
        (
            lambda: detops.border_align(IMAGE, BOXES[None], 1.5),
            "border_align: pool_size is 1.5; expected an integer",
        ),
    ],
)
def test_wrong_types_name_the_argument_and_what_to_pass(call, text):
    with pytest.raises(TypeError) as error:
        call()
    assert str(error.value) == text


@pytest.mark.parametrize(
    ("bad", "text"),
    [
        (np.zeros((2, 4), "c8"), "bboxes1 has dtype complex64; pass float32 or float16"),
        (np.zeros((2, 4), bool), "bboxes1 has dtype bool; pass float32 or float16"),
        (np.zeros((2, 4), "M8[s]"), "bboxes1 has dtype datetime64"),
        (np.zeros((2, 4), "U3"), "bboxes1 has dtype <U3"),
        (np.zeros((2, 4), object), "bboxes1 has dtype object"),
        ("boxes", r"bboxes1 is of type str; expected an array of shape \(M, 4\)"),
        (b"0123456789abcdef", "bboxes1 is of type bytes; expected an array"),
        ({}, "bboxes1 is of type dict; expected an array"),
        (None, "bboxes1 is None; expected an array"),
    ],
    ids=repr,
)
def test_types_without_a_meaning_are_refused(bad, text):
    with pytest.raises(TypeError, match=text):
        detops.bbox_overlaps(bad, BOXES)

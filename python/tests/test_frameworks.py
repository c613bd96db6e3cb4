# SPDX-License-Identifier: Apache-2.0
"""Any array in, the same array out."""

from __future__ import annotations

import numpy as np
import oracles
import pytest
import scenes
from frameworks import LIBRARIES, require

import detops
from detops import _core, _frameworks

RNG = np.random.default_rng(3)
DETS = scenes.quads(RNG, 40)
FEATURES, BORDERS = scenes.features(RNG, 2, 3, 6, 7, 5)
PROPOSALS = scenes.to_nchw(scenes.proposals(RNG, 2, 3, 4, 5))
CLOUD, CUBES = scenes.lidar(RNG, 2, 300, 9)
BOXES = scenes.boxes(RNG, 20)
BOX_SCORES = RNG.random(20, dtype=np.float32)

CALLS = {
    "bbox_overlaps": lambda lib: detops.bbox_overlaps(lib(BOXES), lib(BOXES[:7])),
    "bbox_overlaps_half": lambda lib: detops.bbox_overlaps(
        lib(BOXES.astype("f2")), lib(BOXES.astype("f2"))
    ),
    "nms": lambda lib: detops.nms(lib(BOXES), lib(BOX_SCORES), 0.3),
    "poly_nms": lambda lib: detops.poly_nms(lib(DETS), 0.3),
    "poly_nms_by_score": lambda lib: detops.poly_nms(
        lib(DETS[:, :8]), 0.3, scores=lib(DETS[:, 8]), order="score"
    ),
    "poly_nms_int32": lambda lib: detops.poly_nms(lib(DETS), 0.3, dtype="int32"),
    "border_align": lambda lib: detops.border_align(
        lib(FEATURES), lib(BORDERS), 3, return_argmax=True
    ),
    "generate_proposals": lambda lib: detops.generate_proposals(
        **{name: lib(value) for name, value in PROPOSALS.items()}
    ),
    "points_in_boxes": lambda lib: detops.points_in_boxes(lib(CLOUD), lib(CUBES)),
    "empty": lambda lib: detops.bbox_overlaps(lib(BOXES[:0]), lib(BOXES)),
    "none_kept": lambda lib: detops.poly_nms(lib(DETS[:0]), 0.3),
}


@pytest.fixture(params=LIBRARIES)
def library(request):
    return LIBRARIES[request.param]()


@pytest.mark.parametrize("name", CALLS)
def test_results_are_the_callers_own_arrays(library, name):
    if name.endswith("half") and not library.half:
        pytest.skip("this library has no float16")
    actual, expected = CALLS[name](library.make), CALLS[name](np.asarray)
    if not isinstance(expected, tuple):
        actual, expected = (actual,), (expected,)
    for a, e in zip(actual, expected, strict=True):
        assert isinstance(a, library.array_type)
        a = library.to_numpy(a)
        np.testing.assert_array_equal(a, e)
        if e.dtype != np.int64 or library.int64:
            assert a.dtype == e.dtype


@pytest.mark.parametrize("name", CALLS)
def test_the_device_path_gives_the_same(library, name):
    """What CUDA arrays go through, on the host."""
    if library.array_type is np.ndarray:
        pytest.skip("this library has no device path")
    _core._take_device_path(True)
    try:
        test_results_are_the_callers_own_arrays(library, name)
    finally:
        _core._take_device_path(False)


def test_arrays_are_read_in_place(library):
    for dtype in ("f4", "f2") if library.half else ("f4",):
        array = library.make(BOXES.astype(dtype))
        assert _core._address(array) == library.address(array)


def test_the_first_array_decides(library):
    mixed = detops.bbox_overlaps(library.make(BOXES), BOXES)
    assert isinstance(mixed, library.array_type)
    assert isinstance(detops.bbox_overlaps(BOXES, library.make(BOXES)), np.ndarray)


def test_doubles_and_integers_are_converted(library):
    whole = BOXES.round()
    expected = detops.bbox_overlaps(whole, whole)
    for dtype in ("f8", "i4", "i8", "u1"):
        array = library.make(whole.astype(dtype))
        result = detops.bbox_overlaps(array, array)
        assert isinstance(result, library.array_type)
        np.testing.assert_array_equal(library.to_numpy(result), expected)


def test_bool_is_refused(library):
    with pytest.raises(TypeError, match="bboxes1"):
        detops.bbox_overlaps(library.make(BOXES > 50), BOXES)


def test_a_device_that_is_not_known_is_refused():
    class Elsewhere:
        def __dlpack_device__(self):
            return (8, 0)

        def __dlpack__(self, stream=None):
            raise AssertionError("asked for memory that is out of reach")

    with pytest.raises(TypeError, match="bboxes1 lies on a device of DLPack type 8; pass"):
        detops.bbox_overlaps(Elsewhere(), BOXES)


def test_a_device_that_is_not_there_is_a_runtime_error():
    if any(d["name"].startswith("cuda") and d["usable"] for d in detops.devices()):
        pytest.skip("there is a CUDA device")

    class OnCuda:
        def __dlpack_device__(self):
            return (2, 0)

        def __dlpack__(self, stream=None, max_version=None):
            raise AssertionError("asked for memory before the device")

    with pytest.raises(RuntimeError, match="no cuda device"):
        detops.bbox_overlaps(OnCuda(), OnCuda())


def test_arrays_on_two_devices_are_refused():
    class OnCuda:
        def __dlpack_device__(self):
            return (2, 1)

        def __dlpack__(self, stream=None, max_version=None):
            raise AssertionError("asked for memory before the device")

    with pytest.raises(ValueError, match="bboxes2 lies on cuda:1, but bboxes1 on cpu"):
        detops.bbox_overlaps(BOXES, OnCuda())


def test_a_producer_that_refuses_versions_is_asked_again():
    """As NumPy 1.26 and what is built on it."""

    class Refusing:
        def __dlpack_device__(self):
            return (1, 0)

        def __dlpack__(self, stream=None, max_version=None):
            if max_version is not None:
                raise NotImplementedError
            return BOXES.__dlpack__()

    np.testing.assert_array_equal(
        detops.bbox_overlaps(Refusing(), Refusing()), detops.bbox_overlaps(BOXES, BOXES)
    )


def test_torch_views_and_gradients():
    torch = require("torch")
    boxes = torch.tensor(BOXES)
    expected = detops.bbox_overlaps(BOXES, BOXES)
    for view in (boxes.t().contiguous().t(), torch.cat([boxes, boxes], 1)[:, :4], boxes[None][0]):
        np.testing.assert_array_equal(detops.bbox_overlaps(view, view).numpy(), expected)
    channels_last = torch.tensor(PROPOSALS["scores"]).to(memory_format=torch.channels_last)
    arguments = {name: torch.tensor(value) for name, value in PROPOSALS.items()}
    rois = detops.generate_proposals(**{**arguments, "scores": channels_last})[0]
    np.testing.assert_array_equal(rois.numpy(), CALLS["generate_proposals"](np.asarray)[0])
    with pytest.raises(TypeError, match="bbox_overlaps: bboxes1 can't be read: .* meta"):
        detops.bbox_overlaps(boxes.to("meta"), boxes)
    with pytest.raises(TypeError, match="bboxes1 .*detach"):
        detops.bbox_overlaps(boxes.clone().requires_grad_(), boxes)
    with pytest.raises(
        TypeError, match="bboxes1 has dtype bfloat16 on cpu; pass float32 or float16"
    ):
        detops.bbox_overlaps(boxes.bfloat16(), boxes)
    for dtype in (torch.int32, torch.int64):
        assert detops.poly_nms(torch.tensor(DETS), 0.5, dtype=dtype).dtype == dtype


def test_cupy_would_sort_by_score():
    """Its steps on NumPy, which has the same functions: there may be no GPU to run CuPy on."""
    cupy = _frameworks.Cupy.__new__(_frameworks.Cupy)
    cupy.cupy = np
    dets = DETS.copy()
    dets[[3, 9, 20], 8] = [np.nan, np.inf, np.nan]
    kept = np.arange(0, 40, 2, dtype=np.int32)
    expected = kept[oracles.score_order(dets[kept, 8])]
    np.testing.assert_array_equal(cupy.sort_by_score(dets, kept), expected)
    np.testing.assert_array_equal(cupy.join_scores(dets[:, :8], dets[:, 8]), dets)


def test_jax_through_jit_by_callback():
    jax = require("jax")

    @jax.jit
    def overlaps(a, b):
        shape = jax.ShapeDtypeStruct((a.shape[0], b.shape[0]), a.dtype)
        return jax.pure_callback(detops.bbox_overlaps, shape, a, b)

    boxes = jax.numpy.asarray(BOXES)
    np.testing.assert_array_equal(overlaps(boxes, boxes), detops.bbox_overlaps(BOXES, BOXES))

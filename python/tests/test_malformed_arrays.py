# SPDX-License-Identifier: Apache-2.0
"""Arrays that leave something out, or say what can't be: read right, or refused; never a crash."""

from __future__ import annotations

import ctypes
import sys

import numpy as np
import pytest
import scenes
from exporters import BufferExporter, DlpackExporter

import detops
from detops import _core

BOXES = scenes.boxes(np.random.default_rng(7), 12)
EXPECTED = detops.bbox_overlaps(BOXES, BOXES)
HUGE = 2**62


def same(array):
    np.testing.assert_array_equal(detops.bbox_overlaps(array, BOXES), EXPECTED)
    np.testing.assert_array_equal(detops.bbox_overlaps(BOXES, array), EXPECTED)


# --- arrays that are fine, though their exporters are terse ---


def test_ctypes_arrays_are_read_in_place():
    """Their buffers have no strides."""
    array = (ctypes.c_float * 4 * 12).from_buffer(BOXES.copy())
    assert _core._address(array) == ctypes.addressof(array)
    same(array)
    same((ctypes.c_double * 4 * 12)(*map(tuple, BOXES.tolist())))
    assert detops.bbox_overlaps((ctypes.c_float * 4 * 0)(), BOXES).shape == (0, 12)
    big_endian = (ctypes.c_float.__ctype_be__ * 4 * 12)(*map(tuple, BOXES.tolist()))
    same(big_endian)


@pytest.mark.parametrize(
    "fields",
    [
        {"strides": None},
        {"format": b"<f" if sys.byteorder == "little" else b">f"},
        {"format": b"@f"},
        {"format": b"=f"},
        {"suboffsets": (-1, -1)},
        {"readonly": 0},
    ],
    ids=str,
)
def test_buffers_are_read_in_place(fields):
    exporter = BufferExporter(BOXES, **fields)
    assert _core._address(exporter.object) == BOXES.ctypes.data
    same(exporter.object)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"strides": (4, 1)},
        {"version": (1, 0)},
        {"version": (1, 7), "flags": 1},  # a later minor version, and read-only
        {"data": BOXES.ctypes.data - 64, "byte_offset": 64},
        {"device_type": 3, "says": (3, 0)},  # host memory that CUDA has pinned
    ],
    ids=["plain", "strides", "versioned", "read_only", "offset", "pinned"],
)
def test_dlpack_tensors_are_read_in_place(fields):
    fields = dict(fields)
    if "version" in fields:
        fields["capsule"] = b"dltensor_versioned"
    array = DlpackExporter(BOXES, **fields)
    assert _core._address(array) == BOXES.ctypes.data
    same(array)


def test_unaligned_memory_is_copied():
    carried = np.frombuffer(b"x" + BOXES.tobytes(), "u1").copy()[1:].view()
    assert carried.ctypes.data % 4 == 1
    same(DlpackExporter(BOXES, data=carried.ctypes.data))
    same(BufferExporter(BOXES, buf=carried.ctypes.data).object)


# --- what has no elements that could be read ---


@pytest.mark.parametrize("dtype", ["V0", [], "S0", "V7", "f4,i4"], ids=str)
def test_elements_of_no_or_odd_size_are_refused(dtype):
    with pytest.raises(TypeError, match="dets has dtype .*; pass float32"):
        detops.poly_nms(np.empty((2, 9), np.dtype(dtype)), 0.5)


# What fuzz_arrays.py found is here too, by name.
@pytest.mark.parametrize(
    ("fields", "error", "text"),
    [
        ({"itemsize": 0, "format": b""}, TypeError, "bboxes1"),
        ({"itemsize": 0}, TypeError, "bboxes1 .* its elements have 192 bytes"),
        ({"itemsize": 0, "len": 0}, TypeError, "bboxes1"),
        ({"itemsize": 7}, TypeError, "bboxes1 .* its elements have 192 bytes"),
        ({"itemsize": 7, "len": 7 * 48}, TypeError, "bboxes1"),
        ({"itemsize": -4}, TypeError, "bboxes1 .* its elements have 192 bytes"),
        ({"itemsize": -4, "len": -192}, TypeError, "bboxes1 .* its elements have -192 bytes"),
        ({"format": None}, TypeError, "bboxes1"),
        ({"format": b"?"}, TypeError, "bboxes1"),
        ({"format": b"T{f:a:}"}, TypeError, "bboxes1"),
        ({"ndim": 0}, ValueError, "bboxes1 is a scalar"),
        ({"ndim": 9}, ValueError, "bboxes1 has 9 dims"),
        ({"ndim": 2**31 - 1}, ValueError, "bboxes1 has 2147483647 dims; expected"),
        ({"ndim": -1}, TypeError, "bboxes1 is malformed: its library gives no shape"),
        ({"ndim": -(2**31)}, TypeError, "bboxes1 is malformed: its library gives no shape"),
        ({"shape": None}, TypeError, "bboxes1 is malformed: its library gives no shape"),
        ({"shape": (12, -4)}, TypeError, "bboxes1 is malformed: its library says that dim 1 is -4"),
        (
            {"shape": (-12, -4)},
            TypeError,
            "bboxes1 is malformed: its library says that dim 0 is -12",
        ),
        ({"shape": (13, 4)}, TypeError, "bboxes1 .* its elements have 192 bytes"),
        ({"shape": (HUGE, 4)}, MemoryError, None),
        ({"shape": (HUGE // 4, 4)}, TypeError, "bboxes1 .* its elements have 192 bytes"),
        ({"suboffsets": (0, -1)}, TypeError, "bboxes1 is malformed: its library gives pointers"),
        ({"buf": None}, ValueError, "bboxes1 is null"),
        ({"buf": None, "format": b"i"}, ValueError, "bboxes1 is null"),
        ({"strides": (HUGE, 4)}, TypeError, "bboxes1 .* strides that lead out of all memory"),
        (
            {"strides": (-HUGE, 4), "format": b"i"},
            TypeError,
            "bboxes1 .* strides that lead out of all memory",
        ),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_malformed_buffers_are_refused(fields, error, text):
    array = BufferExporter(BOXES, **fields).object
    before = sys.getrefcount(array)
    with pytest.raises(error, match=text):
        detops.bbox_overlaps(array, BOXES)
    assert sys.getrefcount(array) == before, "the buffer was not given back"


def test_refused_arrays_are_given_back():
    too_many_dims = np.zeros([1] * 9, "f")
    before = sys.getrefcount(too_many_dims)
    with pytest.raises(ValueError, match="9 dims"):
        detops.bbox_overlaps(too_many_dims, BOXES)
    assert sys.getrefcount(too_many_dims) == before


def test_rows_behind_pointers_are_refused():
    testbuffer = pytest.importorskip("_testbuffer", reason="this Python has no _testbuffer")
    array = testbuffer.ndarray(
        list(map(float, range(8))), shape=[2, 4], format="f", flags=testbuffer.ND_PIL
    )
    with pytest.raises(TypeError, match="bboxes1 .*suboffsets"):
        detops.bbox_overlaps(array, BOXES)


def test_a_released_memoryview_is_refused():
    view = memoryview(BOXES)
    view.release()
    with pytest.raises(TypeError, match="bboxes1"):
        detops.bbox_overlaps(view, BOXES)


def test_out_of_memory_in_an_exporter_is_out_of_memory():
    class Full:
        def __dlpack_device__(self):
            return (1, 0)

        def __dlpack__(self, **_):
            raise MemoryError

    with pytest.raises(MemoryError):
        detops.bbox_overlaps(Full(), BOXES)


@pytest.mark.parametrize(
    ("fields", "error", "text"),
    [
        ({"capsule": b"used_dltensor"}, TypeError, "bboxes1 .* no DLPack tensor of version 0 or"),
        ({"capsule": b"dltensor_other"}, TypeError, "bboxes1 .* no DLPack tensor"),
        ({"version": (2, 0)}, TypeError, "bboxes1 .* no DLPack tensor"),
        ({"lanes": 4}, TypeError, "bboxes1 has dtype float32 x4 on cpu; pass float32"),
        ({"lanes": 0}, TypeError, "bboxes1 has dtype float32 x0"),
        ({"bits": 0}, TypeError, "bboxes1 has dtype float0"),
        ({"bits": 4}, TypeError, "bboxes1 has dtype float4"),
        ({"bits": 24}, TypeError, "bboxes1"),
        ({"code": 4, "bits": 16}, TypeError, "bboxes1 has dtype bfloat16"),
        ({"code": 5, "bits": 64}, TypeError, "bboxes1 has dtype complex64"),
        ({"code": 200}, TypeError, "bboxes1 has dtype opaque32"),
        ({"rank": 0}, ValueError, "bboxes1 is a scalar"),
        ({"rank": 9}, ValueError, "bboxes1 has 9 dims"),
        ({"rank": -1}, TypeError, "bboxes1 is malformed: its library gives no shape"),
        ({"shape": None}, TypeError, "bboxes1 is malformed: its library gives no shape"),
        ({"shape": (12, -4)}, TypeError, "bboxes1 is malformed: its library says that dim 1 is -4"),
        ({"shape": (HUGE, 4)}, MemoryError, None),
        ({"data": None}, ValueError, "bboxes1 is null"),
        ({"data": None, "strides": (1, 12)}, ValueError, "null"),
        ({"data": None, "code": 0}, ValueError, "bboxes1 is null"),
        ({"strides": (4, HUGE)}, TypeError, "bboxes1 .* strides that lead out of all memory"),
        # NumPy, which converts, multiplies them by the size of an element and takes what is left.
        (
            {"strides": (HUGE // 2, 1), "code": 0},
            TypeError,
            "bboxes1 .* strides that lead out of all memory",
        ),
        (
            {"strides": (2, -HUGE), "bits": 16},
            TypeError,
            "bboxes1 .* strides that lead out of all memory",
        ),
        ({"device_type": 2}, TypeError, "bboxes1 .* lies on cpu, and gives memory on cuda:0"),
        ({"device_type": 10}, TypeError, "bboxes1 lies on a device of DLPack type 10"),
        ({"says": (2**40, 0)}, TypeError, "bboxes1 .* says that it lies on the device"),
        ({"says": (1, 2**70)}, TypeError, "bboxes1 .* says that it lies on the device"),
        ({"says": ("cpu", 0)}, TypeError, "bboxes1 .* says that it lies on the device"),
        ({"says": (1,)}, TypeError, "bboxes1 .* says that it lies on the device"),
        ({"says": ()}, TypeError, "bboxes1 .* says that it lies on the device"),
        ({"says": None}, TypeError, "bboxes1 .* says that it lies on the device"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_malformed_dlpack_tensors_are_refused(fields, error, text):
    fields = dict(fields)
    if "version" in fields:
        fields["capsule"] = b"dltensor_versioned"
    array = DlpackExporter(BOXES, **fields)
    with pytest.raises(error, match=text):
        detops.bbox_overlaps(array, BOXES)
    with pytest.raises(error):
        detops.bbox_overlaps(BOXES, array)


def test_what_has_no_elements_may_lie_anywhere():
    fields = {"shape": (0, 4), "strides": (HUGE, HUGE)}
    for array in (
        DlpackExporter(BOXES, data=BOXES.ctypes.data + 1, **fields),
        DlpackExporter(BOXES, data=None, **fields),
        BufferExporter(BOXES, buf=BOXES.ctypes.data + 1, len=0, **fields).object,
        BufferExporter(BOXES, buf=None, len=0, **fields).object,
    ):
        assert detops.bbox_overlaps(array, BOXES).shape == (0, 12)


@pytest.mark.parametrize("raised", [TypeError, AttributeError, ValueError, BufferError])
def test_what_its_library_refuses_is_named(raised):
    class Array:
        def __dlpack_device__(self):
            return (1, 0)

        def __dlpack__(self, **_):
            raise raised("not now")

    class WithoutDevice:
        def __dlpack__(self, **_):
            raise AssertionError("was asked for")

    with pytest.raises(TypeError, match="bboxes1 can't be read: not now"):
        detops.bbox_overlaps(Array(), BOXES)
    with pytest.raises(TypeError, match="bboxes1 can't be read: .*__dlpack_device__"):
        detops.bbox_overlaps(WithoutDevice(), BOXES)


@pytest.mark.parametrize("capsule", [None, 3, "dltensor"], ids=str)
def test_what_is_no_capsule_is_refused(capsule):
    class Array:
        def __dlpack_device__(self):
            return (1, 0)

        def __dlpack__(self, **_):
            return capsule

    with pytest.raises(TypeError, match="bboxes1 .* no DLPack tensor"):
        detops.bbox_overlaps(Array(), BOXES)


def test_texts_that_utf_8_has_not():
    with pytest.raises(TypeError, match="dtype is .*ud800; expected int32 or int64"):
        detops.poly_nms(np.zeros((2, 9), "f"), 0.5, dtype="\ud800")

    class Array:
        def __dlpack_device__(self):
            return (1, 0)

        def __dlpack__(self, **_):
            raise BufferError("\ud800")

    with pytest.raises(TypeError, match="bboxes1 .*ud800"):
        detops.bbox_overlaps(Array(), BOXES)

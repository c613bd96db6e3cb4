# SPDX-License-Identifier: Apache-2.0
"""Random arrays, most of them malformed, of all the kinds that functions take.

    python fuzz_arrays.py SECONDS [SEED [PROGRESS]]

DLPack capsules and buffers whose every field is random, and views of NumPy, memoryview and ctypes.
Each seed is one input; with SEED it is that one alone. PROGRESS is a file that has the seed of the
input in progress, for whoever finds that this process crashed.

What must hold: an array whose description is right gives what a plain copy of it gives, the
result's bits or the exception's type; another one gives an exception of an allowed type; nothing
crashes; and whatever was exported is given back, exactly once. As nobody can know whose memory a
pointer leads to, no description leads outside of the memory that is there.
"""

from __future__ import annotations

import ctypes
import faulthandler
import gc
import mmap
import random
import resource
import struct
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
import scenes
from exporters import BufferExporter, DlpackExporter

import detops

ALLOWED = (TypeError, ValueError, MemoryError, RuntimeError)
RNG = np.random.default_rng(1)
N = 6
BOXES, SCORES, DETS = scenes.boxes(RNG, N), RNG.random(N, np.float32), scenes.quads(RNG, N)
CLOUD, CUBES = scenes.lidar(RNG, 1, 20, N)
IMAGE, BORDERS = scenes.features(RNG, 1, 2, 5, 6, N)
PROPOSALS = scenes.to_nchw(scenes.proposals(RNG, 1, 2, 3, 4))

MAP = IMAGE.shape

# By operator and argument: the shape that is right, and a call with an array in that place.
CALLS: list[tuple[tuple[int, ...], Callable[[Any], Any]]] = [
    ((N, 4), lambda a: detops.bbox_overlaps(a, BOXES)),
    ((N, 4), lambda a: detops.bbox_overlaps(BOXES, a)),
    ((N, 4), lambda a: detops.bbox_overlaps(BOXES.astype("f2"), a)),
    ((N, 4), lambda a: detops.nms(a, SCORES, 0.5)),
    ((N,), lambda a: detops.nms(BOXES, a, 0.5)),
    ((N, 9), lambda a: detops.poly_nms(a, 0.1)),
    ((N, 8), lambda a: detops.poly_nms(a, 0.1, SCORES)),
    ((N, 4, 2), lambda a: detops.poly_nms(a, 0.1, SCORES)),
    ((N,), lambda a: detops.poly_nms(DETS[:, :8], 0.1, a)),
    ((1, 20, 3), lambda a: detops.points_in_boxes(a, CUBES)),
    ((N, 7), lambda a: detops.points_in_boxes(CLOUD[0], a)),
    (MAP, lambda a: detops.border_align(a, BORDERS, 3)),
    ((1, N, 4), lambda a: detops.border_align(IMAGE, a, 3)),
    ((1, 2, 3, 4), lambda a: detops.generate_proposals(**{**PROPOSALS, "scores": a})),
]

MOST = 4096  # elements of an array that is read
HUGE = 2**36  # and from here on there is not enough memory for any result
ARENA_BYTES = 1 << 20
INT64 = 2**63 - 1


def arena(dtype: str) -> np.ndarray:
    """Memory whose every element means something in the type."""
    count = ARENA_BYTES // np.dtype(dtype).itemsize
    values = np.random.default_rng(2).uniform(0, 100, count)
    return np.frombuffer(bytearray(values.astype(dtype).tobytes()), "u1")


ARENAS: dict[str, np.ndarray] = {}


def arena_of(dtype: str) -> np.ndarray:
    if dtype not in ARENAS:
        ARENAS[dtype] = arena(dtype)
    return ARENAS[dtype]


@dataclass
class Input:
    """An array, and what is known of it."""

    array: Any
    # A copy of what it holds; "refused" where there must be an exception; None where anything but
    # a crash will do, as there is no memory for it.
    expected: Any = None
    given_back: Callable[[], Any] = lambda: True
    text: dict[str, Any] = field(default_factory=dict)


@dataclass
class Layout:
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None  # in bytes
    address: int
    expected: Any


def random_shape(rng: random.Random, right: tuple[int, ...]) -> list[int]:
    if rng.random() < 0.5:
        return list(right)
    if rng.random() < 0.5:
        shape = list(right)
        at = rng.randrange(len(shape))
        shape[at] = rng.choice([0, 1, 2, 3, 7, 8, 9, -1, -4, -INT64 - 1, INT64, 2**62, 2**40, HUGE])
        return shape
    rank = rng.choice([0, 1, 1, 2, 2, 2, 3, 3, 4, 5, 8, 9, 40])
    return [rng.choice([0, 1, 1, 1, 2, 3, 4, 4, 5, 7, 9, -1, 2**33]) for _ in range(rank)]


def row_major(shape: list[int], itemsize: int) -> list[int]:
    strides, stride = [], itemsize
    for dim in reversed(shape):
        strides.append(stride)
        stride *= max(dim, 1)
    return strides[::-1]


def random_strides(rng: random.Random, shape: list[int], itemsize: int) -> list[int]:
    kind = rng.random()
    plain = row_major(shape, itemsize)
    if kind < 0.4:
        strides = plain
    elif kind < 0.5:
        strides = [0] * len(shape)
    elif kind < 0.6:
        strides = [-stride for stride in plain]
    elif kind < 0.7:
        strides = row_major(shape[::-1], itemsize)[::-1]
    else:
        strides = [itemsize * rng.randint(-20, 20) for _ in shape]
    if rng.random() < 0.1 and strides:
        at = rng.randrange(len(strides))
        strides[at] = rng.choice([INT64, -INT64 - 1, 2**62, -(2**62), 2**40]) // itemsize * itemsize
    return strides


def random_layout(
    rng: random.Random, right: tuple[int, ...], dtype: str, whole_strides: bool
) -> Layout:
    """Of memory that is there wherever it can be read at all. Strides are multiples of the
    itemsize, unless they need not be."""
    itemsize = np.dtype(dtype).itemsize
    memory = arena_of(dtype)
    begin = memory.ctypes.data
    shape = random_shape(rng, right)
    strides: list[int] | None = random_strides(rng, shape, itemsize)
    if not whole_strides and rng.random() < 0.1:
        strides = [stride + rng.choice([0, 1, 2]) * (stride < 2**40) for stride in strides]
    if rng.random() < 0.25:
        strides = None
    middle = begin + ARENA_BYTES // 2
    address = middle + (rng.randrange(1, 16) if rng.random() < 0.05 else 0)
    if len(shape) in (0, *range(9, 99)) or any(dim < 0 for dim in shape):
        return Layout(tuple(shape), strides and tuple(strides), address, "refused")
    count = prod(shape)
    if count > INT64:
        expected = None if 0 in shape else "refused"
        return Layout(tuple(shape), strides and tuple(strides), address, expected)
    if right == MAP and prod(shape) >= HUGE:
        shape = list(right)  # a map is read where boxes lie, however large it is: as it says
        strides = None
    while MOST < prod(shape) < HUGE:
        at = shape.index(max(shape))
        shape[at] = rng.choice([1, 2, 3, 2**62 // max(prod(shape) // shape[at], 1)])
    count = prod(shape)
    taken = row_major(shape, itemsize) if strides is None else list(strides)
    offsets = [(dim - 1) * stride for dim, stride in zip(shape, taken, strict=True) if dim > 1]
    if 0 in shape:
        # NumPy has none that would be too large without its zeros.
        expected = np.empty(shape, dtype) if prod(d for d in shape if d) < HUGE else None
        return Layout(tuple(shape), strides and tuple(strides), address, expected)
    low, high = sum(o for o in offsets if o < 0), sum(o for o in offsets if o > 0)
    if count >= HUGE:  # refused for want of memory, and never read
        return Layout(tuple(shape), strides and tuple(strides), address, "refused")
    if high > INT64 or low < -INT64 - 1:
        return Layout(tuple(shape), strides and tuple(strides), address, "refused")
    if max(high, -low) > ARENA_BYTES // 2 - 1024:
        # It would lead outside.
        taken = [t if abs(t) < 4096 else itemsize for t in taken]
        strides = taken
    expected = np.ndarray(
        tuple(shape), dtype, memory, offset=address - begin, strides=tuple(taken)
    ).copy()
    return Layout(tuple(shape), strides and tuple(strides), address, expected)


# --- DLPack ---

CODES = {"i": 0, "u": 1, "f": 2, "b": 6}
TYPES = (
    ["f4"] * 12 + ["f2"] * 3 + ["f8"] * 3 + ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"]
)

DELETIONS: Counter[int] = Counter()


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def delete(managed: int) -> None:
    DELETIONS[managed] += 1


IS_VALID = ctypes.pythonapi.PyCapsule_IsValid
IS_VALID.argtypes = (ctypes.py_object, ctypes.c_char_p)


class Producer:
    """Each capsule is of a tensor of its own, and stays until it was looked at."""

    def __init__(self, knows_versions: bool, fields: dict[str, Any]) -> None:
        self.fields, self.knows_versions = fields, knows_versions
        self.given: list[tuple[DlpackExporter, Any]] = []

    def __dlpack_device__(self) -> Any:
        return self.fields["says"]

    def __dlpack__(self, **options: Any) -> Any:
        if options and not self.knows_versions:
            raise TypeError("unexpected keyword arguments")
        deleter = ctypes.cast(delete, ctypes.c_void_p)
        exporter = DlpackExporter(BOXES, deleter=deleter, **self.fields)
        capsule = exporter.__dlpack__()
        self.given.append((exporter, capsule))
        return capsule

    def given_back(self) -> bool:
        """Who takes a tensor renames its capsule and deletes the tensor, once; else the capsule's
        end would do that, and nobody may still have it."""
        as_it_should = True
        while self.given:
            exporter, capsule = self.given.pop()
            deletions = DELETIONS.pop(ctypes.addressof(exporter.tensor), 0)
            is_taken = not IS_VALID(capsule, exporter.capsule)
            # Here and in the argument of getrefcount.
            as_it_should &= deletions == is_taken and sys.getrefcount(capsule) == 2
        return as_it_should


def random_dlpack(rng: random.Random, right: tuple[int, ...]) -> Input:
    dtype = rng.choice(TYPES)
    kind, itemsize = np.dtype(dtype).kind, np.dtype(dtype).itemsize
    layout = random_layout(rng, right, dtype, whole_strides=True)
    expected = layout.expected
    fields: dict[str, Any] = {
        "says": (1, 0),
        "code": CODES[kind],
        "bits": 8 * itemsize,
        "rank": len(layout.shape),
        "shape": layout.shape,
        "strides": layout.strides and tuple(s // itemsize for s in layout.strides),
    }
    offset = rng.choice([0, 0, 0, 4, 64, 2**63, 2**64 - 8])
    fields["byte_offset"], fields["data"] = offset, (layout.address - offset) % 2**64
    if rng.random() < 0.3:
        fields["capsule"], fields["version"] = b"dltensor_versioned", (1, rng.choice([0, 1, 99]))
        fields["flags"] = rng.choice([0, 1, 2, 3, 2**63])
    # One thing that is wrong, or unusual.
    oddity = rng.randrange(40)
    if oddity == 0:
        fields["data"], fields["byte_offset"] = None, 0
        expected = "refused" if 0 not in layout.shape else None
    elif oddity == 1:
        fields["rank"] = rng.choice([-1, 0, 9, -(2**31), 2**31 - 1])
        expected = "refused"
    elif oddity == 2:
        fields["shape"] = None
        expected = "refused"
    elif oddity == 3:
        fields["lanes"] = rng.choice([0, 2, 4, 65535])
        expected = "refused"
    elif oddity == 4:
        fields["bits"] = rng.choice([b for b in range(256) if b != 8 * itemsize])
        # Of another size than its strides were made for; some are types, and may be read.
        if fields["bits"] in (8, 16, 32, 64, 80, 96, 128):
            fields["shape"], fields["rank"], fields["strides"] = (1, 4), 2, None
            expected = None
        else:
            expected = "refused"
    elif oddity == 5:
        fields["code"] = rng.choice([3, 4, 5, *range(7, 256)])
        expected = "refused"
    elif oddity == 6:
        fields["says"] = rng.choice(
            [(2, 0), (3, 0), (13, 0), (10, 0), (0, 0), (-1, 0), (2**40, 0), (1, -1), (1, 7)]
            + [(1,), (), None, "cpu", (1.5, 0), ("cpu", "0"), [1, 0]]
        )
        on_host = fields["says"] in ((1, -1), (1, 7), [1, 0], (3, 0))
        expected = None if on_host or fields["says"] == (1.5, 0) else "refused"
        if fields["says"] == (3, 0):
            fields["device_type"] = 3
    elif oddity == 7:
        fields["device_type"] = rng.choice([0, 2, 4, 7, 10, 13, -1, 2**31 - 1])
        expected = "refused"
    elif oddity == 8:
        fields["capsule"] = rng.choice([b"used_dltensor", b"dltensor_other", b"", b"DLTENSOR"])
        fields.pop("version", None)
        fields.pop("flags", None)
        expected = "refused"
    elif oddity == 9:
        fields["version"] = (rng.choice([2, 3, 2**32 - 1]), 0)
        fields["capsule"] = b"dltensor_versioned"
        expected = "refused"
    producer = Producer(rng.random() < 0.7, fields)
    if not producer.knows_versions and isinstance(expected, np.ndarray) and dtype not in "f4 f2":
        expected = None  # what NumPy converts it asks for by itself, perhaps with arguments
    return Input(producer, expected, producer.given_back, fields)


# --- buffers ---

FORMATS = {"f4": b"f", "f2": b"e", "f8": b"d", "i1": b"b", "i2": b"h", "i4": b"i", "i8": b"q"}
# Not "O": pointers to objects are believed, as all pointers are.
FORMATS |= {"u1": b"B", "u2": b"H", "u4": b"I", "u8": b"Q", "?": b"?"}
ODD_FORMATS = [None, b"", b"?", b"x", b"c", b"4f", b"0f", b"ff", b"T{f:a:}", b"T{}", b"(2,3)f"]
ODD_FORMATS += [b"Zf", b"w", b"P", b"&f", b"X{}", b"\xff", b"f" * 9, b"<<f", b"!", b"@"]


def random_buffer(rng: random.Random, right: tuple[int, ...]) -> Input:
    dtype = rng.choice(TYPES)
    itemsize = np.dtype(dtype).itemsize
    layout = random_layout(rng, right, dtype, whole_strides=False)
    expected = layout.expected
    count = prod(layout.shape) if layout.shape else 1
    fields: dict[str, Any] = {
        "buf": layout.address,
        "len": max(min(count * itemsize, INT64), -INT64),
        "itemsize": itemsize,
        "ndim": len(layout.shape),
        "format": rng.choice([b"", b"@", b"=", b"<"]) + FORMATS[dtype],
        "shape": layout.shape,
        "strides": layout.strides,
        "readonly": rng.randrange(2),
    }
    if abs(count * itemsize) > INT64:
        expected = None if 0 in layout.shape else "refused"
    oddity = rng.randrange(30)
    if oddity == 0:
        fields["itemsize"] = rng.choice([0, -1, -itemsize, 3, 7, 2**40, INT64])
        fields["len"] = rng.choice([fields["len"], min(abs(count) * fields["itemsize"], INT64)])
        expected = None if 0 in layout.shape or not layout.shape else "refused"
    elif oddity == 1:
        fields["format"] = rng.choice(ODD_FORMATS)
        expected = None
    elif oddity == 2:
        fields["len"] += rng.choice([1, -1, itemsize, -itemsize]) if fields["len"] < INT64 else -1
        expected = "refused"
    elif oddity == 3:
        fields["ndim"] = rng.choice([-1, 0, 9, 65, 2**31 - 1, -(2**31)])
        expected = "refused"
    elif oddity == 4:
        fields["shape"] = None
        expected = "refused"
    elif oddity == 6:
        fields["buf"] = None
        expected = None if 0 in layout.shape else "refused"
    elif oddity == 5 and layout.shape:
        fields["suboffsets"] = tuple(rng.choice([-1, -1, 0, 8]) for _ in layout.shape)
        # NumPy, which converts, takes none at all.
        expected = "refused" if max(fields["suboffsets"]) >= 0 else None
    exporter = BufferExporter(BOXES, **fields)

    def closed() -> bool:
        exporter.close()
        return True

    return Input(exporter.object, expected, closed, fields)


# --- what Python has ---


def random_numpy(rng: random.Random, right: tuple[int, ...]) -> Input:
    """Views by as_strided, of any type that NumPy has."""
    if rng.random() < 0.1:
        odd = rng.choice(["V0", "S0", "U0", "V7", "S3", "O", "M8[s]", "m8", "c8", "f4,i4", "g"])
        array = np.zeros(right, np.dtype(odd))
        return Input(array, array, text={"dtype": odd})
    if rng.random() < 0.1:  # a field of a record, whose stride may be no multiple of its size
        records = np.zeros(right, np.dtype([("a", "u1"), ("b", "f4")], align=rng.random() < 0.5))
        records["b"] = np.random.default_rng(rng.randrange(9)).random(right)
        return Input(records["b"], records["b"].copy(), text={"dtype": "field"})
    dtype = rng.choice(TYPES)
    layout = random_layout(rng, right, dtype, whole_strides=False)
    if not isinstance(layout.expected, np.ndarray):
        return random_numpy(rng, right)
    memory = arena_of(dtype)
    array = np.ndarray(
        layout.shape,
        dtype,
        memory,
        offset=layout.address - memory.ctypes.data,
        strides=layout.strides,
    )
    if rng.random() < 0.1:
        array = array.view(array.dtype.newbyteorder())
    if rng.random() < 0.1:
        array.flags.writeable = False
    return Input(array, array.copy(), text={"dtype": dtype, "layout": layout})


def random_memoryview(rng: random.Random, right: tuple[int, ...]) -> Input:
    code = rng.choice("fffffdeibBhHlLqQ?cnN")
    shape = [dim for dim in random_shape(rng, right) if 0 < dim < 10] or [1]
    shape = shape[: rng.randint(1, 6)]
    size = struct.calcsize(code) * prod(shape)
    view = memoryview(bytearray(arena_of("f4")[:size].tobytes()))
    try:
        view = view.cast(code, shape)
    except ValueError:  # of some types no memoryview can be made in this version of Python
        view = view[: size // 4 * 4].cast("f")
    if rng.random() < 0.5 and len(shape) == 1:
        view = view[:: rng.choice([1, 2, -1, -3])]
    if rng.random() < 0.2:
        view = view.toreadonly()
    held = np.asarray(view)
    if rng.random() < 0.05:
        view.release()
        return Input(view, "refused", text={"released": code})
    return Input(view, held.copy(), text={"code": code, "shape": shape})


def random_ctypes(rng: random.Random, right: tuple[int, ...]) -> Input:
    types = [ctypes.c_float] * 5 + [ctypes.c_double, ctypes.c_int, ctypes.c_int64, ctypes.c_uint8]
    types += [ctypes.c_float.__ctype_be__, ctypes.c_char, ctypes.c_void_p, ctypes.c_longdouble]
    kind: Any = rng.choice(types)
    if rng.random() < 0.1:
        kind = type("Record", (ctypes.Structure,), {"_fields_": [("a", kind)] * rng.randrange(2)})
    shape = [dim for dim in random_shape(rng, right) if 0 <= dim < 10][:6]
    for dim in reversed(shape):
        kind = kind * dim
    array = kind()
    # Its bytes are small numbers, of whatever type.
    held = np.arange(ctypes.sizeof(array), dtype="u1") % 64
    ctypes.memmove(ctypes.addressof(array), held.tobytes(), ctypes.sizeof(array))
    try:
        plain = np.array(array)
    except Exception:
        plain = None  # NumPy can't read it either
    if not shape or 0 in shape or (plain is not None and plain.dtype.kind not in "fiu"):
        plain = None
    return Input(array, plain, text={"type": str(kind)})


MAKERS = [random_dlpack] * 5 + [random_buffer] * 4
MAKERS += [random_numpy, random_numpy, random_memoryview, random_ctypes]


def outcome(call: Callable[[Any], Any], array: Any) -> Any:
    """The result's arrays as bytes, or the exception's type."""
    try:
        result = call(array)
    except ALLOWED as error:
        return type(error)
    arrays = result if isinstance(result, tuple) else (result,)
    return [(np.asarray(a).dtype.str, np.shape(a), np.asarray(a).tobytes()) for a in arrays]


def try_seed(seed: int) -> None:
    rng = random.Random(seed)
    right, call = rng.choice(CALLS)
    maker = rng.choice(MAKERS)
    made = maker(rng, right)
    array = made.array
    before = sys.getrefcount(array)
    got = outcome(call, array)
    made.array = None
    assert sys.getrefcount(array) == before - 1, f"references are left: {made.text}"
    assert made.given_back(), f"not given back exactly once: {made.text}"
    if isinstance(made.expected, str):
        assert isinstance(got, type), f"was taken: {made.text}"
    elif made.expected is not None:
        expected = outcome(call, made.expected)
        assert got == expected, f"{got} instead of {expected}: {made.text}"
    kind = maker.__name__.removeprefix("random_")
    REACHED[kind, "refused" if isinstance(got, type) else "read"] += 1


REACHED: Counter[tuple[str, str]] = Counter()


def main(seconds: float, only: int | None = None, progress: str | None = None) -> None:
    faulthandler.enable()
    warnings.simplefilter("ignore")
    place: Any = bytearray(8)
    if progress is not None:
        with open(progress, "wb+") as file:
            file.write(bytes(8))
            file.flush()
            place = mmap.mmap(file.fileno(), 8)
    for right, call in CALLS:  # and all that is imported and allocated once
        outcome(call, np.ones(right, "f8"))
    # More memory than this can't be had, though the machine may promise it.
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    most, hard = used + (1 << 30), resource.getrlimit(resource.RLIMIT_AS)[1]
    if hard == resource.RLIM_INFINITY or most < hard:
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    end = time.monotonic() + seconds
    seed = only if only is not None else 1
    while True:
        struct.pack_into("q", place, 0, seed)
        try:
            try_seed(seed)
        except Exception as error:
            raise SystemExit(f"seed {seed}: {type(error).__name__}: {error}") from error
        if only is not None or time.monotonic() > end:
            break
        seed += 1
    gc.collect()
    reached = ", ".join(f"{' '.join(key)} {n}" for key, n in sorted(REACHED.items()))
    print(f"{sum(REACHED.values())} inputs: {reached}")


if __name__ == "__main__":
    main(
        float(sys.argv[1]),
        int(sys.argv[2]) if sys.argv[2:] and sys.argv[2] != "-" else None,
        sys.argv[3] if sys.argv[3:] else None,
    )

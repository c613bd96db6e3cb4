# SPDX-License-Identifier: Apache-2.0
"""Calls on a machine that runs out of memory or threads.

    LD_PRELOAD=libdetops_faults.so python faulty_machine.py memory|memory-for-good|threads

(tests/faults/README.md). Each fault happens in a child of its own, in the first call of a process
and in a later one; the call raises MemoryError or is right, and the next one is right.
"""

from __future__ import annotations

import ctypes
import os
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.testing  # now, not in each child
import scenes

import detops

FAULTS = ctypes.CDLL(None)
FAIL_ALLOCATION, FAIL_THREADS = FAULTS.detopsFaultsFailAllocation, FAULTS.detopsFaultsFailThreads
FAIL_ALLOCATION.argtypes, FAIL_THREADS.argtypes = (ctypes.c_long, ctypes.c_int), (ctypes.c_long,)
FAILED_ALLOCATIONS = FAULTS.detopsFaultsFailedAllocations
FAILED_THREADS = FAULTS.detopsFaultsFailedThreads

RNG = np.random.default_rng(3)
BOXES, DETS = scenes.boxes(RNG, 300), scenes.quads(RNG, 3000, side=1500)
SCORES = RNG.random(300, dtype=np.float32)
FEATURES, BORDERS = scenes.features(RNG, 2, 3, 6, 7, 5)
PROPOSALS = scenes.to_nchw(scenes.proposals(RNG, 2, 3, 20, 30))
CLOUD, CUBES = scenes.lidar(RNG, 2, 5000, 9)
INPUTS = [BOXES, DETS, SCORES, FEATURES, BORDERS, *PROPOSALS.values(), CLOUD, CUBES]


class Array:
    """Of a library that detops does not know."""

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __dlpack__(self, stream: Any = None) -> Any:
        return BOXES.__dlpack__()


def refused() -> str:
    try:
        detops.poly_nms(DETS[:, :7], 0.1)
    except ValueError as error:
        return str(error)
    raise AssertionError("was taken")


CALLS: dict[str, Callable[[], Any]] = {
    "bbox_overlaps": lambda: detops.bbox_overlaps(BOXES, BOXES),
    "strided": lambda: detops.bbox_overlaps(BOXES[::2], BOXES[::-1]),
    "converted": lambda: detops.bbox_overlaps(BOXES.astype("f8"), BOXES.round().astype("i8")),
    "dlpack": lambda: detops.bbox_overlaps(Array(), Array()),
    "nms": lambda: detops.nms(BOXES, SCORES, 0.5),
    "poly_nms": lambda: detops.poly_nms(DETS, 0.1),
    "by_score": lambda: detops.poly_nms(DETS[:, :8], 0.1, DETS[:, 8], order="score"),
    "border_align": lambda: detops.border_align(FEATURES, BORDERS, 3, return_argmax=True),
    "generate_proposals": lambda: detops.generate_proposals(**PROPOSALS),
    "points_in_boxes": lambda: detops.points_in_boxes(CLOUD, CUBES),
    "refused": refused,
    "implementations": lambda: detops.implementations(),
}
NOT_REACHED = 3
FAILED = object()


def out_of_memory(n: int, call: Callable[[], Any], and_later: int = 0) -> tuple[Any, bool]:
    """What the call gives while its n-th allocation fails, and whether there was an n-th."""
    FAIL_ALLOCATION(n, and_later)
    try:
        return call(), FAILED_ALLOCATIONS() > 0
    except MemoryError:
        return FAILED, True
    finally:
        FAIL_ALLOCATION(0, 0)


def out_of_memory_for_good(n: int, call: Callable[[], Any]) -> tuple[Any, bool]:
    """And so do all later ones of the call."""
    return out_of_memory(n, call, and_later=1)


def out_of_threads(n: int, call: Callable[[], Any]) -> tuple[Any, bool]:
    """What the call gives on the threads that there are."""
    FAIL_THREADS(n)
    try:
        return call(), FAILED_THREADS() > 0
    finally:
        FAIL_THREADS(0)


def child(body: Callable[[], int]) -> int:
    """The exit status of a child that runs the body; negative where a signal ended it."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            status = body()
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def one_fault(fault: Any, n: int, call: Callable[[], Any], first: bool) -> int:
    inputs = [array.copy() for array in INPUTS]
    references = [sys.getrefcount(array) for array in INPUTS]
    if not first:
        call()
    result, reached = fault(n, call)
    expected = call()
    if result is not FAILED:
        np.testing.assert_equal(result, expected)
    np.testing.assert_equal(INPUTS, inputs)
    assert [sys.getrefcount(array) for array in INPUTS] == references
    return 0 if reached else NOT_REACHED


def faults_of(fault: Any, call: Callable[[], Any], first: bool) -> Iterator[tuple[int, int]]:
    for n in range(1, 10_000):
        status = child(lambda n=n: one_fault(fault, n, call, first))  # type: ignore[misc]
        if status == NOT_REACHED:
            return
        yield n, status
    raise AssertionError("no end of faults")


def main() -> None:
    fault = {
        "memory": out_of_memory,
        "memory-for-good": out_of_memory_for_good,
        "threads": out_of_threads,
    }[sys.argv[1]]
    failures: Counter[str] = Counter()
    total = 0
    for name, call in CALLS.items():
        for first in (True, False):
            count = 0
            for n, status in faults_of(fault, call, first):
                count += 1
                if status != 0:
                    failures[name] += 1
                    print(f"{name}, {first=}: fault {n} ended with status {status}")
            print(f"{name}, {first=}: {count} faults")
            total += count
    print(f"{total} faults")
    if failures:
        sys.exit(f"failed: {dict(failures)}")
    if total == 0:
        sys.exit("nothing ran out")


main()

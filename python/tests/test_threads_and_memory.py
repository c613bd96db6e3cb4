# SPDX-License-Identifier: Apache-2.0
"""Threads, forks, the GIL, and what a million calls leave behind."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import scenes

import detops

RNG = np.random.default_rng(5)
BOXES = scenes.boxes(RNG, 10)
DETS = scenes.quads(RNG, 3000, side=1500)
CLOUD, CUBES = scenes.lidar(RNG, 1, 20000, 20)


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def all_of_it():
    return [
        detops.bbox_overlaps(DETS[:, :4], DETS[:50, :4]),
        detops.poly_nms(DETS, 0.1),
        detops.points_in_boxes(CLOUD, CUBES),
    ]


def test_many_threads_at_once():
    expected = all_of_it()
    with ThreadPoolExecutor(8) as pool:
        for results in pool.map(lambda _: all_of_it(), range(64)):
            for actual, e in zip(results, expected, strict=True):
                np.testing.assert_array_equal(actual, e)


FIRST_CALLS = """
import sys, threading
sys.setswitchinterval(1e-6)
import detops
barrier, failures = threading.Barrier(16), []

class Array:
    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, stream=None):
        import numpy
        return numpy.zeros((2, 4), "f").__dlpack__()

def first_call(i):
    barrier.wait()
    try:
        detops.bbox_overlaps(Array() if i % 2 else [[0, 0, 1, 1]], [[0, 0, 1, 1.5]])
    except Exception as error:
        failures.append(error)

threads = [threading.Thread(target=first_call, args=(i,)) for i in range(16)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not failures, failures
"""


def test_first_calls_of_many_threads_do_not_wait_for_each_other():
    """While one thread imports what it needs, the others hold the GIL now and then."""
    for _ in range(5):
        subprocess.run([sys.executable, "-c", FIRST_CALLS], check=True, timeout=60)


def test_threads_take_their_handles_with_them():
    def in_new_threads(count):
        for _ in range(count):
            thread = threading.Thread(target=detops.bbox_overlaps, args=(BOXES, BOXES))
            thread.start()
            thread.join()

    in_new_threads(200)
    before = resident_bytes()
    in_new_threads(2000)
    assert resident_bytes() - before < 4 << 20


def test_other_threads_run_during_a_call():
    dets = scenes.quads(np.random.default_rng(2), 300_000, side=14_000)
    done = threading.Event()
    took = []

    def work():
        start = time.perf_counter()
        detops.poly_nms(dets, 0.1)
        took.append(time.perf_counter() - start)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    longest, last = 0.0, time.perf_counter()
    while not done.is_set():
        time.sleep(0)
        now = time.perf_counter()
        longest, last = max(longest, now - last), now
    thread.join()
    assert longest < took[0] / 2, f"the GIL was held for {longest:.3f} of {took[0]:.3f} s"


INTERRUPTED = """
import os, signal, threading, time, numpy as np, scenes, detops
# As a shell starts a program in the foreground; in the background it may ignore the signal.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
dets = scenes.quads(np.random.default_rng(2), 300_000, side=14_000)
expected = detops.poly_nms(dets, 0.1).tolist()
press = threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGINT))
end = time.monotonic() + 30
try:
    press.start()
    while time.monotonic() < end:
        detops.poly_nms(dets, 0.1)
    print("not interrupted")
except KeyboardInterrupt:
    print("interrupted")
press.join()
assert detops.poly_nms(dets, 0.1).tolist() == expected
"""


def run_program(source, **options):
    """In a process of its own, which finds the modules beside this file."""
    return subprocess.run(
        [sys.executable, "-c", source],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        timeout=120,
        **options,
    )


def ignore_ctrl_c():
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@pytest.mark.parametrize("started", [None, ignore_ctrl_c], ids=["as_here", "in_the_background"])
def test_ctrl_c_during_a_call_surfaces_when_it_ends(started):
    """Also of a program that the shell has started in the background, with the signal ignored."""
    result = run_program(INTERRUPTED, preexec_fn=started)
    assert result.returncode == 0, result.stderr
    assert result.stdout == "interrupted\n"


FORK = """
import multiprocessing, numpy as np, scenes, detops
dets = scenes.quads(np.random.default_rng(5), 50_000, side=6000)  # enough for many threads
expected = detops.poly_nms(dets, 0.1).tolist()
context = multiprocessing.get_context("fork")
queue = context.Queue()
child = context.Process(target=lambda: queue.put(detops.poly_nms(dets, 0.1).tolist()), daemon=True)
child.start()
assert queue.get(timeout=60) == expected
child.join(60)
assert child.exitcode == 0
"""


def test_a_fork_works_after_the_parent_used_its_threads():
    result = run_program(FORK)
    assert result.returncode == 0, result.stderr


def repeat(call, count):
    for _ in range(count):
        call()


def wrong_call():
    try:
        detops.bbox_overlaps(BOXES[:, :3], BOXES)
    except ValueError:
        pass


@pytest.mark.parametrize(
    ("call", "count"),
    [
        (lambda: detops.bbox_overlaps(BOXES, BOXES), 1_000_000),
        (lambda: detops.poly_nms(DETS[:5], 0.5, order="score"), 100_000),
        (lambda: detops.points_in_boxes(CLOUD[:, :50], CUBES), 100_000),
        (lambda: detops.bbox_overlaps(BOXES[::2], BOXES[:, ::-1]), 100_000),
        (lambda: detops.bbox_overlaps(BOXES.astype("f8"), memoryview(BOXES)), 50_000),
        (wrong_call, 50_000),
    ],
    ids=["a_million_calls", "poly_nms", "points_in_boxes", "strided", "converted", "errors"],
)
def test_nothing_is_left_behind(call, count):
    repeat(call, count // 10)
    gc.collect()
    references, before = sys.getrefcount(BOXES), resident_bytes()
    repeat(call, count)
    gc.collect()
    assert sys.getrefcount(BOXES) == references
    assert resident_bytes() - before < 2 << 20


def test_dlpack_arrays_are_given_back():
    given_back = []

    class Array:
        def __dlpack_device__(self):
            return (1, 0)

        def __dlpack__(self, stream=None):
            return BOXES.__dlpack__()

        def __del__(self):
            given_back.append(True)

    detops.bbox_overlaps(Array(), Array())
    with pytest.raises(ValueError, match="bboxes2"):
        detops.bbox_overlaps(Array(), np.zeros((2, 3), "f"))
    assert len(given_back) == 3

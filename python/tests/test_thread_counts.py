# SPDX-License-Identifier: Apache-2.0
"""How many threads a call may use: by function, and by the environment."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import scenes

import detops

DEFAULT = 0


@pytest.fixture(autouse=True)
def default_before_and_after():
    global DEFAULT
    detops.set_threads(0)
    DEFAULT = detops.get_threads()  # now: importing Paddle sets OMP_NUM_THREADS
    yield
    detops.set_threads(0)


def test_they_are_set_also_after_calls():
    detops.nms(np.zeros((2, 4), "f"), np.zeros(2, "f"), 0.5)
    detops.set_threads(3)
    assert detops.get_threads() == 3
    detops.set_threads(0)
    assert detops.get_threads() == DEFAULT


def test_a_block_puts_back_what_was_set():
    detops.set_threads(5)
    with pytest.raises(KeyError), detops.threads(2):
        assert detops.get_threads() == 2
        with detops.threads(0):
            assert detops.get_threads() == DEFAULT
        assert detops.get_threads() == 2
        raise KeyError
    assert detops.get_threads() == 5


def test_a_function_can_be_decorated():
    @detops.threads(2)
    def inside():
        return detops.get_threads()

    assert inside() == inside() == 2
    assert detops.get_threads() == DEFAULT


def test_other_threads_are_not_affected():
    detops.set_threads(DEFAULT + 3)
    seen = []
    thread = threading.Thread(target=lambda: seen.append(detops.get_threads()))
    thread.start()
    thread.join()
    assert seen == [DEFAULT] and detops.get_threads() == DEFAULT + 3


def test_a_forked_child_keeps_them():
    detops.set_threads(DEFAULT + 3)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, bytes([detops.get_threads()]))
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 1) == bytes([DEFAULT + 3])


@pytest.mark.parametrize("n", [-1, 4097, 10**7])
def test_what_is_no_number_of_threads_is_named(n):
    expected = f"n is {n}; expected 1 to 4096 threads, or 0 for the default"
    with pytest.raises(ValueError, match=f"^set_threads: {expected}$"):
        detops.set_threads(n)
    with pytest.raises(ValueError, match=f"^threads: {expected}$"), detops.threads(n):
        pass
    assert detops.get_threads() == DEFAULT


@pytest.mark.parametrize("n", [None, "2", 1.5, True, [1]])
def test_what_is_no_number_is_a_type_error(n):
    with pytest.raises(TypeError, match="^set_threads: n is .*; expected an integer"):
        detops.set_threads(n)


def get_threads(**environment):
    """Of a process with those variables, or its error."""
    others = {k: v for k, v in os.environ.items() if k not in ("DETOPS_THREADS", "OMP_NUM_THREADS")}
    result = subprocess.run(
        [sys.executable, "-c", "import detops; print(detops.get_threads())"],
        capture_output=True,
        text=True,
        env={**others, **environment},
    )
    return (result.stdout + result.stderr).strip().splitlines()[-1]


def test_the_environment_says_the_default():
    assert get_threads(DETOPS_THREADS="3", OMP_NUM_THREADS="5") == "3"
    assert get_threads(OMP_NUM_THREADS="5,2") == "5"
    assert get_threads(DETOPS_THREADS="0", OMP_NUM_THREADS="5") == get_threads()


@pytest.mark.parametrize("variable", ["DETOPS_THREADS", "OMP_NUM_THREADS"])
@pytest.mark.parametrize("value", ["many", "-1", "5000"])
def test_nonsense_in_the_environment_is_named(variable, value):
    error = get_threads(**{variable: value})
    assert error.startswith(f'ValueError: {variable}: is "{value}", expected ')


WORKERS = """
import os, numpy as np, scenes, detops

def workers():
    return len(os.listdir("/proc/self/task")) - before

rng = np.random.default_rng(3)
before = len(os.listdir("/proc/self/task"))
with detops.threads(4):
    for side in (50, 200, 1000, 5000):
        boxes, dets = scenes.boxes(rng, 1000), scenes.quads(rng, 1000, side=side)
        detops.nms(boxes * np.float32(side / 100), rng.random(1000, np.float32), 0.5)
        detops.poly_nms(dets, 0.1)
        detops.bbox_overlaps(boxes, boxes)
        detops.points_in_boxes(rng.random((1, 1000, 3), np.float32), np.ones((1, 10, 7), "f"))
    few = workers()
    detops.poly_nms(scenes.quads(rng, 50_000, side=6000), 0.1)
print(few, workers())
"""


def test_calls_too_small_to_gain_stay_on_the_callers_thread():
    """Where other programs need the processors, whoever shares work waits for its turn."""
    result = subprocess.run(
        [sys.executable, "-c", WORKERS],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        env={**os.environ, "DETOPS_IMPL": ""},
    )
    assert result.stdout == "0 3\n", result.stdout + result.stderr


@contextmanager
def all_processors_busy():
    """Two processes that only spin for each processor, or a visible skip."""
    count = 2 * len(os.sched_getaffinity(0))
    spinning = []
    try:
        try:
            for _ in range(count):
                program = [sys.executable, "-c", "print(flush=True)\nwhile True: pass"]
                spinning.append(subprocess.Popen(program, stdout=subprocess.PIPE))
        except OSError as error:
            pytest.skip(f"only {len(spinning)} of {count} processes could be started: {error}")
        for process in spinning:
            process.stdout.readline()  # it has begun
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()
            process.stdout.close()


def seconds(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


@pytest.mark.parametrize("operator", ["nms", "poly_nms"])
def test_1000_boxes_take_no_longer_on_busy_processors_than_with_one_thread(operator):
    """At most twice as long, by the median of the ratios of calls in turns."""
    rng = np.random.default_rng(4)
    boxes, scores = scenes.boxes(rng, 1000, 1000), rng.random(1000, np.float32)
    dets = scenes.quads(rng, 1000, side=1000)
    call = {
        "nms": lambda: detops.nms(boxes, scores, 0.5),
        "poly_nms": lambda: detops.poly_nms(dets, 0.1),
    }[operator]
    many = max(DEFAULT, 2)
    ratios, noise = [], []
    with all_processors_busy():
        end = time.perf_counter() + 20
        while len(ratios) < 201 and time.perf_counter() < end:
            with detops.threads(many):
                took = seconds(call)
            with detops.threads(1):
                alone, again = seconds(call), seconds(call)
            ratios.append(took / alone)
            noise.append(again / alone)
    if len(ratios) < 21 or not 2 / 3 < np.median(noise) < 3 / 2:
        pytest.skip(
            f"can't be measured here: of {len(ratios)} calls with one thread, the next took "
            f"{np.median(noise):.2f} times as long by the median"
        )
    assert np.median(ratios) <= 2, np.quantile(ratios, [0.1, 0.5, 0.9])

# SPDX-License-Identifier: Apache-2.0
"""Arrays of the host on another device: what is chosen, and the same bits there.

Skipped where there is no such device; DETOPS_REQUIRE=mlu makes that a failure.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from frameworks import REQUIRED, require
from test_frameworks import BOXES, CALLS

import detops

MLUS = [d["name"] for d in detops.devices() if d["name"].startswith("mlu") and d["usable"]]
FUNCTIONS = {
    name for name, found in detops.implementations().items()
    if any(i["name"].startswith("mlu:") and i["usable"] for i in found)
}


@pytest.fixture(autouse=True)
def default_before_and_after():
    detops.set_device(None)
    yield
    detops.set_device(None)


@pytest.fixture(params=["mlu590", "mlu370"])
def mlu(request):
    if request.param not in MLUS:
        text = f"there is no {request.param} here"
        if "mlu" in REQUIRED:
            pytest.fail(text)
        pytest.skip(text)
    return request.param


def has_function(name):
    return any(name.startswith(function) for function in FUNCTIONS)


def arrays(result):
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("name", CALLS)
def test_the_same_bits_as_on_the_host(mlu, name):
    if not has_function(name):
        pytest.skip(f"{mlu} has no implementation of it")
    expected = CALLS[name](np.asarray)
    with detops.device(mlu):
        actual = CALLS[name](np.asarray)
    for a, e in zip(arrays(actual), arrays(expected), strict=True):
        assert a.dtype == e.dtype
        np.testing.assert_array_equal(a, e)


def test_what_it_lacks_is_said(mlu):
    missing = sorted(set(detops.implementations()) - FUNCTIONS)
    if "nms" not in missing:
        pytest.skip("it has every operator")
    with detops.device(mlu), pytest.raises(RuntimeError, match=f"{mlu} has no implementation"):
        detops.nms(BOXES, BOXES[:, 0].copy(), 0.5)


def test_other_views_and_types(mlu):
    half = BOXES.astype(np.float16)
    with detops.device(mlu):
        strided = detops.bbox_overlaps(BOXES[::2], np.asfortranarray(BOXES))
        halves = detops.bbox_overlaps(half, half)
        none = detops.bbox_overlaps([], BOXES)
    np.testing.assert_array_equal(strided, detops.bbox_overlaps(BOXES[::2], BOXES))
    np.testing.assert_array_equal(halves, detops.bbox_overlaps(half, half))
    assert none.shape == (0, len(BOXES))


def test_other_libraries_arrays(mlu):
    torch = require("torch")
    boxes = torch.tensor(BOXES)
    with detops.device(mlu):
        result = detops.bbox_overlaps(boxes, boxes)
    assert isinstance(result, torch.Tensor) and result.device == boxes.device
    np.testing.assert_array_equal(result.numpy(), detops.bbox_overlaps(BOXES, BOXES))


def test_errors_are_those_of_the_host(mlu):
    def text(*arguments):
        with pytest.raises(ValueError) as error:
            detops.bbox_overlaps(*arguments)
        return str(error.value)

    expected = text(BOXES[:, :3], BOXES)
    with detops.device(mlu):
        assert text(BOXES[:, :3], BOXES) == expected


def test_a_block_puts_back_what_was_chosen(mlu):
    detops.set_device("cpu")
    with pytest.raises(KeyError), detops.device(mlu):
        assert detops.get_device() == mlu
        with detops.device("cpu"):
            assert detops.get_device() == "cpu"
        assert detops.get_device() == mlu
        raise KeyError
    assert detops.get_device() == "cpu"


def test_a_kind_is_its_first_device(mlu):
    with detops.device("mlu"):
        assert detops.get_device() == MLUS[0]


def test_a_function_can_be_decorated(mlu):
    @detops.device(mlu)
    def inside():
        return detops.get_device()

    assert inside() == inside() == mlu
    assert detops.get_device() == "cpu"


def test_other_threads_are_not_affected(mlu):
    seen = []
    with detops.device(mlu):
        thread = threading.Thread(target=lambda: seen.append(detops.get_device()))
        thread.start()
        thread.join()
    assert seen == ["cpu"]


def test_threads_may_use_several_at_once(mlu):
    expected = detops.bbox_overlaps(BOXES, BOXES)
    wrong = []

    def work(name):
        with detops.device(name):
            for _ in range(3):
                if not np.array_equal(detops.bbox_overlaps(BOXES, BOXES), expected):
                    wrong.append(name)

    threads = [threading.Thread(target=work, args=(name,)) for name in ["cpu", *MLUS] * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_forked_child_keeps_it(mlu):
    expected = detops.bbox_overlaps(BOXES, BOXES)
    detops.set_device(mlu)
    detops.bbox_overlaps(BOXES, BOXES)
    child = os.fork()
    if child == 0:
        same = np.array_equal(detops.bbox_overlaps(BOXES, BOXES), expected)
        os._exit(0 if same and detops.get_device() == mlu else 1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("name", ["abacus", "cpu:7", "mlu999"])
def test_what_is_no_device_is_named(name):
    for function in (detops.set_device, lambda n: detops.device(n).__enter__()):
        with pytest.raises((ValueError, RuntimeError), match="^(set_)?device: "):
            function(name)
    assert detops.get_device() == "cpu"


@pytest.mark.parametrize("name", [3, b"cpu", ["cpu"]])
def test_what_is_no_name_is_a_type_error(name):
    with pytest.raises(TypeError, match="^set_device: name is of type"):
        detops.set_device(name)


def python(code, **environment):
    result = subprocess.run(
        [sys.executable, "-c", "import numpy as np, detops\n" + code],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    return (result.stdout + result.stderr).strip().splitlines()[-1]


def test_the_environment_says_the_default(mlu):
    code = "print(detops.get_device(), detops.bbox_overlaps(*[np.float32([[0, 0, 1, 1]])] * 2))"
    assert python(code, DETOPS_DEVICE=mlu) == f"{mlu} [[1.]]"
    assert python(code, DETOPS_DEVICE="cpu") == python(code, DETOPS_DEVICE="") == "cpu [[1.]]"
    chosen = "detops.set_device('cpu')\n" + code
    assert python(chosen, DETOPS_DEVICE=mlu) == "cpu [[1.]]"


def test_nonsense_in_the_environment_is_named():
    code = "detops.bbox_overlaps(*[np.float32([[0, 0, 1, 1]])] * 2)"
    error = python(code, DETOPS_DEVICE="abacus")
    assert error.startswith('ValueError: DETOPS_DEVICE: device: there is no "abacus"'), error

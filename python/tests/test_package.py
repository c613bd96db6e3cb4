# SPDX-License-Identifier: Apache-2.0
"""The package as its users meet it: imports, texts, examples, types."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import json
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from frameworks import require

import detops

ROOT = Path(__file__).resolve().parents[2]
FRAMEWORKS = {"torch", "jax", "paddle", "cupy", "torchvision", "tensorflow", "sahi", "supervision"}


def python(*arguments, **environment):
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        timeout=300,
    )


def test_no_framework_is_imported():
    code = (
        "import sys, detops; detops.bbox_overlaps([[0, 0, 1, 1]], [[0, 0, 1, 1]])\n"
        "from detops.compat import openpcdet, paddle, sahi, supervision\n"
        "openpcdet.points_in_boxes_cpu([[0, 0, 0]], [[0, 0, 0, 1, 1, 1, 0]])\n"
        "print(*sorted({m.split('.')[0] for m in sys.modules}))"
    )
    modules = set(python("-c", code).stdout.split())
    assert "numpy" in modules and not modules & FRAMEWORKS


def test_functions_can_be_sent_to_other_processes():
    for name in set(detops.__all__) - {"__version__"}:
        function = getattr(detops, name)
        assert pickle.loads(pickle.dumps(function)) is function


def run_doctests(thing, name, names):
    finder, runner = doctest.DocTestFinder(recurse=False), doctest.DocTestRunner()
    for test in finder.find(thing, name, globs=dict(names)):
        runner.run(test)
    assert runner.failures == 0
    return runner.tries


@pytest.mark.parametrize("name", [n for n in detops.__all__ if n[0].islower()])
def test_examples_in_docstrings(name):
    assert run_doctests(getattr(detops, name), name, vars(detops)) > 0


def test_examples_in_modules():
    assert run_doctests(detops, "detops", {}) > 0
    paddle = importlib.import_module("detops.compat.paddle")
    assert run_doctests(paddle.generate_proposals, "generate_proposals", vars(paddle)) > 0


def test_examples_in_modules_without_pytorch():
    assert run_doctests(importlib.import_module("detops.compat.openpcdet"), "openpcdet", {}) > 0
    for name in ("sahi", "supervision"):
        module = importlib.import_module(f"detops.compat.{name}")
        for function in module.__all__:
            assert run_doctests(getattr(module, function), function, vars(module)) > 0


def test_examples_in_modules_on_pytorch():
    require("torch")
    assert run_doctests(importlib.import_module("detops.compat.torchvision"), "torchvision", {}) > 0
    module = importlib.import_module("detops.compat.mmcv")
    assert run_doctests(module, "mmcv", {}) > 0
    assert run_doctests(module.nms, "nms", vars(module)) > 0
    assert run_doctests(module.BorderAlign, "BorderAlign", vars(module)) > 0


def test_bench_compares_and_reports(tmp_path):
    """One quick round: the figures are for people, the form is for us."""
    path = tmp_path / "bench.json"
    result = python("-m", "detops", "bench", "--budget", "0.01", "--json", str(path))
    assert result.returncode == 0, result.stderr
    figures = json.loads(path.read_text())
    assert {row["operator"] for row in figures["rows"]} <= set(detops.__all__)
    points = next(row for row in figures["rows"] if row["operator"] == "points_in_boxes")
    numpy_peer = next(peer for peer in points["peers"] if peer["name"] == "numpy")
    assert numpy_peer["ratio"] > 0 and numpy_peer["answer"] == "agrees"
    # Below 3 microseconds on a quiet machine; three times that on a busy one is still no accident.
    assert 0 < figures["overhead"]["overhead_us"] < 9
    assert "detops" in python("-m", "detops").stdout


def test_bench_tells_wrong_answers():
    from detops._bench.measure import agreement

    assert agreement(np.arange(3), np.arange(3)) == "agrees"
    assert agreement(np.arange(3), np.arange(1, 3)) == "1 of 3 kept differ"
    assert agreement(np.ones((2, 4)), np.ones((3, 4))) == "has 3 results, not 2"
    assert agreement(np.ones((2, 4)), np.ones((2, 4)) + 1e-7) == "agrees"
    assert agreement(np.ones((2, 4)), np.ones((2, 4)) + 0.1).startswith("differs by")
    assert agreement(np.zeros((1, 4), int), np.ones((1, 4), int)) == "4 of 4 differ"


def test_versions_agree():
    metadata = importlib.import_module("importlib.metadata")
    project = re.search(r"project\(detops VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())
    assert detops.__version__ == project.group(1)
    if importlib.util.find_spec("detops").origin.startswith(sys.prefix):
        assert metadata.version("detops") == detops.__version__


def test_implementations_can_be_forced():
    code = "import detops; print(detops.bbox_overlaps([[0,0,2,2]], [[1,0,3,2]]))"
    implementations = [
        i for i in detops.implementations()["bbox_overlaps"] if i["name"].startswith("cpu:")
    ]
    for implementation in implementations:
        result = python("-c", code, DETOPS_IMPL=implementation["name"])
        if implementation["usable"]:
            assert result.stdout.strip() == "[[0.33333334]]", result.stderr
        else:
            assert result.stderr.strip().endswith(
                f"; {implementation['name']} {implementation['reason']}"
            ), result.stderr
    result = python("-c", code, DETOPS_IMPL="cpu:nonsense")
    assert "RuntimeError" in result.stderr and "cpu:nonsense" in result.stderr
    for implementation in implementations:
        assert (implementation["name"] in result.stderr) == implementation["usable"]


def test_instruction_sets_can_be_capped():
    """DETOPS_CPU names the widest instruction set that may run; the implementations say so."""
    code = """if True:
        import detops
        print([i["name"] for i in detops.implementations()["points_in_boxes"]
               if i["usable"] and i["name"].startswith("cpu:")])"""
    names = [
        i["name"].removeprefix("cpu:")
        for i in detops.implementations()["points_in_boxes"]
        if i["usable"] and i["name"].startswith("cpu:") and i["name"] != "cpu:reference"
    ]
    for i, cap in enumerate(names):
        result = python("-c", code, DETOPS_CPU=cap)
        expected = [f"cpu:{name}" for name in names[i:]] + ["cpu:reference"]
        assert result.stdout.strip() == str(expected), result.stderr
    result = python("-c", code, DETOPS_CPU="mmx")
    assert 'DETOPS_CPU: is "mmx"' in result.stderr, result.stderr


def test_what_cannot_run_here_says_why_in_a_few_words():
    functions = detops.implementations()
    assert functions.keys() <= set(detops.__all__) and len(functions) >= 6
    listed = [i for implementations in functions.values() for i in implementations]
    for entry in [*detops.devices(), *listed]:
        assert entry["usable"] == (entry["reason"] == "")
        assert len(entry["reason"]) < 100 and "/" not in entry["reason"]
    for device in detops.devices():
        kind = re.match("[a-z]+", device["name"]).group()
        for implementations in functions.values():
            names = {i["name"].split(":")[0] for i in implementations}
            # An MLU has not every function.
            assert kind in names or (kind == "mlu" and device["usable"])

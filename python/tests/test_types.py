# SPDX-License-Identifier: Apache-2.0
"""Signatures, and what mypy says of right and of wrong calls."""

from __future__ import annotations

import importlib.util
import inspect
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from frameworks import require

import detops
from detops import _core

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = Path(detops.__file__).resolve().parent
EXAMPLES = sorted((ROOT / "python" / "examples").glob("*.py"))
LISTINGS = {"devices", "implementations"}
SETTINGS = {"get_device", "get_threads", "set_device", "set_threads"}
OPERATORS = sorted(
    {name for name in vars(_core) if not name.startswith("_")} - LISTINGS - SETTINGS
)

RIGHT = """
import array
import numpy as np
import detops
boxes = np.zeros((2, 4), np.float32)
reveal_type(detops.nms(boxes, [.5, .6], .5))
reveal_type(detops.nms([], [], .5, dtype="int32"))
reveal_type(detops.poly_nms([[0, 0, 1, 0, 1, 1, 0, 1, .5]], .5, order="index"))
reveal_type(detops.poly_nms(boxes, .5, scores=(1, 2)))
reveal_type(detops.poly_nms(memoryview(b""), .5, scores=array.array("f")))
reveal_type(detops.bbox_overlaps([(0, 0, 1, 1)], boxes, mode="iof", aligned=True))
reveal_type(detops.points_in_boxes([[[0, 0, 0]]], [[[0, 0, 0, 1, 1, 1, 0]]]))
reveal_type(detops.border_align(boxes, [boxes], 2, layout="NHWC"))
reveal_type(detops.border_align(boxes, [boxes], 2, return_argmax=True))
reveal_type(detops.generate_proposals(boxes, boxes, [[8, 8]], boxes, boxes))
reveal_type(detops.generate_proposals(boxes, boxes, boxes, boxes, boxes, return_rois_num=False))
"""
INDICES, FLOATS = "signedinteger", "floating"
REVEALED = [[INDICES]] * 5 + [[FLOATS], [INDICES], [FLOATS], [FLOATS, INDICES]]
REVEALED += [[FLOATS, FLOATS, INDICES], [FLOATS, FLOATS]]

# Each line is an error of its own.
WRONG = """
detops.bbox_overlaps(boxes, boxes, mode="giou")
detops.poly_nms(boxes, .5, order="best")
detops.border_align(boxes, boxes, 2, layout="nchw")
detops.nms("boxes", boxes, .5)
detops.nms(boxes, "scores", .5)
detops.poly_nms(["boxes"], .5)
detops.points_in_boxes([["points"]], boxes)
detops.nms(None, boxes, .5)
detops.nms(boxes, boxes, "0.5")
detops.nms(boxes, boxes, iou=.5)
detops.nms(boxes, boxes)
"""


def mypy(*arguments, cwd=None):
    require("mypy")
    return subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
    )


@pytest.mark.parametrize("name", OPERATORS)
def test_signatures_are_those_of_the_module(name):
    """The public functions have defaults and types, and hand all to _core by position."""
    public = inspect.signature(getattr(detops, name))
    assert all(p.annotation is not p.empty for p in public.parameters.values())
    inner = getattr(_core, name).__doc__.split("->")[0]
    assert re.findall(r"(\w+): ", inner) == list(public.parameters)


def test_every_function_has_a_signature():
    for name in detops.__all__:
        function = getattr(detops, name)
        if inspect.isfunction(function):
            assert inspect.signature(function).return_annotation is not inspect.Signature.empty
    assert "order: 'Order' = 'score'" in str(inspect.signature(detops.poly_nms))


def test_right_calls_have_the_types_of_their_results(tmp_path):
    program = tmp_path / "right.py"
    program.write_text(RIGHT)
    result = mypy("--config-file=", program)
    assert result.returncode == 0, result.stdout
    revealed = re.findall(r"Revealed type is (.*)", result.stdout)
    assert [re.findall(f"{INDICES}|{FLOATS}", line) for line in revealed] == REVEALED


def test_wrong_calls_are_errors(tmp_path):
    program = tmp_path / "wrong.py"
    program.write_text("import numpy as np\nimport detops\nboxes = np.zeros((2, 4))" + WRONG)
    result = mypy("--config-file=", program)
    lines = {int(line) for line in re.findall(r"wrong.py:(\d+): error", result.stdout)}
    assert lines == set(range(4, 4 + len(WRONG.strip().splitlines()))), result.stdout


def test_tensors_give_tensors(tmp_path):
    require("torch")
    program = tmp_path / "tensors.py"
    program.write_text(
        "import torch, detops\nt = torch.zeros(2, 4)\nreveal_type(detops.nms(t, t, 1))"
    )
    assert 'Revealed type is "torch._tensor.Tensor"' in mypy("--config-file=", program).stdout


def test_examples_pass_mypy_strict():
    paths = [p for p in EXAMPLES if "torch" not in p.name or importlib.util.find_spec("torch")]
    result = mypy("--config-file=", *paths)
    assert result.returncode == 0, result.stdout


def test_the_package_passes_mypy_strict(tmp_path):
    """As it is installed, with the stub of _core; files on PyTorch only where it is."""
    shutil.copytree(PACKAGE, tmp_path / "detops", ignore=shutil.ignore_patterns("lib", "__pyc*"))
    assert (tmp_path / "detops" / "_core.pyi").exists()
    if importlib.util.find_spec("torch") is None:
        for path in tmp_path.rglob("*.py"):
            if re.search("^(import|from) torch", path.read_text(), re.MULTILINE):
                path.unlink()
    result = mypy(f"--config-file={ROOT}/pyproject.toml", "-p", "detops", cwd=tmp_path)
    assert result.returncode == 0, result.stdout

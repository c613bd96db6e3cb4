# SPDX-License-Identifier: Apache-2.0
"""The programs in python/examples: they run, print what they say, and draw what docs/img shows."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from frameworks import require

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "python" / "examples").glob("*.py"))
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def numbers_and_rest(svg: str) -> tuple[np.ndarray, str]:
    return np.array(NUMBER.findall(svg), float), NUMBER.sub("", svg)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_example_programs(path, tmp_path):
    source = path.read_text()
    if "import torch" in source:
        require("torch")
    result = subprocess.run(
        [sys.executable, path], capture_output=True, text=True, cwd=tmp_path, timeout=300
    )
    assert result.returncode == 0, result.stderr
    said = re.findall(r"^print\(.*\)  # (.*)$", source, re.MULTILINE)
    assert result.stdout.splitlines() == said
    pictures = {picture.name for picture in tmp_path.iterdir()}
    assert pictures == set(re.findall(r'\.save\("(.*)"\)', source))
    for name in pictures:
        svg = (tmp_path / name).read_text()
        ElementTree.fromstring(svg)
        numbers, rest = numbers_and_rest(svg)
        shown, shown_rest = numbers_and_rest((ROOT / "docs" / "img" / name).read_text())
        # Another sine may move a coordinate by a rounding.
        assert rest == shown_rest, f"draw it again: python {path.name} docs/img"
        np.testing.assert_allclose(numbers, shown, atol=1.01)

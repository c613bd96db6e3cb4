# SPDX-License-Identifier: Apache-2.0
"""Every code block of the pages that users copy from runs, and prints what its comments say.

A block names its language; each language has a rule below. What needs a package, a compiler or the
command line that is not here is skipped, and says so.
"""

from __future__ import annotations

import importlib.util
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from frameworks import require

import detops

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("README.md", "docs/python.md", "docs/you-have.md")
EXAMPLES = ROOT / "examples"
OUTSIDE = ROOT / "tests" / "client" / "outside" / "CMakeLists.txt"


@dataclass
class Block:
    page: str
    line: int
    language: str
    code: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks_of(page: str) -> list[Block]:
    text = (ROOT / page).read_text()
    found = re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [Block(page, text[: f.start()].count("\n") + 1, f[1], f[2]) for f in found]


BLOCKS = [block for page in PAGES for block in blocks_of(page)]


def each(*languages: str):
    blocks = [block for block in BLOCKS if block.language in languages]
    return pytest.mark.parametrize("block", blocks, ids=str)


def test_every_block_names_a_language_that_is_tested():
    assert {block.page for block in BLOCKS} == set(PAGES)
    unknown = [str(b) for b in BLOCKS if b.language not in ("python", "cpp", "c", "cmake", "sh")]
    assert not unknown


def run(command, cwd):
    """What it prints, if it ends well."""
    result = subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=300)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def heading_as_anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    links = re.findall(r"\]\(([^)\s]+)\)", (ROOT / page).read_text())
    assert links
    for link in links:
        if link.startswith("http"):
            continue
        path, _, anchor = link.partition("#")
        target = (ROOT / page).parent / path if path else ROOT / page
        assert target.exists(), link
        if anchor:
            headings = re.findall(r"^#+ (.*)$", target.read_text(), re.MULTILINE)
            assert anchor in map(heading_as_anchor, headings), link


# --- Python: what each print prints stands behind it ---
@each("python")
def test_python(block, tmp_path):
    modules = re.findall(r"^\s*(?:import|from) (\w+)", block.code, re.MULTILINE)
    if "detops.compat.mmcv" in block.code:
        modules.append("torch")
    for module in modules:
        if importlib.util.find_spec(module) is None:  # importing some changes how NumPy prints
            require(module)
    said = re.findall(r"^\s*print\(.*\) +# (.*)$", block.code, re.MULTILINE)
    assert said, "prints nothing that could be compared"
    assert run([sys.executable, "-c", block.code], tmp_path).splitlines() == said


# --- C and C++: lines of a program in examples/, which prints what stands behind each printf ---
def lines_of(code: str) -> list[str]:
    return [" ".join(line.split()) for line in code.splitlines() if line.strip()]


def stands_in(part: list[str], whole: list[str]) -> bool:
    return any(whole[i : i + len(part)] == part for i in range(len(whole)))


@each("c", "cpp")
def test_c_and_cpp(block, tmp_path):
    extension = {"c": "c", "cpp": "cc"}[block.language]
    sources = [
        path
        for path in EXAMPLES.glob(f"*.{extension}")
        if stands_in(lines_of(block.code), lines_of(path.read_text()))
    ]
    assert sources, "is in no file of examples/"
    said = re.findall(r"printf\(.*;\s+/[/*] (.*?)(?: \*/)?$", block.code, re.MULTILINE)
    assert said, "prints nothing that could be compared"
    compiler, standard = {"c": ("gcc", "-std=c11"), "cpp": ("g++", "-std=c++17")}[block.language]
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    library = next((Path(detops.__file__).parent / "lib").glob("libdetops.so*"))
    program = tmp_path / "program"
    options = [
        standard,
        "-Wall",
        "-Werror",
        f"-I{ROOT / 'include'}",
        f"-Wl,-rpath,{library.parent}",
    ]
    run([compiler, *options, str(sources[0]), str(library), "-o", str(program)], tmp_path)
    printed = run([str(program)], tmp_path)
    for text in said:
        assert text in printed


# --- CMake: what a project of somebody else does in tests/client/outside ---
@each("cmake")
def test_cmake(block):
    built = lines_of(re.sub(r"outside_\w+", "program", OUTSIDE.read_text()))
    assert set(lines_of(block.code)) <= set(built)


# --- the shell: each command has a rule ---
def make(words, folder):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert {word for word in words[1:] if "=" not in word} <= targets


def pip(words, folder):
    """This package, with extras and CMake options that there are, or peers of the benchmark."""
    project = (ROOT / "pyproject.toml").read_text()
    peers = (ROOT / "python" / "detops" / "_bench" / "peers.py").read_text()
    imported_as = {"opencv-python-headless": "cv2", "paddlepaddle": "paddle"}
    assert words[1] == "install"
    for name in words[2:]:
        if name == "-C":
            continue
        if option := re.fullmatch(r"cmake\.define\.(\w+)=\w+", name):
            lists = [ROOT / "CMakeLists.txt", *(ROOT / "cmake").glob("*.cmake")]
            assert any(option[1] in path.read_text() for path in lists)
            continue
        own = re.fullmatch(r"\.(?:\[(\w+)\])?", name)
        if own is None:
            assert re.search(rf"(import|from) {imported_as.get(name, name)}\b", peers), name
        elif own[1]:
            assert re.search(rf"^{own[1]} = \[", project, re.MULTILINE), name


def options_are_known(command, words, folder):
    """For what takes minutes."""
    known = run([*command, "--help"], folder)
    for option in (word for word in words if word.startswith("--")):
        assert option in known


def python(words, folder):
    assert words[1:4] == ["-m", "detops", "bench"]
    options_are_known([sys.executable, *words[1:4]], words, folder)


def command_line(words, folder):
    built = ROOT / "build" / "release" / "tools" / "detops" / "detops"
    program = shutil.which("detops") or (built if built.exists() else None)
    if program is None:
        pytest.skip("the command line is not built: make tool")
    if words[1] == "report":
        return options_are_known([str(program), words[1]], words, folder)
    rng = np.random.default_rng(1)
    corner = rng.uniform(0, 50, (40, 2))
    boxes = np.hstack([corner, corner + rng.uniform(5, 20, (40, 2))]).astype("f")
    scores = rng.random(40, np.float32)
    np.save(folder / "boxes.npy", boxes)
    np.save(folder / "scores.npy", scores)
    run([str(program), *words[1:]], folder)
    if "keep.npy" in words:
        kept = np.load(folder / "keep.npy")
        np.testing.assert_array_equal(kept, detops.nms(boxes, scores, 0.5))


COMMANDS = {"make": make, "pip": pip, "python": python, "detops": command_line}


@each("sh")
def test_shell(block, tmp_path):
    for line in block.code.splitlines():
        words = shlex.split(line, comments=True)
        COMMANDS[words[0]](words, tmp_path)

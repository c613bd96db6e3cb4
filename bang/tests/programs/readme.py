#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of README.md and compares what they say; looks that no switch is missing.

Lines behind a `$` in ```console blocks are run, in a copy of examples/. `...` in what follows stands
for anything, also for lines.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

BANG = pathlib.Path(__file__).resolve().parents[2]
BANGCC = pathlib.Path(sys.argv[1])
TEXT = (BANG / "README.md").read_text()


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def run(command, folder):
    environment = {**os.environ, "PATH": f"{BANGCC.parent}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    return done.stdout


def pattern(expected):
    parts = [re.escape(part) for part in expected.split("...")]
    return re.compile(".*".join(parts), re.DOTALL)


def test_console(folder):
    for block in blocks("console"):
        for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
            said = run(command, folder)
            print(f"$ {command}\n{said}", end="")
            if not pattern(expected).fullmatch(said):
                sys.exit(f"README.md says\n{expected}")
    for page in ("pipeline.html", "pipeline.json"):
        assert (folder / page).stat().st_size > 10000, page


def test_build(folder):
    """The first lines: configured for real; what they build is what all the other tests run."""
    configure, build, path, change = blocks("sh")[0].splitlines()
    assert build == "cmake --build build/bang -j" and change == "cd bang/examples"
    assert path == 'export PATH="$PWD/build/bang/bangcc:$PATH"'
    (folder / "bang").symlink_to(BANG)
    said = run(configure, folder)
    assert "Build files have been written to" in said, said


def test_cmake(folder):
    """The last lines: bang is installed, and found by a project that says what README.md says."""
    install = blocks("sh")[1].strip()
    prefix = folder / "prefix"
    said = run(install.replace("build/bang", str(BANGCC.parents[1])).replace("~/bang", str(prefix)),
               folder)
    assert "-- Installing" in said, said
    project = folder / "project"
    project.mkdir()
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.22)\nproject(user LANGUAGES CXX)\n" + blocks("cmake")[0])
    shutil.copy(BANG / "examples/softmax.mlu", project / "softmax.mlu")
    shutil.copy(BANG / "examples/vector_add.mlu", project / "main.mlu")
    (project / "launch.cc").write_text("int unused;\n")
    said = run(f"cmake -S . -B build -DCMAKE_PREFIX_PATH={prefix} && cmake --build build && "
               "build/program", project)
    assert said.endswith("ok\n"), said


def test_listing():
    """The kernel that README.md shows is the example's."""
    example = (BANG / "examples/vector_add.mlu").read_text()
    assert blocks("cpp")[0] in example


def test_switches():
    """Every switch that the sources read stands in README.md, with every assumption."""
    sources = [path for folder in ("machine", "host", "clock", "timeline", "builtins", "bangcc")
               for path in (BANG / folder).rglob("*.cc")]
    read = set()
    for source in sources:
        read |= set(re.findall(r'"(BANG_[A-Z_]+)"', source.read_text()))
    missing = [name for name in sorted(read) if f"`{name}`" not in TEXT]
    assert not missing, f"README.md does not name {missing}"
    table = (BANG / "builtins/assumptions.inc").read_text()
    for name, otherwise in re.findall(r'^ASSUMPTION\(\w+, "(\w+)", "(\w+)"', table, re.MULTILINE):
        assert f"| `{name}` | `{otherwise}` |" in TEXT, f"README.md does not name {name}"


def test_links():
    for target in re.findall(r"\]\((?!http)([^)#]+)", TEXT):
        assert (BANG / target).exists(), f"README.md links to {target}"


with tempfile.TemporaryDirectory() as name:
    examples = pathlib.Path(name) / "examples"
    shutil.copytree(BANG / "examples", examples)
    test_listing()
    test_switches()
    test_links()
    test_build(pathlib.Path(name))
    test_cmake(pathlib.Path(name))
    test_console(examples)

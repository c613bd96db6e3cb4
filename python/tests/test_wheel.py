# SPDX-License-Identifier: Apache-2.0
"""The installed package stands alone: it brings what it links, and works wherever it lies."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

import detops

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = Path(detops.__file__).resolve().parent
LIBRARIES = sorted((PACKAGE / "lib").glob("lib*.so*"))
# What every Linux with a C++ runtime has.
OF_THE_SYSTEM = re.compile(
    r"(libc|libm|libdl|libpthread|librt|ld-linux-x86-64|ld-linux-aarch64|libstdc\+\+|libgcc_s)\.so"
)
LOADED = """
import detops
detops.bbox_overlaps([[0, 0, 1, 1]], [[0, 0, 1, 1]])
print(*{line.split()[-1] for line in open("/proc/self/maps") if "/lib" in line})
"""


def dynamic(path: Path) -> dict[str, list[str]]:
    text = subprocess.run(
        ["readelf", "-d", path], capture_output=True, text=True, check=True
    ).stdout
    tags: dict[str, list[str]] = {}
    for tag, value in re.findall(r"\((\w+)\)\s+.*\[(.*)\]", text):
        tags.setdefault(tag, []).append(value)
    return tags


def test_pip_keeps_its_build_where_git_ignores_it():
    settings = (ROOT / "pyproject.toml").read_text()
    folders = re.findall(r'^build-dir = "(.*)"$', settings, re.MULTILINE)
    assert len(folders) == 1 and folders[0].startswith("build/")
    assert "/build/" in (ROOT / ".gitignore").read_text().split()


def test_cuda_is_built_where_it_is_asked_for():
    settings = (ROOT / "pyproject.toml").read_text()
    assert 'DETOPS_CUDA = "OFF"' in settings
    assert 'DETOPS_CUDA_ARCHITECTURES = "native"' in settings
    assert "pip install . -C cmake.define.DETOPS_CUDA=ON" in (ROOT / "docs/python.md").read_text()


def test_mlus_are_built_where_they_are_asked_for():
    settings = (ROOT / "pyproject.toml").read_text()
    assert 'DETOPS_MLU = "OFF"' in settings
    assert "pip install . -C cmake.define.DETOPS_MLU=ON" in (ROOT / "docs/python.md").read_text()


def test_the_mlu_plug_in_has_its_simulator_beside_it():
    names = {library.name for library in LIBRARIES}
    assert ("libdetops_mlu.so" in names) == ("libbang.so.0" in names)


def test_make_wheel_says_which_systems_it_is_good_for():
    target = (ROOT / "Makefile").read_text().split("\nwheel:", 1)[1].split("\n\n", 1)[0]
    assert "auditwheel show build/wheels/detops-*.whl" in target


def test_licences_of_what_is_inside_are_there():
    files = [str(file) for file in metadata.files("detops") if "/licenses/" in str(file)]
    names = {file.split("/licenses/", 1)[1] for file in files}
    assert names >= {"LICENSE", "licenses/README.md"}
    contents = (ROOT / "licenses" / "README.md").read_text()
    for text in re.findall(r"`(\w+\.txt)`", contents):
        assert f"licenses/{text}" in names, f"{text} is not in the wheel"
    for library in LIBRARIES:
        if "libdetops" not in library.name:
            assert f"`detops/lib/{library.name}`" in contents, f"{library.name} has no licence"


@pytest.mark.parametrize(
    ("remote", "page"),
    [
        ("git@example.org:vision/detops.git", "https://example.org/vision/detops"),
        ("ssh://git@example.org:22/vision/detops.git", "https://example.org/vision/detops"),
        ("https://example.org/vision/detops.git\n", "https://example.org/vision/detops"),
        ("https://user:secret@example.org/detops", "https://example.org/detops"),
        ("/srv/git/detops", None),
        ("file:///srv/git/detops", None),
        ("", None),
    ],
)
def test_project_urls_are_those_of_the_clone(monkeypatch, remote, page):
    monkeypatch.syspath_prepend(ROOT / "python" / "build_metadata")
    import project_urls

    monkeypatch.setattr(project_urls, "origin", lambda: remote)
    urls = project_urls.dynamic_metadata("urls", {})
    assert urls.get("Homepage") == page
    assert set(urls) == ({"Homepage", "Documentation", "Changelog", "Issues"} if page else set())


@pytest.mark.skipif(shutil.which("readelf") is None, reason="readelf is not installed")
def test_every_library_is_the_systems_or_brought_along():
    brought = {path.name for path in LIBRARIES}
    assert {name.split(".")[0] for name in brought} >= {"libdetops", "libhwy"}
    for path in [*PACKAGE.glob("_core*.so"), *LIBRARIES]:
        tags = dynamic(path)
        for needed in tags["NEEDED"]:
            assert needed in brought or OF_THE_SYSTEM.match(needed), f"{path.name} needs {needed}"
        for runpath in tags.get("RUNPATH", []) + tags.get("RPATH", []):
            assert all(p.startswith("$ORIGIN") for p in runpath.split(":")), (
                f"{path.name}: {runpath}"
            )


def test_it_works_from_a_folder_that_was_carried_elsewhere(tmp_path):
    """And loads its own libraries there, not the machine's or the build's."""
    shutil.copytree(PACKAGE, tmp_path / "detops")
    numpy_home = Path(np.__file__).resolve().parents[1]
    environment = {
        "PYTHONPATH": f"{tmp_path}:{numpy_home}",
        "PATH": os.environ["PATH"],
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    result = subprocess.run(
        [sys.executable, "-S", "-c", LOADED],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    loaded = [Path(path) for path in result.stdout.split()]
    ours = [path for path in loaded if re.match("lib(detops|hwy)", path.name)]
    assert {path.name for path in ours} == {
        path.name for path in LIBRARIES if not re.search("cuda|mlu|bang", path.name)
    }
    assert all(path.is_relative_to(tmp_path) for path in ours), ours

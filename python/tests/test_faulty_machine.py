# SPDX-License-Identifier: Apache-2.0
"""Memory or threads run out wherever they can: an exception, and the next call is right."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMPILER = shutil.which("c++")


@pytest.fixture(scope="module")
def faults(tmp_path_factory):
    """libdetops_faults.so, built from tests/faults."""
    if platform.libc_ver()[0] != "glibc":
        pytest.skip("the faults need glibc")
    if COMPILER is None:
        pytest.skip("the faults are compiled, and there is no compiler")
    library = tmp_path_factory.mktemp("faults") / "libdetops_faults.so"
    options = ["-std=c++20", "-fPIC", "-shared", "-fno-exceptions", f"-I{ROOT / 'tests'}"]
    source = ROOT / "tests" / "faults" / "faults.cc"
    # As needed: what is preloaded brings no C++ library along.
    subprocess.run(
        [COMPILER, *options, source, "-Wl,--as-needed", "-ldl", "-o", library], check=True
    )
    return library


def calls_with(faults, kind, **environment):
    result = subprocess.run(
        [sys.executable, Path(__file__).with_name("faulty_machine.py"), kind],
        env={**os.environ, "LD_PRELOAD": str(faults), **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, result.stdout[-5000:] + result.stderr[-5000:]


@pytest.mark.parametrize("kind", ["memory", "memory-for-good"])
def test_out_of_memory_anywhere_is_a_memory_error(faults, kind):
    """At one allocation, or from one on."""
    calls_with(faults, kind, DETOPS_THREADS="4")


def test_threads_that_do_not_start_are_done_without(faults):
    calls_with(faults, "threads", DETOPS_THREADS="4")

# SPDX-License-Identifier: Apache-2.0
"""Thousands of random arrays, most of them malformed (fuzz_arrays.py), in a process of their own.

DETOPS_FUZZ_SECONDS makes it longer than 5 seconds; DETOPS_FUZZ_SEED=n repeats that input alone.
"""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
from pathlib import Path

SECONDS = float(os.environ.get("DETOPS_FUZZ_SECONDS", "5"))
SEED = os.environ.get("DETOPS_FUZZ_SEED", "")


def run_fuzzer(*arguments):
    return subprocess.run(
        [sys.executable, Path(__file__).with_name("fuzz_arrays.py"), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=SECONDS + 120,
    )


def test_random_arrays_are_read_right_or_refused_and_given_back(tmp_path):
    progress = tmp_path / "progress"
    result = run_fuzzer(SECONDS, SEED or "-", progress)
    said = result.stdout + result.stderr[-5000:]
    if result.returncode != 0:
        seed = struct.unpack("q", progress.read_bytes())[0] if progress.exists() else 0
        raise AssertionError(f"exit code {result.returncode}; DETOPS_FUZZ_SEED={seed}\n{said}")
    print(result.stdout)
    if SEED:
        return
    for kind in ("dlpack", "buffer", "numpy", "memoryview", "ctypes"):
        for end in ("read", "refused"):
            count = re.search(f"{kind} {end} ([0-9]+)", result.stdout)
            assert count is not None and int(count[1]) >= 5, said

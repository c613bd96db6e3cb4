#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The simulator's speed: compiles bars.mlu and runs it with and without checks."""

import os
import pathlib
import subprocess
import sys
import tempfile

BANGCC = sys.argv[1]
SOURCE = pathlib.Path(__file__).with_name("bars.mlu")
THREADS = str(min(4, len(os.sched_getaffinity(0))))
RUNS = (({"BANG_CHECK": "0"}, ["elementwise", "4", THREADS]),
        ({"BANG_CHECK": "1"}, ["elementwise", "40", THREADS]),
        ({"BANG_CHECK": "1"}, ["barriers", "5"]))


def main():
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "bars"
        subprocess.run([BANGCC, SOURCE, "-O2", "-o", program, "-lpthread"], check=True)
        failed = []
        for environment, words in RUNS:
            done = subprocess.run([program, *words], capture_output=True, text=True, timeout=100,
                                  env={**os.environ, "BANG_THREADS": THREADS, **environment})
            print(environment, words[0], done.stdout.strip(), done.stderr.strip())
            if done.returncode != 0:
                failed.append(words[0])
    if failed:
        sys.exit(f"too slow, or wrong: {', '.join(failed)}")


if __name__ == "__main__":
    main()

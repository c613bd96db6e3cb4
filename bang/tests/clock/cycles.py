#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cycles of kernels that bangcc compiled and the machine ran, worked out by hand."""

import argparse
import os
import pathlib
import re
import subprocess
import tempfile

HERE = pathlib.Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples"
FREE = ("scalar_operator", "scalar_access_nram", "scalar_access_wram", "scalar_access_sram",
        "scalar_access_ldram", "scalar_access_gdram")
EXPECTED = {
    "LoadAddStore": 1311,
    "Dependent": 1011 + 9 + 16 + 9 + 16,
    "Independent": 1011 + 9 + 9 + 16,
    "StoreParts": 1011 + 10 + 3 + 50,
    "StoreAligned": 1011 + 10 + 2 + 50,
    "LoadStrided": 1011 + 10 + 8 + 100,
    "Barrier": 1010 + 2 + 30,
}


def cycles(program, **environment):
    """Cycles of each kernel, from the summaries."""
    run = subprocess.run([program], check=True, capture_output=True, text=True,
                         env={**os.environ, **environment, "BANG_SUMMARY": "1"})
    found = re.findall(r"^(\w+) \(.*\n  time .* (\d+) cycles", run.stderr, re.MULTILINE)
    return {kernel: int(count) for kernel, count in found}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bangcc", required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        card, program = pathlib.Path(folder) / "free.card", pathlib.Path(folder) / "cycles"
        text = (HERE / "test.card").read_text()
        for name in FREE:
            text = re.sub(rf"^{name} \d+$", f"{name} 0", text, flags=re.MULTILINE)
        card.write_text(text)
        subprocess.run([arguments.bangcc, HERE / "cycles.mlu", "-o", program,
                        "--bang-mlu-arch=mtp_592"], check=True)
        for check in "01":
            for threads in "12":
                found = cycles(program, BANG_CARD=str(card), BANG_DEVICE="test",
                               BANG_CHECK=check, BANG_THREADS=threads)
                assert found == EXPECTED, (check, threads, found)
        # Scalar code, which by hand nobody counts: the same with checks and without.
        for example in ("softmax", "layer_norm", "reduction"):
            subprocess.run([arguments.bangcc, EXAMPLES / f"{example}.mlu", "-o", program], check=True)
            checked, unchecked = (cycles(program, BANG_CHECK=check) for check in "10")
            assert checked == unchecked and checked, (example, checked, unchecked)
    print("ok")


if __name__ == "__main__":
    main()

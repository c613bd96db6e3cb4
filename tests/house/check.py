#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rules about the tree itself that no compiler checks: layers, names of operators, kernels.

check.py RULE, where RULE is the name of a function below. Prints what breaks it, and exits 1.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = {".h", ".cc", ".cu", ".cuh", ".inc", ".mlu"}
OPERATORS = sorted(path.name for path in (ROOT / "src/ops").iterdir() if path.is_dir())

# A folder may include its own files and those of the groups before its own.
LAYERS = [["math", "core"], ["runtime", "schema"], ["cpu", "cuda", "mlu"], ["ops"], ["capi"]]
# Where a layer goes through all operators, whose lists CMake writes.
EXCEPTIONS = {
    ("src/runtime/cuda/plugin.cu", "ops/list_cuda.h"),
    ("src/runtime/mlu/plugin.cc", "ops/list_mlu.h"),
    # What host code and kernels tell each other about a launch.
    ("src/runtime/mlu/launch.h", "mlu/card.h"),
    ("src/runtime/mlu/make_contiguous.h", "mlu/card.h"),
    ("src/runtime/mlu/mlu_device.h", "mlu/card.h"),
    ("src/schema/schema.cc", "ops/names.h"),
}


def files(*folders):
    for folder in folders:
        yield from sorted(p for p in (ROOT / folder).rglob("*") if p.is_file())


def layers():
    """Each layer of src/ includes only itself and the layers below it."""
    level = {folder: i for i, group in enumerate(LAYERS) for folder in group}
    for path in files("src"):
        relative = path.relative_to(ROOT).as_posix()
        own = relative.split("/")[1]
        if path.suffix not in SOURCES or path.name.startswith("test"):
            continue
        if own not in level:
            yield f"{relative}: src/{own} has no layer in tests/house/check.py"
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = re.match(r'\s*#include "(([^"/]+)/[^"]*)"', line)
            if not found or found[2] not in level or (relative, found[1]) in EXCEPTIONS:
                continue
            if found[2] != own and level[found[2]] >= level[own]:
                yield f"{relative}:{number}: {own} must not include {found[1]}"


def operator_folders():
    """An operator includes only its own folder and shared code, never another operator's."""
    for path in files("src/ops"):
        if path.suffix not in SOURCES:
            continue
        own = path.relative_to(ROOT / "src/ops").parts[0]
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = re.match(r'\s*#include "ops/([^"/]+)/', line)
            if found and found[1] != own:
                yield f"{path.relative_to(ROOT)}:{number}: includes {found[1]}'s files"


def begin_kernel():
    """Every kernel begins with BeginKernel(): it may be started while the one before it runs."""
    kernel = re.compile(r"__global__[^;{]*?\b(\w+)\s*\([^;{]*?\)\s*\{\s*([^;}]*)", re.S)
    for path in files("src"):
        if path.suffix not in {".cu", ".cuh"}:
            continue
        text = re.sub(r"//[^\n]*|__launch_bounds__\([^)]*\)", "", path.read_text())
        for found in kernel.finditer(text):
            if not re.fullmatch(r"(cuda::)?BeginKernel\(\)", found[2].strip()):
                line = text[: found.start()].count("\n") + 1
                yield f"{path.relative_to(ROOT)}:{line}: {found[1]} does not begin with BeginKernel()"


def mlu_kernels():
    """Code for MLUs is what the vendor's compiler takes: nothing of the simulator, of C++20's library
    or of the host's API in it, and no double."""
    foreign = re.compile(r"\b(double|std::\w+|bang::\w+|_Float16|concept|requires|consteval|mluOp\w+)\b")
    headers = {f"{name}.h" for name in "bang cnrt float limits math stddef stdint string".split()}
    for path in files("src"):
        relative = path.relative_to(ROOT).as_posix()
        if path.suffix != ".mlu" and not re.match(r"src/(mlu/|ops/\w+/mlu\w*)[^/]*\.h$", relative):
            continue
        text = re.sub(r"//[^\n]*|/\*.*?\*/", lambda m: "\n" * m[0].count("\n"), path.read_text(),
                      flags=re.S)
        for number, line in enumerate(text.splitlines(), 1):
            if found := foreign.search(line):
                yield f"{relative}:{number}: {found[1]} is nothing for an MLU"
            header = re.match(r"\s*#include <([^>]*)>", line)
            if header and header[1] not in headers:
                yield f"{relative}:{number}: an MLU has no <{header[1]}>"


def operator_names():
    """No operator is known by name outside of its folder: CMake lists the folders.

    The demo's scenes, the proto, whose names are mluOp's, and the script that times other libraries
    may name them, and so may comments and examples of command lines.
    """
    camel = ["".join(w.capitalize() for w in name.split("_")) for name in OPERATORS]
    names = re.compile(r"\b(" + "|".join(OPERATORS + camel) + r")\b")
    own_places = r"src/ops/\w+/|tools/detops/(demo/|commands/demo.cc|case.proto)|scripts/gpu-peers.py"
    for path in files("src", "tools", "scripts"):
        relative = path.relative_to(ROOT).as_posix()
        if re.match(own_places, relative):
            continue
        if path.suffix not in SOURCES | {".txt", ".cmake", ".py", ""}:
            continue
        comment = "//" if path.suffix in SOURCES else "#"
        for number, line in enumerate(path.read_text().splitlines(), 1):
            code = re.sub(rf"{comment}.*|detops (run|gen|check|bench|trace( case)?) [\w/]+|like \w+ or [\w/]+", "",
                          line)
            if found := names.search(code):
                yield f"{relative}:{number}: names {found[1]}"


RULES = {
    rule.__name__: rule
    for rule in (layers, operator_folders, operator_names, begin_kernel, mlu_kernels)
}

if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in RULES:
        sys.exit(f"usage: check.py {'|'.join(RULES)}")
    broken = list(RULES[sys.argv[1]]())
    print(*broken, sep="\n")
    sys.exit(1 if broken else 0)

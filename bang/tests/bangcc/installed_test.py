#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs bang, and builds and runs a project that finds it with find_package(bang)."""

import pathlib
import subprocess
import sys
import tempfile

BUILD, CMAKE, COMPILER = sys.argv[1:]
PROJECT = pathlib.Path(__file__).parent / "cmake_project"


def call(*command):
    done = subprocess.run([str(word) for word in command], text=True, capture_output=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


with tempfile.TemporaryDirectory() as folder:
    prefix, build = pathlib.Path(folder) / "prefix", pathlib.Path(folder) / "build"
    call(CMAKE, "--install", BUILD, "--component", "bang", "--prefix", prefix)
    call(CMAKE, "-S", PROJECT, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}",
         f"-DCMAKE_CXX_COMPILER={COMPILER}")
    call(CMAKE, "--build", build)
    for program in ("user", "alone"):
        said = call(build / program)
        if said != "ok\n":
            sys.exit(f"{program}: {said}")
    # The simulator that was installed, not the one of the build folder.
    linked = call("ldd", build / "user")
    if str(prefix) not in linked:
        sys.exit(f"not linked with the installed library:\n{linked}")

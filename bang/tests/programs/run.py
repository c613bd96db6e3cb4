#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles a program with bangcc, runs it, and compares what it says with what its source expects.

A program is a .mlu file, or a folder whose .mlu, .cc and .c files are one program. It has to end
with exit status 0 and `ok` as its last line, to say nothing on stderr, and to say the same whatever
the number of host threads is, without checks, and with early copies. Comments in its sources change or add to that:

  // run: NAME=VALUE ... ARGUMENT ...   environment and arguments of a run
  // flags: ...                         more arguments of bangcc
  // only: mtp_592                      other cards are skipped
  // error: TEXT                        bangcc must refuse this line, with this text
  // error(CASE): TEXT                  run with argument CASE, the program must be stopped at this
                                        line, with this text
  // warning(CASE): TEXT                the same, but the program ends well
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

MARK = re.compile(r"//\s*(error|warning)(?:\((\w+)\))?:\s*(.+)")
SETTING = re.compile(r"^//\s*(run|flags|only):\s*(.*)$", re.MULTILINE)
# What a program says depends on none of these; what it is stopped for, not on the threads.
THREADS = ({"BANG_THREADS": "1"}, {"BANG_THREADS": "4"})
SWITCHES = (*THREADS, {"BANG_CHECK": "0"}, {"BANG_ASYNC": "early"})


class Failure(Exception):
    pass


def expect(condition, text, output=""):
    if not condition:
        raise Failure(f"{text}\n{output}")


def read_expectations(sources):
    settings = {"run": [], "flags": [], "only": []}
    marks = []
    for source in sources:
        text = source.read_text()
        for kind, value in SETTING.findall(text):
            settings[kind].append(value.split())
        for number, line in enumerate(text.splitlines(), 1):
            for kind, case, wanted in MARK.findall(line):
                marks.append((kind, case, f"{source.name}:{number}: {kind}: ", wanted.strip()))
    return settings, marks


def says(stderr, place, wanted):
    """Whether a line of stderr has the place, and it or the next ones the text."""
    at = stderr.find(place)
    return at >= 0 and wanted in stderr[at:]


def call(command, environment=None, timeout=300):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          timeout=timeout, env={**os.environ, **(environment or {})})
    return done.returncode, done.stdout, done.stderr


def run(program, words, variants):
    """Runs with each variant of the environment; what it says must not depend on it."""
    environment = dict(word.split("=", 1) for word in words if "=" in word)
    arguments = [word for word in words if "=" not in word]
    first, *others = [call([program, *arguments], {**environment, **variant})
                      for variant in variants]
    for variant, other in zip(variants[1:], others):
        expect(first == other, f"{' '.join(words)}: results with {variants[0]} and {variant} differ",
               f"{first}\n{other}")
    return first


def check_ok(result, what):
    status, stdout, stderr = result
    lines = stdout.splitlines()
    expect(status == 0 and lines and lines[-1] == "ok", f"{what}: status {status}, not ok",
           stdout + stderr)


def test(path, bangcc, arch):
    sources = ([path] if path.is_file() else
               sorted(p for p in path.iterdir() if p.suffix in (".mlu", ".cc", ".c", ".h")))
    settings, marks = read_expectations(sources)
    if settings["only"] and [arch] not in settings["only"]:
        return "skipped"
    flags = [flag for line in settings["flags"] for flag in line]
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "program"
        compiled = call([bangcc, *(s for s in sources if s.suffix != ".h"), "-o", program,
                         f"--bang-mlu-arch={arch}", *flags])
        refused = [mark for mark in marks if not mark[1]]
        if refused:
            expect(compiled[0] != 0, "bangcc took it")
            for _, _, place, wanted in refused:
                expect(says(compiled[2], place, wanted), f"bangcc did not say {place}{wanted}",
                       compiled[2])
            return "ok"
        expect(compiled[0] == 0 and not compiled[2], "bangcc failed, or had something to say",
               compiled[2])

        for words in settings["run"] or [[]]:
            result = run(program, words, SWITCHES)
            check_ok(result, f"program {' '.join(words)}")
            expect(not result[2], "it said something on stderr", result[2])
        # The lines that a case names: it must reach them all.
        for case in dict.fromkeys(mark[1] for mark in marks):
            words = [word for word in (settings["run"] or [[]])[0] if "=" in word] + [case]
            result = run(program, words, THREADS)
            for kind, _, place, wanted in (mark for mark in marks if mark[1] == case):
                expect(says(result[2], place, wanted),
                       f"{case}: stderr has no line {place}{wanted}", result[1] + result[2])
                if kind == "warning":
                    check_ok(result, case)
                    status, _, _ = call([program, *words[:-1], case], {"BANG_CHECK": "strict"})
                    expect(status > 0, f"{case}: BANG_CHECK=strict did not stop it")
                else:
                    expect(result[0] > 0 and "ok" not in result[1].split(),
                           f"{case}: status {result[0]}, but it should have been stopped",
                           result[1] + result[2])
    return "ok"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--bangcc", required=True)
    parser.add_argument("--arch", default="mtp_592", choices=("mtp_372", "mtp_592"))
    arguments = parser.parse_args()
    try:
        print(test(arguments.program, arguments.bangcc, arguments.arch))
    except Failure as failure:
        sys.exit(f"{arguments.program.name}, {arguments.arch}: {failure}")


if __name__ == "__main__":
    main()

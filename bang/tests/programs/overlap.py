#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The timeline of the pipelined vector addition shows what the pipeline is for.

Loads, additions and stores lie under each other; those of the kernel that goes step by step don't.
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile

WAITS = ("waits", "queue full", "slowed")


def overlap(spans, others):
    """For how long spans of both are busy; spans of one pipe don't overlap each other."""
    return sum(max(0.0, min(end, other_end) - max(begin, other_begin))
               for begin, end in spans for other_begin, other_end in others)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--bangcc", required=True)
    parser.add_argument("--arch", default="mtp_592")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program, trace = pathlib.Path(folder) / "program", pathlib.Path(folder) / "trace.json"
        subprocess.run([arguments.bangcc, arguments.program, "-o", program,
                        f"--bang-mlu-arch={arguments.arch}"], check=True)
        subprocess.run([program], check=True, env={**os.environ, "BANG_TIMELINE": str(trace)})
        events = json.loads(trace.read_text())["traceEvents"]

    pipes = {event["tid"]: event["args"]["name"] for event in events
             if event["name"] == "thread_name" and event["pid"] == 1}
    launches = {event["name"]: (event["ts"], event["ts"] + event["dur"]) for event in events
                if event["ph"] == "X" and event["pid"] == 0}
    assert set(launches) == {"AddStepByStep", "AddPipelined"}, launches

    shares = {}
    for kernel, (begin, end) in launches.items():
        spans = {"load": [], "add": [], "store": []}
        for event in events:
            if event["ph"] != "X" or event["pid"] == 0 or not begin <= event["ts"] < end:
                continue
            pipe, span = pipes[event["tid"]], (event["ts"], event["ts"] + event["dur"])
            if event["name"].startswith(WAITS):
                continue
            if pipe == "Compute":
                spans["add"].append(span)
            elif pipe == "IO":
                load = event["args"]["copy"] == "GDRAM to NRAM"
                spans["load" if load else "store"].append(span)
        assert all(spans.values()), (kernel, {what: len(part) for what, part in spans.items()})
        adding = sum(end - begin for begin, end in spans["add"])
        shares[kernel] = overlap(spans["add"], spans["load"] + spans["store"]) / adding
    print(shares)
    assert shares["AddStepByStep"] < 0.01
    assert shares["AddPipelined"] > 0.9


if __name__ == "__main__":
    main()

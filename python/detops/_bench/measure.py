# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import importlib.metadata
import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import detops
from detops import _core

from .cases import Case, cases

PACKAGES = {
    "detops": "detops",
    "torchvision": "torchvision",
    "powerboxes": "powerboxes",
    "lsnms": "lsnms",
    "shapely": "shapely",
    "opencv": "opencv-python-headless",
    "paddle": "paddlepaddle",
    "numpy": "numpy",
}


def seconds(call: Callable[[], Any], budget: float) -> float:
    """The median of as many calls as fit into the budget, three at least."""
    call()
    times: list[float] = []
    end = time.perf_counter() + budget
    while len(times) < 3 or (time.perf_counter() < end and len(times) < 1000):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def agreement(ours: Any, theirs: Any) -> str:
    """How another answer differs: in words, and "agrees" only where nothing is beyond rounding."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    if ours.dtype.kind in "iu" and ours.ndim == 1:
        different = len(np.setxor1d(ours, theirs.astype(ours.dtype)))
        return "agrees" if different == 0 else f"{different} of {len(ours)} kept differ"
    if ours.shape != theirs.shape:
        return f"has {theirs.shape[0]} results, not {ours.shape[0]}"
    if ours.dtype.kind in "iu":
        different = int(np.sum(ours != theirs))
        return "agrees" if different == 0 else f"{different} of {ours.size} differ"
    worst = float(np.max(np.abs(ours - theirs) / np.maximum(1, np.abs(ours)), initial=0))
    return "agrees" if worst < 1e-4 else f"differs by {worst:.1e}"


def overhead() -> dict[str, float]:
    """A call on 10 boxes: from Python, and of the C function alone."""
    boxes = np.random.default_rng(0).random((10, 4), dtype="f")
    calls = 20_000

    def from_python() -> float:
        start = time.perf_counter()
        for _ in range(calls):
            detops.bbox_overlaps(boxes, boxes)
        return (time.perf_counter() - start) / calls

    # Alternating, so that both see the same machine; the best of each.
    pairs = [(from_python(), _core._seconds_of_c_call(boxes, boxes, calls)) for _ in range(9)]
    python, c = (min(times) for times in zip(*pairs, strict=True))
    return {"python_us": python * 1e6, "c_us": c * 1e6, "overhead_us": (python - c) * 1e6}


def version_of(name: str) -> str:
    try:
        return importlib.metadata.version(PACKAGES[name])
    except importlib.metadata.PackageNotFoundError:
        return ""


def measure_peer(name: str, call: Callable[[], Any], case: Case, own: float, budget: float) -> Any:
    """Its answer is compared first: a faster wrong answer is no peer."""
    try:
        verdict = agreement(case.detops(), call())
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # that of a peer in Rust which panics is no Exception
        return {"name": name, "seconds": None, "ratio": None, "answer": f"fails: {error}"}
    theirs = seconds(call, budget)
    return {"name": name, "seconds": theirs, "ratio": theirs / own, "answer": verdict}


def measure(budget: float, report: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """All figures; each row is reported when it is there."""
    rows, missing = [], set()
    for case in cases():
        own = seconds(case.detops, budget)
        found = []
        for name, prepare in case.peers.items():
            try:
                call = prepare()
            except ImportError:
                missing.add(name)
                continue
            found.append(measure_peer(name, call, case, own, budget))
        rows.append({"operator": case.operator, "size": case.size, "seconds": own, "peers": found})
        report(rows[-1])
    return {
        "machine": detops.devices()[0]["description"],
        "threads": os.environ.get("DETOPS_THREADS") or os.cpu_count(),
        "python": sys.version.split()[0],
        "versions": {name: version_of(name) for name in PACKAGES if version_of(name)},
        "not_installed": sorted(missing),
        "overhead": overhead(),
        "rows": rows,
    }

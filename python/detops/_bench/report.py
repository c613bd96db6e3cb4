# SPDX-License-Identifier: Apache-2.0
"""The figures for people: a table in Markdown, row by row, and for programs: JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .measure import measure

HEADER = "| operator | size | who | time | detops is faster by | answer |\n" + "|---" * 6 + "|"


def time_text(value: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value * 1e6:.3g} µs"


def table_rows(row: dict[str, Any]) -> str:
    place = f"| {row['operator']} | {row['size']} |"
    lines = [f"{place} detops | {time_text(row['seconds'])} | | |"]
    for peer in row["peers"]:
        time_and_ratio = "– | –"
        if peer["seconds"] is not None:
            time_and_ratio = f"{time_text(peer['seconds'])} | {peer['ratio']:,.1f}x"
        lines.append(f"{place} {peer['name']} | {time_and_ratio} | {peer['answer']} |")
    return "\n".join(lines)


def summary(result: dict[str, Any]) -> list[str]:
    cost = result["overhead"]
    versions = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    machine = f"{result['machine']}, {result['threads']} threads, Python {result['python']}"
    lines = [
        f"A call on 10 boxes: {cost['python_us']:.2f} µs from Python, {cost['c_us']:.2f} µs in C, "
        f"so {cost['overhead_us']:.2f} µs for Python.",
        f"{machine}; {versions}.",
    ]
    if result["not_installed"]:
        lines.append(f"Not installed: {', '.join(result['not_installed'])}.")
    return lines


def run(budget: float, json_path: Path | None) -> int:
    print(HEADER, flush=True)
    result = measure(budget, lambda row: print(table_rows(row), flush=True))
    print("", *summary(result), sep="\n")
    if json_path is not None:
        json_path.write_text(json.dumps(result, indent=2) + "\n")
    return 0

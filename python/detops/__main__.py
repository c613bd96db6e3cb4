# SPDX-License-Identifier: Apache-2.0
"""``python -m detops``: what is here; ``python -m detops bench``: beside other libraries."""

from __future__ import annotations

import argparse
from pathlib import Path

import detops


def show() -> int:
    print(f"detops {detops.__version__}")
    for device in detops.devices():
        state = "" if device["usable"] else f", not usable: {device['reason']}"
        print(f"{device['name']}: {device['description']}{state}")
    for operator, implementations in detops.implementations().items():
        names = [i["name"] + (f" ({i['reason']})" if i["reason"] else "") for i in implementations]
        print(f"{operator}: {', '.join(names)}")
    return 0


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m detops", description=__doc__)
    commands = parser.add_subparsers(dest="command")
    bench = commands.add_parser("bench", help="time detops and every peer that is installed")
    bench.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    bench.add_argument(
        "--budget", type=float, default=1.0, metavar="S", help="seconds for each figure (default 1)"
    )
    options = parser.parse_args(arguments)
    if options.command is None:
        return show()
    from ._bench.report import run

    return run(options.budget, options.json)


if __name__ == "__main__":
    raise SystemExit(main())

# SPDX-License-Identifier: Apache-2.0
"""The wheel's project URLs, for scikit-build-core: where this tree was cloned from.

A fork's wheels lead to the fork, and a copy without git, or of a folder, has none.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def web_address(remote: str) -> str | None:
    """The page of a git remote; None of what has no page.

    >>> web_address("git@example.org:vision/detops.git")
    'https://example.org/vision/detops'
    >>> web_address("https://someone:token@example.org/vision/detops")
    'https://example.org/vision/detops'
    >>> web_address("/srv/git/detops")
    """
    found = re.fullmatch(
        r"(?:https://(?:[^/@]*@)?|ssh://(?:[^/@]*@)?|git@)([\w.-]+\.[a-z]+)(?::\d+)?[:/](.+?)(?:\.git)?/?",
        remote.strip(),
    )
    return f"https://{found[1]}/{found[2]}" if found else None


def origin() -> str:
    try:
        return subprocess.run(
            ["git", "config", "remote.origin.url"], cwd=ROOT, capture_output=True, text=True
        ).stdout
    except OSError:  # no git
        return ""


def dynamic_metadata(field: str, settings: dict[str, object]) -> dict[str, str]:
    home = web_address(origin())
    if home is None:
        return {}
    return {
        "Homepage": home,
        "Documentation": f"{home}/blob/HEAD/docs/python.md",
        "Changelog": f"{home}/blob/HEAD/CHANGELOG.md",
        "Issues": f"{home}/issues",
    }

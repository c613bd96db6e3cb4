# SPDX-License-Identifier: Apache-2.0
"""What can run here."""

from __future__ import annotations

from typing import TypedDict, cast

from . import _core


class Device(TypedDict):
    name: str
    description: str
    usable: bool
    reason: str


class Implementation(TypedDict):
    name: str
    usable: bool
    reason: str


def devices() -> list[Device]:
    """The devices that the library knows, each with the reason why it can't be used, if so.

    >>> devices()[0]["name"], devices()[0]["usable"]
    ('cpu', True)
    """
    return cast(list[Device], _core.devices())


def implementations() -> dict[str, list[Implementation]]:
    """The implementations of each operator, the preferred first.

    Each has the reason why it can't run here, if so: "needs AVX-512".

    >>> implementations()["poly_nms"][-1]
    {'name': 'cpu:reference', 'usable': True, 'reason': ''}
    """
    return cast(dict[str, list[Implementation]], _core.implementations())

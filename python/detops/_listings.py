# SPDX-License-Identifier: Apache-2.0
"""What can run here."""

from __future__ import annotations

from typing import Any, Final, TypedDict, cast

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


# Operators whose C functions have another name than Python's.
_FUNCTIONS: Final = {
    "border_align_forward": "border_align",
    "generate_proposals_v2": "generate_proposals",
}


def devices() -> list[Device]:
    """The devices that the library knows, each with the reason why it can't be used, if so.

    The CPU, CUDA devices, which are called "cuda:0" and so on, and MLUs, "mlu590" and "mlu370",
    described as simulated where they are; where there is none of a kind, one entry, "cuda" or
    "mlu", says why.

    >>> devices()[0]["name"], devices()[0]["usable"]
    ('cpu', True)
    """
    return cast(list[Device], _core.devices())


def implementations() -> dict[str, list[Implementation]]:
    """The implementations of each function, the preferred first.

    Each has the reason why it can't run here, if so: "needs AVX-512". Where those of a device are
    not installed, one entry with the name of the device says so: "no cuda device".

    >>> implementations()["poly_nms"][-1]
    {'name': 'cpu:reference', 'usable': True, 'reason': ''}
    """
    unusable = [device for device in devices() if not device["usable"]]
    by_function = {}
    for operator, found in cast(dict[str, Any], _core.implementations()).items():
        kinds = {implementation["name"].split(":")[0] for implementation in found}
        missing: list[Implementation] = [
            {"name": device["name"], "usable": False, "reason": device["reason"].split(":")[0]}
            for device in unusable
            if device["name"] not in kinds
        ]
        by_function[_FUNCTIONS.get(operator, operator)] = missing + found
    return by_function

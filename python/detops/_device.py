# SPDX-License-Identifier: Apache-2.0
"""Where arrays of the host are computed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from . import _core


def set_device(name: str | None) -> None:
    """The calling thread's next calls send arrays of the host to this device, and results back.

    A name of ``devices()``, or "mlu" or "cuda" for the first of a kind; "cpu" computes them where
    they are. None is the default: what ``DETOPS_DEVICE`` names, else "cpu". Arrays that lie on a
    CUDA device are computed there, whatever is set. Other threads are not affected, and results do
    not depend on it.

    >>> set_device("cpu")
    >>> get_device()
    'cpu'
    """
    _core.set_device("set_device", name)


def get_device() -> str:
    """Where the calling thread's next call computes arrays of the host.

    >>> get_device()
    'cpu'
    """
    return _core.get_device()


@contextmanager
def device(name: str | None) -> Iterator[None]:
    """The calling thread's calls inside compute arrays of the host on this device; then as before.

    Also a decorator.

    >>> with device("cpu"):
    ...     get_device()
    'cpu'
    """
    before = _core.set_device("device", name)
    try:
        yield
    finally:
        _core.set_device("device", before)

# SPDX-License-Identifier: Apache-2.0
"""How many threads an operator may use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from . import _core


def set_threads(n: int) -> None:
    """The calling thread's next calls on the CPU use at most ``n`` threads, itself included.

    0 is the default: ``DETOPS_THREADS``, else ``OMP_NUM_THREADS``, else the processors that the
    thread may run on, or fewer where a container has a quota of processor time. Other threads are
    not affected, results do not depend on it, and a forked child keeps it.

    >>> set_threads(1)
    >>> get_threads()
    1
    >>> set_threads(0)
    """
    _core.set_threads("set_threads", n)


def get_threads() -> int:
    """How many threads the calling thread's next call on the CPU may use.

    >>> set_threads(2)
    >>> get_threads()
    2
    """
    return _core.get_threads()


@contextmanager
def threads(n: int) -> Iterator[None]:
    """At most ``n`` threads for the calling thread's calls inside; then as before.

    Also a decorator.

    >>> with threads(1):
    ...     get_threads()
    1
    """
    before = _core.set_threads("threads", n)
    try:
        yield
    finally:
        _core.set_threads("threads", before)

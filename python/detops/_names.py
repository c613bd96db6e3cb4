# SPDX-License-Identifier: Apache-2.0
"""The names that a caller knows, of a function that calls another of ours.

Errors and warnings name the function that was called and its arguments; a drop-in that hands them
on says here what they are called there.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_Renaming = Callable[[str], str]
_renaming: ContextVar[_Renaming | None] = ContextVar("detops.names", default=None)


def as_called(text: str) -> str:
    """The text of an error or warning, with the names that the caller knows."""
    renaming = _renaming.get()
    return text if renaming is None else renaming(text)


def named_for(operator: str, **arguments: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator: what detops says of the operator inside of the function is said of the function.

    arguments: what those of the operator are called there, where that differs.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        beginning = f"{operator}: "

        def rename(text: str) -> str:
            if not text.startswith(beginning):
                return text
            text = f"{function.__name__}: {text.removeprefix(beginning)}"
            for theirs, ours in arguments.items():
                text = re.sub(rf"\b{theirs}\b", ours, text)
            return text

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            before = _renaming.set(rename)
            try:
                return function(*args, **kwargs)
            except (TypeError, ValueError) as error:
                error.args = (rename(str(error)),)
                raise
            finally:
                _renaming.reset(before)

        return call

    return decorate

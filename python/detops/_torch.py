# SPDX-License-Identifier: Apache-2.0
"""Registers torch.ops.detops when PyTorch is imported, by whomever; never imports it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType


class _WatchTorch:
    """A finder that finds what the others do, but has torch's loader call us when it is done.

    It stays until then: many libraries only ask whether there is a torch.
    """

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != "torch":
            return None
        spec = self._of_the_others(name, path, target)
        if spec is None or spec.loader is None:
            return spec
        load = spec.loader.exec_module

        def load_and_register(module: ModuleType) -> None:
            load(module)
            if self in sys.meta_path:
                sys.meta_path.remove(self)
            _register()

        spec.loader.exec_module = load_and_register  # type: ignore[method-assign]
        return spec

    def _of_the_others(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None
    ) -> ModuleSpec | None:
        for finder in sys.meta_path:
            if finder is not self and hasattr(finder, "find_spec"):
                spec = finder.find_spec(name, path, target)
                if spec is not None:
                    return spec
        return None


def register_when_imported() -> None:
    if "torch" in sys.modules:
        _register()
    else:
        sys.meta_path.insert(0, _WatchTorch())


def _register() -> None:
    # torch.library.custom_op came with PyTorch 2.4; older ones do without torch.ops.detops.
    if hasattr(getattr(sys.modules["torch"], "library", None), "custom_op"):
        importlib.import_module("detops._torch_ops")

# SPDX-License-Identifier: Apache-2.0
"""Registers torch.ops.detops when PyTorch is imported, by whomever; never imports it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType


class _WatchTorch:
    """A finder that finds nothing, but has torch's loader call us when it is done."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        load = spec.loader.exec_module

        def load_and_register(module: ModuleType) -> None:
            load(module)
            _register()

        spec.loader.exec_module = load_and_register  # type: ignore[method-assign]
        return spec


def register_when_imported() -> None:
    if "torch" in sys.modules:
        _register()
    else:
        sys.meta_path.insert(0, _WatchTorch())


def _register() -> None:
    # torch.library.custom_op came with PyTorch 2.4; older ones do without torch.ops.detops.
    if hasattr(getattr(sys.modules["torch"], "library", None), "custom_op"):
        importlib.import_module("detops._torch_ops")

# SPDX-License-Identifier: Apache-2.0
"""The array libraries that are installed; the others' tests are skipped, and say so.

DETOPS_REQUIRE=torch,jax makes a missing one a failure.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

REQUIRED = [name for name in os.environ.get("DETOPS_REQUIRE", "").split(",") if name]


def require(module: str) -> Any:
    """The module, or a visible skip."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        if module in REQUIRED:
            pytest.fail(f"{module} is required by DETOPS_REQUIRE: {error}")
        pytest.skip(f"{module} is not installed", allow_module_level=True)


def require_cuda() -> Any:
    """PyTorch with a CUDA device that detops can use too, or a visible skip."""
    import detops

    torch = require("torch")
    usable = [d for d in detops.devices() if d["name"].startswith("cuda") and d["usable"]]
    reason = None
    if not torch.cuda.is_available():
        reason = "PyTorch sees no CUDA device"
    elif not usable:
        reason = f"detops has no usable CUDA device: {detops.devices()}"
    if reason is not None:
        if "cuda" in REQUIRED:
            pytest.fail(f"cuda is required by DETOPS_REQUIRE: {reason}")
        pytest.skip(reason)
    return torch


@dataclass
class Library:
    array_type: type
    make: Callable[[np.ndarray], Any]
    to_numpy: Callable[[Any], np.ndarray]
    address: Callable[[Any], int]
    int64: bool = True
    half: bool = True


def _torch() -> Library:
    torch = require("torch")
    return Library(torch.Tensor, torch.tensor, lambda t: t.numpy(), lambda t: t.data_ptr())


def _jax() -> Library:
    jax = require("jax")
    return Library(
        jax.Array,
        # On the host also where there is a GPU: what GPU arrays need is in test_cuda.py.
        lambda values: jax.device_put(jax.numpy.array(values), jax.devices("cpu")[0]),
        np.asarray,
        lambda a: a.unsafe_buffer_pointer(),
        int64=bool(jax.config.jax_enable_x64),
    )


def _paddle() -> Library:
    paddle = require("paddle")
    return Library(paddle.Tensor, paddle.to_tensor, lambda t: t.numpy(), lambda t: t.data_ptr())


def _array_api_strict() -> Library:
    xp = require("array_api_strict")
    return Library(
        type(xp.zeros(1)),
        xp.asarray,
        np.asarray,
        lambda a: a._array.ctypes.data,
        half=False,
    )


def _minimal() -> Library:
    """Someone's own array: __dlpack__ as it was before versions, and nothing else."""

    class Array:
        def __init__(self, values: np.ndarray) -> None:
            self.values = values

        def __dlpack_device__(self) -> tuple[int, int]:
            return (1, 0)

        def __dlpack__(self, stream: Any = None) -> Any:
            return self.values.__dlpack__()

    return Library(
        np.ndarray, lambda v: Array(v.copy()), np.asarray, lambda a: a.values.ctypes.data
    )


LIBRARIES = {
    "torch": _torch,
    "jax": _jax,
    "paddle": _paddle,
    "array_api_strict": _array_api_strict,
    "minimal": _minimal,
}

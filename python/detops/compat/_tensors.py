# SPDX-License-Identifier: Apache-2.0
"""Arguments of the drop-ins that must be tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from .._convert import to_numpy
from ._arguments import shown


def checked(
    function: str, argument: str, value: Any, shape: str, kind: str = "a PyTorch tensor"
) -> Tensor:
    """The value, which is a tensor of numbers."""
    if not isinstance(value, Tensor):
        text = f"is {shown(value)}; expected {kind} of shape {shape}"
        raise TypeError(f"{function}: {argument} {text}")
    if value.is_complex() or value.dtype == torch.bool:
        dtype = str(value.dtype).removeprefix("torch.")
        raise TypeError(f"{function}: {argument} has dtype {dtype}; pass float32")
    return value


def from_numpy(function: str, argument: str, array: Any, shape: str) -> Tensor:
    """A tensor of what NumPy reads, in its type; without a copy where that can be."""
    what = f"{function}: {argument}"
    values = to_numpy(array, what, shape, "float32")
    if values.dtype.kind not in "fiu" or values.dtype.itemsize > 8:
        raise TypeError(f"{what} has dtype {values.dtype}; pass float32")
    return torch.from_numpy(np.ascontiguousarray(values, values.dtype.newbyteorder("=")))

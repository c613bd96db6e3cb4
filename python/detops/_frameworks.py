# SPDX-License-Identifier: Apache-2.0
"""How results are made in the caller's array library.

A library is known by the module of its array types and is never imported here before the caller
did. On the host, ``empty`` makes memory that an operator fills and ``finish`` makes it the caller's
array; on a CUDA device everything happens on the caller's current stream.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

import numpy as np

from . import _core


class Torch:
    def __init__(self) -> None:
        self.torch = sys.modules["torch"]

    def empty(self, like: Any, shape: tuple[int, ...], dtype: str) -> Any:
        return like.new_empty(shape, dtype=getattr(self.torch, dtype))

    def address(self, array: Any) -> int:
        return int(array.data_ptr())

    def finish(self, array: Any, like: Any) -> Any:
        return array

    def stream(self, like: Any) -> int:
        return int(self.torch.cuda.current_stream(like.device).cuda_stream)

    def to_int64(self, array: Any) -> Any:
        return array.to(self.torch.int64)

    def join_scores(self, dets: Any, scores: Any) -> Any:
        return self.torch.cat([dets.reshape(len(scores), 8), scores.reshape(-1, 1)], 1)

    def sort_by_score(self, dets: Any, kept: Any) -> Any:
        # Takes NaN as the largest, as the library does.
        order = self.torch.sort(dets[kept.long(), 8], descending=True, stable=True).indices
        return kept[order]


class Paddle:
    def __init__(self) -> None:
        self.paddle = sys.modules["paddle"]

    def empty(self, like: Any, shape: tuple[int, ...], dtype: str) -> Any:
        return self.paddle.empty(list(shape), dtype=dtype).to(like.place)

    def address(self, array: Any) -> int:
        return int(array.data_ptr()) if array.size else 0

    def finish(self, array: Any, like: Any) -> Any:
        return array

    def stream(self, like: Any) -> int:
        device = f"gpu:{like.place.gpu_device_id()}"
        return int(self.paddle.device.current_stream(device).stream_base.cuda_stream)

    def to_int64(self, array: Any) -> Any:
        return array.astype("int64")

    def join_scores(self, dets: Any, scores: Any) -> Any:
        return self.paddle.concat(
            [dets.reshape([len(scores), 8]), scores.reshape([len(scores), 1])], 1
        )

    def sort_by_score(self, dets: Any, kept: Any) -> Any:
        scores = dets[:, 8][kept]
        # NaN first: a stable sort by value, then one by being a number.
        order = self.paddle.argsort(-scores, stable=True)
        number = ~self.paddle.isnan(scores[order])
        return kept[order[self.paddle.argsort(number.astype("int32"), stable=True)]]


class Cupy:
    def __init__(self) -> None:
        self.cupy = sys.modules["cupy"]

    def empty(self, like: Any, shape: tuple[int, ...], dtype: str) -> Any:
        with like.device:
            return self.cupy.empty(shape, dtype)

    def address(self, array: Any) -> int:
        return int(array.data.ptr)

    def finish(self, array: Any, like: Any) -> Any:
        return array

    def stream(self, like: Any) -> int:
        with like.device:
            return int(self.cupy.cuda.get_current_stream().ptr)

    def to_int64(self, array: Any) -> Any:
        return array.astype("int64")

    def join_scores(self, dets: Any, scores: Any) -> Any:
        return self.cupy.concatenate([dets.reshape(len(scores), 8), scores.reshape(-1, 1)], 1)

    def sort_by_score(self, dets: Any, kept: Any) -> Any:
        xp = self.cupy
        scores = dets[kept, 8]
        nan = xp.isnan(scores)
        # NaN first, then falling, then by index; the last key counts most.
        falling = xp.where(nan, 0, -scores)
        keys = [xp.arange(len(kept)), falling, ~nan]
        return kept[xp.lexsort(xp.stack([key.astype("float64") for key in keys]))]


class ArrayApi:
    """Any library of the Python array API standard."""

    def empty(self, like: Any, shape: tuple[int, ...], dtype: str) -> Any:
        xp = like.__array_namespace__()
        return xp.empty(shape, dtype=getattr(xp, dtype), device=like.device)

    def address(self, array: Any) -> int:
        return _core._address_of_result(array, self.stream(array))

    def finish(self, array: Any, like: Any) -> Any:
        return array

    def stream(self, like: Any) -> int:
        return 0  # CUDA's default stream: __dlpack__ makes it wait for the producer

    def to_int64(self, array: Any) -> Any:
        xp = array.__array_namespace__()
        return xp.astype(array, xp.int64)

    def join_scores(self, dets: Any, scores: Any) -> Any:
        xp, count = dets.__array_namespace__(), scores.shape[0]
        return xp.concat([xp.reshape(dets, (count, 8)), xp.reshape(scores, (count, 1))], axis=1)

    def sort_by_score(self, dets: Any, kept: Any) -> Any:
        xp = dets.__array_namespace__()
        scores = xp.take(dets[:, 8], kept, axis=0)
        # NaN first: a stable sort by value, then one by being a number.
        order = xp.argsort(-scores, stable=True)
        number = xp.astype(~xp.isnan(xp.take(scores, order, axis=0)), xp.int32)
        return xp.take(kept, xp.take(order, xp.argsort(number, stable=True), axis=0), axis=0)


class Jax(ArrayApi):
    """JAX's arrays don't change and its streams are its own.

    On the host NumPy makes the memory and JAX takes it over. On a device an array that nobody has
    seen yet is written on CUDA's default stream, and handed out when that is done: JAX alone has
    this wait.
    """

    def __init__(self) -> None:
        self.jax = sys.modules["jax"]

    def empty(self, like: Any, shape: tuple[int, ...], dtype: str) -> Any:
        if self._on_host(like):
            return np.empty(shape, dtype)
        return self.jax.numpy.empty(shape, dtype=dtype, device=like.device)

    def finish(self, array: Any, like: Any) -> Any:
        if self._on_host(like):
            return self.jax.numpy.asarray(array)
        _core._synchronize(like.__dlpack_device__()[1], self.stream(like))
        return array

    def stream(self, like: Any) -> int:
        return 0

    def to_int64(self, array: Any) -> Any:
        # Without jax_enable_x64 JAX has no int64.
        return array.astype(self.jax.dtypes.canonicalize_dtype("int64"))

    @staticmethod
    def _on_host(array: Any) -> bool:
        return int(array.__dlpack_device__()[0]) == 1


class FromNumpy:
    """Other libraries: results are made by NumPy, on the host, and handed over by DLPack."""

    def __init__(self, from_dlpack: Any) -> None:
        self.from_dlpack = from_dlpack

    def empty(self, like: Any, shape: tuple[int, ...], dtype: str) -> Any:
        return np.empty(shape, dtype)

    def finish(self, array: Any, like: Any) -> Any:
        return self.from_dlpack(array)

    def stream(self, like: Any) -> int:
        raise RuntimeError(
            f"{type(like).__name__} lies on a CUDA device, and its library is not known to detops; "
            "pass torch.from_dlpack(array)"
        )


@cache
def find(array_type: type) -> Any:
    """The library that an array type belongs to."""
    roots = {base.__module__.split(".")[0] for base in array_type.__mro__}
    if "torch" in roots:
        return Torch()
    if "paddle" in roots:
        return Paddle()
    if "cupy" in roots:
        return Cupy()
    if roots & {"jax", "jaxlib"}:
        return Jax()
    if hasattr(array_type, "__array_namespace__"):
        return ArrayApi()
    module = sys.modules[array_type.__module__.split(".")[0]]
    return FromNumpy(getattr(module, "from_dlpack", np.asarray))

# SPDX-License-Identifier: Apache-2.0
"""Arrays whose library says what a test wants it to say, right or wrong."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

_NEW_CAPSULE = ctypes.pythonapi.PyCapsule_New
_NEW_CAPSULE.restype = ctypes.py_object
_NEW_CAPSULE.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


def _longs(values: Any) -> Any:
    return None if values is None else (ctypes.c_int64 * max(len(values), 1))(*values)


class _PyBuffer(ctypes.Structure):
    _fields_ = [
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.c_void_p),
        ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("format", ctypes.c_char_p),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("suboffsets", ctypes.POINTER(ctypes.c_int64)),
        ("internal", ctypes.c_void_p),
    ]


class _Slot(ctypes.Structure):
    _fields_ = [("slot", ctypes.c_int), ("function", ctypes.c_void_p)]


class _Spec(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("basicsize", ctypes.c_int),
        ("itemsize", ctypes.c_int),
        ("flags", ctypes.c_uint),
        ("slots", ctypes.POINTER(_Slot)),
    ]


def _exporter_type() -> Any:
    """A type whose objects have the buffers that _EXPORTERS has of them."""
    py_bf_getbuffer = 1
    slots = (_Slot * 2)(
        _Slot(py_bf_getbuffer, ctypes.cast(_get_buffer, ctypes.c_void_p)), _Slot(0, None)
    )
    flags = 1 << 19  # Py_TPFLAGS_DEFAULT, as far as it matters
    spec = _Spec(b"exporters.Exporter", object.__basicsize__, 0, flags, slots)
    make_type = ctypes.pythonapi.PyType_FromSpec
    make_type.restype, make_type.argtypes = ctypes.py_object, [ctypes.POINTER(_Spec)]
    return make_type(ctypes.byref(spec)), spec, slots


# By the address of the object.
_EXPORTERS: dict[int, BufferExporter] = {}


@ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p, ctypes.c_int)
def _get_buffer(exporter: Any, view: int, flags: int) -> int:
    return _EXPORTERS[id(exporter)].get(exporter, view)


class BufferExporter:
    """``object`` answers getbuffer with these fields; each export holds a reference to it.

    It stays, for C code points to it, until it is closed.
    """

    _type: Any = None

    def __init__(self, values: np.ndarray, **fields: Any) -> None:
        self.values = values
        self.fields = {
            "buf": values.ctypes.data,
            "len": values.nbytes,
            "itemsize": values.itemsize,
            "readonly": 1,
            "ndim": values.ndim,
            "format": values.dtype.char.encode(),
            "shape": values.shape,
            "strides": values.strides,
            "suboffsets": None,
            **fields,
        }
        self._arrays = {k: _longs(self.fields[k]) for k in ("shape", "strides", "suboffsets")}
        if BufferExporter._type is None:
            BufferExporter._type = _exporter_type()
        self.object = BufferExporter._type[0]()
        _EXPORTERS[id(self.object)] = self

    def close(self) -> None:
        del _EXPORTERS[id(self.object)]

    def get(self, exporter: Any, view: int) -> int:
        buffer = _PyBuffer.from_address(view)
        for name, value in self.fields.items():
            if name in self._arrays:
                address = ctypes.cast(self._arrays[name], ctypes.POINTER(ctypes.c_int64))
                setattr(buffer, name, address)
            else:
                setattr(buffer, name, value)
        buffer.obj = id(exporter)
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(exporter))
        return 0


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
        # Of DLManagedTensor, which nobody calls here: the capsule has no destructor.
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


class _Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    ]


class DlpackExporter:
    """An array whose __dlpack__ has these fields."""

    def __init__(
        self,
        values: np.ndarray,
        *,
        says: Any = (1, 0),
        capsule: bytes = b"dltensor",
        version: tuple[int, int] | None = None,
        flags: int = 0,
        **fields: Any,
    ) -> None:
        self.values, self.says, self.capsule = values, says, capsule
        fields = {
            "data": values.ctypes.data,
            "device_type": 1,
            "rank": values.ndim,
            "code": 2,
            "bits": 8 * values.itemsize,
            "lanes": 1,
            "shape": values.shape,
            "strides": None,
            **fields,
        }
        self._arrays = [_longs(fields[name]) for name in ("shape", "strides")]
        for name, array in zip(("shape", "strides"), self._arrays, strict=True):
            fields[name] = ctypes.cast(array, ctypes.POINTER(ctypes.c_int64))
        self.tensor = _Tensor(**fields)
        if version is not None:
            deleter = self.tensor.deleter
            self.tensor = _Versioned(*version, None, deleter, flags, self.tensor)

    def __dlpack_device__(self) -> Any:
        return self.says

    def __dlpack__(self, **_: Any) -> Any:
        return _NEW_CAPSULE(ctypes.addressof(self.tensor), self.capsule, None)

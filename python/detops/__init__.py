# SPDX-License-Identifier: Apache-2.0
"""Detection operators for the arrays of any library.

>>> import detops, numpy as np
>>> detops.bbox_overlaps(np.float32([[0, 0, 2, 2]]), np.float32([[1, 0, 3, 2]]))
array([[0.33333334]], dtype=float32)

Arrays of NumPy, PyTorch, CuPy, JAX, Paddle, or anything with ``__dlpack__`` or the buffer protocol
are read where they lie; results are arrays of the first argument's library, on its device. Arrays
of the host can be computed elsewhere: ``with detops.device("mlu590")``. Nothing but NumPy is
imported.
"""

import os as _os

# _convert and _frameworks are what calls need: an import in the middle of a call could fail.
from . import _convert, _core, _frameworks, _torch  # noqa: F401
from ._device import device, get_device, set_device
from ._listings import devices, implementations
from ._ops.bbox_overlaps import bbox_overlaps
from ._ops.border_align import border_align
from ._ops.generate_proposals import generate_proposals
from ._ops.nms import nms
from ._ops.points_in_boxes import points_in_boxes
from ._ops.poly_nms import poly_nms
from ._rounding import RoundingWarning
from ._threads import get_threads, set_threads, threads

__all__ = [
    "RoundingWarning",
    "__version__",
    "bbox_overlaps",
    "border_align",
    "device",
    "devices",
    "generate_proposals",
    "get_device",
    "get_threads",
    "implementations",
    "nms",
    "points_in_boxes",
    "poly_nms",
    "set_device",
    "set_threads",
    "threads",
]

__version__ = _core._version()

_os.register_at_fork(after_in_child=_core._forget_thread_handles)
_torch.register_when_imported()

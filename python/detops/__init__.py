# SPDX-License-Identifier: Apache-2.0
"""Detection operators for the arrays of any library.

>>> import detops, numpy as np
>>> detops.bbox_overlaps(np.float32([[0, 0, 2, 2]]), np.float32([[1, 0, 3, 2]]))
array([[0.33333334]], dtype=float32)

Arrays of NumPy, PyTorch, CuPy, JAX, Paddle, or anything with ``__dlpack__`` or the buffer protocol
are read where they lie; results are arrays of the first argument's library, on its device. Nothing
but NumPy is imported.
"""

import copyreg as _copyreg
import os as _os

# _convert and _frameworks are what calls need: an import in the middle of a call could fail.
from . import _convert, _core, _frameworks, _torch  # noqa: F401
from ._core import *  # noqa: F403
from ._core import __version__, _forget_thread_handles

__all__ = ["__version__"]
__all__ += _core.__all__

# By name, as Python's own functions are; the type is that of this package's functions alone.
_copyreg.pickle(type(_core.devices), lambda function: str(function.__name__))
_os.register_at_fork(after_in_child=_forget_thread_handles)
_torch.register_when_imported()

# SPDX-License-Identifier: Apache-2.0
"""Boxes for points_in_boxes with another margin than its own.

detops holds a point within ``size / 2 + 1e-5`` of the centre; mmcv has no margin, OpenPCDet's CPU
code one of 1e-2. The same decisions come from a box of another size.

xp is the module of the arrays, numpy or torch.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_MARGIN = float(np.float32(1e-5))


def size_for_limit(xp: Any, limit: Any) -> Any:
    """The size with which ``v < size / 2 + margin`` is ``v < limit`` for every float32 v >= 0.

    Exact for limits above 5e-6. The floats below the limit end one step below it, and among the
    multiples of that step there is one half size which ends there too.
    """
    ceiling = xp.asarray(limit, dtype=xp.float32)
    infinity = xp.full_like(ceiling, np.inf)
    ceiling = xp.where(ceiling < limit, xp.nextafter(ceiling, infinity), ceiling)
    below = xp.asarray(xp.nextafter(ceiling, -infinity), dtype=xp.float64)
    ceiling = xp.asarray(ceiling, dtype=xp.float64)
    step = ceiling - below
    with np.errstate(invalid="ignore"):  # infinite limits, which are taken as they are
        half = xp.floor((ceiling - _MARGIN) / step) * step
    size = xp.asarray(xp.where(xp.isinf(limit), limit, 2 * half), dtype=xp.float32)
    return xp.where(limit > 0, size, xp.full_like(size, -1))  # holds nothing


def with_margin(xp: Any, boxes: Any, margin: float) -> Any:
    """Boxes [..., 7] with which detops holds points within ``size / 2 + margin``."""
    centre, size, heading = boxes[..., :3], boxes[..., 3:5], boxes[..., 5:]
    limit = xp.asarray(size, dtype=xp.float64) / 2 + float(np.float32(margin))
    return xp.concatenate([centre, size_for_limit(xp, limit), heading], -1)

# SPDX-License-Identifier: Apache-2.0
"""Boxes for points_in_boxes with another margin than its own.

detops holds a point within ``size / 2 + 1e-5`` of the centre; mmcv has no margin, OpenPCDet's CPU
code one of 1e-2. The same decisions come from a box of another size.
"""

from __future__ import annotations

import torch
from torch import Tensor

_MARGIN = float(torch.tensor(1e-5, dtype=torch.float32))


def size_for_limit(limit: Tensor) -> Tensor:
    """The size with which ``v < size / 2 + margin`` is ``v < limit`` for every float32 v >= 0.

    Exact for limits above 5e-6. The floats below the limit end one step below it, and among the
    multiples of that step there is one half size which ends there too.
    """
    limit = limit.double()
    ceiling = limit.float()
    infinity = torch.full_like(ceiling, torch.inf)
    ceiling = torch.where(ceiling < limit, torch.nextafter(ceiling, infinity), ceiling)
    below, ceiling = torch.nextafter(ceiling, -infinity).double(), ceiling.double()
    step = ceiling - below
    half = torch.floor((ceiling - _MARGIN) / step) * step
    size = torch.where(torch.isinf(limit), limit, 2 * half).float()
    return torch.where(limit > 0, size, torch.full_like(size, -1))  # holds nothing


def with_margin(boxes: Tensor, margin: float) -> Tensor:
    """Boxes [..., 7] with which detops holds points within ``size / 2 + margin``."""
    centre, size, heading = boxes[..., :3], boxes[..., 3:5], boxes[..., 5:]
    float32_margin = float(torch.tensor(margin, dtype=torch.float32))
    return torch.cat([centre, size_for_limit(size.double() / 2 + float32_margin), heading], -1)

# SPDX-License-Identifier: Apache-2.0
"""Drop-ins for pcdet.ops.roiaware_pool3d.roiaware_pool3d_utils.

>>> import numpy as np
>>> from detops.compat.openpcdet import points_in_boxes_cpu
>>> points_in_boxes_cpu(np.zeros((2, 3)), np.ones((1, 7)))
array([[0, 0]], dtype=int32)
"""

from __future__ import annotations

from typing import Any, TypeVar

import torch
from torch import Tensor

from .. import _core
from ._margins import with_margin

__all__ = ["points_in_boxes_cpu", "points_in_boxes_gpu"]

ArrayT = TypeVar("ArrayT")


def points_in_boxes_gpu(points: Tensor, boxes: Tensor) -> Tensor:
    """The first box that holds each point, or -1: [B, M, 3] and [B, T, 7] to int32 [B, M].

    OpenPCDet's convention is detops' own: z is the middle of a box, the margin 1e-5. Works on the
    CPU too.
    """
    return _core.points_in_boxes(points.detach(), boxes.detach(), dtype="int32")


def points_in_boxes_cpu(points: Any, boxes: ArrayT) -> ArrayT:
    """Whether each box holds each point: [M, 3] and [N, 7] to int32 [N, M] of zeros and ones.

    NumPy arrays or PyTorch tensors; the result is of the type of boxes. As OpenPCDet, and unlike
    detops.points_in_boxes: every box that holds the point, with a margin of 1e-2.
    """
    tensor = torch.as_tensor(boxes).detach().cpu().float()
    cloud = torch.as_tensor(points).detach().cpu().float()[None]
    held = torch.empty((tensor.shape[0], cloud.shape[1]), dtype=torch.int32)
    for row, box in zip(held, with_margin(tensor, 1e-2), strict=True):
        # 0 is the only box; -1 becomes 0.
        torch.add(_core.points_in_boxes(cloud, box[None, None], dtype="int32")[0], 1, out=row)
    return held if isinstance(boxes, Tensor) else held.numpy()  # type: ignore[return-value]

# SPDX-License-Identifier: Apache-2.0
"""Drop-ins for pcdet.ops.roiaware_pool3d.roiaware_pool3d_utils.

On NumPy arrays without PyTorch, which is imported only by who passes tensors.

As OpenPCDet's functions, they count a box of zeros, which pads a batch, as one that holds the point
(0, 0, 0), which pads a point cloud or stands for a return that is missing. Where both may occur,
say which boxes and points are real:

>>> import numpy as np
>>> from detops.compat.openpcdet import points_in_boxes_cpu, points_in_boxes_gpu
>>> points = np.array([[[0, 0, 0], [2, 2, 2]]], np.float32)  # the first is padding
>>> boxes = np.array([[[0] * 7, [2, 2, 2, 1, 1, 1, 0]]], np.float32)  # the first is padding
>>> points_in_boxes_gpu(points, boxes)
array([[0, 1]], dtype=int32)
>>> boxes[(boxes[..., 3:6] == 0).all(-1), 3] = -1  # a box of negative size holds nothing
>>> points_in_boxes_gpu(points, boxes)
array([[-1,  1]], dtype=int32)
>>> np.where(points.any(-1), points_in_boxes_gpu(points, boxes), -1)  # or: what is no padding
array([[-1,  1]], dtype=int32)
>>> points_in_boxes_cpu(points[0], boxes[0])
array([[0, 0],
       [0, 1]], dtype=int32)
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

import detops

from .._convert import to_native
from .._names import named_for
from ._arguments import refuse_shape
from ._margins import with_margin

if TYPE_CHECKING:
    from .._types import DlpackArray

__all__ = ["points_in_boxes_cpu", "points_in_boxes_gpu"]

ArrayT = TypeVar("ArrayT", bound="DlpackArray")

# One call takes a box, or several and the points as often: copying fewer than these costs less than
# another call.
_FEW_POINTS = 4096


@named_for("points_in_boxes")
def points_in_boxes_gpu(points: ArrayT, boxes: Any) -> ArrayT:
    """The first box that holds each point, or -1: [B, M, 3] and [B, T, 7] to int32 [B, M].

    OpenPCDet's convention is detops' own: z is the middle of a box, the margin 1e-5. Works on the
    CPU too.
    """
    cloud: ArrayT = _detached(points)
    return detops.points_in_boxes(cloud, _detached(boxes), dtype="int32")


@named_for("points_in_boxes")
def points_in_boxes_cpu(points: Any, boxes: ArrayT) -> ArrayT:
    """Whether each box holds each point: [M, 3] and [N, 7] to int32 [N, M] of zeros and ones.

    NumPy arrays or PyTorch tensors; the result is of the type of boxes. As OpenPCDet, and unlike
    detops.points_in_boxes: every box that holds the point, with a margin of 1e-2.
    """
    cloud = _rows("points", points, "(M, 3)", 3)
    adjusted = with_margin(np, _rows("boxes", boxes, "(N, 7)", 7, "box3d"), 1e-2)
    held = np.empty((len(adjusted), len(cloud)), np.int32)
    step = max(1, _FEW_POINTS // max(len(cloud), 1))
    for i in range(0, len(adjusted), step):
        alone = adjusted[i : i + step, None]  # each the only box of its batch
        clouds = np.broadcast_to(cloud, (len(alone), *cloud.shape))
        # 0 is the only box; -1 becomes 0.
        np.add(detops.points_in_boxes(clouds, alone, dtype="int32"), 1, out=held[i : i + step])
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(boxes, torch.Tensor):
        return torch.from_numpy(held)  # type: ignore[no-any-return]
    return held  # type: ignore[return-value]


def _detached(array: Any) -> Any:
    return array.detach() if hasattr(array, "detach") else array


def _rows(
    argument: str, array: Any, expected: str, columns: int, geometry: str = ""
) -> NDArray[np.float32]:
    what = f"points_in_boxes_cpu: {argument}"
    array = _detached(array)
    on_host = array.cpu() if hasattr(array, "cpu") else array
    values = to_native(on_host, what, expected, geometry, half_allowed=False)
    if values.size == 0 and values.shape[0] == 0 and values.ndim <= 2:
        return np.empty((0, columns), np.float32)
    if values.ndim != 2 or values.shape[1] != columns:
        refuse_shape(what, values.shape, expected)
    return values

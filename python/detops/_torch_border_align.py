# SPDX-License-Identifier: Apache-2.0
"""The gradient of border_align, in PyTorch's own operators."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def _sample_places(boxes: Tensor, pool_size: int) -> tuple[Tensor, Tensor]:
    """x and y of the samples, [N, K, 4, pool_size + 1], by the forward's repeated addition."""
    x1, y1, x2, y2 = boxes.float().unbind(-1)
    step_x, step_y, none = (x2 - x1) / pool_size, (y2 - y1) / pool_size, torch.zeros_like(x1)
    x, y = torch.stack([x1, x1, x2, x2], -1), torch.stack([y1, y1, y2, y2], -1)
    by_x = torch.stack([step_x, none, -step_x, none], -1)
    by_y = torch.stack([none, step_y, none, -step_y], -1)
    xs, ys = [x], [y]
    for _ in range(pool_size):
        xs.append(xs[-1] + by_x)
        ys.append(ys[-1] + by_y)
    return torch.stack(xs, -1), torch.stack(ys, -1)


def _neighbours(place: Tensor, size: int) -> tuple[Tensor, Tensor, Tensor]:
    """The cells below and above a place along one axis, and the weight of the one above."""
    place = place.clamp(min=0)
    low = place.floor()
    at_end = low >= size - 1
    low = torch.where(at_end, size - 1, low)
    high = torch.where(at_end, low, low + 1)
    return low.long(), high.long(), torch.where(at_end, 0, place - low)


def border_align_backward(
    grad_output: Tensor,
    boxes: Tensor,
    argmax: Tensor,
    input_shape: Sequence[int],
    pool_size: int,
    layout: str = "NCHW",
) -> Tensor:
    """What each input element gave to the maxima; zero gradient for samples outside."""
    if layout == "NHWC":
        n, height, width, channels = input_shape
        grad_output, argmax = grad_output.permute(0, 3, 1, 2), argmax.permute(0, 3, 1, 2)
    else:
        n, channels, height, width = input_shape
    c = channels // 4
    xs, ys = _sample_places(boxes, pool_size)
    chosen = argmax.permute(0, 2, 3, 1)  # [N, K, 4, C]
    x, y = torch.gather(xs, 3, chosen), torch.gather(ys, 3, chosen)
    # Comparisons with NaN are false: such a box lies outside.
    inside = (x >= -1) & (x <= width) & (y >= -1) & (y <= height)
    x, y = torch.where(inside, x, 0), torch.where(inside, y, 0)
    grad = grad_output.permute(0, 2, 3, 1).float() * inside

    x_low, x_high, x_weight = _neighbours(x, width)
    y_low, y_high, y_weight = _neighbours(y, height)
    grad_input = torch.zeros((n, 4, c, height * width), dtype=torch.float32, device=grad.device)
    for rows, row_weight in ((y_low, 1 - y_weight), (y_high, y_weight)):
        for columns, column_weight in ((x_low, 1 - x_weight), (x_high, x_weight)):
            # [N, K, 4, C] to [N, 4, C, K]: the samples of one plane last.
            places = (rows * width + columns).permute(0, 2, 3, 1)
            shares = (grad * row_weight * column_weight).permute(0, 2, 3, 1)
            grad_input = grad_input.scatter_add(3, places, shares)
    grad_input = grad_input.reshape(n, channels, height, width)
    return grad_input.permute(0, 2, 3, 1) if layout == "NHWC" else grad_input

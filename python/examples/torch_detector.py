# SPDX-License-Identifier: Apache-2.0
"""A detector's last steps in PyTorch, compiled as one graph."""

import torch

import detops  # noqa: F401  registers torch.ops.detops


def refine(features: torch.Tensor, boxes: torch.Tensor, dets: torch.Tensor) -> torch.Tensor:
    pooled, _ = torch.ops.detops.border_align(features, boxes, 10)
    kept = torch.ops.detops.poly_nms(dets, 0.1)
    scores: torch.Tensor = dets[kept, 8] * pooled.mean()
    return scores


torch.manual_seed(0)
features = torch.rand(1, 16, 20, 20)
boxes = torch.tensor([[[2.0, 3.0, 12.0, 9.0]]])
dets = torch.tensor([[0.0, 0, 1, 0, 1, 1, 0, 1, 0.9], [4, 4, 5, 4, 5, 5, 4, 5, 0.8]])
compiled = torch.compile(refine, fullgraph=True, backend="aot_eager")
print(torch.equal(compiled(features, boxes, dets), refine(features, boxes, dets)))  # True

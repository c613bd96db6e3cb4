# SPDX-License-Identifier: Apache-2.0
"""torch.ops.detops under torch.library.opcheck, torch.compile, torch.export and autograd."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import oracles
import pytest
import scenes
from frameworks import require

import detops

torch = require("torch")

RNG = np.random.default_rng(11)
BOXES = torch.tensor(scenes.boxes(RNG, 9))
DETS = torch.tensor(scenes.quads(RNG, 30))
FEATURES, BORDERS = map(torch.tensor, scenes.features(RNG, 2, 3, 6, 7, 5))
PROPOSALS = [torch.tensor(v) for v in scenes.to_nchw(scenes.proposals(RNG, 2, 3, 4, 5)).values()]
CLOUD, CUBES = map(torch.tensor, scenes.lidar(RNG, 2, 100, 9))

SAMPLES = {
    "bbox_overlaps": [
        (BOXES, BOXES[:4]),
        (BOXES, BOXES, "iof", True, 1),
        (BOXES.half(), BOXES.half()),
        (BOXES.half(), BOXES),
        (BOXES.double(), BOXES),
    ],
    "poly_nms": [(DETS, 0.3), (DETS[:, :8], 0.3, DETS[:, 8], "score")],
    "border_align": [
        (FEATURES, BORDERS, 3),
        (FEATURES.clone().requires_grad_(), BORDERS, 2),
        (FEATURES.permute(0, 2, 3, 1).contiguous(), BORDERS, 2, "NHWC"),
    ],
    "generate_proposals": [(*PROPOSALS,), (*PROPOSALS, 20, 3, 0.7, 4.0, 1.0, True)],
    "points_in_boxes": [(CLOUD, CUBES)],
}
CASES = [(name, sample) for name, samples in SAMPLES.items() for sample in samples]


@pytest.mark.parametrize(("name", "sample"), CASES, ids=[name for name, _ in CASES])
def test_opcheck(name, sample):
    torch.library.opcheck(getattr(torch.ops.detops, name).default, sample)


@pytest.mark.parametrize(("name", "sample"), CASES, ids=[name for name, _ in CASES])
def test_the_same_as_the_functions(name, sample):
    options = {"return_argmax": True} if name == "border_align" else {}
    plain = getattr(detops, name)(
        *(s.detach() if hasattr(s, "detach") else s for s in sample), **options
    )
    registered = getattr(torch.ops.detops, name)(*sample)
    torch.testing.assert_close(registered, plain, rtol=0, atol=0, equal_nan=True)


def head(features, boxes, dets):
    pooled, _ = torch.ops.detops.border_align(features * 2, boxes, 3)
    kept = torch.ops.detops.poly_nms(dets, 0.3)
    return pooled.sum() + dets[kept].sum()


def test_compile_passes_through():
    compiled = torch.compile(head, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(FEATURES, BORDERS, DETS), head(FEATURES, BORDERS, DETS))


def test_compile_breaks_the_graph_at_the_plain_functions():
    def overlaps(a, b):
        return detops.bbox_overlaps(a + 1, b, mode="iof") * 2

    compiled = torch.compile(overlaps, backend="aot_eager")
    torch.testing.assert_close(compiled(BOXES, BOXES), overlaps(BOXES, BOXES))


def test_export_passes_through():
    class Head(torch.nn.Module):
        def forward(self, features, boxes, dets):
            return head(features, boxes, dets)

    arguments = (FEATURES, BORDERS, DETS)
    exported = torch.export.export(Head(), arguments)
    assert "detops.poly_nms" in str(exported.graph)
    torch.testing.assert_close(exported.module()(*arguments), head(*arguments))


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_the_gradient_of_border_align_is_the_one_of_its_definition(layout):
    """Against differences: the operator is linear in the features while the argmax stays."""
    features = FEATURES.clone()
    weights = torch.rand(2, 3, 5, 4)

    def loss(values):
        if layout == "NHWC":
            pooled, _ = torch.ops.detops.border_align(
                values.permute(0, 2, 3, 1).contiguous(), BORDERS, 3, layout
            )
            pooled = pooled.permute(0, 3, 1, 2)
        else:
            pooled, _ = torch.ops.detops.border_align(values, BORDERS, 3)
        return (pooled.double() * weights).sum()

    leaf = features.clone().requires_grad_()
    loss(leaf).backward()
    _, argmax = oracles.border_align(features.numpy(), BORDERS.numpy(), 3)
    step = 2.0**-10
    checked = 0
    for place in np.ndindex(*features.shape):
        moved = features.clone()
        moved[place] += step
        if not np.array_equal(oracles.border_align(moved.numpy(), BORDERS.numpy(), 3)[1], argmax):
            continue
        slope = (loss(moved) - loss(features)) / step
        assert abs(slope.item() - leaf.grad[place].item()) < 1e-2
        checked += 1
        if checked == 150:
            break
    assert checked == 150 and leaf.grad.abs().sum() > 0


def test_other_operators_refuse_to_be_differentiated():
    result = torch.ops.detops.bbox_overlaps(BOXES.clone().requires_grad_(), BOXES)
    with pytest.raises(RuntimeError, match="no autograd formula"):
        result.sum().backward()


@pytest.mark.parametrize("first", ["torch", "detops"])
def test_registered_in_either_order_of_imports(first):
    second = {"torch": "detops", "detops": "torch"}[first]
    program = (
        f"import {first}, {second}; import torch\n"
        "print(torch.ops.detops.points_in_boxes(torch.zeros(1, 2, 3), torch.ones(1, 1, 7)))"
    )
    output = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert output.stdout.strip() == "tensor([[-1, -1]])", output.stderr


def test_registered_though_others_have_asked_whether_there_is_a_torch():
    """As transformers and many others do before they import it, if ever."""
    program = (
        "import detops, sys; from importlib.util import find_spec\n"
        "assert find_spec('torch') and find_spec('torch') and 'torch' not in sys.modules\n"
        "import torch\n"
        "print(torch.ops.detops.points_in_boxes(torch.zeros(1, 2, 3), torch.ones(1, 1, 7)))\n"
        "assert not [f for f in sys.meta_path if type(f).__module__ == 'detops._torch']"
    )
    output = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert output.returncode == 0 and output.stdout.strip() == "tensor([[-1, -1]])", output.stderr

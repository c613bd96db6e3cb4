# SPDX-License-Identifier: Apache-2.0
"""CUDA arrays: the same bits as on the host, on the caller's stream, without waiting.

Skipped where there is no device; DETOPS_REQUIRE=cuda makes that a failure.
"""

from __future__ import annotations

import numpy as np
import pytest
import scenes
from frameworks import require, require_cuda
from test_frameworks import BOXES, CALLS, CLOUD, CUBES, DETS

import detops


@pytest.fixture
def torch():
    return require_cuda()


def to_host(result):
    return [np.asarray(r.cpu()) for r in (result if isinstance(result, tuple) else (result,))]


@pytest.mark.parametrize("name", CALLS)
def test_the_same_bits_as_on_the_host(torch, name):
    result = CALLS[name](lambda values: torch.tensor(values, device="cuda"))
    expected = CALLS[name](np.asarray)
    expected = expected if isinstance(expected, tuple) else (expected,)
    for r, actual, e in zip(
        result if isinstance(result, tuple) else (result,), to_host(result), expected, strict=True
    ):
        assert r.is_cuda and actual.dtype == e.dtype
        np.testing.assert_array_equal(actual, e)


def test_runs_on_the_current_stream_and_does_not_wait(torch):
    """A stream that is kept busy: the call returns before its work could have begun."""
    boxes = torch.tensor(scenes.boxes(np.random.default_rng(0), 3000), device="cuda")
    cloud, cubes = torch.tensor(CLOUD, device="cuda"), torch.tensor(CUBES, device="cuda")
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        # Once before, as CUDA waits where PyTorch takes new memory and where a kernel is loaded.
        for _ in range(2):
            detops.bbox_overlaps(boxes + 1, boxes)
            detops.points_in_boxes(cloud, cubes)
        stream.synchronize()
        torch.cuda._sleep(2_000_000_000)  # cycles: about a second
        moved = boxes + 1  # on the stream, after the sleep
        overlaps = detops.bbox_overlaps(moved, boxes)
        inside = detops.points_in_boxes(cloud, cubes)
        assert not stream.query(), "the call waited for the stream"
    stream.synchronize()
    host = boxes.cpu().numpy()
    np.testing.assert_array_equal(overlaps.cpu(), detops.bbox_overlaps(host + 1, host))
    np.testing.assert_array_equal(inside.cpu(), detops.points_in_boxes(CLOUD, CUBES))


def test_strided_arrays_are_made_dense_on_the_device(torch):
    boxes = torch.tensor(np.asfortranarray(BOXES), device="cuda").t().contiguous().t()
    np.testing.assert_array_equal(
        detops.bbox_overlaps(boxes, boxes).cpu(), detops.bbox_overlaps(BOXES, BOXES)
    )


def test_two_devices_are_refused(torch):
    boxes = torch.tensor(BOXES, device="cuda")
    with pytest.raises(ValueError, match="bboxes2 lies on cpu, but bboxes1 on cuda:0"):
        detops.bbox_overlaps(boxes, BOXES)


def test_other_types_are_refused_without_looking(torch):
    boxes = torch.tensor(BOXES, device="cuda")
    with pytest.raises(TypeError, match="bboxes1 has dtype float64 on cuda:0; pass float32"):
        detops.bbox_overlaps(boxes.double(), boxes)


def test_captured_in_a_graph(torch):
    boxes = torch.tensor(BOXES, device="cuda")
    detops.bbox_overlaps(boxes, boxes)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        overlaps = detops.bbox_overlaps(boxes, boxes)
    boxes.copy_(torch.tensor(BOXES + 3))
    graph.replay()
    moved = BOXES + 3
    np.testing.assert_array_equal(overlaps.cpu(), detops.bbox_overlaps(moved, moved))


@pytest.mark.parametrize("name", ["bbox_overlaps", "poly_nms_by_score", "points_in_boxes"])
def test_opcheck(torch, name):
    samples = {
        "bbox_overlaps": (BOXES, BOXES),
        "poly_nms_by_score": (DETS[:, :8], 0.3, DETS[:, 8], "score"),
        "points_in_boxes": (CLOUD, CUBES),
    }
    sample = [torch.tensor(s, device="cuda") if hasattr(s, "shape") else s for s in samples[name]]
    operator = getattr(torch.ops.detops, name.removesuffix("_by_score")).default
    torch.library.opcheck(operator, tuple(sample))


@pytest.mark.parametrize("name", CALLS)
def test_cupy(torch, name):
    cupy = require("cupy")
    with cupy.cuda.Stream(non_blocking=True) as stream:
        result = CALLS[name](cupy.asarray)
        stream.synchronize()
    expected = CALLS[name](np.asarray)
    results = result if isinstance(result, tuple) else (result,)
    for r, e in zip(results, expected if isinstance(expected, tuple) else (expected,), strict=True):
        assert isinstance(r, cupy.ndarray) and r.dtype == e.dtype
        np.testing.assert_array_equal(cupy.asnumpy(r), e)


@pytest.mark.parametrize("name", CALLS)
def test_jax(torch, name):
    jax = require("jax")
    if jax.default_backend() != "gpu":
        pytest.skip("JAX sees no GPU")
    result = CALLS[name](jax.numpy.asarray)
    expected = CALLS[name](np.asarray)
    results = result if isinstance(result, tuple) else (result,)
    for r, e in zip(results, expected if isinstance(expected, tuple) else (expected,), strict=True):
        assert isinstance(r, jax.Array) and r.devices() == {jax.devices()[0]}
        np.testing.assert_array_equal(np.asarray(r), e)

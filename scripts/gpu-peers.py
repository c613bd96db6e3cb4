#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What GPU users run today, on sizes of the case files: torchvision's box_iou and nms, and
the proposal chain in PyTorch. Medians of CUDA events, microseconds; run by scripts/gpu-check."""
import argparse
import json
import math
import time

import torch
import torchvision


def timed(call, repeats=15):
    for _ in range(3):
        call()
    times = []
    for _ in range(repeats):
        begin = torch.cuda.Event(enable_timing=True)
        end = torch.cuda.Event(enable_timing=True)
        begin.record()
        call()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e3)
    return sorted(times)[len(times) // 2]


def image_boxes(count, generator):
    corner = torch.rand(count, 2, generator=generator) * torch.tensor([1325.0, 792.0])
    size = 8 + 392 * torch.rand(count, 2, generator=generator)
    return torch.cat([corner, corner + size], 1).cuda()


def proposals(scores, deltas, anchors, height, width, pre, post, threshold, min_size):
    """One image: top-k, decode, clip, drop, nms, as a user would write it."""
    top, order = scores.topk(min(pre, scores.numel()))
    anchor, delta = anchors[order], deltas[order]
    size = anchor[:, 2:] - anchor[:, :2]
    centre = anchor[:, :2] + 0.5 * size
    limit = math.log(1000 / 16)
    new_centre = centre + delta[:, :2] * size
    new_size = torch.exp(delta[:, 2:].clamp(max=limit)) * size
    boxes = torch.cat([new_centre - 0.5 * new_size, new_centre + 0.5 * new_size], 1)
    bound = torch.tensor([width, height, width, height], device=boxes.device)
    boxes = torch.minimum(boxes, bound).clamp(min=0)
    keep = ((boxes[:, 2:] - boxes[:, :2]) >= max(min_size, 1.0)).all(1)
    boxes, top = boxes[keep], top[keep]
    kept = torchvision.ops.nms(boxes, top, threshold)[:post]
    return boxes[kept], top[kept]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json")
    options = parser.parse_args()
    generator = torch.Generator().manual_seed(1)
    figures = []

    def record(case, peer, call):
        figures.append({"case": case, "peer": peer, "us": timed(call)})
        print(f"{case:46s} {peer:24s} {figures[-1]['us']:12.1f} us", flush=True)

    for group, count in (("network", 1000), ("scale", 2000), ("scale", 10000)):
        a, b = image_boxes(count, generator), image_boxes(count, generator)
        case = f"bbox_overlaps/{group}/iou_{count}x{count}"
        record(case, "torchvision box_iou", lambda: torchvision.ops.box_iou(a, b))
        if count != 2000:
            half_a, half_b = a.half(), b.half()
            record(case + "_half", "torchvision box_iou",
                   lambda: torchvision.ops.box_iou(half_a, half_b))
    # Upright boxes for poly_nms too: nobody installs polygon suppression with PyTorch, and this is
    # the easier job.
    for op, peer, threshold, cases in (
            ("nms", "torchvision nms", 0.5,
             ("network/scattered_1000", "network/scattered_10000", "scale/scattered_100000")),
            ("poly_nms", "torchvision nms, upright", 0.1,
             ("network/scattered_1000", "network/scattered_2000", "network/scattered_9770",
              "scale/scattered_50000"))):
        for case in cases:
            count = int(case.rpartition("_")[2])
            corner = torch.rand(count, 2, generator=generator) * 25 * math.sqrt(count)
            size = 10 + 30 * torch.rand(count, 2, generator=generator)
            boxes = torch.cat([corner, corner + size], 1).cuda()
            scores = torch.rand(count, generator=generator).cuda()
            record(f"{op}/{case}", peer, lambda: torchvision.ops.nms(boxes, scores, threshold))
    for case, images, height, width in (("network/a3_25x38", 1, 25, 38),
                                        ("network/a3_200x304", 1, 200, 304),
                                        ("scale/n8_a3_200x304", 8, 200, 304)):
        count = height * width * 3
        stride = 1333.0 / width
        x, y = torch.meshgrid(torch.arange(width), torch.arange(height), indexing="xy")
        centre = torch.stack([x, y], -1).reshape(-1, 1, 2) * stride
        half = torch.tensor([16.0, 32.0, 64.0]).reshape(1, 3, 1)
        anchors = torch.cat([centre - half, centre + half], -1).reshape(-1, 4).cuda()
        scores = torch.rand(images, count, generator=generator).cuda()
        deltas = (0.2 * torch.randn(images, count, 4, generator=generator)).cuda()

        def chain():
            return [proposals(scores[i], deltas[i], anchors, 800.0, 1333.0, 12000, 2000, 0.5, 0.1)
                    for i in range(images)]

        record(f"generate_proposals_v2/{case}", "PyTorch and torchvision", chain)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as out:
            json.dump({"device": torch.cuda.get_device_name(),
                       "day": time.strftime("%Y-%m-%d", time.gmtime()), "torch": torch.__version__,
                       "torchvision": torchvision.__version__, "peers": figures}, out, indent=1)


main()

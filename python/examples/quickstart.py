# SPDX-License-Identifier: Apache-2.0
"""The README's eight lines."""

import numpy as np

import detops

dets = np.array(
    [
        [0, 0, 1, 0, 1, 1, 0, 1, 0.7],  # x1 y1 ... x4 y4 score
        [0.1, 0, 1.1, 0, 1.1, 1, 0.1, 1, 0.8],
        [5, 5, 6, 5, 6, 6, 5, 6, 0.9],
    ],
    dtype=np.float32,
)
kept = detops.poly_nms(dets, iou_threshold=0.5)
print(kept)  # [1 2]
print(detops.bbox_overlaps(dets[:, [0, 1, 4, 5]], dets[kept][:, [0, 1, 4, 5]]).round(2))

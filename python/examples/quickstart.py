# SPDX-License-Identifier: Apache-2.0
"""The README's example."""

import numpy as np

import detops

boxes = np.array([[0, 0, 10, 10], [1, 0, 11, 10], [20, 0, 30, 10]], np.float32)  # x1 y1 x2 y2
scores = np.array([0.7, 0.8, 0.9], np.float32)
print(detops.nms(boxes, scores, iou_threshold=0.5))  # [2 1]
print(detops.bbox_overlaps([[0, 0, 2, 2]], [[1, 0, 3, 2]]))  # [[0.33333334]]

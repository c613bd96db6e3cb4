# SPDX-License-Identifier: Apache-2.0
"""Which box holds each point of a LiDAR sweep."""

import numpy as np
from numpy.typing import NDArray

import detops

rng = np.random.default_rng(0)
points: NDArray[np.float32] = rng.uniform(-20, 20, (1, 100_000, 3)).astype(np.float32)
boxes = np.array([[[0, 0, 0, 4, 2, 2, 0.5], [10, 5, 0, 5, 2, 2, -1.0]]], dtype=np.float32)
box_of_point = detops.points_in_boxes(points, boxes)
print(np.unique(box_of_point, return_counts=True))

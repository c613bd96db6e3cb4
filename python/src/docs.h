// SPDX-License-Identifier: Apache-2.0
//
// What help() says. The examples are run by the tests.
#pragma once

namespace detops::python::docs {

inline constexpr const char* kBboxOverlaps = R"(
IoU or IoF of boxes, all pairs or aligned.

bboxes1: [M, 4] as x1, y1, x2, y2; float32 or float16
bboxes2: [N, 4] of the same library and device
mode: "iou", or "iof" for the intersection over the area of bboxes1
aligned: only the pairs (i, i); M == N
offset: 0, or 1 to count pixels: it is added to every length

Returns [M, N], aligned [M], of the inputs' type. Two boxes without area give 0/0: NaN.

>>> import numpy as np
>>> boxes = np.array([[0, 0, 10, 10], [5, 5, 15, 15]], np.float32)
>>> bbox_overlaps(boxes, boxes).round(4)
array([[1.    , 0.1429],
       [0.1429, 1.    ]], dtype=float32)
)";

inline constexpr const char* kPolyNms = R"(
Non-maximum suppression of quadrilaterals, convex or concave.

dets: [N, 9] float32 as x1, y1, ..., x4, y4, score, in either orientation; [N, 8] with scores apart
iou_threshold: a box goes if it overlaps a better one by more than this
scores: [N] float32, where dets has none
order: "index" for ascending indices, "score" for the best first (torchvision's order)
dtype: of the indices; int64 unless int32 is asked for

Returns the indices kept, [K]. Equal scores: the lower index is the better one. On a CUDA device the
call waits for K.

>>> import numpy as np
>>> dets = np.array([[0, 0, 1, 0, 1, 1, 0, 1, .7],
...                  [.1, 0, 1.1, 0, 1.1, 1, .1, 1, .8],
...                  [5, 5, 6, 5, 6, 6, 5, 6, .9]], np.float32)
>>> poly_nms(dets, 0.5)
array([1, 2])
>>> poly_nms(dets[:, :8], 0.5, scores=dets[:, 8], order="score")
array([2, 1])
)";

inline constexpr const char* kBorderAlign = R"(
The maximum of pool_size + 1 bilinear samples along each border of each box.

input: [N, 4C, H, W], or [N, H, W, 4C] with layout="NHWC"; C channels each for top, left, bottom and
    right; float32 or float16
boxes: [N, K, 4] as x1, y1, x2, y2, in pixels of input
layout: of input and of the results
return_argmax: also which sample was the maximum, 0 to pool_size
dtype: of these; int64 unless int32 is asked for

Returns [N, C, K, 4], or [N, K, 4, C] with layout="NHWC"; with return_argmax a pair of such arrays.

>>> import numpy as np
>>> features = np.arange(36, dtype=np.float32).reshape(1, 4, 3, 3)
>>> boxes = np.array([[[0, 0, 2, 1]]], np.float32)
>>> border_align(features, boxes, pool_size=2)  # top, left, bottom, right
array([[[[ 2., 12., 23., 32.]]]], dtype=float32)
)";

inline constexpr const char* kGenerateProposals = R"(
Region proposals of N images: top-k, decode, clip, drop the small, non-maximum suppression.

scores: [N, A, H, W] float32, or [N, H, W, A] with layout="NHWC"
bbox_deltas: [N, 4A, H, W] float32, or [N, H, W, 4A]
img_size: [N, 2] float32, height and width
anchors, variances: [H, W, A, 4] float32
pre_nms_top_n: the best so many are decoded; 0 or less for all
post_nms_top_n: at most so many are kept of each image
nms_thresh: a proposal goes if it overlaps a better one by more than this
min_size: shorter sides are dropped, as are those below 1
eta: 1; there is no adaptive suppression
pixel_offset: lengths count pixels
return_rois_num: also how many each image has
dtype: of these counts; int64 unless int32 is asked for

Returns rois [R, 4], probs [R, 1] and rois_num [N], all images one after the other. An image without
proposals gets one of zeros. On a CUDA device the call waits for R.

>>> import numpy as np
>>> scores = np.array([[[[.9, .1]]]], np.float32)  # one anchor at each of 1 x 2 places
>>> deltas = np.zeros((1, 4, 1, 2), np.float32)
>>> anchors = np.array([[[[0, 0, 9, 9]], [[4, 0, 30, 9]]]], np.float32)
>>> rois, probs, count = generate_proposals(
...     scores, deltas, np.array([[20, 20]], np.float32), anchors, np.ones_like(anchors))
>>> rois
array([[ 0.,  0.,  9.,  9.],
       [ 4.,  0., 20.,  9.]], dtype=float32)
>>> probs.ravel(), count
(array([0.9, 0.1], dtype=float32), array([2]))
)";

inline constexpr const char* kPointsInBoxes = R"(
The first box that holds each point, or -1.

points: [B, M, 3] float32
boxes: [B, T, 7] float32 as cx, cy, cz, dx, dy, dz, heading: the geometric centre, the full sizes,
    and the angle from x to y
dtype: of the indices; int64 unless int32 is asked for

Returns [B, M].

>>> import numpy as np
>>> points = np.array([[[0, 0, 0], [1, 0, 0], [9, 9, 9]]], np.float32)
>>> boxes = np.array([[[1, 0, 0, 1, 1, 1, 0], [0, 0, 0, 4, 1, 1, 0]]], np.float32)
>>> points_in_boxes(points, boxes)
array([[ 1,  0, -1]])
)";

inline constexpr const char* kDevices = R"(
The devices that the library knows, as dicts: name, description, usable, reason why not.

>>> devices()[0]["name"], devices()[0]["usable"]
('cpu', True)
)";

inline constexpr const char* kImplementations = R"(
The implementations of each operator, the preferred first, as dicts: name, usable, reason why not
("needs AVX-512").

>>> implementations()["poly_nms"][-1]
{'name': 'cpu:reference', 'usable': True, 'reason': ''}
)";

}  // namespace detops::python::docs

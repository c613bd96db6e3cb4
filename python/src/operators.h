// SPDX-License-Identifier: Apache-2.0
//
// The five operators on Python objects. module.cc has their signatures and texts.
#pragma once

#include <nanobind/nanobind.h>

#include <string_view>

namespace detops::python {

namespace nb = nanobind;

nb::object BboxOverlaps(nb::handle bboxes1, nb::handle bboxes2, std::string_view mode, bool aligned,
                        int offset);

nb::object PolyNms(nb::handle dets, double iou_threshold, nb::handle scores, std::string_view order,
                   nb::handle dtype);

nb::object BorderAlign(nb::handle input, nb::handle boxes, int pool_size, std::string_view layout,
                       bool return_argmax, nb::handle dtype);

nb::object GenerateProposals(nb::handle scores, nb::handle bbox_deltas, nb::handle img_size,
                             nb::handle anchors, nb::handle variances, int pre_nms_top_n,
                             int post_nms_top_n, double nms_thresh, double min_size, double eta,
                             bool pixel_offset, std::string_view layout, bool return_rois_num,
                             nb::handle dtype);

nb::object PointsInBoxes(nb::handle points, nb::handle boxes, nb::handle dtype);

}  // namespace detops::python

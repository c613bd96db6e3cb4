// SPDX-License-Identifier: Apache-2.0
//
// Inputs of generate_proposals_v2.
#pragma once

#include <cstdint>
#include <vector>

#include "support/operators.h"
#include "support/random_data.h"

namespace detops::test {

// Anchors on a grid of 16 pixels in A sizes, as a detection network has them.
inline ProposalInputs NetworkInputs(Rng& rng, int64_t n, int64_t a, int64_t h, int64_t w) {
  ProposalInputs in = {n, h, w, a, {}, {}, {}, {}, {}};
  const int64_t anchors = h * w * a;
  in.scores = UniformFloats(rng, n * anchors, 0, 1);
  in.bbox_deltas = UniformFloats(rng, n * anchors * 4, -0.5f, 0.5f);
  for (int64_t i = 0; i < n; ++i) {
    in.im_shape.insert(in.im_shape.end(),
                       {16.0f * static_cast<float>(h), 16.0f * static_cast<float>(w)});
  }
  for (int64_t y = 0; y < h; ++y) {
    for (int64_t x = 0; x < w; ++x) {
      for (int64_t i = 0; i < a; ++i) {
        const float size = 16.0f * static_cast<float>(1 << (i % 5));
        const float cx = 16.0f * static_cast<float>(x) + 8, cy = 16.0f * static_cast<float>(y) + 8;
        in.anchors.insert(in.anchors.end(),
                          {cx - size / 2, cy - size / 2, cx + size / 2, cy + size / 2});
      }
    }
  }
  in.variances.assign(static_cast<size_t>(anchors * 4), 1.0f);
  return in;
}

// Anchors given one by one, in a 1 x count map; deltas are zero, so each decodes to itself.
inline ProposalInputs PlainInputs(const std::vector<float>& anchors,
                                  const std::vector<float>& scores, float height, float width) {
  const auto count = static_cast<int64_t>(scores.size());
  ProposalInputs in = {1, 1, count, 1, scores, {}, {height, width}, anchors, {}};
  in.bbox_deltas.assign(anchors.size(), 0.0f);
  in.variances.assign(anchors.size(), 1.0f);
  return in;
}

}  // namespace detops::test

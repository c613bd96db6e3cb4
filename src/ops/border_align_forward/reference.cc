// SPDX-License-Identifier: Apache-2.0
#include "math/bilinear.h"
#include "math/half.h"
#include "ops/border_align_forward/plan.h"
#include "ops/border_align_forward/walk.h"

namespace detops::ops {
namespace {

// Distances in memory between neighbours of one layout, in elements. An image's results are
// [box][border][channel] in NHWC and [channel][box][border] in NCHW.
struct Strides {
  int64_t y, x, channel;                // of the input
  int64_t box, border, result_channel;  // of output and argmax_idx
};

Strides StridesOf(const BorderAlignForwardPlan& p) {
  if (p.layout == MLUOP_LAYOUT_NCHW) {
    return {p.width, 1, p.height * p.width, 4, 1, p.boxes * 4};
  }
  return {p.width * 4 * p.channels, 4 * p.channels, 1, 4 * p.channels, p.channels, 1};
}

template <class T>
float Interpolate(const BorderAlignForwardPlan& plan, const Strides& strides, const T* map, float y,
                  float x) {
  const auto s = math::SampleAt(y, x, plan.height, plan.width);
  if (!s.inside) return 0.0f;
  const auto at = [&](int64_t row, int64_t column) {
    return math::ToFloat(map[row * strides.y + column * strides.x]);
  };
  return math::Blend(s.w1, s.w2, s.w3, s.w4, at(s.y_low, s.x_low), at(s.y_low, s.x_high),
                     at(s.y_high, s.x_low), at(s.y_high, s.x_high));
}

template <class T>
void Run(const BorderAlignForwardPlan& plan, const T* input, const T* boxes, T* output,
         int32_t* argmax_idx) {
  const Strides strides = StridesOf(plan);
  const int64_t image_elements = 4 * plan.channels * plan.height * plan.width;
  const int64_t image_results = 4 * plan.channels * plan.boxes;
  for (int64_t n = 0; n < plan.images; ++n) {
    for (int64_t k = 0; k < plan.boxes; ++k) {
      const T* box = boxes + (n * plan.boxes + k) * 4;
      for (int border = 0; border < 4; ++border) {
        for (int64_t c = 0; c < plan.channels; ++c) {
          const T* map =
              input + n * image_elements + (border * plan.channels + c) * strides.channel;
          BorderWalk at = WalkAlong(border, box, static_cast<float>(plan.pool_size));
          float best = 0.0f;
          int32_t best_index = 0;
          for (int64_t i = 0; i <= plan.pool_size; ++i) {
            const float value = Interpolate(plan, strides, map, at.y, at.x);
            if (i == 0 || value > best) {
              best = value;
              best_index = static_cast<int32_t>(i);
            }
            at.x += at.step_x;
            at.y += at.step_y;
          }
          const int64_t result = n * image_results + k * strides.box + border * strides.border +
                                 c * strides.result_channel;
          output[result] = math::FromFloat<T>(best);
          argmax_idx[result] = best_index;
        }
      }
    }
  }
}

}  // namespace

void BorderAlignForwardReference(const BorderAlignForwardPlan& plan,
                                 const BorderAlignForwardArgs& args, void*,
                                 const runtime::Launch&) {
  if (plan.dtype == MLUOP_DTYPE_HALF) {
    Run(plan, static_cast<const math::Half*>(args.input),
        static_cast<const math::Half*>(args.boxes), static_cast<math::Half*>(args.output),
        args.argmax_idx);
  } else {
    Run(plan, static_cast<const float*>(args.input), static_cast<const float*>(args.boxes),
        static_cast<float*>(args.output), args.argmax_idx);
  }
}

}  // namespace detops::ops

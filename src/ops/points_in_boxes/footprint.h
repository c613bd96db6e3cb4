// SPDX-License-Identifier: Apache-2.0
//
// The rectangle of the ground plane that a box covers, in double and slightly enlarged: a point
// that passes the float test lies within 10 rounding errors of the true box, relative to its size.
#pragma once

#include <cmath>
#include <limits>

#include "math/box3d.h"

namespace detops::ops::points_in_boxes {

struct Footprint {
  double x, y, cos, sin, reach_x, reach_y;

  explicit Footprint(const math::FlatBox& b) : x(b.cx), y(b.cy), cos(b.cos), sin(b.sin) {
    const double slack = 2e-6 * (static_cast<double>(b.reach_x) + b.reach_y) + 1e-37;
    reach_x = b.reach_x + slack;
    reach_y = b.reach_y + slack;
  }
};

// A float that is certain to be below, or above; of NaN an infinite one.
inline float RoundDown(double v) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  return std::isnan(v) ? -kInf : std::nextafterf(static_cast<float>(v), -kInf);
}
inline float RoundUp(double v) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  return std::isnan(v) ? kInf : std::nextafterf(static_cast<float>(v), kInf);
}

}  // namespace detops::ops::points_in_boxes

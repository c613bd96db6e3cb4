// SPDX-License-Identifier: Apache-2.0
//
// Whether an upright 3-D box, rotated about z, contains a point.
#pragma once

#include <cmath>
#include <limits>

#include "math/sincos.h"

namespace detops::math {

struct Box3d {
  float cx, cy, cz;  // the geometric centre
  float cos, sin;    // of -heading
  // Half sizes, in double as the comparison needs them; those of x and y include the margin.
  double reach_x, reach_y, reach_z;
};

// Everything about a box that does not depend on the point.
DETOPS_HD Box3d PrepareBox3d(const float* box) {  // [7] cx cy cz dx dy dz heading
  constexpr double kMargin = 1e-5f;
  const SinCosResult rotation = SinCos(-box[6]);
  return {box[0],
          box[1],
          box[2],
          rotation.cos,
          rotation.sin,
          box[3] / 2.0 + kMargin,
          box[4] / 2.0 + kMargin,
          box[5] / 2.0};
}

// The left sides are floats, the right sides doubles; the comparisons are exact. All of them are
// false when an operand is NaN.
DETOPS_HD bool Holds(const Box3d& box, float x, float y, float z) {
  const float dz = z - box.cz;
  if (!((dz < 0.0f ? -dz : dz) <= box.reach_z)) return false;
  const float dx = x - box.cx, dy = y - box.cy;
  const float local_x = dx * box.cos - dy * box.sin;
  const float local_y = dx * box.sin + dy * box.cos;
  return (local_x < 0.0f ? -local_x : local_x) < box.reach_x &&
         (local_y < 0.0f ? -local_y : local_y) < box.reach_y;
}

// A box whose bounds are floats, each the largest one that a point inside may have: the decisions
// are those of Box3d.
struct FlatBox {
  float cx, cy, cz, cos, sin, reach_x, reach_y, reach_z;
};

// Without branches, which would be mispredicted for most points.
DETOPS_HD_HOT bool Holds(const FlatBox& b, float x, float y, float z) {
  const float dx = x - b.cx, dy = y - b.cy;
  const bool in_x = std::fabs(dx * b.cos - dy * b.sin) <= b.reach_x;
  const bool in_y = std::fabs(dx * b.sin + dy * b.cos) <= b.reach_y;
  const bool in_z = std::fabs(z - b.cz) <= b.reach_z;
  return in_x & in_y & in_z;
}

// The largest float below `bound`, and the largest float that is at most `bound`: for a float f, f
// < bound is equivalent to f <= FloatBelow(bound), so float code decides as double code does. NaN
// stays NaN.
inline float FloatBelow(double bound) {
  const float f = static_cast<float>(bound);
  return f >= bound ? std::nextafterf(f, -std::numeric_limits<float>::infinity()) : f;
}
inline float FloatAtMost(double bound) {
  const float f = static_cast<float>(bound);
  return f > bound ? std::nextafterf(f, -std::numeric_limits<float>::infinity()) : f;
}

}  // namespace detops::math

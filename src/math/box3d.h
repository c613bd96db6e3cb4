// SPDX-License-Identifier: Apache-2.0
//
// Whether an upright 3-D box, rotated about z, contains a point.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "math/binary64.h"
#include "math/bit_cast.h"
#include "math/host_device.h"
#include "math/sincos.h"

namespace detops::math {

template <class Wide>
struct Box3dOf {
  float cx, cy, cz;  // the geometric centre
  float cos, sin;    // of -heading
  // Half sizes, as wide as the comparison needs them; those of x and y include the margin.
  Wide reach_x, reach_y, reach_z;
};
using Box3d = Box3dOf<Binary64>;

// Everything about a box that does not depend on the point.
template <class Wide = Binary64>
DETOPS_HD Box3dOf<Wide> PrepareBox3d(const float* box) {  // [7] cx cy cz dx dy dz heading
  constexpr float kMargin = 1e-5f;
  const SinCosResult rotation = SinCos<Wide>(-box[6]);
  return {box[0],
          box[1],
          box[2],
          rotation.cos,
          rotation.sin,
          Wide{box[3]} * 0.5 + kMargin,
          Wide{box[4]} * 0.5 + kMargin,
          Wide{box[5]} * 0.5};
}

// The left sides are floats, the right sides wide; the comparisons are exact. All of them are
// false when an operand is NaN.
template <class Wide>
DETOPS_HD bool Holds(const Box3dOf<Wide>& box, float x, float y, float z) {
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

// Bounds that contain every point that a box contains, on the axes x, y and z. For a box that
// contains nothing, low[0] > high[0].
struct Bounds3d {
  float low[3], high[3];

  DETOPS_HD bool Empty() const { return !(low[0] <= high[0]); }
};

DETOPS_HD Bounds3d BoundsOf(const FlatBox& b) {
  // Rotated back, |dx| is at most |cos| rx + |sin| ry. The margin, relative to both, covers the
  // rounding errors of the test and of these sums, which are below 2^-20 of them.
  const float cos = std::fabs(b.cos), sin = std::fabs(b.sin);
  const float more = 1e-5f * (b.reach_x + b.reach_y) + 1e-37f;
  const float x = cos * b.reach_x + sin * b.reach_y + more + 1e-6f * std::fabs(b.cx);
  const float y = sin * b.reach_x + cos * b.reach_y + more + 1e-6f * std::fabs(b.cy);
  const float z = 1.00001f * b.reach_z + 1e-6f * std::fabs(b.cz) + 1e-37f;
  Bounds3d bounds = {{b.cx - x, b.cy - y, b.cz - z}, {b.cx + x, b.cy + y, b.cz + z}};
  // A box of infinite height also contains points at infinity, wherever its centre is.
  if (b.reach_z > std::numeric_limits<float>::max()) {
    bounds.low[2] = -std::numeric_limits<float>::infinity();
    bounds.high[2] = std::numeric_limits<float>::infinity();
  }
  // Written so that NaN anywhere counts: that of a centre or of the heading propagates to the
  // bounds.
  if (!(b.reach_x >= 0.0f && b.reach_y >= 0.0f && b.reach_z >= 0.0f &&
        bounds.low[0] <= bounds.high[0] && bounds.low[1] <= bounds.high[1] &&
        bounds.low[2] <= bounds.high[2])) {
    bounds.low[0] = 1.0f;
    bounds.high[0] = 0.0f;
  }
  return bounds;
}

// The next float below f, which is neither NaN nor -inf.
DETOPS_HD float NextBelow(float f) {
  constexpr uint32_t kLeastNegative = 0x80000001u;
  const uint32_t bits = BitCast<uint32_t>(f);
  return BitCast<float>(f == 0.0f ? kLeastNegative : f > 0.0f ? bits - 1 : bits + 1);
}

// The largest float below `bound`, and the largest float that is at most `bound`: for a float f, f
// < bound is equivalent to f <= FloatBelow(bound), so float code decides as wider code does. NaN
// and -inf stay what they are.
template <class Wide>
DETOPS_HD float FloatBelow(Wide bound) {
  const float f = static_cast<float>(bound);
  return f >= bound && f >= -std::numeric_limits<float>::max() ? NextBelow(f) : f;
}
template <class Wide>
DETOPS_HD float FloatAtMost(Wide bound) {
  const float f = static_cast<float>(bound);
  return f > bound ? NextBelow(f) : f;
}

}  // namespace detops::math

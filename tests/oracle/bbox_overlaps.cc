// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <cstddef>
#include <limits>

#include "internal.h"
#include "oracle.h"

namespace detops::oracle {
namespace {

bool IsNan(Rounded x) { return x.IsNan(); }
bool IsNan(long double x) { return std::isnan(x); }

// std::min and fmin each lose a NaN on one side or on both. Here a NaN is always propagated.
template <typename Real>
Real Min(Real a, Real b) {
  if (IsNan(a)) return a;
  if (IsNan(b)) return b;
  return b < a ? b : a;
}

template <typename Real>
Real Max(Real a, Real b) {
  if (IsNan(a)) return a;
  if (IsNan(b)) return b;
  return b > a ? b : a;
}

// One formula for both number types: the exact bits differ from the wide value only by rounding.
template <typename Real>
Real Overlap(std::span<const float, 4> a, std::span<const float, 4> b, int mode, int offset) {
  for (int i = 0; i < 4; ++i) {
    if (std::isnan(a[i]) || std::isnan(b[i])) return std::numeric_limits<float>::quiet_NaN();
  }
  const Real off = static_cast<float>(offset);
  const Real zero = 0.0f;
  const Real ax1 = a[0], ay1 = a[1], ax2 = a[2], ay2 = a[3];
  const Real bx1 = b[0], by1 = b[1], bx2 = b[2], by2 = b[3];
  const Real area_a = (ax2 - ax1 + off) * (ay2 - ay1 + off);
  const Real area_b = (bx2 - bx1 + off) * (by2 - by1 + off);
  const Real width = Max(Min(ax2, bx2) - Max(ax1, bx1) + off, zero);
  const Real height = Max(Min(ay2, by2) - Max(ay1, by1) + off, zero);
  const Real inter = width * height;
  const Real base = Max(mode == 0 ? (area_a + area_b) - inter : area_a, off);
  return inter / base;
}

template <typename Real, typename Store>
void ForEachPair(std::span<const float> b1, std::span<const float> b2, int mode, bool aligned,
                 int offset, Store store) {
  const size_t rows = b1.size() / 4;
  const size_t columns = b2.size() / 4;
  for (size_t i = 0; i < rows; ++i) {
    const size_t first = aligned ? i : 0;
    const size_t last = aligned ? i + 1 : columns;
    for (size_t j = first; j < last; ++j) {
      store(
          Overlap<Real>(b1.subspan(4 * i).first<4>(), b2.subspan(4 * j).first<4>(), mode, offset));
    }
  }
}

}  // namespace

std::vector<float> BboxOverlaps(std::span<const float> b1, std::span<const float> b2, int mode,
                                bool aligned, int offset) {
  std::vector<float> out;
  ForEachPair<Rounded>(b1, b2, mode, aligned, offset,
                       [&](Rounded value) { out.push_back(value.Float()); });
  return out;
}

std::vector<double> BboxOverlapsWide(std::span<const float> b1, std::span<const float> b2, int mode,
                                     bool aligned, int offset) {
  std::vector<double> out;
  ForEachPair<long double>(b1, b2, mode, aligned, offset,
                           [&](long double value) { out.push_back(static_cast<double>(value)); });
  return out;
}

}  // namespace detops::oracle

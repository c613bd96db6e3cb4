// SPDX-License-Identifier: Apache-2.0

#include <cmath>

#include "internal.h"
#include "oracle.h"

namespace detops::oracle {
namespace {

constexpr double kMargin = 1e-5f;  // the float constant, widened

struct Box {
  Rounded cx, cy, cz;
  Rounded cos, sin;  // of minus the heading
  double limit_x, limit_y, limit_z;
};

Box Prepare(std::span<const float, 7> box) {
  // Halving and the one addition are in double, as written in the contract.
  return {.cx = box[0],
          .cy = box[1],
          .cz = box[2],
          .cos = CosRounded(-box[6]),
          .sin = SinRounded(-box[6]),
          .limit_x = static_cast<double>(box[3]) / 2 + kMargin,
          .limit_y = static_cast<double>(box[4]) / 2 + kMargin,
          .limit_z = static_cast<double>(box[5]) / 2};
}

// Every comparison is false on NaN, so a NaN in the point, or in any field of the box, gives false.
bool Holds(const Box& box, std::span<const float, 3> point) {
  const Rounded dx = Rounded(point[0]) - box.cx;
  const Rounded dy = Rounded(point[1]) - box.cy;
  const Rounded dz = Rounded(point[2]) - box.cz;
  const Rounded local_x = dx * box.cos - dy * box.sin;
  const Rounded local_y = dx * box.sin + dy * box.cos;
  return std::fabs(dz.Double()) <= box.limit_z && std::fabs(local_x.Double()) < box.limit_x &&
         std::fabs(local_y.Double()) < box.limit_y;
}

}  // namespace

std::vector<int32_t> PointsInBoxes(std::span<const float> points, std::span<const float> boxes,
                                   int64_t b, int64_t m, int64_t t) {
  std::vector<int32_t> out;
  for (int64_t batch = 0; batch < b; ++batch) {
    std::vector<Box> prepared;
    for (int64_t i = 0; i < t; ++i) {
      prepared.push_back(Prepare(boxes.subspan((batch * t + i) * 7).first<7>()));
    }
    for (int64_t i = 0; i < m; ++i) {
      const auto point = points.subspan((batch * m + i) * 3).first<3>();
      int32_t found = -1;
      for (int64_t k = 0; k < t && found < 0; ++k) {
        if (Holds(prepared[k], point)) found = static_cast<int32_t>(k);
      }
      out.push_back(found);
    }
  }
  return out;
}

}  // namespace detops::oracle

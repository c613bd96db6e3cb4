// SPDX-License-Identifier: Apache-2.0
#include "bench/case.h"
#include "core/status.h"
#include "support/random_data.h"

namespace detops::bench {
namespace {

struct Shape {
  int64_t b, m, t;
};

class PointsInBoxesProblem final : public Problem {
 public:
  PointsInBoxesProblem(const Shape& s, const Place& place)
      : Problem(place),
        points_desc_(MLUOP_DTYPE_FLOAT, {s.b, s.m, 3}),
        boxes_desc_(MLUOP_DTYPE_FLOAT, {s.b, s.t, 7}),
        indices_desc_(MLUOP_DTYPE_INT32, {s.b, s.m}),
        points_(Input(test::RandomPoints(rng_, s.b * s.m))),
        boxes_(Input(test::RandomBoxes3d(rng_, s.b * s.t))),
        indices_(Output(4 * s.b * s.m)) {}

  mluOpStatus_t Run(mluOpHandle_t handle, int64_t set) override {
    return mluOpPointsInBoxes(handle, points_desc_, points_.at(set), boxes_desc_, boxes_.at(set),
                              indices_desc_, indices_.at(set));
  }

 private:
  test::Rng rng_{103};
  const Desc points_desc_, boxes_desc_, indices_desc_;
  const Buffer &points_, &boxes_, &indices_;
};

Case Make(const std::string& name, const Shape& s, bool reference, bool one_thread) {
  const auto b = static_cast<double>(s.b), m = static_cast<double>(s.m),
             t = static_cast<double>(s.t);
  Case c;
  c.op = "points_in_boxes";
  c.name = name;
  c.dims = core::Concat("[", s.b, ",", s.m, ",3] in [", s.b, ",", s.t, ",7]");
  c.size = s.b * s.m;
  c.report.bytes = b * (m * 3 + t * 7 + m) * 4;
  c.report.operations = b * (6 * m + 27 * t * m + 2 * m);
  c.floor.bytes = c.report.bytes;
  // Most boxes can be ruled out without a test: only the operations per point itself are certain.
  c.floor.operations = b * 8 * m;
  c.reference = reference;
  c.one_thread = one_thread;
  c.make = [s](const Place& place) { return std::make_unique<PointsInBoxesProblem>(s, place); };
  return c;
}

std::vector<Case> Cases() {
  return {
      Make("1000x10", {1, 1000, 10}, true, false),
      Make("272414x66", {1, 272414, 66}, true, true),
      Make("1Mx1000", {1, 1000000, 1000}, false, true),
      Make("8x1Mx200", {8, 1000000, 200}, false, true),
  };
}

const Registrar registrar(Cases);

}  // namespace
}  // namespace detops::bench

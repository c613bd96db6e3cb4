// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "bench/case.h"
#include "bench/halves.h"
#include "core/status.h"
#include "support/random_data.h"

namespace detops::bench {
namespace {

constexpr int32_t kPoolSize = 10;

struct Shape {
  int64_t n, h, w, c, k;  // 4C channels
  bool half;
  bool nchw = false;

  int64_t Inputs() const { return n * h * w * 4 * c; }
  int64_t Outputs() const { return n * k * 4 * c; }
  int64_t TypeBytes() const { return half ? 2 : 4; }
  mluOpDataType_t dtype() const { return half ? MLUOP_DTYPE_HALF : MLUOP_DTYPE_FLOAT; }
  mluOpTensorLayout_t layout() const { return nchw ? MLUOP_LAYOUT_NCHW : MLUOP_LAYOUT_NHWC; }
  std::vector<int64_t> InputDims() const {
    return nchw ? std::vector<int64_t>{n, 4 * c, h, w} : std::vector<int64_t>{n, h, w, 4 * c};
  }
  std::vector<int64_t> OutputDims() const {
    return nchw ? std::vector<int64_t>{n, c, k, 4} : std::vector<int64_t>{n, k, 4, c};
  }
};

// Any two points of the map as corners.
std::vector<float> MapBoxes(test::Rng& rng, const Shape& s) {
  std::vector<float> boxes;
  const auto right = static_cast<float>(s.w - 1), bottom = static_cast<float>(s.h - 1);
  for (int64_t i = 0; i < s.n * s.k; ++i) {
    float x1 = test::Uniform(rng, 0, right), x2 = test::Uniform(rng, 0, right);
    float y1 = test::Uniform(rng, 0, bottom), y2 = test::Uniform(rng, 0, bottom);
    if (x2 < x1) std::swap(x1, x2);
    if (y2 < y1) std::swap(y1, y2);
    boxes.insert(boxes.end(), {x1, y1, x2, y2});
  }
  return boxes;
}

class BorderAlignProblem final : public Problem {
 public:
  BorderAlignProblem(const Shape& s, const Place& place)
      : Problem(place),
        half_(s.half),
        input_desc_(s.dtype(), s.InputDims(), s.layout()),
        boxes_desc_(s.dtype(), {s.n, s.k, 4}),
        output_desc_(s.dtype(), s.OutputDims(), s.layout()),
        argmax_desc_(MLUOP_DTYPE_INT32, s.OutputDims(), s.layout()),
        input_(Typed(test::UniformFloats(rng_, s.Inputs(), -5, 5))),
        boxes_(Typed(MapBoxes(rng_, s))),
        output_(Output(s.Outputs() * s.TypeBytes())),
        argmax_(Output(s.Outputs() * 4)) {}

  mluOpStatus_t Run(mluOpHandle_t handle, int64_t set) override {
    return detopsBorderAlignForward(handle, input_desc_, input_.at(set), boxes_desc_,
                                    boxes_.at(set), kPoolSize, output_desc_, output_.at(set),
                                    argmax_desc_, argmax_.at(set));
  }

 private:
  const Buffer& Typed(const std::vector<float>& values) {
    return half_ ? Input(Halves(values)) : Input(values);
  }

  const bool half_;
  test::Rng rng_{105};
  const Desc input_desc_, boxes_desc_, output_desc_, argmax_desc_;
  const Buffer &input_, &boxes_, &output_, &argmax_;
};

Case Make(const std::string& name, const Shape& s, bool reference, bool one_thread) {
  const auto samples = static_cast<double>(s.Outputs() * (kPoolSize + 1));
  Case c;
  c.op = "border_align_forward";
  c.name = name;
  const std::vector<int64_t> dims = s.InputDims();
  c.dims = core::Concat("[", dims[0], ",", dims[1], ",", dims[2], ",", dims[3], "] K ", s.k, " P ",
                        kPoolSize, s.half ? " half" : " float", s.nchw ? " NCHW" : "");
  c.size = s.Outputs();
  c.report.bytes = static_cast<double>((s.Inputs() + s.n * s.k * 4 + s.Outputs()) * s.TypeBytes() +
                                       s.Outputs() * 4);
  c.report.operations = samples * 14;
  c.floor.bytes = c.report.bytes;
  // The channels share the weights of a sample: 4 products, 3 sums and a comparison remain.
  c.floor.operations = samples * 8;
  c.reference = reference;
  c.one_thread = one_thread;
  c.make = [s](const Place& place) { return std::make_unique<BorderAlignProblem>(s, place); };
  return c;
}

std::vector<Case> Cases() {
  return {
      Make("2x7x10x1024_float", {2, 7, 10, 256, 70, false}, true, false),
      Make("2x25x38x1024_float", {2, 25, 38, 256, 950, false}, true, true),
      Make("2x25x38x1024_half", {2, 25, 38, 256, 950, true}, true, true),
      Make("2x50x76x1024_float", {2, 50, 76, 256, 3800, false}, false, false),
      Make("2x100x152x1024_float", {2, 100, 152, 256, 15200, false}, false, true),
      Make("2x100x152x1024_half", {2, 100, 152, 256, 15200, true}, false, true),
      Make("2x1024x25x38_float", {2, 25, 38, 256, 950, false, true}, true, false),
      Make("2x1024x25x38_half", {2, 25, 38, 256, 950, true, true}, true, false),
      Make("2x1024x100x152_float", {2, 100, 152, 256, 15200, false, true}, false, false),
  };
}

const Registrar registrar(Cases);

}  // namespace
}  // namespace detops::bench

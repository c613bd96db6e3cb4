// SPDX-License-Identifier: Apache-2.0
#include "bench/case.h"
#include "bench/halves.h"
#include "core/status.h"
#include "support/random_data.h"

namespace detops::bench {
namespace {

constexpr int kIoU = 0, kIoF = 1;

struct Shape {
  int64_t m, n;  // equal when aligned
  int mode;
  bool aligned, half;

  int64_t Elements() const { return aligned ? m : m * n; }
  int64_t TypeBytes() const { return half ? 2 : 4; }
  mluOpDataType_t dtype() const { return half ? MLUOP_DTYPE_HALF : MLUOP_DTYPE_FLOAT; }
  std::vector<int64_t> OutDims() const {
    return aligned ? std::vector<int64_t>{m} : std::vector<int64_t>{m, n};
  }
};

// In an image of 1333 x 800, 8 to 400 wide and high: none is degenerate, not in half either.
std::vector<float> ImageBoxes(test::Rng& rng, int64_t count) {
  std::vector<float> boxes;
  boxes.reserve(static_cast<size_t>(4 * count));
  for (int64_t i = 0; i < count; ++i) {
    const float x = test::Uniform(rng, 0, 1325), y = test::Uniform(rng, 0, 792);
    boxes.insert(boxes.end(),
                 {x, y, x + test::Uniform(rng, 8, 400), y + test::Uniform(rng, 8, 400)});
  }
  return boxes;
}

class BboxOverlapsProblem final : public Problem {
 public:
  BboxOverlapsProblem(const Shape& shape, const Place& place)
      : Problem(place),
        shape_(shape),
        desc1_(shape.dtype(), {shape.m, 4}),
        desc2_(shape.dtype(), {shape.n, 4}),
        ious_desc_(shape.dtype(), shape.OutDims()),
        bbox1_(Boxes(shape.m)),
        bbox2_(Boxes(shape.n)),
        ious_(Output(shape.Elements() * shape.TypeBytes())) {}

  mluOpStatus_t Run(mluOpHandle_t handle, int64_t set) override {
    return mluOpBboxOverlaps(handle, shape_.mode, shape_.aligned, 0, desc1_, bbox1_.at(set), desc2_,
                             bbox2_.at(set), ious_desc_, ious_.at(set));
  }

 private:
  const Buffer& Boxes(int64_t count) {
    const std::vector<float> boxes = ImageBoxes(rng_, count);
    return shape_.half ? Input(Halves(boxes)) : Input(boxes);
  }

  const Shape shape_;
  test::Rng rng_{101};
  const Desc desc1_, desc2_, ious_desc_;
  const Buffer &bbox1_, &bbox2_, &ious_;
};

Case Make(const std::string& name, const Shape& shape, bool one_thread) {
  const auto elements = static_cast<double>(shape.Elements());
  const bool iof = shape.mode == kIoF;
  Case c;
  c.op = "bbox_overlaps";
  c.name = name;
  c.dims = core::Concat("[", shape.m, ",4] ", shape.aligned ? "with" : "x", " [", shape.n, ",4] ",
                        shape.half ? "half" : "float", iof ? " IoF" : " IoU");
  c.size = shape.Elements();
  c.report.bytes =
      static_cast<double>(((shape.m + shape.n) * 4 + shape.Elements()) * shape.TypeBytes());
  c.report.operations = elements * (iof ? 23 : 25);
  c.floor.bytes = c.report.bytes;
  // Given the areas of the boxes: 4 minima and maxima, 2 differences, 2 maxima with 0, a product, a
  // maximum with the offset, a division; the union takes 2 more.
  c.floor.operations = elements * (iof ? 11 : 13);
  c.traffic = shape.aligned ? Traffic::kCopy : Traffic::kFill;
  c.one_thread = one_thread;
  c.make = [shape](const Place& place) {
    return std::make_unique<BboxOverlapsProblem>(shape, place);
  };
  return c;
}

std::vector<Case> Cases() {
  return {
      Make("100x100_float", {100, 100, kIoU, false, false}, false),
      Make("1000x1000_float", {1000, 1000, kIoU, false, false}, false),
      Make("2000x2000_float", {2000, 2000, kIoU, false, false}, true),
      Make("10000x10000_float", {10000, 10000, kIoU, false, false}, true),
      Make("10000x10000_half", {10000, 10000, kIoU, false, true}, true),
      Make("10000x10000_float_iof", {10000, 10000, kIoF, false, false}, true),
      Make("aligned_10M_float", {10000000, 10000000, kIoU, true, false}, true),
  };
}

const Registrar registrar(Cases);

}  // namespace
}  // namespace detops::bench

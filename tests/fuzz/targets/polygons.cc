// SPDX-License-Identifier: Apache-2.0
//
// A few quadrilaterals with whole coordinates, many of them with an IoU that is the threshold or
// next to it. What poly_nms keeps is what exact arithmetic says, by every CPU implementation.
#include <array>
#include <cmath>

#include "fuzz/bytes.h"
#include "fuzz/failure.h"
#include "fuzz/guarded_call.h"
#include "oracle/oracle.h"
#include "schema/random.h"

using namespace detops;
using fuzz::Bytes;
using random::Quad;

namespace {

// A fraction of small numbers, as the IoU of whole rectangles is, or one of its neighbours.
float Threshold(Bytes& bytes) {
  const auto parts = static_cast<float>(1 + bytes.Below(64));
  const float share = static_cast<float>(bytes.Below(64)) / parts;
  switch (bytes.Below(4)) {
    case 0: return share;
    case 1: return std::nextafter(share, 2.0f);
    case 2: return std::nextafter(share, -1.0f);
    default: return bytes.Take<float>();
  }
}

// Upright, or rotated by an angle of the 3-4-5 triangle, listed from any corner.
Quad Rectangle(Bytes& bytes) {
  const auto side = [&] { return static_cast<int64_t>(bytes.Below(16)); };
  const random::WholeRectangle rectangle = {side(), side(), side(), side()};
  const bool rotated = bytes.Below(2) == 1;
  return random::Listed(rectangle.Outline(0, 0, rotated), bytes.Take<uint8_t>());
}

Quad AnyOutline(Bytes& bytes) {
  Quad quad;
  for (float& v : quad) v = bytes.Take<int8_t>();
  return quad;
}

// The contract says nothing of self-intersecting outlines.
bool HasDefinedIou(const Quad& quad) {
  return oracle::QuadIsSimple(quad) || oracle::QuadIsOnALine(quad);
}

// [N,9]. All have the same origin and scale, which leave the coordinates exact.
std::vector<float> Boxes(Bytes& bytes) {
  static constexpr float kOrigins[] = {0, 1000, -100000, 8000000};
  const float x = bytes.OneOf(kOrigins), y = bytes.OneOf(kOrigins);
  const float scale = std::ldexp(1.0f, bytes.Take<int8_t>() / 4);
  const size_t count = 2 + bytes.Below(7);
  std::vector<float> boxes;
  for (size_t i = 0; i < count; ++i) {
    Quad quad = bytes.Below(4) == 3 ? AnyOutline(bytes) : Rectangle(bytes);
    const auto score = static_cast<float>(bytes.Below(8));
    if (!HasDefinedIou(quad)) continue;
    for (size_t v = 0; v < quad.size(); ++v) quad[v] = scale * (quad[v] + (v % 2 == 0 ? x : y));
    boxes.insert(boxes.end(), quad.begin(), quad.end());
    boxes.push_back(score);
  }
  return boxes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Bytes bytes(data, size);
  const float threshold = Threshold(bytes);
  const std::vector<float> boxes = Boxes(bytes);
  if (std::isnan(threshold)) return 0;

  schema::Problem problem(schema::Named("poly_nms"));
  problem.set_scalar("iou_threshold", threshold);
  problem.inputs = {schema::Array::FromFloats(MLUOP_DTYPE_FLOAT,
                                              {static_cast<int64_t>(boxes.size() / 9), 9}, boxes)};
  const std::vector<schema::Array> outputs = problem.MakeOutputs();
  fuzz::GuardedCall call(problem, outputs, fuzz::GuardedMemory::Edge::kEnd);
  const std::vector<int32_t> expected = oracle::PolyNms(boxes, threshold);
  for (const std::string& implementation : fuzz::CpuImplementations("poly_nms")) {
    fuzz::Outcome outcome = call.Run(fuzz::KeptHandle(implementation, 1));
    if (outcome.status != MLUOP_STATUS_SUCCESS) fuzz::Fail(detopsGetLastErrorMessage());
    problem.Trim(outcome.results);
    if (!std::ranges::equal(outcome.results[0].As<int32_t>(), expected)) {
      fuzz::Fail(implementation + " keeps other boxes than exact arithmetic");
    }
  }
  return 0;
}

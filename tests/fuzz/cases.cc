// SPDX-License-Identifier: Apache-2.0
#include "fuzz/cases.h"

#include <cmath>
#include <cstring>
#include <memory>

#include "math/half.h"
#include "support/device_buffer.h"
#include "support/handle.h"

namespace detops::test {
namespace {

int64_t Between(Rng& rng, int64_t low, int64_t high) {
  return low + static_cast<int64_t>(rng() % static_cast<uint64_t>(high - low + 1));
}

// Small sizes mostly; around powers of two, where vectors end; now and then a large one.
int64_t RandomSize(Rng& rng, int64_t most) {
  switch (rng() % 4) {
    case 0: return Between(rng, 1, std::min<int64_t>(most, 9));
    case 1: return std::min<int64_t>(most, (int64_t{1} << (rng() % 11)) + Between(rng, 0, 2));
    case 2: return Between(rng, 1, std::min<int64_t>(most, 700));
    default: return Between(rng, 1, most);
  }
}

// Coordinates as users have them, or over many decades, or few distinct ones (ties, touching).
std::vector<float> Coordinates(Rng& rng, int64_t count, float side) {
  std::vector<float> values = UniformFloats(rng, count, -side, side);
  const uint64_t kind = rng() % 5;
  for (float& v : values) {
    if (kind == 0) v = std::floor(v);
    if (kind == 1) v *= std::pow(10.0f, Uniform(rng, -6, 6));
    if (kind == 2) v += 1e6f;
  }
  if (rng() % 4 == 0) Spoil(rng, values, 30);
  return values;
}

std::vector<float> Scores(Rng& rng, int64_t count) {
  std::vector<float> scores = UniformFloats(rng, count, -1, 1);
  const uint64_t kind = rng() % 4;
  for (float& s : scores) {
    if (kind == 0) s = 0.5f;
    if (kind == 1) s = std::floor(4 * s);
  }
  if (rng() % 4 == 0) Spoil(rng, scores, 10);
  return scores;
}

// Floats or their halves in device memory, with 0 to 15 elements in front of the first: unaligned.
class Tensor {
 public:
  Tensor(const std::vector<float>& values, bool half, size_t shift) : half_(half), shift_(shift) {
    bytes_ = std::make_unique<DeviceBytes>((values.size() + shift) * Size());
    Bytes host(bytes_->size());
    for (size_t i = 0; i < values.size(); ++i) {
      uint8_t* to = host.data() + (i + shift) * Size();
      if (half) {
        const math::Half h = math::ToHalf(values[i]);
        std::memcpy(to, &h, sizeof(h));
      } else {
        std::memcpy(to, &values[i], sizeof(float));
      }
    }
    bytes_->Upload(host.data());
  }
  Tensor(int64_t count, bool half, size_t shift)
      : Tensor(std::vector<float>(static_cast<size_t>(count)), half, shift) {}

  void* data() const { return static_cast<uint8_t*>(bytes_->data()) + shift_ * Size(); }

  // The values as floats, every NaN the same one.
  void AppendTo(Bytes& outputs) const {
    const Bytes raw = bytes_->Download();
    for (size_t at = shift_ * Size(); at < raw.size(); at += Size()) {
      float f;
      if (half_) {
        math::Half h;
        std::memcpy(&h, raw.data() + at, sizeof(h));
        f = math::ToFloat(h);
      } else {
        std::memcpy(&f, raw.data() + at, sizeof(f));
      }
      if (std::isnan(f)) f = kNan;
      const auto* p = reinterpret_cast<const uint8_t*>(&f);
      outputs.insert(outputs.end(), p, p + sizeof(f));
    }
  }

 private:
  size_t Size() const { return half_ ? sizeof(math::Half) : sizeof(float); }
  bool half_;
  size_t shift_;
  std::unique_ptr<DeviceBytes> bytes_;
};

void Append(Bytes& outputs, const DeviceBytes& bytes) {
  const Bytes raw = bytes.Download();
  outputs.insert(outputs.end(), raw.begin(), raw.end());
}

mluOpDataType_t Dtype(bool half) { return half ? MLUOP_DTYPE_HALF : MLUOP_DTYPE_FLOAT; }

template <class... Parts>
std::string Text(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}

// Not turned over, as most boxes are; and small beside the space between them if `part` is.
void MakeOrdinary(std::vector<float>& boxes, float part) {
  for (size_t i = 0; i < boxes.size(); ++i) {
    if (i % 4 >= 2) boxes[i] = boxes[i - 2] + part * std::abs(boxes[i] - boxes[i - 2]);
  }
}

FuzzCase BboxOverlapsCase(Rng& rng) {
  const bool half = rng() % 2 == 0, aligned = rng() % 3 == 0;
  const int64_t m = RandomSize(rng, 3000);
  const int64_t n = aligned ? m : RandomSize(rng, std::max<int64_t>(1, 600000 / m));
  const int mode = static_cast<int>(rng() % 2), offset = static_cast<int>(rng() % 2);
  auto a = Coordinates(rng, 4 * m, 50), b = Coordinates(rng, 4 * n, 50);
  if (rng() % 4 != 0) {
    const float part = rng() % 2 == 0 ? 0.1f : 1.0f;
    MakeOrdinary(a, part);
    MakeOrdinary(b, part);
  }
  const size_t shift = rng() % 16;
  const auto run = [=](mluOpHandle_t handle, Bytes& outputs) {
    const Tensor in1(a, half, shift), in2(b, half, shift / 2);
    const Tensor ious(aligned ? m : m * n, half, shift / 3);
    const Desc desc1(Dtype(half), {m, 4}), desc2(Dtype(half), {n, 4});
    const Desc ious_desc(Dtype(half),
                         aligned ? std::vector<int64_t>{m} : std::vector<int64_t>{m, n});
    const mluOpStatus_t status = mluOpBboxOverlaps(handle, mode, aligned, offset, desc1, in1.data(),
                                                   desc2, in2.data(), ious_desc, ious.data());
    ious.AppendTo(outputs);
    return status;
  };
  return {"bbox_overlaps", Text("bbox_overlaps ", m, "x", n, " half ", half), run};
}

FuzzCase PolyNmsCase(Rng& rng) {
  const int64_t n = RandomSize(rng, 1500);
  std::vector<float> boxes;
  switch (rng() % 4) {
    case 0: boxes = Coordinates(rng, 9 * n, 20); break;  // mostly self-intersecting
    case 1: boxes = RandomQuads(rng, n, rng() % 2 == 0 ? 0.0f : 1e6f); break;
    case 2:  // on a grid: shared edges and identical boxes
      for (int64_t i = 0; i < n; ++i) {
        const auto x = static_cast<float>(rng() % 12), y = static_cast<float>(rng() % 12);
        const auto w = static_cast<float>(1 + rng() % 3), h = static_cast<float>(1 + rng() % 3);
        boxes.insert(boxes.end(), {x, y, x + w, y, x + w, y + h, x, y + h, 0});
      }
      break;
    default:  // piled, of sizes over many decades
      for (int64_t i = 0; i < n; ++i) {
        Quad quad = RandomQuad(rng, 0, 0);
        const float scale = std::pow(10.0f, Uniform(rng, -5, 5));
        for (float& v : quad) v *= scale;
        boxes.insert(boxes.end(), quad.begin(), quad.end());
        boxes.push_back(0);
      }
  }
  const std::vector<float> scores = Scores(rng, n);
  for (size_t i = 0; i < scores.size(); ++i) boxes[9 * i + 8] = scores[i];
  static constexpr float kThresholds[] = {-0.1f, 0.0f, 1e-6f, 0.1f, 0.3f, 0.5f, 0.9f, 1.0f};
  const float threshold = rng() % 2 == 0 ? kThresholds[rng() % 8] : Uniform(rng, 0, 1);
  const size_t shift = rng() % 16;
  const auto run = [=](mluOpHandle_t handle, Bytes& outputs) {
    const Tensor in(boxes, false, shift);
    const Desc boxes_desc(MLUOP_DTYPE_FLOAT, {n, 9}), output_desc(MLUOP_DTYPE_INT32, {n});
    size_t size = 0;
    EXPECT_OK(mluOpGetPolyNmsWorkspaceSize(handle, boxes_desc, &size));
    const DeviceBytes workspace(size), output(static_cast<size_t>(4 * n)), result_num(4);
    const mluOpStatus_t status =
        mluOpPolyNms(handle, boxes_desc, in.data(), threshold, workspace.data(), size, output_desc,
                     output.data(), result_num.data());
    Append(outputs, output);
    Append(outputs, result_num);
    return status;
  };
  return {"poly_nms", Text("poly_nms ", n, " threshold ", threshold), run};
}

FuzzCase BorderAlignCase(Rng& rng) {
  const bool half = rng() % 2 == 0, nchw = rng() % 3 == 0;
  const int64_t n = Between(rng, 1, 3), h = Between(rng, 1, 12), w = Between(rng, 1, 12);
  const int64_t c = RandomSize(rng, 70), k = RandomSize(rng, 40);
  const auto pool_size =
      static_cast<int32_t>(rng() % 8 == 0 ? Between(rng, 60, 140) : Between(rng, 1, 12));
  std::vector<float> input = UniformFloats(rng, n * h * w * 4 * c, -2, 2);
  if (rng() % 3 == 0) Spoil(rng, input, 50);
  std::vector<float> boxes = UniformFloats(rng, n * k * 4, -2, 13);
  if (rng() % 3 == 0) Spoil(rng, boxes, 20);
  const size_t shift = rng() % 16;
  const auto run = [=](mluOpHandle_t handle, Bytes& outputs) {
    using Dims = std::vector<int64_t>;
    const mluOpTensorLayout_t layout = nchw ? MLUOP_LAYOUT_NCHW : MLUOP_LAYOUT_NHWC;
    const Desc input_desc(Dtype(half), nchw ? Dims{n, 4 * c, h, w} : Dims{n, h, w, 4 * c}, layout);
    const Desc boxes_desc(Dtype(half), {n, k, 4});
    const Dims result_dims = nchw ? Dims{n, c, k, 4} : Dims{n, k, 4, c};
    const Desc output_desc(Dtype(half), result_dims, layout);
    const Desc argmax_desc(MLUOP_DTYPE_INT32, result_dims, layout);
    const Tensor in(input, half, shift), in_boxes(boxes, half, shift / 2);
    const Tensor output(n * k * 4 * c, half, shift / 3);
    const DeviceBytes argmax(static_cast<size_t>(n * k * 4 * c * 4));
    const mluOpStatus_t status =
        detopsBorderAlignForward(handle, input_desc, in.data(), boxes_desc, in_boxes.data(),
                                 pool_size, output_desc, output.data(), argmax_desc, argmax.data());
    output.AppendTo(outputs);
    Append(outputs, argmax);
    return status;
  };
  return {"border_align_forward",
          Text("border_align_forward n ", n, " h ", h, " w ", w, " c ", c, " k ", k, " pool ",
               pool_size, " half ", half, " nchw ", nchw),
          run};
}

FuzzCase ProposalsCase(Rng& rng) {
  const int64_t n = Between(rng, 1, 3), h = Between(rng, 1, 30), w = Between(rng, 1, 30);
  const int64_t a = Between(rng, 1, 4), anchors = h * w * a;
  const std::vector<float> scores = Scores(rng, n * anchors);
  std::vector<float> deltas = UniformFloats(rng, n * anchors * 4, -1, 1);
  std::vector<float> boxes = Coordinates(rng, anchors * 4, 60), sizes;
  for (size_t i = 0; i < boxes.size(); i += 4) {
    boxes[i + 2] = boxes[i] + std::abs(boxes[i + 2]) / 2;
    boxes[i + 3] = boxes[i + 1] + std::abs(boxes[i + 3]) / 2;
  }
  const std::vector<float> variances = UniformFloats(rng, anchors * 4, 0.1f, 1);
  for (int64_t i = 0; i < 2 * n; ++i) {
    sizes.push_back(rng() % 10 == 0 ? kNan : Uniform(rng, 10, 100));
  }
  if (rng() % 3 == 0) Spoil(rng, deltas, 30);
  const int pre = static_cast<int>(Between(rng, -1, 2 * anchors));
  const int post = static_cast<int>(rng() % 20 == 0 ? 0 : Between(rng, 1, anchors + 5));
  const float thresh = Uniform(rng, 0.01f, 1), min_size = Uniform(rng, -1, 12);
  const bool offset = rng() % 2 == 0;
  const auto run = [=](mluOpHandle_t handle, Bytes& outputs) {
    const auto floats = MLUOP_DTYPE_FLOAT;
    const Desc scores_desc(floats, {n, h, w, a}), deltas_desc(floats, {n, h, w, 4 * a});
    const Desc size_desc(floats, {n, 2}), anchors_desc(floats, {h, w, a, 4});
    const Desc rois_desc(floats, {n * post, 4}), probs_desc(floats, {n * post, 1});
    const Desc num_desc(MLUOP_DTYPE_INT32, {n});
    const Tensor in_scores(scores, false, 1), in_deltas(deltas, false, 3);
    const Tensor in_sizes(sizes, false, 0), in_boxes(boxes, false, 2);
    const Tensor in_variances(variances, false, 0);
    size_t size = 0;
    EXPECT_OK(mluOpGetGenerateProposalsV2WorkspaceSize(handle, scores_desc, &size));
    const DeviceBytes workspace(size), num(static_cast<size_t>(4 * n)), total(4);
    const Tensor rois(n * post * 4, false, 0), probs(n * post, false, 0);
    const mluOpStatus_t status = mluOpGenerateProposalsV2(
        handle, pre, post, thresh, min_size, 1.0f, offset, scores_desc, in_scores.data(),
        deltas_desc, in_deltas.data(), size_desc, in_sizes.data(), anchors_desc, in_boxes.data(),
        anchors_desc, in_variances.data(), workspace.data(), size, rois_desc, rois.data(),
        probs_desc, probs.data(), num_desc, num.data(), total.data());
    rois.AppendTo(outputs);
    probs.AppendTo(outputs);
    Append(outputs, num);
    Append(outputs, total);
    return status;
  };
  return {"generate_proposals_v2",
          Text("generate_proposals_v2 n ", n, " anchors ", anchors, " pre ", pre, " post ", post),
          run};
}

FuzzCase PointsInBoxesCase(Rng& rng) {
  const int64_t b = Between(rng, 1, 3), t = RandomSize(rng, 400);
  const int64_t m = RandomSize(rng, std::max<int64_t>(1, 400000 / t));
  const std::vector<float> points = Coordinates(rng, 3 * b * m, 10);
  std::vector<float> boxes = Coordinates(rng, 7 * b * t, 10);
  const float size = std::pow(10.0f, Uniform(rng, -1, 1));
  for (size_t i = 0; i < boxes.size(); i += 7) {
    for (size_t side = 3; side < 6; ++side) boxes[i + side] = std::abs(boxes[i + side]) / 10 * size;
  }
  const size_t shift = rng() % 16;
  const auto run = [=](mluOpHandle_t handle, Bytes& outputs) {
    const Tensor in_points(points, false, shift), in_boxes(boxes, false, shift / 2);
    const DeviceBytes indices(static_cast<size_t>(4 * b * m));
    const Desc points_desc(MLUOP_DTYPE_FLOAT, {b, m, 3}), boxes_desc(MLUOP_DTYPE_FLOAT, {b, t, 7});
    const Desc indices_desc(MLUOP_DTYPE_INT32, {b, m});
    const mluOpStatus_t status =
        mluOpPointsInBoxes(handle, points_desc, in_points.data(), boxes_desc, in_boxes.data(),
                           indices_desc, indices.data());
    Append(outputs, indices);
    return status;
  };
  return {"points_in_boxes", Text("points_in_boxes ", b, "x", m, "x", t), run};
}

}  // namespace

FuzzCase RandomCase(Rng& rng) {
  switch (rng() % 5) {
    case 0: return BboxOverlapsCase(rng);
    case 1: return PolyNmsCase(rng);
    case 2: return BorderAlignCase(rng);
    case 3: return ProposalsCase(rng);
    default: return PointsInBoxesCase(rng);
  }
}

}  // namespace detops::test

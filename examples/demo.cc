// SPDX-License-Identifier: Apache-2.0
//
// The five operators on small scenes, through the C API alone: what goes in, what comes out, and
// how many answers an independent oracle (exact or wide arithmetic, other code) agrees with.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "detops/detops.h"
#include "oracle/oracle.h"

namespace {

using Floats = std::vector<float>;
using Ints = std::vector<int32_t>;

mluOpHandle_t handle = nullptr;
int checks = 0, mismatches = 0;

void Require(mluOpStatus_t status) {
  if (status == MLUOP_STATUS_SUCCESS) return;
  std::fprintf(stderr, "%s\n", detopsGetLastErrorMessage());
  std::exit(EXIT_FAILURE);
}

void Check(bool agrees) {
  ++checks;
  if (agrees) return;
  ++mismatches;
  std::printf("  MISMATCH with the oracle\n");
}

class Desc {
 public:
  Desc(mluOpDataType_t dtype, std::vector<int> dims,
       mluOpTensorLayout_t layout = MLUOP_LAYOUT_ARRAY) {
    Require(mluOpCreateTensorDescriptor(&desc_));
    Require(
        mluOpSetTensorDescriptor(desc_, layout, dtype, static_cast<int>(dims.size()), dims.data()));
  }
  ~Desc() { mluOpDestroyTensorDescriptor(desc_); }
  Desc(const Desc&) = delete;
  Desc& operator=(const Desc&) = delete;
  operator mluOpTensorDescriptor_t() const { return desc_; }

 private:
  mluOpTensorDescriptor_t desc_ = nullptr;
};

void Title(const char* operator_name, const char* what) {
  std::printf("\n%s: %s\n", operator_name, what);
}

void Print(const char* name, const Floats& values, size_t columns) {
  for (size_t i = 0; i < values.size(); i += columns) {
    std::printf("  %-9s", i == 0 ? name : "");
    for (size_t j = i; j < i + columns && j < values.size(); ++j) std::printf(" %7.4g", values[j]);
    std::printf("\n");
  }
}

std::string List(const Ints& values) {
  std::string text;
  for (int32_t v : values) text.append(text.empty() ? "" : " ").append(std::to_string(v));
  return text;
}

std::mt19937 random_engine(2026);
float Uniform(float low, float high) {
  return std::uniform_real_distribution<float>(low, high)(random_engine);
}

// ---- bbox_overlaps --------------------------------------------------------------------------

Floats BboxOverlaps(const Floats& a, const Floats& b) {
  const int m = static_cast<int>(a.size() / 4), n = static_cast<int>(b.size() / 4);
  const Desc a_desc(MLUOP_DTYPE_FLOAT, {m, 4}), b_desc(MLUOP_DTYPE_FLOAT, {n, 4});
  const Desc ious_desc(MLUOP_DTYPE_FLOAT, {m, n});
  Floats ious(static_cast<size_t>(m) * static_cast<size_t>(n));
  Require(mluOpBboxOverlaps(handle, 0, false, 0, a_desc, a.data(), b_desc, b.data(), ious_desc,
                            ious.data()));
  return ious;
}

void ShowBboxOverlaps() {
  Title("bbox_overlaps", "IoU of every pair (the document's example)");
  const Floats a = {0, 0, 10, 10, 10, 10, 20, 20, 32, 32, 38, 42};
  const Floats b = {0, 0, 10, 20, 0, 10, 10, 19, 10, 10, 20, 20};
  Print("boxes 1", a, 4);
  Print("boxes 2", b, 4);
  const Floats ious = BboxOverlaps(a, b);
  Print("IoU", ious, 3);
  Check(ious == detops::oracle::BboxOverlaps(a, b, 0, false, 0));

  for (int scene = 0; scene < 20; ++scene) {
    Floats boxes;
    for (int i = 0; i < 50; ++i) {
      const float x = Uniform(0, 500), y = Uniform(0, 500);
      boxes.insert(boxes.end(), {x, y, x + Uniform(1, 90), y + Uniform(1, 90)});
    }
    Check(BboxOverlaps(boxes, boxes) == detops::oracle::BboxOverlaps(boxes, boxes, 0, false, 0));
  }
}

// ---- poly_nms -------------------------------------------------------------------------------

Ints PolyNms(const Floats& boxes, float iou_threshold) {
  const int n = static_cast<int>(boxes.size() / 9);
  const Desc boxes_desc(MLUOP_DTYPE_FLOAT, {n, 9}), kept_desc(MLUOP_DTYPE_INT32, {n});
  size_t bytes = 0;
  Require(mluOpGetPolyNmsWorkspaceSize(handle, boxes_desc, &bytes));
  std::vector<std::byte> workspace(bytes);
  Ints kept(static_cast<size_t>(n));
  int32_t count = 0;
  Require(mluOpPolyNms(handle, boxes_desc, boxes.data(), iou_threshold, workspace.data(), bytes,
                       kept_desc, kept.data(), &count));
  kept.resize(static_cast<size_t>(count));
  return kept;
}

void AddRotated(Floats& boxes, float cx, float cy, float w, float h, float angle, float score) {
  const float c = std::cos(angle), s = std::sin(angle);
  for (const auto& [x, y] : {std::pair{-w, -h}, {w, -h}, {w, h}, {-w, h}}) {
    boxes.push_back(cx + (c * x - s * y) / 2);
    boxes.push_back(cy + (s * x + c * y) / 2);
  }
  boxes.push_back(score);
}

void ShowPolyNms() {
  Title("poly_nms", "keep the best of overlapping quadrilaterals (the document's example)");
  const Floats boxes = {0,    0,    1,     0,    1,     1,     0,    1,     1,  //
                        0.5f, 0.5f, 1.5f,  0.5f, 1.5f,  1.5f,  0.5f, 1.5f,  2,  //
                        0,    0,    -0.5f, 0,    -0.5f, -0.5f, 0,    -0.5f, 3};
  Print("boxes", boxes, 9);
  const Ints kept = PolyNms(boxes, 0.1f);
  std::printf("  kept at 0.1: %s   (box 1 overlaps box 0 by 1/7 and scores more)\n",
              List(kept).c_str());
  Check(kept == detops::oracle::PolyNms(boxes, 0.1f));

  Floats far_away;  // the pair that float code sees as identical here
  AddRotated(far_away, 10000.5f, 10000.5f, 1, 1, 0, 2);
  AddRotated(far_away, 10001, 10001, 1, 1, 0, 1);
  std::printf("  two unit squares half apart at (10000, 10000), threshold 0.15: kept %s\n",
              List(PolyNms(far_away, 0.15f)).c_str());
  Check(PolyNms(far_away, 0.15f) == detops::oracle::PolyNms(far_away, 0.15f));

  for (int scene = 0; scene < 20; ++scene) {
    Floats cars;
    for (int i = 0; i < 150; ++i) {
      AddRotated(cars, Uniform(0, 250), Uniform(0, 250), Uniform(10, 50), Uniform(5, 25),
                 Uniform(0, 3.14f), Uniform(0, 1));
    }
    Check(PolyNms(cars, 0.1f) == detops::oracle::PolyNms(cars, 0.1f));
  }
}

// ---- border_align_forward -------------------------------------------------------------------

struct Borders {
  Floats output;
  Ints argmax;
};

Borders BorderAlign(const Floats& input, const Floats& boxes, int h, int w, int c, int pool_size) {
  const int k = static_cast<int>(boxes.size() / 4);
  const Desc input_desc(MLUOP_DTYPE_FLOAT, {1, h, w, 4 * c}, MLUOP_LAYOUT_NHWC);
  const Desc boxes_desc(MLUOP_DTYPE_FLOAT, {1, k, 4});
  const Desc output_desc(MLUOP_DTYPE_FLOAT, {1, k, 4, c}, MLUOP_LAYOUT_NHWC);
  const Desc argmax_desc(MLUOP_DTYPE_INT32, {1, k, 4, c}, MLUOP_LAYOUT_NHWC);
  const auto count = static_cast<size_t>(k * 4 * c);
  Borders result = {Floats(count), Ints(count)};
  Require(mluOpBorderAlignForward(handle, input_desc, input.data(), boxes_desc, boxes.data(),
                                  pool_size, output_desc, result.output.data(), argmax_desc,
                                  result.argmax.data()));
  return result;
}

bool AgreesWithOracle(const Borders& got, const Floats& input, const Floats& boxes, int h, int w,
                      int c, int pool_size) {
  const auto expected = detops::oracle::BorderAlign(
      input, boxes, 1, h, w, c, static_cast<int64_t>(boxes.size() / 4), pool_size, false);
  return got.output == expected.output && got.argmax == expected.argmax;
}

void ShowBorderAlign() {
  Title("border_align_forward", "the maximum along each border of a box (the document's map)");
  // [H 3, W 4, 4]: the channels are the maps of top, left, bottom and right.
  const Floats maps[4] = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
                          {6, 7, 5, 8, 2, 1, 3, 4, 12, 9, 11, 10},
                          {-2, -3, 2, 0, -4, -5, 1, -1, -1, -1, -1, -1},
                          {0, -1, 2, 1, -4, -3, -2, -1, -1, -2, -3, -4}};
  const char* const names[4] = {"top", "left", "bottom", "right"};
  Floats input;
  for (size_t i = 0; i < 12; ++i) {
    for (const Floats& map : maps) input.push_back(map[i]);
  }
  for (size_t i = 0; i < 4; ++i) Print(names[i], maps[i], 4);
  const Floats boxes = {0, 0, 2, 1, 1, 0, 3, 2};
  const Borders got = BorderAlign(input, boxes, 3, 4, 1, 1);
  Print("boxes", boxes, 4);
  Print("maxima", got.output, 4);
  std::printf("  at sample %s\n", List(got.argmax).c_str());
  Check(AgreesWithOracle(got, input, boxes, 3, 4, 1, 1));

  for (int scene = 0; scene < 20; ++scene) {
    Floats map(10 * 12 * 4 * 8), random_boxes;
    for (float& v : map) v = Uniform(-5, 5);
    for (int i = 0; i < 30; ++i) {
      const float x = Uniform(-1, 10), y = Uniform(-1, 8);
      random_boxes.insert(random_boxes.end(), {x, y, x + Uniform(0, 6), y + Uniform(0, 6)});
    }
    Check(AgreesWithOracle(BorderAlign(map, random_boxes, 10, 12, 8, 10), map, random_boxes, 10, 12,
                           8, 10));
  }
}

// ---- generate_proposals_v2 ------------------------------------------------------------------

struct Scene {
  int h, w, a;
  Floats scores, deltas, im_shape, anchors, variances;
};

detops::oracle::Proposals Propose(const Scene& s, int pre, int post, float nms_thresh) {
  const Desc scores_desc(MLUOP_DTYPE_FLOAT, {1, s.h, s.w, s.a});
  const Desc deltas_desc(MLUOP_DTYPE_FLOAT, {1, s.h, s.w, 4 * s.a});
  const Desc im_shape_desc(MLUOP_DTYPE_FLOAT, {1, 2});
  const Desc anchors_desc(MLUOP_DTYPE_FLOAT, {s.h, s.w, s.a, 4});
  const Desc rois_desc(MLUOP_DTYPE_FLOAT, {post, 4}), probs_desc(MLUOP_DTYPE_FLOAT, {post, 1});
  const Desc num_desc(MLUOP_DTYPE_INT32, {1});
  size_t bytes = 0;
  Require(mluOpGetGenerateProposalsV2WorkspaceSize_v2(handle, scores_desc, pre, &bytes));
  std::vector<std::byte> workspace(bytes);
  const auto most = static_cast<size_t>(post);
  detops::oracle::Proposals result = {Floats(4 * most), Floats(most), Ints(1)};
  int32_t total = 0;
  Require(mluOpGenerateProposalsV2(
      handle, pre, post, nms_thresh, 0.1f, 1.0f, false, scores_desc, s.scores.data(), deltas_desc,
      s.deltas.data(), im_shape_desc, s.im_shape.data(), anchors_desc, s.anchors.data(),
      anchors_desc, s.variances.data(), workspace.data(), bytes, rois_desc, result.rois.data(),
      probs_desc, result.probs.data(), num_desc, result.num.data(), &total));
  result.rois.resize(4 * static_cast<size_t>(total));
  result.probs.resize(static_cast<size_t>(total));
  return result;
}

bool AgreesWithOracle(const Scene& s, const detops::oracle::Proposals& got, int pre, int post,
                      float nms_thresh) {
  const auto expected =
      detops::oracle::GenerateProposals(s.scores, s.deltas, s.im_shape, s.anchors, s.variances, 1,
                                        s.h, s.w, s.a, pre, post, nms_thresh, 0.1f, false);
  if (got.num != expected.num || got.probs != expected.probs) return false;
  for (size_t i = 0; i < got.rois.size(); ++i) {
    if (std::abs(got.rois[i] - expected.rois[i]) > 1e-5f * std::abs(expected.rois[i])) return false;
  }
  return true;
}

void ShowProposals() {
  Title("generate_proposals_v2", "anchors and deltas to the best regions of a 64 x 64 image");
  Scene s = {8, 8, 2, {}, {}, {64, 64}, {}, Floats(8 * 8 * 2 * 4, 1.0f)};
  for (int i = 0; i < 8 * 8 * 2; ++i) {
    const float cx = 8.0f * static_cast<float>(i / 2 % 8) + 4;
    const float cy = 8.0f * static_cast<float>(i / 16) + 4, half = i % 2 == 0 ? 8.0f : 16.0f;
    s.anchors.insert(s.anchors.end(), {cx - half, cy - half, cx + half, cy + half});
  }
  for (int scene = 0; scene < 20; ++scene) {
    s.scores.clear();
    s.deltas.clear();
    for (int i = 0; i < 8 * 8 * 2; ++i) s.scores.push_back(Uniform(0, 1));
    for (int i = 0; i < 8 * 8 * 2 * 4; ++i) s.deltas.push_back(Uniform(-0.3f, 0.3f));
    const auto got = Propose(s, 100, 5, 0.3f);
    if (scene == 0) {
      std::printf("  128 anchors, the 100 best scores, suppressed above IoU 0.3, 5 at most:\n");
      Print("rois", got.rois, 4);
      Print("scores", got.probs, 5);
    }
    Check(AgreesWithOracle(s, got, 100, 5, 0.3f));
  }
}

// ---- points_in_boxes ------------------------------------------------------------------------

Ints PointsInBoxes(const Floats& points, const Floats& boxes) {
  const int m = static_cast<int>(points.size() / 3), t = static_cast<int>(boxes.size() / 7);
  const Desc points_desc(MLUOP_DTYPE_FLOAT, {1, m, 3}), boxes_desc(MLUOP_DTYPE_FLOAT, {1, t, 7});
  const Desc indices_desc(MLUOP_DTYPE_INT32, {1, m});
  Ints indices(static_cast<size_t>(m));
  Require(mluOpPointsInBoxes(handle, points_desc, points.data(), boxes_desc, boxes.data(),
                             indices_desc, indices.data()));
  return indices;
}

void ShowPointsInBoxes() {
  Title("points_in_boxes", "a scan from above: each point shows the box that holds it");
  const Floats boxes = {-4, 1, 0, 6, 2.5f, 2, 0.5f, 4, -1, 0, 5, 2, 2, -0.7f};
  constexpr int kColumns = 60, kRows = 15;
  Floats points;
  for (int row = 0; row < kRows; ++row) {
    for (int column = 0; column < kColumns; ++column) {
      points.insert(points.end(), {static_cast<float>(column - kColumns / 2) * 0.3f,
                                   static_cast<float>(kRows / 2 - row) * 0.6f, 0.5f});
    }
  }
  Print("boxes", boxes, 7);
  const Ints indices = PointsInBoxes(points, boxes);
  for (size_t row = 0; row < kRows; ++row) {
    std::string line = "  ";
    for (size_t column = 0; column < kColumns; ++column) {
      const int32_t index = indices[row * kColumns + column];
      line += index < 0 ? '.' : static_cast<char>('0' + index);
    }
    std::printf("%s\n", line.c_str());
  }
  Check(indices == detops::oracle::PointsInBoxes(points, boxes, 1, kRows * kColumns, 2));

  for (int scene = 0; scene < 20; ++scene) {
    Floats cloud, cars;
    for (int i = 0; i < 3000; ++i) {
      cloud.insert(cloud.end(), {Uniform(-20, 20), Uniform(-20, 20), Uniform(-3, 3)});
    }
    for (int i = 0; i < 30; ++i) {
      cars.insert(cars.end(), {Uniform(-20, 20), Uniform(-20, 20), Uniform(-2, 2), Uniform(1, 5),
                               Uniform(1, 2), Uniform(1, 2), Uniform(-4, 4)});
    }
    Check(PointsInBoxes(cloud, cars) == detops::oracle::PointsInBoxes(cloud, cars, 1, 3000, 30));
  }
}

}  // namespace

int main() {
  Require(mluOpCreate(&handle));
  std::printf("detops %s on %s\n", detopsGetVersion(), detopsGetDevice(handle));
  ShowBboxOverlaps();
  ShowPolyNms();
  ShowBorderAlign();
  ShowProposals();
  ShowPointsInBoxes();
  Require(mluOpDestroy(handle));
  if (mismatches > 0) {
    std::printf("\n%d of %d checks against the oracle FAILED\n", mismatches, checks);
    return EXIT_FAILURE;
  }
  std::printf("\nall %d checks passed: the oracle gives the same answers\n", checks);
  return EXIT_SUCCESS;
}

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "bench/case.h"
#include "core/status.h"
#include "support/random_data.h"

namespace detops::bench {
namespace {

constexpr int kPreNmsTopN = 12000, kPostNmsTopN = 2000;
constexpr float kNmsThresh = 0.5f, kMinSize = 0.1f, kEta = 1.0f;

struct Shape {
  int64_t n, h, w, a;

  int64_t Anchors() const { return h * w * a; }
};

// [H,W,A,4] on a grid of 16 pixels in A sizes, as a detection network has them.
std::vector<float> GridAnchors(const Shape& s) {
  std::vector<float> anchors;
  for (int64_t y = 0; y < s.h; ++y) {
    for (int64_t x = 0; x < s.w; ++x) {
      for (int64_t i = 0; i < s.a; ++i) {
        const float half = 8.0f * static_cast<float>(1 << (i % 5));
        const float cx = 16.0f * static_cast<float>(x) + 8, cy = 16.0f * static_cast<float>(y) + 8;
        anchors.insert(anchors.end(), {cx - half, cy - half, cx + half, cy + half});
      }
    }
  }
  return anchors;
}

std::vector<float> ImageShapes(const Shape& s) {
  std::vector<float> shapes;
  for (int64_t i = 0; i < s.n; ++i) {
    shapes.insert(shapes.end(), {16.0f * static_cast<float>(s.h), 16.0f * static_cast<float>(s.w)});
  }
  return shapes;
}

class ProposalsProblem final : public Problem {
 public:
  ProposalsProblem(const Shape& s, const Place& place)
      : Problem(place),
        scores_desc_(MLUOP_DTYPE_FLOAT, {s.n, s.h, s.w, s.a}),
        deltas_desc_(MLUOP_DTYPE_FLOAT, {s.n, s.h, s.w, 4 * s.a}),
        im_shape_desc_(MLUOP_DTYPE_FLOAT, {s.n, 2}),
        anchors_desc_(MLUOP_DTYPE_FLOAT, {s.h, s.w, s.a, 4}),
        rois_desc_(MLUOP_DTYPE_FLOAT, {s.n * kPostNmsTopN, 4}),
        probs_desc_(MLUOP_DTYPE_FLOAT, {s.n * kPostNmsTopN, 1}),
        num_desc_(MLUOP_DTYPE_INT32, {s.n}),
        scores_(Input(test::UniformFloats(rng_, s.n * s.Anchors(), 0, 1))),
        deltas_(Input(test::UniformFloats(rng_, s.n * s.Anchors() * 4, -0.5f, 0.5f))),
        im_shape_(Input(ImageShapes(s))),
        anchors_(Input(GridAnchors(s))),
        variances_(Input(std::vector<float>(static_cast<size_t>(s.Anchors() * 4), 1.0f))),
        rois_(Output(s.n * kPostNmsTopN * 4 * 4)),
        probs_(Output(s.n * kPostNmsTopN * 4)),
        num_(Output(s.n * 4)),
        batch_size_(Output(4)),
        workspace_(Workspace(WorkspaceBytes())) {}

  mluOpStatus_t Run(mluOpHandle_t handle, int64_t set) override {
    return mluOpGenerateProposalsV2(
        handle, kPreNmsTopN, kPostNmsTopN, kNmsThresh, kMinSize, kEta, false, scores_desc_,
        scores_.at(set), deltas_desc_, deltas_.at(set), im_shape_desc_, im_shape_.at(set),
        anchors_desc_, anchors_.at(set), anchors_desc_, variances_.at(set), workspace_.at(0),
        workspace_.bytes(), rois_desc_, rois_.at(set), probs_desc_, probs_.at(set), num_desc_,
        num_.at(set), batch_size_.at(set));
  }

 private:
  size_t WorkspaceBytes() const {
    size_t bytes = 0;
    Require(mluOpGetGenerateProposalsV2WorkspaceSize(memory_handle(), scores_desc_, &bytes));
    return bytes;
  }

  test::Rng rng_{104};
  const Desc scores_desc_, deltas_desc_, im_shape_desc_, anchors_desc_;
  const Desc rois_desc_, probs_desc_, num_desc_;
  const Buffer &scores_, &deltas_, &im_shape_, &anchors_, &variances_;
  const Buffer &rois_, &probs_, &num_, &batch_size_, &workspace_;
};

Case Make(const std::string& name, const Shape& s, bool one_thread) {
  const int64_t outputs = s.n * (5 * kPostNmsTopN + 1) + 1;
  const int64_t candidates = std::min<int64_t>(s.Anchors(), kPreNmsTopN);
  Case c;
  c.op = "generate_proposals_v2";
  c.name = name;
  c.dims = core::Concat("[", s.n, ",", s.h, ",", s.w, ",", s.a, "] pre ", kPreNmsTopN, " post ",
                        kPostNmsTopN);
  c.size = s.n * s.Anchors();
  c.report.bytes =
      static_cast<double>((s.n * (5 * s.Anchors() + 2) + 8 * s.Anchors() + outputs) * 4);
  c.report.operations = 39.0 * static_cast<double>(s.n * s.Anchors());
  // All scores are read, but only those deltas, anchors and variances that top-k keeps; the anchors
  // and variances may be the same in all images. The operations of decoding are counted likewise;
  // those of suppression depend on the boxes.
  c.floor.bytes = static_cast<double>(
      (s.n * (s.Anchors() + 4 * candidates + 2) + 8 * candidates + outputs) * 4);
  c.floor.operations = 39.0 * static_cast<double>(s.n * candidates);
  c.one_thread = one_thread;
  c.make = [s](const Place& place) { return std::make_unique<ProposalsProblem>(s, place); };
  return c;
}

std::vector<Case> Cases() {
  return {
      Make("1x25x38x3", {1, 25, 38, 3}, false),
      Make("1x200x304x3", {1, 200, 304, 3}, true),
      Make("8x200x304x3", {8, 200, 304, 3}, true),
  };
}

const Registrar registrar(Cases);

}  // namespace
}  // namespace detops::bench

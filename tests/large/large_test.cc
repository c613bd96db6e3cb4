// SPDX-License-Identifier: Apache-2.0
//
// Tensors of more than 2^31 elements, where an index of 32 bits would wrap: on the processor and on
// a GPU, up to 90 GB. Each answer is known from a small problem: a large one is the small one
// repeated, or has nothing but zeros in front of it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "support/device_buffer.h"
#include "support/handle.h"
#include "support/operators.h"
#include "support/random_data.h"

namespace detops::test {
namespace {

constexpr int64_t kBeyond = int64_t{1} << 31;

// The reference would take years.
std::vector<std::string> FastImplementationsOf(std::string_view op) {
  std::vector<std::string> names = ImplementationsOf(op);
  std::erase(names, "cpu:reference");
  return names;
}

template <class T>
void Write(const DeviceBytes& memory, int64_t at, const std::vector<T>& values) {
  CNRT_CHECK(cnrtMemcpy(static_cast<T*>(memory.data()) + at, values.data(),
                        values.size() * sizeof(T), cnrtMemcpyHostToDev));
}

template <class T>
std::vector<T> Read(const DeviceBytes& memory, int64_t at, int64_t count) {
  std::vector<T> values(static_cast<size_t>(count));
  CNRT_CHECK(cnrtMemcpy(values.data(), static_cast<T*>(memory.data()) + at,
                        values.size() * sizeof(T), cnrtMemcpyDevToHost));
  return values;
}

// The values, again and again until the memory is full.
template <class T>
void Repeat(const DeviceBytes& memory, const std::vector<T>& values) {
  Write(memory, 0, values);
  auto* bytes = static_cast<std::byte*>(memory.data());
  for (size_t filled = values.size() * sizeof(T); filled < memory.size(); filled *= 2) {
    CNRT_CHECK(cnrtMemcpy(bytes + filled, bytes, std::min(filled, memory.size() - filled),
                          cnrtMemcpyDevToDev));
  }
}

// Whether `count` values from `at` on are `values` again and again.
template <class T>
bool IsRepeated(const DeviceBytes& memory, int64_t at, int64_t count,
                const std::vector<T>& values) {
  const auto period = static_cast<int64_t>(values.size());
  const int64_t step = std::max<int64_t>(1, (int64_t{1} << 24) / period) * period;
  for (int64_t i = 0; i < count; i += step) {
    const std::vector<T> part = Read<T>(memory, at + i, std::min(step, count - i));
    for (size_t p = 0; p < part.size(); p += values.size()) {
      const size_t length = std::min(values.size(), part.size() - p);
      if (std::memcmp(&part[p], values.data(), length * sizeof(T)) != 0) {
        ADD_FAILURE() << "differs within the " << length << " from " << at + i + int64_t(p)
                      << " on";
        return false;
      }
    }
  }
  return true;
}

class LargeTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (std::getenv("DETOPS_TEST_LARGE") == nullptr) GTEST_SKIP() << "set DETOPS_TEST_LARGE=1";
  }
  // Why there is too little memory; "" if there is enough.
  std::string WhyTooLittle(double gigabytes) const {
    const double here = static_cast<double>(sysconf(_SC_AVPHYS_PAGES)) *
                        static_cast<double>(sysconf(_SC_PAGESIZE)) * 1e-9;
    if (DeviceOf(GetParam()) == "cpu" && here < gigabytes) {
      return "needs " + std::to_string(gigabytes) + " GB, " + std::to_string(here) + " are free";
    }
    const Handle handle(GetParam());
    void* memory = nullptr;
    if (detopsAllocate(handle, static_cast<size_t>(gigabytes * 1e9), &memory) !=
        MLUOP_STATUS_SUCCESS) {
      return detopsGetLastErrorMessage();
    }
    EXPECT_OK(detopsFree(handle, memory));
    return "";
  }
};
// GTEST_SKIP leaves the function that it stands in.
#define SKIP_UNLESS_FREE(gigabytes) \
  if (const std::string why = WhyTooLittle(gigabytes); !why.empty()) GTEST_SKIP() << why

// The operator has an implementation more than the others.
class LargePairsTest : public LargeTest {};

// The last row and column are unlike the others, so that a wrapped index would show.
TEST_P(LargePairsTest, Pairs) {
  SKIP_UNLESS_FREE(5);
  const int64_t n = 46342;
  ASSERT_GT(n * n, kBeyond);
  constexpr uint16_t kHalf = 0x3800, kOne = 0x3c00, kTwo = 0x4000;
  std::vector<uint16_t> boxes(static_cast<size_t>(4 * n), 0);
  for (size_t i = 0; i < static_cast<size_t>(n); ++i) boxes[4 * i + 2] = boxes[4 * i + 3] = kOne;
  boxes.back() = kTwo;  // twice as high
  const Handle handle(GetParam());
  const Desc boxes_desc(MLUOP_DTYPE_HALF, {n, 4}), ious_desc(MLUOP_DTYPE_HALF, {n, n});
  const DeviceArray<uint16_t> in{Halfs(boxes)};
  const DeviceBytes ious(static_cast<size_t>(n * n) * sizeof(uint16_t));
  ASSERT_OK(mluOpBboxOverlaps(handle, /*mode=*/0, false, 0, boxes_desc, in.data(), boxes_desc,
                              in.data(), ious_desc, ious.data()));
  std::vector<uint16_t> row(static_cast<size_t>(n), kOne);
  row.back() = kHalf;
  EXPECT_TRUE(IsRepeated(ious, 0, (n - 1) * n, row));
  std::vector<uint16_t> last(static_cast<size_t>(n), kHalf);
  last.back() = kOne;
  EXPECT_EQ(Read<uint16_t>(ious, (n - 1) * n, n), last);
}

TEST_P(LargeTest, Points) {
  SKIP_UNLESS_FREE(36);
  const int64_t count = kBeyond + 12345, tile = 1 << 20, boxes = 40;
  Rng rng(1);
  const std::vector<float> points = RandomPoints(rng, tile), cars = RandomBoxes3d(rng, boxes);
  const std::vector<int32_t> expected =
      PointsInBoxes("cpu:reference", points, cars, 1, tile, boxes);

  const Handle handle(GetParam());
  const Desc points_desc(MLUOP_DTYPE_FLOAT, {1, count, 3});
  const Desc boxes_desc(MLUOP_DTYPE_FLOAT, {1, boxes, 7});
  const Desc indices_desc(MLUOP_DTYPE_INT32, {1, count});
  const DeviceBytes in(static_cast<size_t>(3 * count) * sizeof(float));
  const DeviceBytes out(static_cast<size_t>(count) * sizeof(int32_t));
  const DeviceArray<float> in_boxes{Floats(cars)};
  Repeat(in, points);
  ASSERT_OK(mluOpPointsInBoxes(handle, points_desc, static_cast<float*>(in.data()), boxes_desc,
                               in_boxes.data(), indices_desc, static_cast<int32_t*>(out.data())));
  EXPECT_TRUE(IsRepeated(out, 0, count, expected));
}

// A million boxes over and over: of equal ones the first is kept. Behind them some that lie apart
// from all, and are better: all kept, where an index of 32 bits would not get to.
TEST_P(LargeTest, PolygonsOfWhichMostAreRepeated) {
  SKIP_UNLESS_FREE(60);
  const int64_t tile = 1000003, apart = 500, count = kBeyond / 9 + 1 + apart;
  Rng rng(2);
  const std::vector<float> boxes = RandomQuads(rng, tile, 0.0f, /*rectangles=*/true);
  std::vector<int32_t> expected = PolyNms(ImplementationsOf("poly_nms").front(), boxes, 0.1f);
  std::vector<float> last;  // each twice: the second goes, by the exact decision
  Quad quad = {};
  for (int64_t i = 0; i < apart; ++i) {
    if (i % 2 == 0) {
      expected.push_back(static_cast<int32_t>(count - apart + i));
      quad = RandomRectangle(rng, -100.0f * static_cast<float>(i + 1), -100.0f);
    }
    last.insert(last.end(), quad.begin(), quad.end());
    last.push_back(Uniform(rng, 2, 3) - static_cast<float>(i % 2));
  }

  const Handle handle(GetParam());
  const Desc boxes_desc(MLUOP_DTYPE_FLOAT, {count, 9}), output_desc(MLUOP_DTYPE_INT32, {count});
  size_t workspace_bytes = 0;
  ASSERT_OK(mluOpGetPolyNmsWorkspaceSize(handle, boxes_desc, &workspace_bytes));
  const DeviceBytes in(static_cast<size_t>(9 * count) * sizeof(float)), workspace(workspace_bytes);
  const DeviceBytes output(static_cast<size_t>(count) * sizeof(int32_t)), kept(sizeof(int32_t));
  Repeat(in, boxes);
  Write(in, 9 * (count - apart), last);
  ASSERT_OK(mluOpPolyNms(handle, boxes_desc, in.data(), 0.1f, workspace.data(), workspace_bytes,
                         output_desc, output.data(), kept.data()));
  ASSERT_EQ(Read<int32_t>(kept, 0, 1)[0], static_cast<int32_t>(expected.size()));
  EXPECT_EQ(Read<int32_t>(output, 0, static_cast<int64_t>(expected.size())), expected);
}

// Zeros, and behind them a map of some rows. Coordinates are multiples of 1/64 and borders have 8
// steps, so that nothing is rounded and the rows alone, as a map of their own, give the same.
void ExpectTheLastRows(const std::string& row, bool nchw) {
  const int64_t h = 16400, w = 16384, c = 4, rows = 40, k = 300;
  ASSERT_GT(h * w * 4 * c, 2 * kBeyond);
  Rng rng(3);
  const std::vector<float> last = UniformFloats(rng, rows * w * 4 * c, -1, 1);
  std::vector<float> boxes, shifted;
  for (int64_t i = 0; i < k; ++i) {
    const auto at = [&](int64_t end) { return static_cast<float>(rng() % (64 * end)) / 64.0f; };
    const float x1 = at(w - 64), y1 = at(rows - 2);
    const float x2 = x1 + at(64), y2 = std::min(y1 + at(rows), static_cast<float>(rows - 1));
    boxes.insert(boxes.end(), {x1, y1, x2, y2});
    const auto down = static_cast<float>(h - rows);
    shifted.insert(shifted.end(), {x1, y1 + down, x2, y2 + down});
  }
  const auto expected =
      BorderAlign("cpu:reference", Floats(last), Floats(boxes), {1, rows, w, c, k, 8, nchw});

  const Handle handle(row);
  const DeviceBytes in(static_cast<size_t>(h * w * 4 * c) * sizeof(float), 0);
  for (int64_t plane = 0; plane < (nchw ? 4 * c : 1); ++plane) {
    const int64_t size = rows * w * (nchw ? 1 : 4 * c);
    Write(in, (plane + 1) * (h * w * (nchw ? 1 : 4 * c)) - size,
          std::vector<float>(last.begin() + plane * size, last.begin() + (plane + 1) * size));
  }
  const DeviceArray<float> in_boxes{Floats(shifted)}, output(static_cast<size_t>(4 * k * c));
  const DeviceArray<int32_t> argmax(static_cast<size_t>(4 * k * c));
  ASSERT_OK(CallBorderAlign(handle, MLUOP_DTYPE_FLOAT, {1, h, w, c, k, 8, nchw}, in.data(),
                            in_boxes.data(), output.data(), argmax.data()));
  ExpectSameFloats(output.Download(), expected.output, nchw ? "NCHW" : "NHWC");
  EXPECT_EQ(argmax.Download(), expected.argmax_idx);
}

TEST_P(LargeTest, FeatureMap) {
  SKIP_UNLESS_FREE(18);
  ExpectTheLastRows(GetParam(), false);
}
TEST_P(LargeTest, FeatureMapNchw) {
  SKIP_UNLESS_FREE(18);
  ExpectTheLastRows(GetParam(), true);
}

void ExpectRepeatedBoxes(const std::string& row, bool nchw) {
  const int64_t h = 9, w = 11, c = 1024, tile = 999, k = kBeyond / (4 * c) + 77;
  Rng rng(4);
  const std::vector<float> input = UniformFloats(rng, h * w * 4 * c, -1, 1);
  const std::vector<float> boxes = RandomBoxes(rng, tile, 10);
  const auto expected =
      BorderAlign("cpu:reference", Floats(input), Floats(boxes), {1, h, w, c, tile, 3, nchw});

  const Handle handle(row);
  const DeviceArray<float> in{Floats(input)};
  const DeviceBytes in_boxes(static_cast<size_t>(4 * k) * sizeof(float));
  const DeviceBytes output(static_cast<size_t>(4 * k * c) * sizeof(float));
  const DeviceBytes argmax(static_cast<size_t>(4 * k * c) * sizeof(int32_t));
  Repeat(in_boxes, boxes);
  ASSERT_OK(CallBorderAlign(handle, MLUOP_DTYPE_FLOAT, {1, h, w, c, k, 3, nchw}, in.data(),
                            in_boxes.data(), output.data(), argmax.data()));
  // NCHW: each channel has the boxes; NHWC: each box has the channels.
  const int64_t parts = nchw ? c : 1, length = 4 * k * c / parts, period = 4 * tile * c / parts;
  for (int64_t p = 0; p < parts && !testing::Test::HasFailure(); ++p) {
    const auto from = p * period, to = from + period;
    EXPECT_TRUE(IsRepeated(
        output, p * length, length,
        std::vector<float>(expected.output.begin() + from, expected.output.begin() + to)));
    EXPECT_TRUE(IsRepeated(argmax, p * length, length,
                           std::vector<int32_t>(expected.argmax_idx.begin() + from,
                                                expected.argmax_idx.begin() + to)));
  }
}

TEST_P(LargeTest, BordersOfManyBoxes) {
  SKIP_UNLESS_FREE(18);
  ExpectRepeatedBoxes(GetParam(), false);
}
TEST_P(LargeTest, BordersOfManyBoxesNchw) {
  SKIP_UNLESS_FREE(18);
  ExpectRepeatedBoxes(GetParam(), true);
}

// Its last pixels have no float of their own.
TEST_P(LargeTest, MapWiderThanFloatsCount) {
  SKIP_UNLESS_FREE(20);
  const BorderAlignShape shape = {1, 1, (1 << 24) + 5, 16, 200, 3};
  const int64_t pixel = 4 * shape.c;
  Rng rng(6);
  std::vector<float> input(static_cast<size_t>(shape.w * pixel)), boxes;
  const std::vector<float> last = UniformFloats(rng, 40 * pixel, -1, 1);
  std::copy(last.begin(), last.end(), input.end() - 40 * pixel);
  for (int64_t i = 0; i < shape.k; ++i) {
    const auto x = [&] {
      return static_cast<float>(shape.w - 20 + static_cast<int64_t>(rng() % 26));
    };
    boxes.insert(boxes.end(), {x(), Uniform(rng, -1, 1), x(), Uniform(rng, -1, 1)});
  }
  const auto got = BorderAlign(GetParam(), Floats(input), Floats(boxes), shape);
  const auto expected = BorderAlign("cpu:reference", Floats(input), Floats(boxes), shape);
  ExpectSameFloats(got.output, expected.output, "wide map");
  EXPECT_EQ(got.argmax_idx, expected.argmax_idx);
}

// Scores below all others, and behind them the anchors that count: alone they give the same.
TEST_P(LargeTest, AnchorsOfWhichTheLastAreBest) {
  SKIP_UNLESS_FREE(90);
  const int64_t w = 1 << 15, h = kBeyond / 4 / w + 40, rows = 20, last = rows * w;
  ASSERT_GT(4 * h * w, kBeyond);
  Rng rng(5);
  ProposalInputs small = {1, rows, w, 1, {}, {}, {800, 1333}, {}, {}};
  small.scores = UniformFloats(rng, last, 0, 1);
  small.bbox_deltas = UniformFloats(rng, 4 * last, -0.3f, 0.3f);
  small.anchors = RandomBoxes(rng, last, 800);
  small.variances = UniformFloats(rng, 4 * last, 0.5f, 1.5f);
  const ProposalScalars scalars;
  const ProposalResult expected = GenerateProposals("cpu:reference", small, scalars);
  ASSERT_GT(expected.num[0], 100);

  const Handle handle(GetParam());
  const Desc scores_desc(MLUOP_DTYPE_FLOAT, {1, h, w, 1}),
      deltas_desc(MLUOP_DTYPE_FLOAT, {1, h, w, 4});
  const Desc shape_desc(MLUOP_DTYPE_FLOAT, {1, 2}), anchors_desc(MLUOP_DTYPE_FLOAT, {h, w, 1, 4});
  const int64_t most = scalars.post_nms_top_n;
  const Desc rois_desc(MLUOP_DTYPE_FLOAT, {most, 4}), probs_desc(MLUOP_DTYPE_FLOAT, {most, 1});
  const Desc num_desc(MLUOP_DTYPE_INT32, {1});
  size_t workspace_bytes = 0;
  ASSERT_OK(mluOpGetGenerateProposalsV2WorkspaceSize_v2(handle, scores_desc, scalars.pre_nms_top_n,
                                                        &workspace_bytes));
  const auto bytes = static_cast<size_t>(h * w) * sizeof(float);
  const DeviceBytes scores(bytes, 0xbf);  // -1.498
  const DeviceBytes deltas(4 * bytes, 0), anchors(4 * bytes, 0), variances(4 * bytes, 0);
  const DeviceBytes workspace(workspace_bytes);
  const int64_t front = h * w - last;
  Write(scores, front, small.scores);
  Write(deltas, 4 * front, small.bbox_deltas);
  Write(anchors, 4 * front, small.anchors);
  Write(variances, 4 * front, small.variances);
  const DeviceArray<float> shape{Floats(small.im_shape)};
  const DeviceArray<float> rois(static_cast<size_t>(4 * most)), probs(static_cast<size_t>(most));
  const DeviceArray<int32_t> num(size_t{1}), total(size_t{1});
  ASSERT_OK(mluOpGenerateProposalsV2(
      handle, scalars.pre_nms_top_n, scalars.post_nms_top_n, scalars.nms_thresh, scalars.min_size,
      scalars.eta, scalars.pixel_offset, scores_desc, scores.data(), deltas_desc, deltas.data(),
      shape_desc, shape.data(), anchors_desc, anchors.data(), anchors_desc, variances.data(),
      workspace.data(), workspace_bytes, rois_desc, rois.data(), probs_desc, probs.data(), num_desc,
      num.data(), total.data()));
  ASSERT_EQ(num.Download(), expected.num);
  std::vector<float> got_rois = rois.Download(), got_probs = probs.Download();
  got_rois.resize(expected.rois.size());
  got_probs.resize(expected.probs.size());
  ExpectSameFloats(got_rois, expected.rois, "rois");
  ExpectSameFloats(got_probs, expected.probs, "probs");
}

INSTANTIATE_TEST_SUITE_P(Table, LargePairsTest,
                         testing::ValuesIn(FastImplementationsOf("bbox_overlaps")),
                         [](const auto& test) { return TestName(test.param); });
INSTANTIATE_TEST_SUITE_P(Table, LargeTest,
                         testing::ValuesIn(FastImplementationsOf("points_in_boxes")),
                         [](const auto& test) { return TestName(test.param); });

}  // namespace
}  // namespace detops::test

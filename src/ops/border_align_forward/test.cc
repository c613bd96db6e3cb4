// SPDX-License-Identifier: Apache-2.0
//
// One named test for each rule of README.md, run on every implementation.
#include <gtest/gtest.h>

#include <cmath>

#include "oracle/oracle.h"
#include "support/environment.h"
#include "support/handle.h"
#include "support/operators.h"
#include "support/random_data.h"

namespace detops::test {
namespace {

class BorderAlignTest : public testing::TestWithParam<std::string> {
 protected:
  // Compares bit by bit, in the layout of the shape.
  void ExpectAsOracle(const std::vector<float>& input, const std::vector<float>& boxes,
                      const BorderAlignShape& s, const std::string& what) {
    const auto got = BorderAlign(GetParam(), Floats(input), Floats(boxes), s);
    const auto expected =
        oracle::BorderAlign(input, boxes, s.n, s.h, s.w, s.c, s.k, s.pool_size, s.nchw);
    ExpectSameFloats(got.output, expected.output, what);
    EXPECT_EQ(got.argmax_idx, expected.argmax) << what;
  }
};

std::vector<float> RandomBorderBoxes(Rng& rng, const BorderAlignShape& s) {
  std::vector<float> boxes;
  const auto w = static_cast<float>(s.w), h = static_cast<float>(s.h);
  for (int64_t i = 0; i < s.n * s.k; ++i) {
    const float x = Uniform(rng, -2, w), y = Uniform(rng, -2, h);
    boxes.insert(boxes.end(), {x, y, x + Uniform(rng, 0, w), y + Uniform(rng, 0, h)});
  }
  return boxes;
}

int64_t InputSize(const BorderAlignShape& s) { return s.n * s.h * s.w * 4 * s.c; }

// The document gives input and boxes in NCHW, with C 1: [1,4,3,4].
const std::vector<float> kDocumentInput = {1,  2,  3, 4, 5,  6,  7,  8,  9,  10, 11, 12,  //
                                           6,  7,  5, 8, 2,  1,  3,  4,  12, 9,  11, 10,  //
                                           -2, -3, 2, 0, -4, -5, 1,  -1, -1, -1, -1, -1,  //
                                           0,  -1, 2, 1, -4, -3, -2, -1, -1, -2, -3, -4};
const std::vector<float> kDocumentBoxes = {0, 0, 2, 1, 1, 0, 3, 1, 1, 0, 2, 1, 0, 0, 3, 1,
                                           0, 0, 1, 2, 0, 0, 2, 2, 1, 0, 2, 1, 1, 0, 3, 1,
                                           0, 1, 1, 2, 0, 0, 3, 2, 1, 0, 3, 2, 2, 0, 3, 2};
const std::vector<float> kDocumentOutput = {
    3, 6,  1,  2,  4, 7,  -1, 1, 3, 7, 1,  2, 4, 6,  -1, 1,  //
    2, 12, -1, -1, 3, 12, -1, 2, 3, 7, 1,  2, 4, 7,  -1, 1,  //
    6, 12, -1, -2, 4, 12, -1, 1, 4, 9, -1, 1, 4, 11, -1, 1};

TEST_P(BorderAlignTest, DocumentExampleNchw) {
  const BorderAlignShape shape = {1, 3, 4, 1, 12, 1, true};
  const auto got = BorderAlign(GetParam(), Floats(kDocumentInput), Floats(kDocumentBoxes), shape);
  EXPECT_EQ(got.output, kDocumentOutput);
  const auto expected =
      oracle::BorderAlign(kDocumentInput, kDocumentBoxes, 1, 3, 4, 1, 12, 1, true);
  EXPECT_EQ(got.argmax_idx, expected.argmax);
}

// In NCHW, small and large maps, few and many boxes and channels have code paths of their own.
TEST_P(BorderAlignTest, NchwOfManySizes) {
  Rng rng(41);
  for (const auto& [h, w] :
       {std::pair{1, 1}, {3, 5}, {5, 7}, {25, 38}, {45, 50}, {64, 64}, {65, 64}}) {
    for (const int64_t c : {16, 17, 40, 130}) {
      for (const int64_t k : {1, 9, 300}) {
        const BorderAlignShape shape = {k == 9 ? 2 : 1, h, w, c, k, 3, /*nchw=*/true};
        const std::vector<float> input = UniformFloats(rng, InputSize(shape), -5, 5);
        const std::vector<float> boxes = RandomBorderBoxes(rng, shape);
        const auto got = BorderAlign(GetParam(), Floats(input), Floats(boxes), shape);
        const auto expected = BorderAlign("cpu:reference", Floats(input), Floats(boxes), shape);
        const std::string what = std::to_string(h) + "x" + std::to_string(w) + ", " +
                                 std::to_string(c) + " channels, " + std::to_string(k) + " boxes";
        ExpectSameFloats(got.output, expected.output, what);
        EXPECT_EQ(got.argmax_idx, expected.argmax_idx) << what;
      }
    }
  }
}

TEST_P(BorderAlignTest, DocumentExampleNhwc) {
  std::vector<float> nhwc(kDocumentInput.size());
  for (size_t c = 0; c < 4; ++c) {
    for (size_t p = 0; p < 12; ++p) nhwc[p * 4 + c] = kDocumentInput[c * 12 + p];
  }
  const auto got =
      BorderAlign(GetParam(), Floats(nhwc), Floats(kDocumentBoxes), {1, 3, 4, 1, 12, 1, false});
  EXPECT_EQ(got.output, kDocumentOutput);  // [K,4,C] is [C,K,4] when C is 1
}

// One row of features, top border: the samples are the features one after the other.
BorderAlignShape RowShape(int64_t w) { return {1, 1, w, 1, 1, static_cast<int32_t>(w - 1)}; }
std::vector<float> TopRow(const std::vector<float>& values) {
  std::vector<float> input;  // [1,1,W,4]
  for (float v : values) input.insert(input.end(), {v, 0, 0, 0});
  return input;
}

TEST_P(BorderAlignTest, FirstOfEqualMaximaWins) {
  const auto got = BorderAlign(GetParam(), Floats(TopRow({1, 5, 2, 5})),
                               Floats(std::vector<float>{0, 0, 3, 0}), RowShape(4));
  EXPECT_EQ(got.output[0], 5.0f);
  EXPECT_EQ(got.argmax_idx[0], 1);
}

TEST_P(BorderAlignTest, NanFeatureNeverReplaces) {
  const auto got = BorderAlign(GetParam(), Floats(TopRow({1, kNan, 2, kNan})),
                               Floats(std::vector<float>{0, 0, 3, 0}), RowShape(4));
  // The NaN at 1 weighs 0 in the sample at 0: 0 * NaN is NaN, by the formula.
  EXPECT_TRUE(std::isnan(got.output[0]));
  EXPECT_EQ(got.argmax_idx[0], 0);
  const auto later = BorderAlign(GetParam(), Floats(TopRow({1, 2, 1, kNan})),
                                 Floats(std::vector<float>{0, 0, 3, 0}), RowShape(4));
  EXPECT_EQ(later.output[0], 2.0f);
  EXPECT_EQ(later.argmax_idx[0], 1);
}

TEST_P(BorderAlignTest, NanAtTheFirstSampleStays) {
  const auto got = BorderAlign(GetParam(), Floats(TopRow({kNan, 5, 6, 7})),
                               Floats(std::vector<float>{0, 0, 3, 0}), RowShape(4));
  EXPECT_TRUE(std::isnan(got.output[0]));
  EXPECT_EQ(got.argmax_idx[0], 0);
}

TEST_P(BorderAlignTest, OutsideSamplesCountAsZero) {
  // From x = -2 (outside) to 1: features are negative, so the 0 outside is the maximum.
  const auto got = BorderAlign(GetParam(), Floats(TopRow({-3, -4})),
                               Floats(std::vector<float>{-2, 0, 1, 0}), {1, 1, 2, 1, 1, 3});
  EXPECT_EQ(got.output[0], 0.0f);
  EXPECT_EQ(got.argmax_idx[0], 0);
  // From -1 on it is inside, clamped to the first column.
  const auto inside = BorderAlign(GetParam(), Floats(TopRow({-3, -4})),
                                  Floats(std::vector<float>{-1, 0, 1, 0}), {1, 1, 2, 1, 1, 2});
  EXPECT_EQ(inside.output[0], -3.0f);
}

TEST_P(BorderAlignTest, NanOrInfInABoxPutsAllItsSamplesOutside) {
  Rng rng(31);
  const BorderAlignShape shape = {1, 4, 4, 2, 1, 3};
  const std::vector<float> input = UniformFloats(rng, InputSize(shape), 1, 2);
  for (float bad : {kNan, kInf, -kInf}) {
    for (size_t i = 0; i < 4; ++i) {
      std::vector<float> box = {0, 0, 3, 3};
      box[i] = bad;
      const auto got = BorderAlign(GetParam(), Floats(input), Floats(box), shape);
      EXPECT_EQ(got.output, std::vector<float>(8, 0.0f));
      EXPECT_EQ(got.argmax_idx, std::vector<int32_t>(8, 0));
    }
  }
}

TEST_P(BorderAlignTest, NetworkShapesBitByBit) {
  Rng rng(32);
  for (BorderAlignShape shape :
       {BorderAlignShape{2, 7, 10, 256, 70, 10}, BorderAlignShape{2, 10, 7, 128, 70, 10},
        BorderAlignShape{3, 10, 10, 1, 5, 8}, BorderAlignShape{3, 8, 100, 2, 800, 1}}) {
    shape.c = shape.c / kSlowdown + 1;
    for (bool nchw : {false, true}) {
      shape.nchw = nchw;
      ExpectAsOracle(UniformFloats(rng, InputSize(shape), -5, 5), RandomBorderBoxes(rng, shape),
                     shape, "network shape");
    }
  }
}

TEST_P(BorderAlignTest, OddChannelsAndSizesBitByBit) {
  Rng rng(33);
  for (int64_t c : {1, 2, 3, 7, 8, 9, 15, 16, 17, 33}) {
    for (int32_t pool_size : {1, 2, 5, 10}) {
      for (bool nchw : {false, true}) {
        const BorderAlignShape shape = {2, 5, 6, c, 9, pool_size, nchw};
        ExpectAsOracle(UniformFloats(rng, InputSize(shape), -1, 1), RandomBorderBoxes(rng, shape),
                       shape, "channels " + std::to_string(c));
      }
    }
  }
}

// Samples at the first and the last position that is inside, and just beyond.
TEST_P(BorderAlignTest, EdgesOfTheMapBitByBit) {
  Rng rng(43);
  for (int64_t c : {1, 20}) {
    for (bool nchw : {false, true}) {
      const BorderAlignShape shape = {1, 5, 6, c, 400, 2, nchw};
      const auto at = [&](float size) {
        const float edges[] = {-1.0f, std::nextafter(-1.0f, -2.0f),  -0.0f, 0.0f, 1.0f, size - 1,
                               size,  std::nextafter(size, 2 * size)};
        return edges[rng() % std::size(edges)];
      };
      std::vector<float> boxes;
      for (int64_t i = 0; i < shape.k; ++i) boxes.insert(boxes.end(), {at(6), at(5), at(6), at(5)});
      ExpectAsOracle(UniformFloats(rng, InputSize(shape), -1, 1), boxes, shape,
                     "channels " + std::to_string(c));
    }
  }
}

// Too large for caches and for the shared memory of a GPU's multiprocessor.
TEST_P(BorderAlignTest, MapsBeyondTheCachesBitByBit) {
  Rng rng(38);
  for (BorderAlignShape shape :
       {BorderAlignShape{1, 150, 160, 5, 40, 10}, BorderAlignShape{1, 300, 300, 3, 20, 10}}) {
    for (bool nchw : {false, true}) {
      shape.nchw = nchw;
      ExpectAsOracle(UniformFloats(rng, InputSize(shape), -5, 5), RandomBorderBoxes(rng, shape),
                     shape, "large map");
    }
  }
}

// So many boxes that they are sorted by the lines of the map; some are outside, some are not
// finite.
TEST_P(BorderAlignTest, ManyBoxesOnALargeMapBitByBit) {
  Rng rng(39);
  for (BorderAlignShape shape :
       {BorderAlignShape{2, 90, 100, 33, 110, 3}, BorderAlignShape{1, 2, 300, 500, 300, 3},
        BorderAlignShape{1, 300, 1, 1000, 301, 3}, BorderAlignShape{1, 190, 191, 8, 200, 3},
        BorderAlignShape{2, 65, 65, 70, 1030, 3, /*nchw=*/true}}) {
    std::vector<float> boxes = RandomBorderBoxes(rng, shape);
    Spoil(rng, boxes, 12);
    ExpectAsOracle(UniformFloats(rng, InputSize(shape), -5, 5), boxes, shape, "many boxes");
  }
}

// So many boxes on so large a map that an MLU sorts them by bands of the map.
TEST_P(BorderAlignTest, MoreBoxesThanPixelsOfALine) {
  Rng rng(44);
  const BorderAlignShape shape = {1, 150, 160, 64, 6000, 3};
  const std::vector<float> input = UniformFloats(rng, InputSize(shape), -5, 5);
  std::vector<float> boxes = RandomBorderBoxes(rng, shape);
  // In the order of lines, many on one of them, and some that are not finite.
  for (size_t i = 0; i < 1000; ++i) {
    boxes[4 * i + 1] = static_cast<float>(i) * 0.15f;
    boxes[4 * i + 4001] = 70.25f;
  }
  Spoil(rng, boxes, 100);
  const auto got = BorderAlign(GetParam(), Floats(input), Floats(boxes), shape);
  const auto expected = BorderAlign("cpu:reference", Floats(input), Floats(boxes), shape);
  ExpectSameFloats(got.output, expected.output, "many boxes");
  EXPECT_EQ(got.argmax_idx, expected.argmax_idx);
  std::vector<uint16_t> half_input, half_boxes;
  for (const float v : input) half_input.push_back(oracle::FloatToHalf(v));
  for (const float v : boxes) half_boxes.push_back(oracle::FloatToHalf(v));
  const auto halves = BorderAlign(GetParam(), Halfs(half_input), Halfs(half_boxes), shape);
  const auto expected_halves =
      BorderAlign("cpu:reference", Halfs(half_input), Halfs(half_boxes), shape);
  EXPECT_EQ(halves.output, expected_halves.output);
  EXPECT_EQ(halves.argmax_idx, expected_halves.argmax_idx);
}

// So many results that no cache holds them.
TEST_P(BorderAlignTest, ManyResultsInNchw) {
  Rng rng(42);
  const BorderAlignShape shape = {
      1, 9, 10, 256, (SlowdownOf(GetParam()) > 1 ? 300 : 2050) / kSlowdown, 1, /*nchw=*/true};
  const std::vector<float> input = UniformFloats(rng, InputSize(shape), -5, 5);
  const std::vector<float> boxes = RandomBorderBoxes(rng, shape);
  const auto got = BorderAlign(GetParam(), Floats(input), Floats(boxes), shape);
  const auto expected = BorderAlign("cpu:reference", Floats(input), Floats(boxes), shape);
  ExpectSameFloats(got.output, expected.output, "many results");
  EXPECT_EQ(got.argmax_idx, expected.argmax_idx);

  std::vector<uint16_t> half_input, half_boxes;
  for (float v : input) half_input.push_back(oracle::FloatToHalf(v));
  for (float v : boxes) half_boxes.push_back(oracle::FloatToHalf(v));
  const auto halves = BorderAlign(GetParam(), Halfs(half_input), Halfs(half_boxes), shape);
  const auto expected_halves =
      BorderAlign("cpu:reference", Halfs(half_input), Halfs(half_boxes), shape);
  EXPECT_EQ(halves.output, expected_halves.output);
  EXPECT_EQ(halves.argmax_idx, expected_halves.argmax_idx);
}

TEST_P(BorderAlignTest, ManySamplesBitByBit) {
  Rng rng(37);
  for (int32_t pool_size : {31, 32, 33, 63, 64, 65, 200}) {
    for (int64_t c : {3, 75}) {
      for (bool nchw : {false, true}) {
        const BorderAlignShape shape = {1, 5, 6, c, 20, pool_size, nchw};
        ExpectAsOracle(UniformFloats(rng, InputSize(shape), -1, 1), RandomBorderBoxes(rng, shape),
                       shape, "pool_size " + std::to_string(pool_size));
      }
    }
  }
}

TEST_P(BorderAlignTest, SpecialValuesBitByBit) {
  Rng rng(34);
  for (int round = 0; round < 20; ++round) {
    const BorderAlignShape shape = {2, 4, 5, round % 2 == 0 ? 5 : 70, 12, 4, round % 4 >= 2};
    std::vector<float> input = UniformFloats(rng, InputSize(shape), -1, 1);
    std::vector<float> boxes = RandomBorderBoxes(rng, shape);
    Spoil(rng, input, 8);
    Spoil(rng, boxes, 12);
    ExpectAsOracle(input, boxes, shape, "special values");
  }
}

TEST_P(BorderAlignTest, HalvesBitByBit) {
  Rng rng(35);
  for (bool nchw : {false, true}) {
    const BorderAlignShape s = {2, 6, 7, 19, 21, 10, nchw};
    std::vector<uint16_t> input, boxes;
    std::vector<float> wide_input, wide_boxes;
    for (float v : UniformFloats(rng, InputSize(s), -5, 5)) {
      input.push_back(oracle::FloatToHalf(v));
      wide_input.push_back(oracle::HalfToFloat(input.back()));
    }
    for (float v : RandomBorderBoxes(rng, s)) {
      boxes.push_back(oracle::FloatToHalf(v));
      wide_boxes.push_back(oracle::HalfToFloat(boxes.back()));
    }
    const auto got = BorderAlign(GetParam(), Halfs(input), Halfs(boxes), s);
    const auto expected =
        oracle::BorderAlign(wide_input, wide_boxes, s.n, s.h, s.w, s.c, s.k, s.pool_size, nchw);
    EXPECT_EQ(got.argmax_idx, expected.argmax);
    ASSERT_EQ(got.output.size(), expected.output.size());
    for (size_t i = 0; i < got.output.size(); ++i) {
      EXPECT_EQ(got.output[i], oracle::FloatToHalf(expected.output[i])) << i;
    }
  }
}

// The limit of the report: 10 times the error of plain float evaluation, never below 1.2e-7.
TEST_P(BorderAlignTest, AFewUlpFromTheTruth) {
  Rng rng(36);
  const BorderAlignShape s = {2, 10, 12, 16, 50, 10};
  const std::vector<float> input = UniformFloats(rng, InputSize(s), -5, 5);
  const std::vector<float> boxes = RandomBorderBoxes(rng, s);
  const auto got = BorderAlign(GetParam(), Floats(input), Floats(boxes), s);
  const auto wide =
      oracle::BorderAlignWide(input, boxes, s.n, s.h, s.w, s.c, s.k, s.pool_size, false);
  const oracle::Diffs diffs = oracle::Compare(got.output, wide, 1e-6);
  EXPECT_TRUE(diffs.special_match);
  EXPECT_LT(diffs.diff1, 1.2e-7);
  EXPECT_LT(diffs.diff2, 1.2e-7);
}

INSTANTIATE_TEST_SUITE_P(Table, BorderAlignTest,
                         testing::ValuesIn(ImplementationsOf("border_align_forward")),
                         [](const auto& tested) { return TestName(tested.param); });

}  // namespace
}  // namespace detops::test

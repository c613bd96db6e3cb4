// SPDX-License-Identifier: Apache-2.0
//
// The formulas of src/math on the simulated MLU, which has no double, give the bits that they give
// here.
#include "mlu/formulas.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "support/random_data.h"

namespace detops::test {
namespace {

// Two overlapping quadrilaterals at a threshold near their IoU; whole numbers for some, which are
// ties; anything at all for others.
std::array<float, kArguments> RandomArguments(Rng& rng) {
  std::array<float, kArguments> x;
  Quad a = RandomQuad(rng, 30, 30);
  Quad b = RandomQuad(rng, 30 + Uniform(rng, -10, 10), 30 + Uniform(rng, -10, 10));
  float threshold = 0.5f;
  if (rng() % 4 == 0) {
    a = Listed(RandomWholeRectangle(rng).Outline(0, 0, rng() % 2 == 0), rng());
    b = Listed(RandomWholeRectangle(rng).Outline(0, 0, rng() % 2 == 0), rng());
  } else {
    const auto overlap = math::MeasureOverlap<double>(a.data(), b.data(), 0.0);
    threshold = static_cast<float>(overlap.shared / (overlap.both - overlap.shared));
  }
  std::copy(a.begin(), a.end(), x.begin());
  std::copy(b.begin(), b.end(), x.begin() + 8);
  x[16] = threshold;
  for (size_t i = 17; i < 19; ++i) x[i] = Uniform(rng, 20, 200);
  x[19] = Uniform(rng, -110, 100);
  x[20] = math::BitCast<float>(static_cast<uint32_t>(rng()));
  for (size_t i = 21; i < kArguments; ++i) x[i] = Uniform(rng, -4, 4);
  if (rng() % 16 == 0) x[rng() % kArguments] = math::BitCast<float>(static_cast<uint32_t>(rng()));
  return x;
}

TEST(Mlu, FormulasGiveTheSameBits) {
  constexpr int kCount = 4000;
  Rng rng(31);
  std::vector<float> arguments;
  for (int i = 0; i < kCount; ++i) {
    const auto x = RandomArguments(rng);
    arguments.insert(arguments.end(), x.begin(), x.end());
  }
  std::vector<uint32_t> results(size_t{kCount} * kResults);
  EvaluateOnCard(arguments.data(), results.data(), kCount);
  for (size_t i = 0; i < kCount; ++i) {
    std::array<uint32_t, kResults> expected;
    Evaluate<double>(&arguments[i * kArguments], expected.data());
    for (size_t k = 0; k < kResults; ++k) {
      ASSERT_EQ(results[i * kResults + k], expected[k]) << "result " << k << " of case " << i;
    }
  }
}

TEST(Mlu, ArithmeticGivesTheSameBits) {
  constexpr int kCount = 20000;
  Rng rng(32);
  std::vector<uint64_t> pairs;
  for (int i = 0; i < kCount; ++i) {
    const uint64_t a = rng(), close = (a & 0xfff0000000000000u) + (rng() >> rng() % 64 >> 4);
    pairs.insert(pairs.end(), {a, i % 2 == 0 ? rng() : close});
  }
  std::vector<uint64_t> results(size_t{kCount} * 6);
  ComputeOnCard(pairs.data(), results.data(), kCount);
  const auto bits = [](double v) {
    return math::BitCast<uint64_t>(std::isnan(v) ? std::numeric_limits<double>::quiet_NaN() : v);
  };
  for (size_t i = 0; i < kCount; ++i) {
    const auto a = math::BitCast<double>(pairs[2 * i]), b = math::BitCast<double>(pairs[2 * i + 1]);
    const uint64_t* got = &results[6 * i];
    ASSERT_EQ(got[0], bits(a + b)) << i;
    ASSERT_EQ(got[1], bits(a - b)) << i;
    ASSERT_EQ(got[2], bits(a * b)) << i;
    ASSERT_EQ(got[3], bits(a / b)) << i;
    ASSERT_EQ(got[4], a < b ? 1u : 0u) << i;
    if (!std::isnan(a)) {
      ASSERT_EQ(got[5], math::BitCast<uint32_t>(static_cast<float>(a))) << i;
    }
  }
}

}  // namespace
}  // namespace detops::test

// SPDX-License-Identifier: Apache-2.0
//
// The formulas that host and device share, on the device: for every float, or for many pairs.
#include "cuda/arithmetic.h"

#include <gtest/gtest.h>

#include <bit>
#include <vector>

#include "math/exp.h"
#include "support/handle.h"

namespace detops::test {
namespace {

class CudaArithmetic : public testing::Test {
 protected:
  void SetUp() override {
    const std::string reason = WhyNot("cuda");
    if (!reason.empty()) GTEST_SKIP() << reason;
  }
};

TEST_F(CudaArithmetic, SinCosOfEveryFloatByTheShortWay) { EXPECT_EQ(CountSinCosDifferences(), 0); }
TEST_F(CudaArithmetic, QuotientsAreRoundedCorrectly) { EXPECT_EQ(CountQuotientDifferences(), 0); }
TEST_F(CudaArithmetic, QuotientsLieWithinTheirBounds) { EXPECT_EQ(CountQuotientEscapes(), 0); }
TEST_F(CudaArithmetic, EveryFloatToHalf) { EXPECT_EQ(CountHalfDifferences(), 0); }

// One float in 16, against the CPU.
TEST_F(CudaArithmetic, ExpIsTheProcessors) {
  constexpr uint32_t kAtATime = 1u << 20;
  std::vector<float> results(kAtATime);
  for (uint64_t first = 0; first < kAllFloats; first += 16 * kAtATime) {
    ASSERT_TRUE(ExpOnDevice(static_cast<uint32_t>(first), kAtATime, results.data()));
    for (uint32_t i = 0; i < kAtATime; ++i) {
      const float x = std::bit_cast<float>(static_cast<uint32_t>(first) + i);
      const float expected = math::Exp(x);
      if (expected != expected && results[i] != results[i]) continue;
      ASSERT_EQ(std::bit_cast<uint32_t>(results[i]), std::bit_cast<uint32_t>(expected)) << x;
    }
  }
}

}  // namespace
}  // namespace detops::test

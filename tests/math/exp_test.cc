// SPDX-License-Identifier: Apache-2.0
#include "math/exp.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdio>

#include "oracle/oracle.h"
#include "support/environment.h"
#include "support/random_data.h"

namespace detops::math {
namespace {

TEST(Exp, KnownValues) {
  EXPECT_EQ(Exp(0.0f), 1.0f);
  EXPECT_EQ(Exp(-0.0f), 1.0f);
  EXPECT_EQ(Exp(1.0f), 2.71828183f);
  EXPECT_EQ(Exp(-test::kInf), 0.0f);
  EXPECT_EQ(Exp(test::kInf), test::kInf);
  EXPECT_EQ(Exp(88.8f), test::kInf);
  EXPECT_EQ(Exp(-104.0f), 0.0f);
  EXPECT_TRUE(std::isnan(Exp(test::kNan)));
  EXPECT_EQ(Exp(-103.0f), oracle::ExpRounded(-103.0f));  // subnormal
}

// Every 4099th float (a prime), or every one. The error is relative to expl, which is accurate to
// 2^-63.
TEST(Exp, ErrorBelowOneUlp) {
  const uint64_t step = test::Exhaustive() ? 1 : 4099;
  double worst = 0.0;
  float worst_at = 0.0f;
  uint64_t count = 0;
  for (uint64_t bits = 0; bits <= 0xffffffffu; bits += step) {
    const float x = std::bit_cast<float>(static_cast<uint32_t>(bits));
    if (std::isnan(x)) continue;
    const double error = oracle::UlpError(Exp(x), std::exp(static_cast<long double>(x)));
    ++count;
    if (error > worst) {
      worst = error;
      worst_at = x;
    }
  }
  std::printf("exp: worst error %.9f ulp at %a, over %llu floats\n", worst,
              static_cast<double>(worst_at), static_cast<unsigned long long>(count));
  EXPECT_LT(worst, 0.5001);
}

}  // namespace
}  // namespace detops::math

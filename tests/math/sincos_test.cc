// SPDX-License-Identifier: Apache-2.0
#include "math/sincos.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>

#include "oracle/oracle.h"
#include "support/environment.h"
#include "support/random_data.h"

namespace detops::math {
namespace {

// Whether `got` is the float nearest to the true value. `near_value` is within 2^-60 of it,
// relatively; where that is not enough, `exactly` decides.
bool IsNearest(float got, long double near_value, float (*exactly)(float), float x,
               double* worst_error) {
  const double error = oracle::UlpError(got, near_value);
  *worst_error = std::max(*worst_error, error);
  if (error < 0.5 - 1e-9) return true;
  return got == exactly(x);
}

struct Survey {
  double worst = 0.0;
  uint64_t count = 0, wrong = 0;
  float wrong_at = 0.0f;

  void Visit(float x) {
    const SinCosResult r = SinCos(x);
    const long double wide = x;
    const bool ok = IsNearest(r.sin, std::sin(wide), oracle::SinRounded, x, &worst) &&
                    IsNearest(r.cos, std::cos(wide), oracle::CosRounded, x, &worst);
    ++count;
    if (!ok) {
      ++wrong;
      wrong_at = x;
    }
  }
  void Report(const char* range) const {
    std::printf("sincos: %s: worst error %.9f ulp over %llu floats, %llu not the nearest\n", range,
                worst, static_cast<unsigned long long>(count),
                static_cast<unsigned long long>(wrong));
    EXPECT_EQ(wrong, 0u) << "for one at " << wrong_at;
    EXPECT_LT(worst, 0.5 + 1e-6);
  }
};

// All positive floats up to 1e5 (every 997th unless exhaustive); sine is odd and cosine even.
TEST(SinCos, NearestFloatUpTo1e5) {
  const uint32_t step = test::Exhaustive() ? 1 : 997;
  Survey survey;
  for (uint64_t bits = 0; bits <= std::bit_cast<uint32_t>(1e5f); bits += step) {
    survey.Visit(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  }
  survey.Report("0 to 1e5");
}

TEST(SinCos, NearestFloatBeyond1e5) {
  const uint32_t step = test::Exhaustive() ? 1 : 9973;
  Survey survey;
  for (uint64_t bits = std::bit_cast<uint32_t>(1e5f); bits < 0x7f800000u; bits += step) {
    survey.Visit(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  }
  survey.Report("1e5 to the largest");
}

// Floats next to multiples of pi/2, where the argument reduction must keep the most bits.
TEST(SinCos, NextToMultiplesOfHalfPi) {
  Survey survey;
  for (int k = 1; k < 200000; ++k) {
    const auto x = static_cast<float>(k * (3.14159265358979323846 / 2));
    survey.Visit(x);
    survey.Visit(std::nextafterf(x, 0.0f));
    survey.Visit(std::nextafterf(x, 1e9f));
  }
  survey.Report("beside k*pi/2");
}

TEST(SinCos, SignsAndSpecials) {
  for (float x : {0.5f, 1.0f, 2.5f, 4.0f, 6.0f, 100.0f, 1e30f}) {
    EXPECT_EQ(SinCos(-x).sin, -SinCos(x).sin);
    EXPECT_EQ(SinCos(-x).cos, SinCos(x).cos);
  }
  EXPECT_EQ(SinCos(0.0f).cos, 1.0f);
  EXPECT_TRUE(std::signbit(SinCos(-0.0f).sin));
  for (float x : {test::kInf, -test::kInf, test::kNan}) {
    EXPECT_TRUE(std::isnan(SinCos(x).sin));
    EXPECT_TRUE(std::isnan(SinCos(x).cos));
  }
}

}  // namespace
}  // namespace detops::math

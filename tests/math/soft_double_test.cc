// SPDX-License-Identifier: Apache-2.0
//
// SoftDouble against the processor's double, bit by bit, and the formulas with one and the other.
#include "math/soft_double.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "math/bit_cast.h"
#include "math/box3d.h"
#include "math/exp.h"
#include "math/proposal.h"
#include "math/quad.h"
#include "math/sincos.h"
#include "support/environment.h"
#include "support/random_data.h"

namespace detops::math {
namespace {

using test::Quad;
using test::Rng;
using test::Uniform;

double FromBits(uint64_t bits) { return BitCast<double>(bits); }
SoftDouble Soft(double v) { return BitCast<SoftDouble>(v); }

bool Same(SoftDouble got, double expected) {
  return std::isnan(expected) ? std::isnan(BitCast<double>(got))
                              : got.bits() == BitCast<uint64_t>(expected);
}
bool Same(float got, float expected) {
  return std::isnan(expected) ? std::isnan(got)
                              : BitCast<uint32_t>(got) == BitCast<uint32_t>(expected);
}

// What differs, or nothing.
const char* Differs(double a, double b) {
  const SoftDouble x = Soft(a), y = Soft(b);
  if (!Same(x + y, a + b)) return "+";
  if (!Same(x - y, a - b)) return "-";
  if (!Same(x * y, a * b)) return "*";
  if (!Same(x / y, a / b)) return "/";
  if ((x < y) != (a < b)) return "<";
  if ((x <= y) != (a <= b)) return "<=";
  if ((x > y) != (a > b)) return ">";
  if ((x >= y) != (a >= b)) return ">=";
  if ((x == y) != (a == b)) return "==";
  if ((x != y) != (a != b)) return "!=";
  if (!Same(-x, -a)) return "negation";
  if (!Same(static_cast<float>(x), static_cast<float>(a))) return "to float";
  return nullptr;
}

// Both signs of each.
std::vector<double> HardValues() {
  using Limits = std::numeric_limits<double>;
  const double least = Limits::denorm_min(), normal = Limits::min(), most = Limits::max();
  const double float_least = std::numeric_limits<float>::denorm_min();
  const double float_normal = std::numeric_limits<float>::min();
  const double float_most = std::numeric_limits<float>::max();
  std::vector<double> values = {
      0.0, least, 2 * least, 3 * least, FromBits(0x000fffffffffffff), normal, 2 * normal,
      std::nextafter(normal, 1.0), normal * 0x1p52, normal * 0x1p53, most,
      std::nextafter(most, 0.0), most / 2, Limits::infinity(), Limits::quiet_NaN(),
      FromBits(0x7ff0000000000001),
      // Around 1, and sums, products and quotients half way between two doubles.
      1.0, std::nextafter(1.0, 0.0), std::nextafter(1.0, 2.0), 1.5, 2.0, 3.0, 1.0 / 3.0, 0x1p-52,
      0x1p-53, 0x1.8p-53, 0x1.0000000000001p-53, 0x1p-54, 0x1p-1022, 0x1p53, 0x1p53 + 2.0,
      0x1.fffffffffffffp52, 0x1.8000001p0, 0x1.7ffffffp0, 0x1.0000002p0, 0x1p-537, 0x1.8p-538,
      0x1p512, 0x1.6a09e667f3bcdp511,
      // Where conversions to float round, overflow or become subnormal.
      float_least, float_least / 2, std::nextafter(float_least / 2, 1.0), 1.5 * float_least,
      float_least / 4, float_normal, float_normal - float_least, float_normal - float_least / 2,
      float_normal - float_least / 4, float_most, 0x1.ffffffp127, 0x1.fffffefffffffp127, 0x1p128,
      0x1.000001p0, 0x1.000003p0, 0x1.0000010000001p0, 0x1.fffffffp0, 0x1.fffffefffffffp0,
      // The splitting of TwoProduct, and what the formulas are made of.
      0x1p27 + 1.0, 0x1.8p52, 0x1.71547652b82fep0, 1e-14, 1e-24, 0.1, 1e308, 1e-308};
  const size_t count = values.size();
  for (size_t i = 0; i < count; ++i) values.push_back(-values[i]);
  return values;
}

TEST(SoftDouble, AllPairsOfHardValues) {
  const std::vector<double> values = HardValues();
  for (const double a : values) {
    for (const double b : values) {
      const char* what = Differs(a, b);
      ASSERT_EQ(what, nullptr) << what << " of " << std::hexfloat << a << " and " << b;
    }
  }
}

// Bits with runs of zeros or ones at their end, so that results are exact, half way or next to
// that.
uint64_t RandomBits(Rng& rng) {
  uint64_t bits = rng();
  const uint64_t choice = rng();
  const uint64_t run = (uint64_t{1} << ((choice >> 8) % 53)) - 1;
  if (choice % 4 == 1) bits &= ~run;
  if (choice % 4 == 2) bits |= run;
  return bits;
}
uint64_t WithExponent(uint64_t bits, uint64_t exponent) {
  return (bits & 0x800fffffffffffffu) | (exponent & 0x7ffu) << 52;
}

TEST(SoftDouble, RandomPairs) {
  const int64_t pairs = (test::Exhaustive() ? 500000000 : 6000000) / test::kSlowdown;
  Rng rng(21);
  for (int64_t i = 0; i < pairs; ++i) {
    uint64_t a = RandomBits(rng), b = RandomBits(rng);
    // Any exponents; close ones; those near 1; those whose product or quotient is next to the
    // least.
    const uint64_t exponent = (a >> 52) & 0x7ff, more = rng() % 128;
    if (i % 4 == 1) b = WithExponent(b, exponent + more - 64);
    if (i % 4 == 2)
      a = WithExponent(a, 1023 - 64 + more), b = WithExponent(b, 1023 - 8 + more % 16);
    if (i % 4 == 3 && i % 8 == 3) b = WithExponent(b, 1023 - 32 - exponent + more % 64);
    if (i % 4 == 3 && i % 8 == 7) b = WithExponent(b, exponent + 1023 - 32 + more % 64);
    const char* what = Differs(FromBits(a), FromBits(b));
    ASSERT_EQ(what, nullptr) << what << " of " << std::hexfloat << FromBits(a) << " and "
                             << FromBits(b) << ", pair " << i;
  }
}

TEST(SoftDouble, FromEveryKindOfFloat) {
  const uint64_t step = test::Exhaustive() ? 1 : 1021;
  for (uint64_t bits = 0; bits <= 0xffffffffu; bits += step) {
    const float f = BitCast<float>(static_cast<uint32_t>(bits));
    ASSERT_TRUE(Same(SoftDouble(f), static_cast<double>(f))) << std::hexfloat << f;
    ASSERT_TRUE(Same(static_cast<float>(SoftDouble(f)), f)) << std::hexfloat << f;
  }
}

// Near the middle between two floats, on either side.
TEST(SoftDouble, ToFloat) {
  Rng rng(22);
  for (int64_t i = 0; i < 2000000 / test::kSlowdown; ++i) {
    const float f = BitCast<float>(static_cast<uint32_t>(rng()));
    if (!std::isfinite(f)) continue;
    const double next = std::nextafter(f, std::numeric_limits<float>::infinity());
    double middle = (static_cast<double>(f) + next) / 2;
    if (i % 3 == 1) middle = std::nextafter(middle, 0.0);
    if (i % 3 == 2) middle = std::nextafter(middle, 2 * middle);
    ASSERT_TRUE(Same(static_cast<float>(Soft(middle)), static_cast<float>(middle)))
        << std::hexfloat << middle;
  }
}

TEST(SoftDouble, FromIntegers) {
  Rng rng(23);
  for (int64_t i = 0; i < 1000000 / test::kSlowdown; ++i) {
    const uint64_t v = RandomBits(rng) >> rng() % 64;
    const auto u32 = static_cast<uint32_t>(v);
    const auto i32 = static_cast<int32_t>(u32);
    ASSERT_TRUE(Same(SoftDouble(v), static_cast<double>(v))) << v;
    ASSERT_TRUE(Same(SoftDouble(u32), static_cast<double>(u32))) << v;
    ASSERT_TRUE(Same(SoftDouble(i32), static_cast<double>(i32))) << v;
  }
  for (const uint64_t v : {uint64_t{0}, uint64_t{1}, ~uint64_t{0}, uint64_t{1} << 63}) {
    EXPECT_TRUE(Same(SoftDouble(v), static_cast<double>(v))) << v;
  }
  EXPECT_TRUE(Same(SoftDouble(std::numeric_limits<int32_t>::min()), -0x1p31));
}

TEST(SoftDouble, Constants) {
  constexpr SoftDouble kThird = 1.0 / 3.0;
  EXPECT_TRUE(Same(kThird, 1.0 / 3.0));
  EXPECT_TRUE(Same(2.0 * kThird - 1.0, 2.0 * (1.0 / 3.0) - 1.0));
}

// ---- the formulas -----------------------------------------------------------------------------

TEST(SoftDouble, Exp) {
  const uint64_t step = test::Exhaustive() ? 1 : 8191;
  for (uint64_t bits = 0; bits <= 0xffffffffu; bits += step) {
    const float x = BitCast<float>(static_cast<uint32_t>(bits));
    ASSERT_TRUE(Same(Exp<SoftDouble>(x), Exp<double>(x))) << std::hexfloat << x;
  }
}

bool SameSinCos(float x) {
  const SinCosResult soft = SinCos<SoftDouble>(x), hard = SinCos<double>(x);
  return Same(soft.sin, hard.sin) && Same(soft.cos, hard.cos);
}

TEST(SoftDouble, SinCos) {
  const uint64_t step = test::Exhaustive() ? 257 : 65521;
  for (uint64_t bits = 0; bits <= 0xffffffffu; bits += step) {
    const float x = BitCast<float>(static_cast<uint32_t>(bits));
    ASSERT_TRUE(SameSinCos(x)) << std::hexfloat << x;
  }
}

// What RoundIfCertain leaves open goes through double-double; few arguments do, so all of it is
// compared here by itself.
TEST(SoftDouble, SinCosInDoubleDouble) {
  using namespace sincos_internal;
  Rng rng(24);
  for (int64_t i = 0; i < 50000 / test::kSlowdown; ++i) {
    const float x = BitCast<float>(static_cast<uint32_t>(rng()) & 0x7fffffffu);
    if (!(x > 1.0f && std::isfinite(x))) continue;
    const auto soft = Reduce<SoftDouble>(x);
    const auto hard = Reduce<double>(x);
    ASSERT_TRUE(Same(soft.r.hi, hard.r.hi) && Same(soft.r.lo, hard.r.lo)) << std::hexfloat << x;
    const auto soft_z = soft.r * soft.r;
    const auto hard_z = hard.r * hard.r;
    ASSERT_TRUE(
        Same(RoundToFloat(SinSeries(soft.r, soft_z)), RoundToFloat(SinSeries(hard.r, hard_z))));
    ASSERT_TRUE(Same(RoundToFloat(CosSeries(soft_z)), RoundToFloat(CosSeries(hard_z))));
  }
}

// Also compares the sums that decide, in double and in double-double.
void CompareQuads(const Quad& a, const Quad& b, float threshold) {
  const float *p = a.data(), *q = b.data();
  ASSERT_EQ(QuadIoUGreater<SoftDouble>(p, q, threshold), QuadIoUGreater<double>(p, q, threshold));
  const QuadBounds bounds_a = BoundsOf(p), bounds_b = BoundsOf(q);
  if (!QuadIsFinite(p) || !QuadIsFinite(q) || !BoundsOverlap(bounds_a, bounds_b)) return;
  const auto soft_extent = CommonBoundsArea<SoftDouble>(bounds_a, bounds_b);
  const auto hard_extent = CommonBoundsArea<double>(bounds_a, bounds_b);
  ASSERT_TRUE(Same(soft_extent, hard_extent));
  const auto soft = MeasureOverlap<SoftDouble>(p, q, 1e-14 * soft_extent);
  const auto hard = MeasureOverlap<double>(p, q, 1e-14 * hard_extent);
  ASSERT_TRUE(Same(soft.shared, hard.shared) && Same(soft.both, hard.both));
  ASSERT_EQ(soft.stable, hard.stable);
  const auto soft_pair = MeasureOverlap<DoubleDoubleOf<SoftDouble>>(p, q, SoftDouble{0.0});
  const auto hard_pair = MeasureOverlap<DoubleDouble>(p, q, 0.0);
  ASSERT_TRUE(Same(soft_pair.shared.hi, hard_pair.shared.hi) &&
              Same(soft_pair.shared.lo, hard_pair.shared.lo));
  ASSERT_TRUE(Same(soft_pair.both.hi, hard_pair.both.hi) &&
              Same(soft_pair.both.lo, hard_pair.both.lo));
}

constexpr int64_t kQuadPairs = 4000;
int64_t QuadPairs() { return (test::Exhaustive() ? 100 : 1) * kQuadPairs / test::kSlowdown; }

TEST(SoftDouble, QuadsAtAndNearTheirIoU) {
  Rng rng(25);
  static constexpr float kOrigins[] = {0.0f, 0.0f, 1e4f, -1e5f, 1e6f};
  for (int64_t i = 0; i < QuadPairs(); ++i) {
    const float x = kOrigins[rng() % 5], y = kOrigins[rng() % 5];
    const Quad a = test::RandomQuad(rng, x, y);
    const Quad b = test::RandomQuad(rng, x + Uniform(rng, -20, 20), y + Uniform(rng, -20, 20));
    const auto overlap = MeasureOverlap<double>(a.data(), b.data(), 0.0);
    const double iou = overlap.shared / (overlap.both - overlap.shared);
    float threshold = Uniform(rng, 0, 0.7f);
    if (i % 2 != 0) threshold = static_cast<float>(iou * (1.0 + Uniform(rng, -1e-7f, 1e-7f)));
    ASSERT_NO_FATAL_FAILURE(CompareQuads(a, b, threshold)) << i;
  }
}

// Ties, and thresholds close to them.
TEST(SoftDouble, WholeRectangles) {
  Rng rng(26);
  static constexpr float kThresholds[] = {0.5f, 0.25f, 0.125f, 0.75f, 0.1f, 0.0f};
  static constexpr int kOrigins[] = {0, 0, 1000, -100000, 1000000};
  for (int64_t i = 0; i < QuadPairs(); ++i) {
    const float threshold = kThresholds[rng() % 6];
    const bool rotated = rng() % 2 == 0, together = rng() % 4 > 0;
    const int64_t x = kOrigins[rng() % 5], y = kOrigins[rng() % 5];
    const auto a = random::RandomWholeRectangle(rng), b = random::RandomWholeRectangle(rng);
    ASSERT_NO_FATAL_FAILURE(CompareQuads(test::Listed(a.Outline(x, y, rotated), rng()),
                                         test::Listed(b.Outline(x, y, rotated == together), rng()),
                                         threshold))
        << i;
  }
}

// Any floats at all: products that overflow or underflow, corners far out, NaN.
TEST(SoftDouble, QuadsOfAnyFloats) {
  Rng rng(27);
  for (int64_t i = 0; i < QuadPairs(); ++i) {
    Quad a, b;
    const auto exponent = static_cast<uint32_t>(rng() % 256);
    for (Quad* quad : {&a, &b}) {
      for (float& v : *quad) {
        auto bits = static_cast<uint32_t>(rng());
        if (i % 3 != 0) bits = (bits & 0x807fffffu) | (exponent + bits % 4) % 256 << 23;
        v = BitCast<float>(bits);
      }
    }
    ASSERT_NO_FATAL_FAILURE(CompareQuads(a, b, Uniform(rng, 0, 1))) << i;
  }
}

TEST(SoftDouble, Boxes3d) {
  Rng rng(28);
  for (int64_t i = 0; i < 20000 / test::kSlowdown; ++i) {
    std::vector<float> box = test::UniformFloats(rng, 7, -4, 4);
    test::Spoil(rng, box, 50);
    const auto soft = PrepareBox3d<SoftDouble>(box.data());
    const auto hard = PrepareBox3d<double>(box.data());
    ASSERT_TRUE(Same(soft.reach_x, hard.reach_x) && Same(soft.reach_y, hard.reach_y) &&
                Same(soft.reach_z, hard.reach_z));
    ASSERT_TRUE(Same(FloatBelow(soft.reach_x), FloatBelow(hard.reach_x)));
    ASSERT_TRUE(Same(FloatAtMost(soft.reach_y), FloatAtMost(hard.reach_y)));
    const std::vector<float> p = test::UniformFloats(rng, 3, -4, 4);
    ASSERT_EQ(Holds(soft, p[0], p[1], p[2]), Holds(hard, p[0], p[1], p[2]));
  }
}

// What FloatBelow and FloatAtMost promise, against the C library.
TEST(Box3d, FloatsNextToABound) {
  const float inf = std::numeric_limits<float>::infinity();
  for (const double bound : HardValues()) {
    const auto f = static_cast<float>(bound);
    EXPECT_TRUE(Same(FloatBelow(bound), f >= bound ? std::nextafter(f, -inf) : f)) << bound;
    EXPECT_TRUE(Same(FloatAtMost(bound), f > bound ? std::nextafter(f, -inf) : f)) << bound;
  }
}

}  // namespace
}  // namespace detops::math

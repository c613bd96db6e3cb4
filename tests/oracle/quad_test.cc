// SPDX-License-Identifier: Apache-2.0
//
// The exact geometry against GEOS and against areas computed by hand, and poly_nms on top of it.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>

#include "oracle.h"

namespace detops::oracle {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

using Quad = std::array<float, 8>;
using Ints = std::vector<int32_t>;

Quad Square(float x, float y, float side) {
  return {x, y, x + side, y, x + side, y + side, x, y + side};
}

Quad Reversed(const Quad& q) { return {q[6], q[7], q[4], q[5], q[2], q[3], q[0], q[1]}; }

double Area(const Quad& quad) { return QuadIntersectionArea(quad, quad); }

// Random corners at random angles around a centre: simple, convex or concave, either orientation.
Quad RandomQuad(std::mt19937* rng, float x, float y, float size) {
  std::uniform_real_distribution<float> unit(0, 1);
  for (;;) {
    float angles[4];
    for (float& angle : angles) angle = 6.2831853f * unit(*rng);
    std::ranges::sort(angles);
    Quad quad;
    for (int i = 0; i < 4; ++i) {
      const float radius = size * (0.1f + 0.9f * unit(*rng));
      quad[2 * i] = x + radius * std::cos(angles[i]);
      quad[2 * i + 1] = y + radius * std::sin(angles[i]);
    }
    if (QuadIsSimple(quad)) return unit(*rng) < 0.5f ? quad : Reversed(quad);
  }
}

bool IsConvex(const Quad& q) {
  int left_turns = 0;
  for (int i = 0; i < 4; ++i) {
    const int j = (i + 1) % 4, k = (i + 2) % 4;
    const double turn = (double{q[2 * j]} - q[2 * i]) * (double{q[2 * k + 1]} - q[2 * j + 1]) -
                        (double{q[2 * j + 1]} - q[2 * i + 1]) * (double{q[2 * k]} - q[2 * j]);
    left_turns += turn > 0;
  }
  return left_turns % 4 == 0;
}

TEST(Quad, AgreesWithGeos) {
  std::mt19937 rng(4);
  std::uniform_real_distribution<float> shift(-1, 1);
  int concave = 0, overlapping = 0;
  for (int i = 0; i < 20000; ++i) {
    const float size = std::ldexp(1.0f, static_cast<int>(rng() % 12) - 4);
    const float x = 100 * shift(rng), y = 100 * shift(rng);
    const Quad a = RandomQuad(&rng, x, y, size);
    const Quad b = RandomQuad(&rng, x + size * shift(rng), y + size * shift(rng), size);
    concave += !IsConvex(a);
    const double inter = QuadIntersectionArea(a, b);
    overlapping += inter > 0;
    const double sum = Area(a) + Area(b);
    ASSERT_NEAR(inter, QuadIntersectionAreaGeos(a, b), 1e-11 * sum);
    ASSERT_NEAR(QuadIou(a, b), inter / (sum - inter), 1e-14);
    ASSERT_EQ(QuadIou(a, b), QuadIou(b, Reversed(a)));
  }
  // The sample would prove little if it were unbalanced.
  EXPECT_GT(concave, 5000);
  EXPECT_LT(concave, 15000);
  EXPECT_GT(overlapping, 5000);
}

TEST(Quad, KnownIou) {
  for (float at : {0.0f, 1e4f, -1e4f, 1048576.0f}) {
    const Quad a = Square(at, at, 1), b = Square(at + 0.5f, at + 0.5f, 1);
    EXPECT_EQ(QuadIou(a, b), 1.0 / 7.0);
    EXPECT_EQ(QuadIou(a, Reversed(b)), 1.0 / 7.0);
    EXPECT_TRUE(QuadIouGreater(a, b, 0.142857f));
    EXPECT_FALSE(QuadIouGreater(a, b, 0.142858f));
    EXPECT_EQ(QuadIou(a, Square(at + 1, at, 1)), 0);  // a shared side is no overlap
    EXPECT_EQ(QuadIou(a, a), 1);
  }
}

TEST(Quad, ThresholdIsStrictAndExact) {
  const Quad a = Square(0, 0, 2), half = {0, 0, 2, 0, 2, 1, 0, 1};
  EXPECT_FALSE(QuadIouGreater(a, half, 0.5f));
  EXPECT_TRUE(QuadIouGreater(a, half, std::nextafter(0.5f, 0.0f)));
  EXPECT_FALSE(QuadIouGreater(a, a, 1.0f));
  EXPECT_TRUE(QuadIouGreater(a, a, std::nextafter(1.0f, 0.0f)));
  EXPECT_FALSE(QuadIouGreater(a, Square(5, 5, 1), 0.0f));
  EXPECT_TRUE(QuadIouGreater(a, Square(5, 5, 1), -0.1f));
  EXPECT_FALSE(QuadIouGreater(a, a, kInf));
  // The smallest possible overlap, far below what double can resolve next to the areas.
  const float tiny = std::numeric_limits<float>::denorm_min();
  const Quad touching = {-tiny, -tiny, 3, 0, 3, 3, 0, 3};
  EXPECT_TRUE(QuadIouGreater(Square(-1e30f, -1e30f, 1e30f), touching, 0));
}

TEST(Quad, ConcaveByHand) {
  // The triangle (0,0) (4,0) (2,4) less the triangle (0,0) (4,0) (2,3).
  const Quad dart = {0, 0, 2, 3, 4, 0, 2, 4};
  EXPECT_EQ(Area(dart), 2);
  EXPECT_EQ(QuadIntersectionArea(dart, Square(1.5f, 0, 1)), 0);  // in the notch
  EXPECT_EQ(QuadIntersectionArea(dart, Quad{0, 0, 2, 0, 2, 4, 0, 4}), 1);
  EXPECT_EQ(QuadIntersectionArea(dart, Square(0, 0, 4)), 2);
  // Each arm is y/6 wide at the height y, and up to 1.5 that is 3/16.
  EXPECT_EQ(QuadIntersectionArea(dart, Quad{0, 0, 4, 0, 4, 1.5f, 0, 1.5f}), 0.375);
}

TEST(Quad, DegenerateAndNotFinite) {
  const Quad a = Square(0, 0, 2);
  for (const Quad& bad :
       {Quad{0, 0, 1, 1, 2, 2, 1, 1}, Quad{1, 1, 1, 1, 1, 1, 1, 1}, Quad{0, 0, 2, 0, 2, 2, 0, kNan},
        Quad{0, 0, kInf, 0, 2, 2, 0, 2}, Quad{0, 0, 2, 2, 2, 0, 0, 2}, Quad{}}) {
    EXPECT_FALSE(QuadIsSimple(bad));
    EXPECT_EQ(QuadIou(a, bad), 0);
    EXPECT_EQ(QuadIou(bad, bad), 0);
    EXPECT_FALSE(QuadIouGreater(bad, a, 0));
    EXPECT_TRUE(QuadIouGreater(bad, a, -1));
  }
}

TEST(Quad, Simple) {
  EXPECT_TRUE(QuadIsSimple(Square(0, 0, 1)));
  EXPECT_TRUE(QuadIsSimple(Reversed(Square(1e6f, 0, 1))));
  EXPECT_TRUE(QuadIsSimple(Quad{0, 0, 2, 3, 4, 0, 2, 4}));
  EXPECT_TRUE(QuadIsSimple(Quad{0, 0, 1, 0, 2, 0, 1, 1}));   // a straight corner
  EXPECT_FALSE(QuadIsSimple(Quad{0, 0, 1, 0, 1, 0, 1, 1}));  // a doubled corner
  EXPECT_FALSE(QuadIsSimple(Quad{0, 0, 4, 0, 2, 0, 1, 1}));  // a spike
  EXPECT_FALSE(QuadIsSimple(Quad{0, 0, 4, 0, 2, 4, 2, 0}));  // a corner on the opposite edge
  EXPECT_FALSE(QuadIsSimple(Quad{0, 0, 4, 3, 4, 0, 0, 2}));  // crossing, with an area
}

TEST(Quad, OnALine) {
  EXPECT_TRUE(QuadIsOnALine(Quad{1, 1, 1, 1, 1, 1, 1, 1}));
  EXPECT_TRUE(QuadIsOnALine(Quad{0, 0, 0, 0, 2, 3, 4, 6}));
  EXPECT_TRUE(QuadIsOnALine(Quad{4, 6, 2, 3, 4, 6, -2, -3}));
  EXPECT_FALSE(QuadIsOnALine(Quad{0, 0, 4, 6, 2, 3, 1, 1}));
  EXPECT_FALSE(QuadIsOnALine(Quad{0, 0, 4, 4, 4, 0, 0, 4}));  // crossing, with a signed area of 0
  EXPECT_FALSE(QuadIsOnALine(Quad{0, 0, 1, 1, 2, 2, kNan, 3}));
}

Ints Nms(std::vector<std::array<float, 9>> boxes, float threshold) {
  std::vector<float> flat;
  for (const auto& box : boxes) flat.insert(flat.end(), box.begin(), box.end());
  return PolyNms(flat, threshold);
}

std::array<float, 9> Scored(const Quad& q, float score) {
  return {q[0], q[1], q[2], q[3], q[4], q[5], q[6], q[7], score};
}

TEST(PolyNms, DocumentExamples) {
  const Quad unit = Square(0, 0, 1), next = Square(0.5f, 0.5f, 1), inner = Square(0, 0, 0.5f);
  const Quad apart = {0, 0, -0.5f, 0, -0.5f, -0.5f, 0, -0.5f};
  EXPECT_EQ(Nms({Scored(unit, 3)}, 0.1f), Ints({0}));
  EXPECT_EQ(Nms({Scored(unit, 1), Scored(next, 2), Scored(apart, 3)}, 0.1f), Ints({1, 2}));
  EXPECT_EQ(Nms({Scored(unit, 3), Scored(next, 2), Scored(inner, 1)}, 0.1f), Ints({0}));
  EXPECT_EQ(Nms({Scored(unit, 3), Scored(next, 2), Scored(apart, 1)}, 0.1f), Ints({0, 2}));
}

TEST(PolyNms, DocumentSpecials) {
  const Quad big = Square(0, 0, 2), corner = Square(1.5f, 1.5f, 1);
  const Quad apart = {0, 0, -0.5f, 0, -0.5f, -0.5f, 0, -0.5f};
  const auto run = [&](float score, float threshold) {
    return Nms({Scored(big, score), Scored(corner, 1), Scored(apart, 3)}, threshold);
  };
  EXPECT_EQ(run(kInf, 0.05f), Ints({0, 2}));
  EXPECT_EQ(run(-kInf, 0.05f), Ints({1, 2}));
  EXPECT_EQ(run(kNan, 0.05f), Ints({0, 2}));
  EXPECT_EQ(run(-kNan, 0.05f), Ints({0, 2}));
  for (float score : {kInf, -kInf, kNan}) EXPECT_EQ(run(score, 0.1f), Ints({0, 1, 2}));
  const Quad inf = {kInf, 0, 2, 0, 2, 2, kInf, 2}, inf2 = {0, 0, kInf, kInf, 2, 2, 0, 2};
  const Quad inf3 = {1.5f, 1.5f, kInf, kInf, 2.5f, 2.5f, 1.5f, 2.5f};
  const Quad nan = {0, 0, 2, 0, 2, 2, 0, kNan};
  const auto apart3 = Scored(apart, 3);
  for (float threshold : {0.0f, 0.05f, 0.1f}) {
    EXPECT_EQ(Nms({Scored(inf, 2), Scored(corner, 1), apart3}, threshold), Ints({0, 1, 2}));
    EXPECT_EQ(Nms({Scored(inf2, 2), Scored(inf3, 1), apart3}, threshold), Ints({0, 1, 2}));
    EXPECT_EQ(Nms({Scored(nan, 2), Scored(corner, 1), apart3}, threshold), Ints({0, 1, 2}));
  }
}

TEST(PolyNms, OrderTiesAndThresholds) {
  const Quad unit = Square(0, 0, 1), near = Square(0.25f, 0, 1), far = Square(0.5f, 0, 1);
  // IoU of neighbours is 3/5, of the outer two 1/3: a suppressed box suppresses nothing.
  EXPECT_EQ(Nms({Scored(unit, 3), Scored(near, 2), Scored(far, 1)}, 0.5f), Ints({0, 2}));
  EXPECT_EQ(Nms({Scored(unit, 1), Scored(near, 1), Scored(far, 1)}, 0.5f), Ints({0, 2}));
  EXPECT_EQ(Nms({Scored(unit, -0.0f), Scored(near, 0.0f)}, 0.5f), Ints({0}));
  EXPECT_EQ(Nms({Scored(unit, kNan), Scored(near, -kNan)}, 0.5f), Ints({0}));
  EXPECT_EQ(Nms({Scored(unit, 1), Scored(unit, 2)}, 1.0f), Ints({0, 1}));
  EXPECT_EQ(Nms({Scored(unit, 1), Scored(Square(9, 9, 1), 2), Scored(Quad{}, 0)}, -0.5f),
            Ints({1}));
  EXPECT_EQ(Nms({}, 0.5f), Ints());
}

}  // namespace
}  // namespace detops::oracle

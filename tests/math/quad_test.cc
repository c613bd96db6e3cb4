// SPDX-License-Identifier: Apache-2.0
#include "math/quad.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "oracle/oracle.h"
#include "support/environment.h"
#include "support/random_data.h"

namespace detops::math {
namespace {

using test::Listed;
using test::Quad;
using test::RandomQuad;
using test::Rng;
using test::Uniform;

double IoU(const Quad& a, const Quad& b) {
  const auto overlap = MeasureOverlap<double>(a.data(), b.data(), 0.0);
  return overlap.both > 0.0 ? overlap.shared / (overlap.both - overlap.shared) : 0.0;
}

bool Greater(const Quad& a, const Quad& b, float threshold) {
  return QuadIoUGreater(a.data(), b.data(), threshold);
}

Quad Square(float x, float y, float side) {
  return {x, y, x + side, y, x + side, y + side, x, y + side};
}

Quad Reversed(const Quad& q) { return {q[6], q[7], q[4], q[5], q[2], q[3], q[0], q[1]}; }

// Two quadrilaterals near each other, far from the origin for some.
struct Pair {
  Quad a, b;
};
Pair RandomPair(Rng& rng) {
  static constexpr float kOrigins[] = {0.0f, 0.0f, 1e4f, -1e5f, 1e6f};
  for (;;) {
    const float x = kOrigins[rng() % 5], y = kOrigins[rng() % 5];
    const Pair pair = {RandomQuad(rng, x, y),
                       RandomQuad(rng, x + Uniform(rng, -20, 20), y + Uniform(rng, -20, 20))};
    if (oracle::QuadIsSimple(pair.a) && oracle::QuadIsSimple(pair.b)) return pair;
  }
}

TEST(Quad, UnitSquaresHalfApartAnywhere) {
  for (float at : {0.0f, 1e4f, 1e6f, -1e6f}) {
    EXPECT_DOUBLE_EQ(IoU(Square(at, at, 1), Square(at + 0.5f, at + 0.5f, 1)), 1.0 / 7) << at;
  }
}

TEST(Quad, OrientationDoesNotMatter) {
  const Quad a = Square(0, 0, 2), b = Square(1.5f, 1.5f, 1);
  for (const Quad& p : {a, Reversed(a)}) {
    for (const Quad& q : {b, Reversed(b)}) EXPECT_DOUBLE_EQ(IoU(p, q), 0.25 / 4.75);
  }
}

TEST(Quad, IdenticalIsOne) {
  Rng rng(3);
  for (int i = 0; i < 1000; ++i) {
    const Quad q = RandomQuad(rng, 100, 100);
    if (!oracle::QuadIsSimple(q)) continue;
    EXPECT_NEAR(IoU(q, q), 1.0, 1e-12);
  }
}

TEST(Quad, Concave) {
  const Quad dart = {0, 0, 4, 2, 0, 4, 2, 2};         // reflex at the last vertex
  for (int rotation = 0; rotation < 4; ++rotation) {  // every vertex may be the reflex one
    Quad q;
    for (int i = 0; i < 8; ++i) q[i] = dart[(i + 2 * rotation) % 8];
    EXPECT_DOUBLE_EQ(IoU(q, Square(0, 1, 1)), 0.0);  // in the notch
    EXPECT_DOUBLE_EQ(IoU(q, Square(0, 0, 4)), 0.25);
    EXPECT_DOUBLE_EQ(IoU(Reversed(q), Square(0, 0, 4)), 0.25);
  }
}

TEST(Quad, TouchingIsZero) {
  EXPECT_FALSE(Greater(Square(0, 0, 1), Square(1, 0, 1), 0));
  EXPECT_FALSE(Greater(Square(0, 0, 1), Square(1, 1, 1), 0));
  const Quad diamond = {1, 0, 2, 1, 1, 2, 0, 1}, beside = {2, 1, 3, 2, 2, 3, 1, 2};
  EXPECT_FALSE(Greater(diamond, beside, 0));  // share an edge, and their bounds overlap
}

TEST(Quad, ZeroAreaAndNonFiniteAreZero) {
  const Quad square = Square(0, 0, 4);
  EXPECT_FALSE(Greater(square, {1, 1, 3, 3, 2, 2, 1, 1}, 0));
  EXPECT_FALSE(Greater({1, 1, 1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1, 1, 1}, 0));
  for (float bad : {test::kNan, test::kInf, -test::kInf}) {
    for (size_t i = 0; i < 8; ++i) {
      Quad q = square;
      q[i] = bad;
      EXPECT_FALSE(Greater(square, q, 0));
      EXPECT_FALSE(Greater(q, square, 0));
    }
  }
}

TEST(Quad, SelfIntersectingStaysInUnitInterval) {
  Rng rng(4);
  for (int i = 0; i < 200000; ++i) {
    Quad a, b;
    for (float& v : a) v = Uniform(rng, 0, 10);
    for (float& v : b) v = Uniform(rng, 0, 10);
    const double iou = IoU(a, b);
    ASSERT_GE(iou, 0.0);
    ASSERT_LE(iou, 1.0);
  }
}

TEST(Quad, HugeAndTinyCoordinatesStayFinite) {
  const float big = 3.0e38f, tiny = 1e-40f;
  EXPECT_NEAR(IoU({-big, -big, big, -big, big, big, -big, big}, {0, 0, big, 0, big, big, 0, big}),
              0.25, 1e-12);
  const Quad dot = {0, 0, tiny, 0, tiny, tiny, 0, tiny};
  EXPECT_FALSE(Greater(dot, {0, 0, big, 0, big, big, 0, big}, 0.1f));
  EXPECT_TRUE(Greater(dot, dot, 0.999f));
  EXPECT_FALSE(Greater(dot, dot, 1));
}

// ---- against exact arithmetic ---------------------------------------------------------------

TEST(QuadExact, ValueAndSymmetry) {
  Rng rng(5);
  double worst = 0.0;
  for (int64_t i = 0; i < test::PolygonPairs(); ++i) {
    const Pair p = RandomPair(rng);
    const double exact = oracle::QuadIou(p.a, p.b);
    worst = std::max({worst, std::abs(IoU(p.a, p.b) - exact), std::abs(IoU(p.b, p.a) - exact)});
  }
  std::printf("quad: worst error of the IoU %.3g\n", worst);
  EXPECT_LT(worst, 1e-12);
}

TEST(QuadExact, DecisionsOnRandomPairs) {
  Rng rng(6);
  for (int64_t i = 0; i < test::PolygonPairs(); ++i) {
    const Pair p = RandomPair(rng);
    const float threshold = Uniform(rng, 0, 0.7f);
    ASSERT_EQ(Greater(p.a, p.b, threshold), oracle::QuadIouGreater(p.a, p.b, threshold)) << i;
  }
}

// Thresholds within 1e-6 of the pair's IoU, on either side, down to the neighbouring floats.
TEST(QuadExact, DecisionsWithinAMillionthOfTheThreshold) {
  Rng rng(7);
  for (int64_t i = 0; i < test::PolygonPairs(); ++i) {
    const Pair p = RandomPair(rng);
    const double exact = oracle::QuadIou(p.a, p.b);
    auto threshold = static_cast<float>(exact * (1.0 + Uniform(rng, -1e-6f, 1e-6f)));
    if (rng() % 4 == 0) threshold = static_cast<float>(exact);
    ASSERT_EQ(Greater(p.a, p.b, threshold), oracle::QuadIouGreater(p.a, p.b, threshold)) << i;
  }
}

// Both ways of deciding agree wherever the first decides, so it does not matter which one a backend
// asks; and the second decides for itself.
TEST(QuadExact, DoubleLeavesOpenWhatItCannotDecide) {
  Rng rng(8);
  int64_t open = 0;
  const int64_t pairs = test::PolygonPairs() / 4;
  for (int64_t i = 0; i < pairs; ++i) {
    const float reach = i % 2 == 0 ? 20.0f : 4.0f;
    Quad a, b;  // any outlines, on a grid for some, so that corners and edges coincide
    for (Quad* q : {&a, &b}) {
      for (float& v : *q) {
        v = Uniform(rng, 0, reach);
        if (i % 2 != 0) v = std::floor(v);
      }
    }
    const QuadBounds bounds_a = BoundsOf(a.data()), bounds_b = BoundsOf(b.data());
    if (!BoundsOverlap(bounds_a, bounds_b)) continue;
    const double extent = CommonBoundsArea(bounds_a, bounds_b);
    static constexpr float kThresholds[] = {0.0f, 0.1f, 0.25f, 0.5f, 0.75f};
    const float threshold = kThresholds[rng() % 5];
    const Verdict verdict = CompareInDouble(a.data(), b.data(), threshold, extent);
    open += verdict == Verdict::kDoubtful ? 1 : 0;
    if (verdict == Verdict::kDoubtful) continue;
    ASSERT_EQ(verdict == Verdict::kYes,
              CompareInDoubleDouble(a.data(), b.data(), threshold, extent))
        << i;
  }
  EXPECT_GT(open, 0);
  EXPECT_LT(open, pairs / 4);
}

// Areas that are nothing beside the square of the diagonal, but not beside the product of the
// sides.
TEST(QuadExact, OneCornerFarOut) {
  const Quad a = {386.857086f, -3.66009665f, 404.526886f, 11.1654835f,
                  395.65451f,  21.7399998f,  3e38f,       6.9144187f};
  const Quad b = {97.2526016f, -2.37156487f, 3e38f,       13.9575796f,
                  116.922829f, 24.8977203f,  90.4933548f, 8.56857681f};
  const auto transposed = [](const Quad& q) {
    return Quad{q[1], q[0], q[3], q[2], q[5], q[4], q[7], q[6]};
  };
  for (const float threshold : {0.2f, 0.5f, 0.54f, 0.55f, 0.9f}) {
    const bool expected = oracle::QuadIouGreater(a, b, threshold);  // the IoU is 0.5487
    EXPECT_EQ(Greater(a, b, threshold), expected) << threshold;
    EXPECT_EQ(Greater(transposed(a), transposed(b), threshold), expected) << threshold;
  }
}

// ---- ties -----------------------------------------------------------------------------------

TEST(QuadExact, AtATieNoListingOfCornersOverlapsMore) {
  const Quad a = {0, 0, 2, 0, 2, 3, 0, 3}, b = {0, 1, 3, 1, 3, 3, 0, 3};  // 4/8
  for (size_t i = 0; i < 8; ++i) {
    for (size_t j = 0; j < 8; ++j) {
      EXPECT_FALSE(Greater(Listed(a, i), Listed(b, j), 0.5f));
      EXPECT_TRUE(Greater(Listed(a, i), Listed(b, j), std::nextafterf(0.5f, 0.0f)));
    }
  }
}

// Whole rectangles, upright or rotated, at thresholds that many of them have as their IoU. They are
// ties or close to ties, so double can't decide.
TEST(QuadExact, WholeRectangles) {
  Rng rng(9);
  int64_t ties = 0;
  for (int64_t i = 0; i < test::PolygonPairs(); ++i) {
    static constexpr float kThresholds[] = {0.5f, 0.25f, 0.125f, 0.75f, 0.1f, 0.0f};
    const float threshold = kThresholds[rng() % 6];
    const bool rotated = rng() % 2 == 0;
    static constexpr int kOrigins[] = {0, 0, 1000, -100000, 1000000};
    const int64_t x = kOrigins[rng() % 5], y = kOrigins[rng() % 5];
    const bool together = rng() % 4 > 0;  // else one is rotated and the other is not
    const auto a = random::RandomWholeRectangle(rng), b = random::RandomWholeRectangle(rng);
    const Quad quad_a = Listed(a.Outline(x, y, rotated), rng());
    const Quad quad_b = Listed(b.Outline(x, y, rotated == together), rng());
    ASSERT_EQ(Greater(quad_a, quad_b, threshold), oracle::QuadIouGreater(quad_a, quad_b, threshold))
        << i;
    if (oracle::QuadIou(quad_a, quad_b) == threshold) ++ties;
  }
  std::printf("quad: %lld ties\n", static_cast<long long>(ties));
  EXPECT_GT(ties, test::PolygonPairs() / 100);
}

}  // namespace
}  // namespace detops::math

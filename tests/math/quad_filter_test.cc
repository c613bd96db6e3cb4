// SPDX-License-Identifier: Apache-2.0
//
// The float filter never contradicts the definition, and seldom has to fall back to it.
#include <gtest/gtest.h>

#include <cmath>

#include "math/quad_pair.h"
#include "oracle/oracle.h"
#include "support/environment.h"
#include "support/random_data.h"

namespace detops::test {
namespace {

using math::Verdict;

struct Counts {
  int64_t judged = 0, apart = 0, yes = 0, doubtful = 0, doubtful_in_double = 0;
};

template <class Real>
Verdict Judge(const math::FilterQuad& a, const math::FilterQuad& b,
              const math::QuadBounds& bounds_a, const math::QuadBounds& bounds_b, float threshold) {
  const math::QuadPair<Real> pair(a, b, bounds_a, bounds_b);
  math::EdgeSums<Real> sum = pair.SumEdge(0);
  for (int edge = 1; edge < math::kPairEdges; ++edge) sum.Add(pair.SumEdge(edge));
  return pair.Judge(sum, threshold);
}

void Compare(const Quad& a, const Quad& b, float threshold, Counts& counts) {
  math::QuadBounds bounds_a, bounds_b;
  const math::FilterQuad quad_a = math::PrepareQuad(a.data(), bounds_a);
  const math::FilterQuad quad_b = math::PrepareQuad(b.data(), bounds_b);
  if (quad_a.area == 0.0f || quad_b.area == 0.0f) return;
  if (!math::BoundsOverlap(bounds_a, bounds_b)) return;
  const bool expected = math::QuadIoUGreater(a.data(), b.data(), threshold);
  ++counts.judged;
  if (expected) ++counts.yes;
  if (math::NeverEnough(quad_a.area, quad_b.area, bounds_a, bounds_b, threshold)) {
    ASSERT_FALSE(expected) << "NeverEnough at " << threshold;
  }
  if (quad_a.shape == math::Shape::kOther || quad_b.shape == math::Shape::kOther) return;
  if (quad_a.strip > 0.0f && quad_b.strip > 0.0f &&
      math::StripsNeverEnough(quad_a, quad_b, threshold,
                              math::CommonBoundsArea(bounds_a, bounds_b))) {
    ++counts.apart;
    ASSERT_FALSE(expected) << "StripsNeverEnough at " << threshold;
  }
  const auto verdict = Judge<float>(quad_a, quad_b, bounds_a, bounds_b, threshold);
  const auto wide = Judge<double>(quad_a, quad_b, bounds_a, bounds_b, threshold);
  if (verdict == Verdict::kDoubtful) {
    ++counts.doubtful;
  } else {
    ASSERT_EQ(verdict == Verdict::kYes, expected) << "in float at threshold " << threshold;
  }
  if (wide == Verdict::kDoubtful) {
    ++counts.doubtful_in_double;
  } else {
    ASSERT_EQ(wide == Verdict::kYes, expected) << "in double at threshold " << threshold;
  }
}

TEST(QuadFilter, AgreesOnRandomPairs) {
  Rng rng(7);
  Counts counts, tiny_thresholds;
  const int64_t pairs = 4 * PolygonPairs();
  for (int64_t i = 0; i < pairs; ++i) {
    const float origin = i % 3 == 0 ? 0.0f : Uniform(rng, -4000, 4000);
    const Quad a = RandomQuad(rng, origin, origin);
    const Quad b = RandomQuad(rng, origin + Uniform(rng, -20, 20), origin + Uniform(rng, -20, 20));
    static constexpr float kThresholds[] = {0.1f, 0.3f, 0.5f, 0.9f, 1.0f};
    Compare(a, b, kThresholds[rng() % 5], counts);
    // At 0, every pair of which only the bounds overlap is doubtful.
    Compare(a, b, rng() % 2 == 0 ? 0.0f : 0.001f, tiny_thresholds);
    if (HasFatalFailure()) FAIL() << "pair " << i;
  }
  EXPECT_GT(counts.judged, pairs / 4);
  EXPECT_GT(counts.yes, counts.judged / 20);
  EXPECT_LT(counts.doubtful, counts.judged / 500);
  EXPECT_LE(counts.doubtful_in_double, counts.judged / 100000);
}

// Thresholds a few float steps from the pair's own IoU, where a wrong error bound would show.
TEST(QuadFilter, AgreesNextToTheThreshold) {
  Rng rng(8);
  Counts counts;
  const int64_t pairs = PolygonPairs();
  for (int64_t i = 0; i < pairs; ++i) {
    const Quad a = RandomRectangle(rng, 1000, 1000);
    const Quad b = RandomRectangle(rng, 1000 + Uniform(rng, -20, 20), 1000 + Uniform(rng, -20, 20));
    const auto iou = static_cast<float>(oracle::QuadIou(a, b));
    const float distance = std::pow(10.0f, Uniform(rng, -8, -1));
    for (float threshold : {iou * (1 - distance), iou, iou * (1 + distance)}) {
      Compare(a, b, threshold, counts);
      if (HasFatalFailure()) FAIL() << "pair " << i;
    }
  }
  EXPECT_GT(counts.doubtful, 0);
}

// Shared edges, shared corners, one inside the other on its border, slightly distorted copies.
TEST(QuadFilter, AgreesWhereEdgesMeet) {
  Rng rng(9);
  Counts counts;
  const int64_t pairs = PolygonPairs();
  for (int64_t i = 0; i < pairs; ++i) {
    const Quad a = RandomRectangle(rng, 0, 0);
    Quad b = a;
    const auto moved = static_cast<size_t>(rng() % 4);
    const float step = std::pow(10.0f, Uniform(rng, -6, 1));
    switch (rng() % 3) {
      case 0:  // one corner is moved
        b[2 * moved] += Uniform(rng, -step, step);
        b[2 * moved + 1] += Uniform(rng, -step, step);
        break;
      case 1:  // moved along an edge
        for (size_t k = 0; k < 4; ++k) {
          const float share = step / 10;
          b[2 * k] += share * (a[2] - a[0]);
          b[2 * k + 1] += share * (a[3] - a[1]);
        }
        break;
      default:  // every coordinate is moved a little
        for (float& v : b) v += Uniform(rng, -step, step) * 1e-3f;
    }
    static constexpr float kThresholds[] = {0.0f, 0.1f, 0.5f, 0.9f, 0.99f, 0.999f};
    Compare(a, b, kThresholds[rng() % 6], counts);
    if (HasFatalFailure()) FAIL() << "pair " << i;
  }
  EXPECT_GT(counts.judged, pairs / 4);
}

// Thin strips at all angles and at small ones, some nearly parallel to each other.
TEST(QuadFilter, AgreesOnStrips) {
  Rng rng(11);
  Counts counts;
  const int64_t pairs = PolygonPairs();
  for (int64_t i = 0; i < pairs; ++i) {
    const float spread = std::pow(10.0f, Uniform(rng, -4, 0.5f));
    const float direction = Uniform(rng, -4, 4);
    const auto strip = [&] {
      const float angle = direction + Uniform(rng, -spread, spread);
      const float length = Uniform(rng, 10, 100);
      const float width = length * std::pow(10.0f, Uniform(rng, -5, -0.5f));
      const float x = Uniform(rng, -spread, spread) * 10, y = Uniform(rng, -spread, spread) * 10;
      const float c = std::cos(angle), s = std::sin(angle);
      Quad quad;
      for (size_t k = 0; k < 4; ++k) {
        const float u = k == 1 || k == 2 ? length : 0, v = k >= 2 ? width : 0;
        const size_t corner = i % 2 == 0 ? k : 3 - k;
        quad[2 * corner] = x + u * c - v * s;
        quad[2 * corner + 1] = y + u * s + v * c;
      }
      return quad;
    };
    static constexpr float kThresholds[] = {0.0f, 1e-6f, 0.001f, 0.1f, 0.5f, 0.9f};
    Compare(strip(), strip(), kThresholds[rng() % 6], counts);
    if (HasFatalFailure()) FAIL() << "pair " << i;
  }
  EXPECT_GT(counts.apart, counts.judged / 4);
  EXPECT_GT(counts.yes, counts.judged / 100);
}

TEST(QuadFilter, ScalesWithTheCoordinates) {
  Rng rng(10);
  Counts counts;
  for (int i = 0; i < 20000; ++i) {
    Quad a = RandomRectangle(rng, 0, 0);
    Quad b = RandomRectangle(rng, Uniform(rng, -20, 20), Uniform(rng, -20, 20));
    const float scale = std::pow(10.0f, Uniform(rng, -30, 30));
    for (float& v : a) v *= scale;
    for (float& v : b) v *= scale;
    Compare(a, b, 0.1f, counts);
    if (HasFatalFailure()) FAIL() << "pair " << i << " scaled by " << scale;
  }
  EXPECT_GT(counts.judged, 1000);
}

}  // namespace
}  // namespace detops::test

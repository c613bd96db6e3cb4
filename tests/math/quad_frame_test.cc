// SPDX-License-Identifier: Apache-2.0
//
// In no frame are the bounds apart of two quadrilaterals whose IoU is above the threshold.
#include "math/quad_frame.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "support/environment.h"
#include "support/random_data.h"

namespace detops::test {
namespace {

using math::QuadFrame;
using Kind = QuadFrame::Kind;

// A trapezoid about the middle (x, y): long in the direction of the angle, or not so long.
Quad Strip(Rng& rng, float x, float y, float length, float width, float angle) {
  const float along_x = length / 2 * std::cos(angle), along_y = length / 2 * std::sin(angle);
  const float across_x = -width / 2 * std::sin(angle), across_y = width / 2 * std::cos(angle);
  const float shorter = Uniform(rng, 0.7f, 1.0f);
  return {x - along_x - across_x,           y - along_y - across_y,
          x + along_x - across_x,           y + along_y - across_y,
          x + along_x * shorter + across_x, y + along_y * shorter + across_y,
          x - along_x + across_x,           y - along_y + across_y};
}

struct Counts {
  int64_t above = 0, apart = 0;
};

void Compare(const QuadFrame& frame, const Quad& a, const Quad& b, float threshold,
             Counts& counts) {
  const auto reach = [&](const Quad& q) {
    math::QuadBounds plain;
    const math::FilterQuad prepared = math::PrepareQuad(q.data(), plain);
    return math::ReachIn(frame, prepared, q.data(), plain, threshold);
  };
  const bool overlap = math::BoundsOverlap(reach(a), reach(b));
  const bool above = math::QuadIoUGreater(a.data(), b.data(), threshold);
  counts.above += above ? 1 : 0;
  counts.apart += overlap ? 0 : 1;
  ASSERT_TRUE(overlap || !above) << "frame " << static_cast<int>(frame.kind) << ", threshold "
                                 << threshold;
}

TEST(QuadFrame, BoundsOverlapWhereTheIoUIsAboveTheThreshold) {
  Rng rng(31);
  Counts aligned, by_direction;
  const int64_t pairs = PolygonPairs();
  for (int64_t i = 0; i < pairs; ++i) {
    const float far = i % 3 == 0 ? Uniform(rng, -1e6f, 1e6f) : 0.0f;
    const float length = std::pow(10.0f, Uniform(rng, 0, 3));
    const float aspect = std::pow(10.0f, Uniform(rng, 0, 3)), width = length / aspect;
    const float angle = Uniform(rng, 0, 2 * std::numbers::pi_v<float>);
    const Quad a = Strip(rng, far, far, length, width, angle);
    // Rotated by so little, and moved by so little, that the IoU comes near any threshold.
    const float turn = Uniform(rng, -2, 2) / aspect / Uniform(rng, 0.01f, 1);
    const float along = Uniform(rng, -1, 1) * length, across = Uniform(rng, -1, 1) * width;
    Quad b = Strip(rng, far + along * std::cos(angle) - across * std::sin(angle),
                   far + along * std::sin(angle) + across * std::cos(angle),
                   length * Uniform(rng, 0.3f, 2), width * Uniform(rng, 0.3f, 2), angle + turn);
    if (i % 5 == 0) b = a;
    static constexpr float kThresholds[] = {0.0f, 0.001f, 0.01f, 0.1f, 0.5f, 0.9f};
    const float threshold = kThresholds[rng() % 6];
    const double axis = i % 2 == 0 ? angle : Uniform(rng, 0, 6);
    const double stretch = Uniform(rng, 1, 30), x = std::cos(axis), y = std::sin(axis);
    Compare({Kind::kAligned,
             {Uniform(rng, -100, 100), Uniform(rng, -100, 100)},
             {x / stretch, y / stretch},
             {-y * stretch, x * stretch}},
            a, b, threshold, aligned);
    Compare({Kind::kDirections}, a, b, threshold, by_direction);
    if (HasFatalFailure()) FAIL() << "pair " << i;
  }
  for (const Counts& counts : {aligned, by_direction}) {
    EXPECT_GT(counts.above, pairs / 10);
    EXPECT_GT(counts.apart, pairs / 20);
  }
}

// Strips at right angles share too little at any threshold that is not tiny.
TEST(QuadFrame, DirectionsTellStripsApart) {
  const Quad across = {-50, 0, 50, 0, 50, 1, -50, 1}, down = {0, -50, 1, -50, 1, 50, 0, 50};
  Counts counts;
  Compare({Kind::kDirections}, across, down, 0.1f, counts);
  EXPECT_EQ(counts.apart, 1);
  Compare({Kind::kDirections}, across, down, 0.001f, counts);
  EXPECT_EQ(counts.apart, 1);
}

TEST(QuadFrame, WhatOverlapsNothingDoesSoInEveryFrame) {
  const Quad flat = {0, 0, 1, 0, 2, 0, 3, 0};
  for (const QuadFrame& frame :
       {QuadFrame{}, QuadFrame{Kind::kAligned, {1, 1}, {0.6, 0.8}, {-0.8, 0.6}},
        QuadFrame{Kind::kDirections}}) {
    math::QuadBounds plain;
    const math::FilterQuad prepared = math::PrepareQuad(flat.data(), plain);
    const math::QuadBounds reach = math::ReachIn(frame, prepared, flat.data(), plain, 0.1f);
    EXPECT_GT(reach.x1, reach.x2);
  }
}

}  // namespace
}  // namespace detops::test

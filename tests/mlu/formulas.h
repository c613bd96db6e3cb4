// SPDX-License-Identifier: Apache-2.0
//
// Every formula of src/math that a device may use, in one function that the card and this machine
// both compute.
#pragma once

#include <cstdint>

#include "math/bilinear.h"
#include "math/binary64.h"
#include "math/bit_cast.h"
#include "math/box.h"
#include "math/box3d.h"
#include "math/exp.h"
#include "math/half.h"
#include "math/proposal.h"
#include "math/quad.h"
#include "math/quad_bounds.h"
#include "math/score_order.h"
#include "math/sincos.h"

namespace detops::test {

constexpr int kArguments = 32, kResults = 32;

// Writes results as bits, and every NaN as one.
struct Results {
  uint32_t* next;

  DETOPS_HD void Add(uint32_t bits) { *next++ = bits; }
  DETOPS_HD void Add(float f) { Add(f == f ? math::BitCast<uint32_t>(f) : 0x7fc00000u); }
};

// x: two quadrilaterals, whose numbers serve as boxes and deltas too; from 16 on: a threshold, two
// areas, a stretch, a score, a point in 3-D and in the plane, a 3-D box.
template <class Wide>
DETOPS_HD void Evaluate(const float* x, uint32_t* results) {  // [kArguments], [kResults]
  using namespace math;
  Results r = {results};
  const float *quad_a = x, *quad_b = x + 8;
  const float threshold = x[16];

  r.Add(Exp<Wide>(x[19]));
  const SinCosResult rotation = SinCos<Wide>(x[20]);
  r.Add(rotation.sin);
  r.Add(rotation.cos);

  const QuadBounds reach_a = ReachOf(quad_a), reach_b = ReachOf(quad_b);
  r.Add(QuadIoUGreater<Wide>(quad_a, quad_b, threshold) ? 1u : 0u);
  r.Add(NeverEnough(x[17], x[18], reach_a, reach_b, threshold) ? 1u : 0u);
  r.Add(reach_a.x1);
  r.Add(reach_b.y2);

  const ImageSize image = {x[17], x[18]};
  const Box<float> proposal = DecodeProposal<Wide>(quad_a, quad_b, x + 16, image, 1.0f);
  r.Add(proposal.x1);
  r.Add(proposal.y1);
  r.Add(proposal.x2);
  r.Add(proposal.y2);
  r.Add(KeepProposal(proposal, image, 0.1f, 1.0f) ? 1u : 0u);
  const Box<float> other = {reach_b.x1, reach_b.y1, reach_b.x2, reach_b.y2};
  r.Add(BoxIoU(proposal, other, BoxArea(proposal, 0.0f), BoxArea(other, 0.0f), NoOffset(), 0.0f,
               0.0f));

  const auto box = PrepareBox3d<Wide>(x + 25);
  const FlatBox flat = {box.cx,
                        box.cy,
                        box.cz,
                        box.cos,
                        box.sin,
                        FloatBelow(box.reach_x),
                        FloatBelow(box.reach_y),
                        FloatAtMost(box.reach_z)};
  r.Add(flat.reach_x);
  r.Add(flat.reach_z);
  r.Add(Holds(box, x[21], x[22], x[23]) ? 1u : 0u);
  r.Add(Holds(flat, x[21], x[22], x[23]) ? 1u : 0u);
  r.Add(BoundsOf(flat).high[1]);

  const uint64_t key = ScoreKey(x[20], 7);
  r.Add(static_cast<uint32_t>(key >> 32));
  r.Add(IndexOfKey(key));
  r.Add(ScoreOfRank(ScoreRank(x[20])));
  r.Add(uint32_t{ToHalf(x[20]).bits});
  r.Add(ToFloat(FromFloat<Half>(x[24])));

  const auto sample = SampleAt<int32_t>(x[23], x[24], 3, 5);
  r.Add(static_cast<uint32_t>(sample.x_high + 8 * sample.y_high));
  r.Add(Blend(sample.w1, sample.w2, sample.w3, sample.w4, x[0], x[1], x[2], x[3]));
  while (r.next < results + kResults) r.Add(0u);
}

// On the simulated card. Host memory.
void EvaluateOnCard(const float* arguments, uint32_t* results, int count);
// bits of a + b, a - b, a * b, a / b, whether a < b, and that of a as a float
void ComputeOnCard(const uint64_t* pairs, uint64_t* results, int count);  // [count,2], [count,6]

}  // namespace detops::test

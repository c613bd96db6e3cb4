// SPDX-License-Identifier: Apache-2.0
//
// From boxes as they are given to their bounds and their records, on the device. As in
// math/box3d.h, in vectors and without double.
#pragma once

#include "math/sincos.h"
#include "math/soft_double.h"
#include "ops/points_in_boxes/mlu.h"
#include "ops/points_in_boxes/mlu_rotation.h"

namespace detops::ops::points_in_boxes {
namespace {

constexpr int kBoxFloats = 7;  // cx cy cz dx dy dz heading
constexpr float kMargin = 1e-5f;

// Scratch for some boxes; arrays of n are placed in it one behind another.
template <int kMost>
struct BoxScratch {
  float boxes[kBoxFloats * kMost];    // as in memory
  float columns[kBoxFloats * kMost];  // an array for each number
};

// Bounds that contain every point that a box contains, as math::BoundsOf, with a wider margin for
// the rotation, and 1 in `valid` where there may be such points, else 0. `t` are 8 arrays of n.
__mlu_func__ void FindBounds(float* const (&low)[3], float* const (&high)[3], float* valid,
                             const float* columns, const AngleTable* table, float* t, int n) {
  // From b * b / 2 < 0.0003, where the series of sin(b) and cos(b) end, and roundings.
  constexpr float kRotationError = 4e-4f;
  constexpr float kMostFinite = 0x1.fffffep127f;
  const float *const sizes = columns + 3 * n, *const heading = columns + 6 * n;
  float *const cos = t, *const sin = t + n, *const usual = t + 2 * n, *const angle = t + 3 * n;
  float *const k = t + 4 * n, *const u = t + 5 * n, *const reach_x = t + 6 * n;
  float* const reach_y = t + 7 * n;

  // |cos| and |sin|, at most 1; 1 for angles that are beyond the table.
  __bang_abs(usual, heading, n);
  __bang_le_scalar(usual, usual, kMaxAngle, n);
  __bang_mul(angle, heading, usual, n);
  __bang_mul_scalar(k, angle, kEntriesPerRadian, n);
  __bang_add_scalar(k, k, kRounder, n);
  __bang_sub_scalar(k, k, kRounder, n);
  __bang_mul_scalar(u, k, -(kStep1 + kStep2), n);
  __bang_float2int32_rn(Bits(k), k, n, 0);
  __bang_add(angle, angle, u, n);
  __bang_band_scalar(Bits(k), Bits(k), 63, n);
  __bang_lut_s32(Bits(cos), Bits(k), Bits(table->high + 32), n, 64);
  __bang_lut_s32(Bits(sin), Bits(k), Bits(table->high), n, 64);
  __bang_mul(u, cos, angle, n);
  __bang_mul(angle, sin, angle, n);
  __bang_add(sin, sin, u, n);
  __bang_sub(cos, cos, angle, n);
  __bang_not(usual, usual, n);
  __bang_abs(sin, sin, n);
  __bang_abs(cos, cos, n);
  __bang_add_scalar(sin, sin, kRotationError, n);
  __bang_add_scalar(cos, cos, kRotationError, n);
  __bang_maxequal(sin, sin, usual, n);
  __bang_maxequal(cos, cos, usual, n);
  __bang_minequal_scalar(sin, sin, 1.0f, n);
  __bang_minequal_scalar(cos, cos, 1.0f, n);

  __bang_mul_scalar(reach_x, sizes, 0.5f, n);
  __bang_mul_scalar(reach_y, sizes + n, 0.5f, n);
  __bang_add_scalar(reach_x, reach_x, kMargin, n);
  __bang_add_scalar(reach_y, reach_y, kMargin, n);

  // An infinite heading or any NaN is not valid, nor a negative size.
  __bang_sub(valid, heading, heading, n);
  __bang_ge_scalar(u, reach_x, 0.0f, n);
  __bang_eq_scalar(valid, valid, 0.0f, n);
  __bang_and(valid, valid, u, n);
  __bang_ge_scalar(u, reach_y, 0.0f, n);
  __bang_ge_scalar(k, sizes + 2 * n, 0.0f, n);
  __bang_and(valid, valid, u, n);
  __bang_and(valid, valid, k, n);

  for (int axis = 0; axis < 3; ++axis) {
    const float* const centre = columns + axis * n;
    float* const reach = usual;
    if (axis < 2) {
      // |cos| rx + |sin| ry, or |sin| rx + |cos| ry, and a margin relative to both
      __bang_mul(angle, axis == 0 ? cos : sin, reach_x, n);
      __bang_mul(k, axis == 0 ? sin : cos, reach_y, n);
      __bang_add(u, reach_x, reach_y, n);
      __bang_add(reach, angle, k, n);
      __bang_mul_scalar(u, u, 1.1e-5f, n);
      __bang_add(reach, reach, u, n);
    } else {
      __bang_mul_scalar(reach, sizes + 2 * n, 0.50001f, n);
    }
    __bang_abs(u, centre, n);
    __bang_add_scalar(reach, reach, 1e-37f, n);
    __bang_mul_scalar(u, u, 1e-6f, n);
    __bang_eq(k, centre, centre, n);
    __bang_add(reach, reach, u, n);
    // A box of infinite height contains points of any height even if its centre is infinite.
    __bang_minequal_scalar(u, centre, kMostFinite, n);
    __bang_maxequal_scalar(u, u, -kMostFinite, n);
    __bang_and(valid, valid, k, n);
    __bang_sub(low[axis], u, reach, n);
    __bang_add(high[axis], u, reach, n);
    __bang_le(u, low[axis], high[axis], n);
    __bang_and(valid, valid, u, n);
  }
}

// The largest float l for which |lx| <= l is |lx| < size / 2 + 1e-5f, with the right side in
// double, for every float lx; `size` is not NaN and the right side is positive. `t` are 4 arrays of
// n.
//
// With h = size / 2, let s be the float nearest to h + 1e-5f, and e = h + 1e-5f - s, which is a
// float. The double r nearest to s + e lies between the floats next to s. If r > s, then l = s,
// else the float below s. r > s if and only if e > ulp/2, where ulp is that of s as a double, 2^-52
// times the power of two at or below it: if e is exactly half of it, s + e is a tie, which goes to
// s.
__mlu_func__ void FindReach(float* reach, const float* size, float* t, int n) {
  float *const h = t, *const s = t + n, *const u = t + 2 * n, *const v = t + 3 * n;
  __bang_mul_scalar(h, size, 0.5f, n);
  __bang_add_scalar(s, h, kMargin, n);
  __bang_sub(u, s, h, n);
  __bang_sub(v, s, u, n);
  __bang_mul_scalar(u, u, -1.0f, n);
  __bang_sub(v, h, v, n);
  __bang_add_scalar(u, u, kMargin, n);
  __bang_add(v, v, u, n);  // e
  __bang_band_scalar(Bits(u), Bits(s), 0x7f800000, n);
  __bang_mul_scalar(u, u, 0x1p-53f, n);
  __bang_gt(v, v, u, n);  // of inf - inf 0: the largest float is below infinity
  __bang_not(v, v, n);
  __bang_float2int32_rn(Bits(v), v, n, 0);
  __bang_sub(Bits(reach), Bits(s), Bits(v), n);
}

// The largest float that is at most size / 2, which is no float if it is subnormal and odd. `t` are
// 2 arrays of n.
__mlu_func__ void FindHalf(float* half, const float* size, float* t, int n) {
  float *const h = t, *const u = t + n;
  __bang_mul_scalar(h, size, 0.5f, n);
  __bang_add(u, h, h, n);
  __bang_gt(u, u, size, n);
  __bang_float2int32_rn(Bits(u), u, n, 0);
  __bang_sub(Bits(half), Bits(h), Bits(u), n);
}

struct RecordScratch {
  BoxScratch<kAngles> boxes;
  AngleScratch angles;
  float doubtful[kAngles];
  uint32_t offsets[kAngles];
  float rows[sizeof(BoxRecord) / sizeof(float) * kAngles];
  BoxRecord records[kAngles];
};

// The records of the boxes whose numbers are given, n <= kAngles of those at `boxes`, which are
// first_box and so on.
__mlu_func__ void FindRecords(const int32_t* numbers, int n, const float* boxes, int32_t first_box,
                              const AngleTable* table, RecordScratch* scratch) {
  constexpr int kBytes = kBoxFloats * sizeof(float);
  float* const columns = scratch->boxes.columns;
  float* const rows = scratch->rows;
  __bang_mul_scalar(reinterpret_cast<int32_t*>(scratch->offsets), numbers, kBytes, n);
  __gather(scratch->boxes.boxes, boxes, scratch->offsets, kBytes, GDRAM2NRAM, kBytes, n);
  __bang_transpose(columns, scratch->boxes.boxes, n, kBoxFloats);

  const float* const heading = columns + 6 * n;
  float *const cosine = rows + 3 * n, *const sine = rows + 4 * n;
  FindRotations(cosine, sine, scratch->doubtful, heading, table, &scratch->angles, n);
  CopyWords(Bits(rows), Bits(columns), 3 * n);
  float* const t = scratch->angles.rows[0];
  FindReach(rows + 5 * n, columns + 3 * n, t, n);
  FindReach(rows + 6 * n, columns + 4 * n, t, n);
  FindHalf(rows + 7 * n, columns + 5 * n, t, n);
  __bang_add_scalar(Bits(rows + 8 * n), numbers, first_box, n);
  __bang_write_zero(rows + kRecordWords * n,
                    (static_cast<int>(sizeof(BoxRecord) / sizeof(float)) - kRecordWords) * n);
  if (__bang_findfirst1(scratch->doubtful, n) != 0xffffffffu) {
    for (int i = 0; i < n; ++i) {
      if (scratch->doubtful[i] == 0.0f) continue;
      const math::SinCosResult r = math::SinCos<math::SoftDouble>(-heading[i]);
      cosine[i] = r.cos;
      sine[i] = r.sin;
    }
  }
  __bang_transpose(reinterpret_cast<float*>(scratch->records), rows,
                   static_cast<int>(sizeof(BoxRecord) / sizeof(float)), n);
}

}  // namespace
}  // namespace detops::ops::points_in_boxes

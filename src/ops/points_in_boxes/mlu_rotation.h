// SPDX-License-Identifier: Apache-2.0
//
// Sine and cosine of vectors of angles, correctly rounded as in math/sincos.h, in pairs of floats:
// a pair stands for the sum of its high and its low part.
//
// The angle is k * pi/64 + b, and the sine and cosine of k * pi/64 come from a table. As |b| <
// 0.0246, short series give those of b, and the angle sum formulas the rest. The result is within
// kError of the true one, relatively; where all values within that round to the same float, this is
// the result. The other lanes, about one in 200,000, are doubtful.
#pragma once

#include "ops/points_in_boxes/mlu_slabs.h"

namespace detops::ops::points_in_boxes {
namespace {

// Lanes at a time.
constexpr int kAngles = kBoxesPerWord;
// Beyond this all lanes are doubtful, for k * kStep1 to k * kStep4 might not be exact.
constexpr float kMaxAngle = 100.0f;
constexpr float kEntriesPerRadian = 0x1.45f306p+4f;  // 64/pi
// They sum to pi/64 within 2^-83. The first four have 13 bits each: times an integer below 2^11
// they are floats.
constexpr float kStep1 = 0x1.921p-5f, kStep2 = 0x1.f6ap-18f, kStep3 = 0x1.11p-31f;
constexpr float kStep4 = 0x1.68cp-44f, kStep5 = 0x1.1a6264p-59f;
// 1/6 as a pair, and its high part as the sum of two floats of 12 bits.
constexpr float kSixth = 0x1.555556p-3f, kSixthHigh = 0x1.554p-3f, kSixthLow = 0x1.556p-15f;
constexpr float kSixthRest = -0x1.555556p-28f;
// Adding and subtracting it rounds to an integer.
constexpr float kRounder = 0x1.8p23f;
constexpr float kError = 0x1p-41f;

// A lookup takes a table of 64 entries. Cosines are the sines a quarter turn on, and half a turn on
// the sign changes.
struct AngleTable {
  float high[128], low[128];  // of sin(j * pi/64)
};

struct AngleScratch {
  float rows[44][kAngles];
};

struct Pair {
  float* high;
  float* low;
};

// A float, and the same as the sum of two that have 12 bits each: products of those are exact.
struct Halves {
  const float* value;
  float* high;
  float* low;
};

__mlu_func__ void MakeAngleTable(AngleTable* table) {
  float* const h = table->high;
  float* const l = table->low;
  h[0] = 0.0f, l[0] = 0.0f;
  h[1] = 0x1.91f66p-5f, l[1] = -0x1.de44fep-30f;
  h[2] = 0x1.917a6cp-4f, l[2] = -0x1.eb25eap-31f;
  h[3] = 0x1.2c8106p-3f, l[3] = 0x1.d1cc28p-28f;
  h[4] = 0x1.8f8b84p-3f, l[4] = -0x1.cb2cfap-30f;
  h[5] = 0x1.f19f98p-3f, l[5] = -0x1.37a83ap-29f;
  h[6] = 0x1.294062p-2f, l[6] = 0x1.dab3ep-27f;
  h[7] = 0x1.58f9a8p-2f, l[7] = -0x1.4a9c04p-27f;
  h[8] = 0x1.87de2ap-2f, l[8] = 0x1.abaa58p-28f;
  h[9] = 0x1.b5d1p-2f, l[9] = 0x1.3c2b98p-27f;
  h[10] = 0x1.e2b5d4p-2f, l[10] = -0x1.fe4272p-28f;
  h[11] = 0x1.07387ap-1f, l[11] = -0x1.b74004p-27f;
  h[12] = 0x1.1c73b4p-1f, l[12] = -0x1.9465cep-27f;
  h[13] = 0x1.30ff8p-1f, l[13] = -0x1.8f47e6p-28f;
  h[14] = 0x1.44cf32p-1f, l[14] = 0x1.424776p-27f;
  h[15] = 0x1.57d694p-1f, l[15] = -0x1.6e626cp-26f;
  h[16] = 0x1.6a09e6p-1f, l[16] = 0x1.9fcef4p-27f;
  h[17] = 0x1.7b5df2p-1f, l[17] = 0x1.3557d8p-28f;
  h[18] = 0x1.8bc806p-1f, l[18] = 0x1.62a2e8p-26f;
  h[19] = 0x1.9b3e04p-1f, l[19] = 0x1.fce1dp-27f;
  h[20] = 0x1.a9b662p-1f, l[20] = 0x1.21d434p-26f;
  h[21] = 0x1.b72834p-1f, l[21] = 0x1.465b9p-27f;
  h[22] = 0x1.c38b3p-1f, l[22] = -0x1.cfe84ap-26f;
  h[23] = 0x1.ced7bp-1f, l[23] = -0x1.786712p-26f;
  h[24] = 0x1.d906bcp-1f, l[24] = 0x1.e651a8p-26f;
  h[25] = 0x1.e2121p-1f, l[25] = 0x1.3da1bap-27f;
  h[26] = 0x1.e9f416p-1f, l[26] = -0x1.273a44p-26f;
  h[27] = 0x1.f0a7fp-1f, l[27] = -0x1.1b73cap-27f;
  h[28] = 0x1.f6297cp-1f, l[28] = 0x1.feeb96p-26f;
  h[29] = 0x1.fa7558p-1f, l[29] = -0x1.eeb5d2p-30f;
  h[30] = 0x1.fd88dap-1f, l[30] = 0x1.e89292p-28f;
  h[31] = 0x1.ff621ep-1f, l[31] = 0x1.bcb6bep-28f;
  h[32] = 0x1p+0f, l[32] = 0.0f;
  __bang_mirror(h + 33, h + 1, 1, 31);
  __bang_mirror(l + 33, l + 1, 1, 31);
  __bang_mul_scalar(h + 64, h, -1.0f, 64);
  __bang_mul_scalar(l + 64, l, -1.0f, 64);
}

__mlu_func__ Halves Split(const float* value, float* high, float* low, int n) {
  __bang_band_scalar(Bits(high), Bits(value), static_cast<int32_t>(0xfffff000u), n);
  __bang_sub(low, value, high, n);
  return {value, high, low};
}

// The sum of two floats. Here and below, t is scratch.
__mlu_func__ void AddExactly(Pair sum, const float* a, const float* b, float* t, int n) {
  __bang_add(sum.high, a, b, n);
  __bang_sub(t, sum.high, a, n);
  __bang_sub(sum.low, sum.high, t, n);
  __bang_sub(t, b, t, n);
  __bang_sub(sum.low, a, sum.low, n);
  __bang_add(sum.low, sum.low, t, n);
}

// The same for |a| >= |b|.
__mlu_func__ void AddSmaller(Pair sum, const float* a, const float* b, float* t, int n) {
  __bang_add(sum.high, a, b, n);
  __bang_sub(t, sum.high, a, n);
  __bang_sub(sum.low, b, t, n);
}

// The product of two pairs, of which `a` and `b` are the high parts, within 2^-45 of it.
__mlu_func__ void Multiply(Pair product, const Halves& a, const float* a_low, const Halves& b,
                           const float* b_low, float* t, float* u, int n) {
  __bang_mul(product.high, a.value, b.value, n);
  __bang_mul(product.low, a.high, b.high, n);
  __bang_mul(t, a.high, b.low, n);
  __bang_sub(product.low, product.low, product.high, n);
  __bang_mul(u, a.low, b.high, n);
  __bang_add(product.low, product.low, t, n);
  __bang_mul(t, a.low, b.low, n);
  __bang_add(product.low, product.low, u, n);
  __bang_mul(u, a.value, b_low, n);
  __bang_add(product.low, product.low, t, n);
  __bang_mul(t, a_low, b.value, n);
  __bang_add(product.low, product.low, u, n);
  __bang_add(product.low, product.low, t, n);
}

// cos(-heading) and sin(-heading), and 1 in `doubtful` where either is not certain to be rounded
// correctly, else 0. At most kAngles.
__mlu_func__ void FindRotations(float* cosine, float* sine, float* doubtful, const float* heading,
                                const AngleTable* table, AngleScratch* scratch, int n) {
  auto& row = scratch->rows;
  float *const x = row[0], *const k = row[1], *const t = row[2], *const u = row[3];
  float *const v = row[4], *const e = row[5];
  int32_t* const entry = Bits(row[6]);
  int32_t* const sign = Bits(row[7]);
  const Pair rest = {row[8], row[9]}, b = {row[10], row[11]};

  // b = x - k * pi/64. v and rest.high take turns to be its high part.
  __bang_mul_scalar(x, heading, -1.0f, n);
  __bang_mul_scalar(k, heading, -kEntriesPerRadian, n);
  __bang_add_scalar(k, k, kRounder, n);
  __bang_sub_scalar(k, k, kRounder, n);
  __bang_float2int32_rn(entry, k, n, 0);
  __bang_mul_scalar(u, k, kStep1, n);
  __bang_band_scalar(sign, entry, 64, n);
  __bang_sub(v, x, u, n);  // exact
  __bang_mul_scalar(sign, sign, 1 << 25, n);
  __bang_mul_scalar(u, k, -kStep2, n);
  __bang_band_scalar(entry, entry, 63, n);
  AddExactly(rest, v, u, t, n);
  __bang_mul_scalar(u, k, -kStep3, n);
  AddExactly({v, e}, rest.high, u, t, n);
  __bang_mul_scalar(u, k, -kStep4, n);
  __bang_add(rest.low, rest.low, e, n);
  AddExactly({rest.high, e}, v, u, t, n);
  __bang_mul_scalar(u, k, -kStep5, n);
  __bang_add(rest.low, rest.low, e, n);
  __bang_add(rest.low, rest.low, u, n);
  AddSmaller(b, rest.high, rest.low, t, n);

  // z = b * b and b * z
  const Halves b_high = Split(b.high, row[12], row[13], n);
  const Pair z = {row[14], row[15]}, bz = {row[16], row[17]};
  Multiply(z, b_high, b.low, b_high, b.low, t, u, n);
  const Halves z_high = Split(z.high, row[18], row[19], n);
  Multiply(bz, b_high, b.low, z_high, z.low, t, u, n);

  // sin(b) = b - c, where c = b*z/6 - b*z*z/120 = b*z/6 * (1 - z/20)
  const Halves bz_high = Split(bz.high, row[8], row[9], n);
  const Pair c = {row[20], row[21]}, sin_b = {row[24], row[26]};
  __bang_mul_scalar(c.high, bz.high, kSixth, n);
  __bang_mul_scalar(c.low, bz_high.high, kSixthHigh, n);
  __bang_mul_scalar(t, bz_high.high, kSixthLow, n);
  __bang_sub(c.low, c.low, c.high, n);
  __bang_mul_scalar(u, bz_high.low, kSixthHigh, n);
  __bang_add(c.low, c.low, t, n);
  __bang_mul_scalar(t, bz_high.low, kSixthLow, n);
  __bang_add(c.low, c.low, u, n);
  __bang_mul_scalar(u, bz.high, kSixthRest, n);
  __bang_add(c.low, c.low, t, n);
  __bang_mul_scalar(t, bz.low, kSixth, n);
  __bang_add(c.low, c.low, u, n);
  __bang_mul(v, c.high, z.high, n);
  __bang_add(c.low, c.low, t, n);
  __bang_mul_scalar(v, v, 1.0f / 20, n);
  __bang_sub(sin_b.high, b.high, c.high, n);
  __bang_sub(c.low, c.low, v, n);
  __bang_sub(t, b.high, sin_b.high, n);
  __bang_sub(c.low, b.low, c.low, n);
  __bang_sub(t, t, c.high, n);
  __bang_add(sin_b.low, t, c.low, n);

  // cos(b) = 1 - z/2 + z*z/24 - z*z*z/720
  const Pair cos_b = {row[28], row[30]};
  __bang_mul_scalar(v, z.high, -0.5f, n);
  __bang_mul(t, z.high, z.high, n);
  __bang_add_scalar(cos_b.high, v, 1.0f, n);
  __bang_mul_scalar(u, z.high, -1.0f / 720, n);
  __bang_sub_scalar(e, cos_b.high, 1.0f, n);
  __bang_add_scalar(u, u, 1.0f / 24, n);
  __bang_sub(e, v, e, n);
  __bang_mul(t, t, u, n);
  __bang_mul_scalar(u, z.low, -0.5f, n);
  __bang_add(t, t, e, n);
  __bang_add(cos_b.low, t, u, n);

  // cos(a + b) = cos(a) * cos(b) - sin(a) * sin(b) and, behind it,
  // sin(a + b) = sin(a) * cos(b) + cos(a) * sin(b): from here on rows are twice as long.
  const int twice = 2 * n;
  Pair a_first = {row[12], row[14]}, a_second = {row[16], row[18]};
  __bang_lut_s32(Bits(a_first.high), entry, Bits(table->high + 32), n, 64);
  __bang_lut_s32(Bits(a_first.low), entry, Bits(table->low + 32), n, 64);
  __bang_lut_s32(Bits(a_first.high + n), entry, Bits(table->high), n, 64);
  __bang_lut_s32(Bits(a_first.low + n), entry, Bits(table->low), n, 64);
  __bang_lut_s32(Bits(a_second.high), entry, Bits(table->high + 64), n, 64);
  __bang_lut_s32(Bits(a_second.low), entry, Bits(table->low + 64), n, 64);
  __bang_lut_s32(Bits(a_second.high + n), entry, Bits(table->high + 32), n, 64);
  __bang_lut_s32(Bits(a_second.low + n), entry, Bits(table->low + 32), n, 64);
  CopyWords(Bits(cos_b.high + n), Bits(cos_b.high), n);
  CopyWords(Bits(cos_b.low + n), Bits(cos_b.low), n);
  CopyWords(Bits(sin_b.high + n), Bits(sin_b.high), n);
  CopyWords(Bits(sin_b.low + n), Bits(sin_b.low), n);

  float *const t2 = row[0], *const u2 = row[2];
  const Pair p = {row[32], row[34]}, q = {row[36], row[38]}, sum = {row[40], row[42]};
  const Halves first_high = Split(a_first.high, row[4], row[8], twice);
  const Halves cos_high = Split(cos_b.high, row[20], row[22], twice);
  Multiply(p, first_high, a_first.low, cos_high, cos_b.low, t2, u2, twice);
  const Halves second_high = Split(a_second.high, row[4], row[8], twice);
  const Halves sin_high = Split(sin_b.high, row[20], row[22], twice);
  Multiply(q, second_high, a_second.low, sin_high, sin_b.low, t2, u2, twice);

  AddExactly(sum, p.high, q.high, t2, twice);
  __bang_add(p.low, p.low, q.low, twice);
  __bang_abs(t2, sum.high, twice);
  __bang_add(sum.low, sum.low, p.low, twice);
  __bang_mul_scalar(t2, t2, kError, twice);
  __bang_sub(p.high, sum.low, t2, twice);
  __bang_add(q.high, sum.low, t2, twice);
  __bang_add(p.high, sum.high, p.high, twice);
  __bang_add(q.high, sum.high, q.high, twice);
  __bang_bxor(Bits(cosine), Bits(p.high), sign, n);
  __bang_ne(t2, p.high, q.high, twice);
  __bang_bxor(Bits(sine), Bits(p.high + n), sign, n);

  // Of a NaN this is 1, too.
  __bang_abs(u2, heading, n);
  __bang_or(doubtful, t2, t2 + n, n);
  __bang_le_scalar(u2, u2, kMaxAngle, n);
  __bang_not(u2, u2, n);
  __bang_or(doubtful, doubtful, u2, n);
}

}  // namespace
}  // namespace detops::ops::points_in_boxes

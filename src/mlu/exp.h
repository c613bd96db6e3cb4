// SPDX-License-Identifier: Apache-2.0
//
// math::Exp for many numbers, with the same bits. In vectors of floats, as sums of two or three
// without an error that matters: the result is known but for 2^-39 of its power of 2. Where both
// ends of that interval round to one float, so does every number in it, exact or computed by
// math/exp.h, whose own error is below 2^-48; of the others, one in 30,000, math::Exp decides. For
// kernels only.
#pragma once

#include "math/exp.h"
#include "mlu/team.h"

namespace detops::mlu {

namespace exp_internal {

constexpr int kSteps = 64;  // x = n ln2/64 + r, |r| < 0.0055

// 2^(i/64) = high + middle + low: twelve bits, the next twelve, and what remains. Bits of floats.
__mlu_const__ const uint32_t kPowers[3][kSteps] = {
    {0x3f800000, 0x3f816000, 0x3f82c000, 0x3f843000, 0x3f85a000, 0x3f871000, 0x3f889000,
     0x3f8a1000, 0x3f8b9000, 0x3f8d1000, 0x3f8ea000, 0x3f903000, 0x3f91c000, 0x3f935000,
     0x3f94f000, 0x3f969000, 0x3f983000, 0x3f99e000, 0x3f9b8000, 0x3f9d3000, 0x3f9ef000,
     0x3fa0b000, 0x3fa27000, 0x3fa43000, 0x3fa5f000, 0x3fa7c000, 0x3fa9a000, 0x3fab7000,
     0x3fad5000, 0x3faf3000, 0x3fb12000, 0x3fb31000, 0x3fb50000, 0x3fb6f000, 0x3fb8f000,
     0x3fbaf000, 0x3fbd0000, 0x3fbf1000, 0x3fc12000, 0x3fc34000, 0x3fc56000, 0x3fc78000,
     0x3fc9b000, 0x3fcbe000, 0x3fce2000, 0x3fd06000, 0x3fd2a000, 0x3fd4f000, 0x3fd74000,
     0x3fd99000, 0x3fdbf000, 0x3fde6000, 0x3fe0c000, 0x3fe33000, 0x3fe5b000, 0x3fe83000,
     0x3feac000, 0x3fed4000, 0x3fefe000, 0x3ff28000, 0x3ff52000, 0x3ff7d000, 0x3ffa8000,
     0x3ffd3000},
    {0x00000000, 0x391a4000, 0x39d87000, 0x39a29000, 0x39ac3000, 0x39f62000, 0x3980f000,
     0x391aa000, 0x39384000, 0x39adf000, 0x39074000, 0x386e0000, 0x38f4c000, 0x39a2b000,
     0x391e0000, 0x3905a000, 0x397e0000, 0x370c0000, 0x39d3a000, 0x39eda000, 0x39264000,
     0x37220000, 0x37060000, 0x3922c000, 0x39ed7000, 0x39d94000, 0x382d8000, 0x39a3a000,
     0x3983f000, 0x39b79000, 0x38fd8000, 0x38620000, 0x391e6000, 0x39d92000, 0x39baf000,
     0x39f5b000, 0x398a4000, 0x39734000, 0x39c4d000, 0x3959a000, 0x39654000, 0x39d75000,
     0x399be000, 0x39c15000, 0x39118000, 0x38cd0000, 0x3981e000, 0x38d6c000, 0x391fa000,
     0x39d16000, 0x39bb8000, 0x37f50000, 0x39cdf000, 0x39f89000, 0x39907000, 0x3996a000,
     0x37c70000, 0x39f30000, 0x39174000, 0x383b8000, 0x392fa000, 0x37df0000, 0x38ecc000,
     0x39e0c000},
    {0x00000000, 0xb1c43fd0, 0xb34ea7a9, 0xb2f14c87, 0x334f9891, 0xb352c2e6, 0xb37eda4b,
     0x336a92de, 0xb260aba1, 0x3336fcb7, 0xb3697465, 0x330628cd, 0x33675624, 0x32bc4f9c,
     0xb32e0212, 0x32dc8061, 0x33231b71, 0xb359be90, 0xb30c5563, 0xb331a601, 0x33412342,
     0x31fb9715, 0x30c3125a, 0xb323ec33, 0xb32c9d5e, 0xb3162d36, 0xb3162b08, 0xb314ad82,
     0xb22deaf6, 0xb3252deb, 0xb37c5aa8, 0x32154889, 0x32cfe77a, 0xb266b974, 0x330ec5f7,
     0xb31bd983, 0xb3414fe8, 0xb3130b1a, 0xb2d6663e, 0xb2976da2, 0x320aa837, 0xb2dd5119,
     0xb37323a2, 0xb006c6c2, 0x3228fc24, 0xb2944353, 0xb35c1daa, 0xb3286024, 0xb2d4a58a,
     0xb2f61d41, 0xb3504a1c, 0xb37b43e3, 0xb21eab59, 0x33657d15, 0xb2441be6, 0x33207898,
     0xb24116de, 0x3276cca1, 0xb348464a, 0x32f167ff, 0x32292436, 0x336615a2, 0xb2923758,
     0x31cf486c}};

// src = high + low, exactly, of twelve bits each. Not for numbers beyond 2^115.
__mlu_func__ void Split(float* high, float* low, const float* src, int count) {
  __bang_mul_scalar(low, src, 4097.0f, count);
  __bang_sub(high, low, src, count);
  __bang_sub(high, low, high, count);
  __bang_sub(low, src, high, count);
}

// sum + error = a + b, exactly; |a| >= |b|, or a is 0. `sum` is neither of them.
__mlu_func__ void FastTwoSum(float* sum, float* error, const float* a, const float* b, int count) {
  __bang_add(sum, a, b, count);
  __bang_sub(error, sum, a, count);
  __bang_sub(error, b, error, count);
}

}  // namespace exp_internal

// What ExpOfVector looks up, in NRAM. There after the next __sync_io.
struct ExpTable {
  int32_t* powers;  // [3 * kSteps]

  __mlu_func__ explicit ExpTable(Nram& nram) {
    using namespace exp_internal;
    powers = nram.Array<int32_t>(3 * kSteps);
    __memcpy_async(powers, kPowers, 3 * kSteps * sizeof(int32_t), GDRAM2NRAM);
  }
};

constexpr int kExpScratch = 14;  // arrays of `count` that ExpOfVector takes from NRAM

// dst[i] = math::Exp(x[i]) for x up to 88.
__mlu_func__ void ExpOfVector(float* dst, const float* x, int count, const ExpTable& table,
                              Nram nram) {
  using namespace exp_internal;
  float* s[kExpScratch];
  for (int i = 0; i < kExpScratch; ++i) s[i] = nram.Array<float>(count);

  // n = round(x * 64/ln2), as a float and as an integer. Below -87 there are no normal results.
  float* const clamped = s[0];
  float* const n = s[1];
  __bang_maxequal_scalar(clamped, x, -87.0f, count);
  __bang_mul_scalar(n, clamped, 0x1.715476p6f, count);
  __bang_add_scalar(n, n, 0x1.8p23f, count);
  int32_t* const n_bits = reinterpret_cast<int32_t*>(s[2]);
  __bang_sub_scalar(n_bits, reinterpret_cast<int32_t*>(n), static_cast<int32_t>(0x4b400000), count);
  __bang_sub_scalar(n, n, 0x1.8p23f, count);

  // n = 64 k + j: 2^k, and the three parts of 2^(j/64).
  int32_t* const j = reinterpret_cast<int32_t*>(s[3]);
  int32_t* const scale = n_bits;
  __bang_band_scalar(j, n_bits, static_cast<int32_t>(kSteps - 1), count);
  __bang_sub(scale, n_bits, j, count);
  __bang_mul_scalar(scale, scale, static_cast<int32_t>(1 << 17), count);
  __bang_add_scalar(scale, scale, static_cast<int32_t>(0x3f800000), count);
  float* const t_high = s[4];
  float* const t_middle = s[5];
  float* const t_low = s[6];
  __bang_lut_s32(reinterpret_cast<int32_t*>(t_high), j, table.powers, count, kSteps);
  __bang_lut_s32(reinterpret_cast<int32_t*>(t_middle), j, table.powers + kSteps, count, kSteps);
  __bang_lut_s32(reinterpret_cast<int32_t*>(t_low), j, table.powers + 2 * kSteps, count, kSteps);

  // r + r_low = x - n ln2/64. The first three parts of ln2/64 have ten bits, n fourteen: their
  // products are exact, and so are the first two differences, for both sides are multiples of an
  // ulp of x and of 2^-16, 2^-26.
  float* const r = s[7];
  float* const r_low = s[8];
  float* const t = s[3];
  float* const u = s[9];
  __bang_mul_scalar(t, n, 0x1.628p-7f, count);
  __bang_sub(r, clamped, t, count);
  __bang_mul_scalar(t, n, 0x1.908p-17f, count);
  __bang_sub(r, r, t, count);
  // The third may be the larger one.
  __bang_mul_scalar(t, n, -0x1.fdp-28f, count);
  __bang_add(u, r, t, count);
  float* const v = s[10];
  __bang_sub(v, u, r, count);
  __bang_sub(r_low, u, v, count);
  __bang_sub(r_low, r, r_low, count);
  __bang_sub(v, t, v, count);
  __bang_add(r_low, r_low, v, count);
  __bang_mul_scalar(t, n, 0x1.e8e7bcp-37f, count);
  __bang_sub(r_low, r_low, t, count);
  float* const d = u;  // r, from here on

  // e^r - 1 = r + r^2/2 + r^3 (1/6 + r/24 + r^2/120): the square from halves, the first exactly.
  float* const d1 = s[7];
  float* const d2 = s[1];
  Split(d1, d2, d, count);
  float* const half_square = s[10];
  __bang_mul(half_square, d1, d1, count);
  __bang_mul_scalar(half_square, half_square, 0.5f, count);
  float* const rest = s[11];
  __bang_mul(t, d2, d2, count);
  __bang_mul_scalar(t, t, 0.5f, count);
  __bang_mul(rest, d1, d2, count);
  __bang_add(rest, rest, t, count);
  __bang_mul(t, d, r_low, count);
  __bang_add(rest, rest, t, count);
  float* const p = s[12];
  __bang_mul_scalar(p, d, 1.0f / 120, count);
  __bang_add_scalar(p, p, 1.0f / 24, count);
  __bang_mul(p, p, d, count);
  __bang_add_scalar(p, p, 1.0f / 6, count);
  __bang_mul(p, p, d, count);
  __bang_mul(t, d, d, count);
  __bang_mul(p, p, t, count);
  __bang_add(rest, rest, p, count);
  __bang_add(rest, rest, r_low, count);
  float* const e = s[7];  // e + e_low = e^r - 1
  float* const e_low = s[1];
  FastTwoSum(e, e_low, d, half_square, count);
  __bang_add(e_low, e_low, rest, count);

  // 2^(j/64) (1 + e + e_low).
  float* const e1 = s[8];
  float* const e2 = s[9];
  Split(e1, e2, e, count);
  float* const power = s[10];
  __bang_add(power, t_high, t_middle, count);
  float* const tail = s[11];
  __bang_mul(tail, t_middle, e2, count);
  __bang_mul(t, t_low, e, count);
  __bang_add(tail, tail, t, count);
  __bang_add(tail, tail, t_low, count);
  __bang_mul(t, power, e_low, count);
  __bang_add(tail, tail, t, count);
  __bang_mul(t, t_high, e2, count);
  __bang_mul(t_middle, t_middle, e1, count);
  __bang_add(t, t, t_middle, count);
  __bang_add(tail, tail, t, count);
  __bang_mul(t, t_high, e1, count);
  float* const sum = s[12];
  float* const error = s[13];
  FastTwoSum(sum, error, power, t, count);
  __bang_add(tail, tail, error, count);

  // Every addition to the tail, which is below 2^-17, loses up to 2^-42.
  __bang_add_scalar(t, tail, 0x1p-39f, count);
  __bang_add(dst, sum, t, count);
  __bang_sub_scalar(t, tail, 0x1p-39f, count);
  __bang_add(t, sum, t, count);
  float* const doubtful = s[4];
  float* const mask = s[5];
  __bang_ne(doubtful, dst, t, count);  // 0 for NaN
  __bang_mul(dst, dst, reinterpret_cast<float*>(scale), count);
  // exp(-104) < 2^-150, half of the smallest float.
  __bang_gt_scalar(mask, clamped, -87.0f, count);
  __bang_mul(doubtful, doubtful, mask, count);
  __bang_le_scalar(mask, x, -87.0f, count);
  const int small = __bang_count(mask, count);
  if (small > 0) {
    __bang_gt_scalar(t, x, -104.0f, count);
    __bang_mul(t, t, mask, count);
    __bang_add(doubtful, doubtful, t, count);
    __bang_not(mask, mask, count);
    __bang_mul(dst, dst, mask, count);
  }
  if (__bang_count(doubtful, count) == 0) return;
  __bang_incseq(t, count);
  const int left = __bang_filter(t, t, doubtful, count);
  for (int i = 0; i < left; ++i) {
    const int at = static_cast<int>(t[i]);
    dst[at] = math::Exp(x[at]);
  }
}

}  // namespace detops::mlu

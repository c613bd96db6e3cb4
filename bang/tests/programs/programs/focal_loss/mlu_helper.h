// SPDX-License-Identifier: Apache-2.0
//
// What a framework's folder of kernels shares.
#ifndef MLU_HELPER_H_
#define MLU_HELPER_H_

#include "launch.h"

#define NFU_ALIGN_SIZE 128

#if defined(__BANG_ARCH__)
#define MAX_NRAM_SIZE (__MLU_NRAM_SIZE__ * 1024 - REM_FOR_STACK)
#else
#define MAX_NRAM_SIZE (384 * 1024)
#endif

#ifndef PAD_UP
#define PAD_UP(x, y) (((x) / (y) + (int)((x) % (y) > 0)) * (y))
#endif

template <typename T>
__mlu_func__ inline T min_of(T a, T b) {
  return a < b ? a : b;
}

// 1 / (1 + exp(-x)) by the functions that both cards have.
template <typename T>
__mlu_func__ inline void computeSigmoid(T *nram_dst, T *nram_src, void *nram_addition,
                                        const int is_high_precision, const int deal_num) {
  __bang_sigmoid(nram_dst, nram_src, deal_num);
}

template <>
__mlu_func__ inline void computeSigmoid<half>(half *nram_dst, half *nram_src, void *nram_addition,
                                              const int is_high_precision, const int deal_num) {
  if (is_high_precision) {
    float *wide = (float *)nram_addition;
    __bang_half2float(wide, nram_src, deal_num);
    __bang_active_sigmoid(wide, wide, deal_num);
    __bang_float2half_rn(nram_dst, wide, deal_num);
  } else {
    __bang_active_sigmoid(nram_dst, nram_src, deal_num);
  }
}

#endif  // MLU_HELPER_H_

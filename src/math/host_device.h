// SPDX-License-Identifier: Apache-2.0
#pragma once

// Marks a formula that host and device code share, of CUDA (.cu) and of BANG C (.mlu). The build
// disables contraction in all of them (-ffp-contract=off, --fmad=false), so that the same source
// gives the same bits. HOT marks one so short, and used so often, that a call would take as long as
// the formula.
#if defined(__CUDACC__)
#define DETOPS_HD __host__ __device__ inline
#define DETOPS_HD_HOT __host__ __device__ __forceinline__
#elif defined(__BANG__)
#define DETOPS_HD __mlu_func__ inline  // always inlined
#define DETOPS_HD_HOT __mlu_func__ inline
#else
#define DETOPS_HD inline
#define DETOPS_HD_HOT inline __attribute__((always_inline))
#endif

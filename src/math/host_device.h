// SPDX-License-Identifier: Apache-2.0
#pragma once

// Marks a formula that host and CUDA device code share. The build disables contraction in both
// (-ffp-contract=off, --fmad=false), so that the same source gives the same bits. HOT marks one so
// short, and used so often, that a call would take as long as the formula.
#ifdef __CUDACC__
#define DETOPS_HD __host__ __device__ inline
#define DETOPS_HD_HOT __host__ __device__ __forceinline__
#else
#define DETOPS_HD inline
#define DETOPS_HD_HOT inline __attribute__((always_inline))
#endif

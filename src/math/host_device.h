// SPDX-License-Identifier: Apache-2.0
#pragma once

// Marks a formula that host and CUDA device code share. The build turns contraction off in both
// (-ffp-contract=off, --fmad=false), so that the same source gives the same bits. HOT: so short,
// and asked so often, that a call of it would take as long as the formula.
#ifdef __CUDACC__
#define DETOPS_HD __host__ __device__ inline
#define DETOPS_HD_HOT __host__ __device__ __forceinline__
#else
#define DETOPS_HD inline
#define DETOPS_HD_HOT inline __attribute__((always_inline))
#endif

// SPDX-License-Identifier: Apache-2.0
#pragma once

// Marks a formula that host and CUDA device code share. The build turns contraction off in both
// (-ffp-contract=off, --fmad=false), so that the same source gives the same bits.
#ifdef __CUDACC__
#define DETOPS_HD __host__ __device__ inline
#else
#define DETOPS_HD inline
#endif

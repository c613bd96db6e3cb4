// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cnrt.h>

enum class Op { kAdd, kMul };

// Defined and instantiated in apply.mlu.
template <typename T, Op op>
__mlu_global__ void Apply(T *out, const T *in, T operand, int n);
extern template __mlu_global__ void Apply<float, Op::kAdd>(float *, const float *, float, int);
extern template __mlu_global__ void Apply<float, Op::kMul>(float *, const float *, float, int);
extern template __mlu_global__ void Apply<half, Op::kAdd>(half *, const half *, half, int);
extern template __mlu_global__ void Apply<int, Op::kMul>(int *, const int *, int, int);

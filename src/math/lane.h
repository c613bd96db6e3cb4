// SPDX-License-Identifier: Apache-2.0
//
// Minimum and maximum with one fixed result for NaN and for zeros of both signs. std::min, fminf,
// minps and min.f32 all differ there; the formulas of this folder use only these two.
//
// A formula that is also used on vectors is a template over the lane type and calls Min and Max
// unqualified: the vector code supplies its own overloads next to its vector type.
#pragma once

#include "math/binary64.h"
#include "math/host_device.h"

namespace detops::math {

// `b` when they are equal or one is NaN, as minps and maxps do. The argument whose NaN must be
// propagated therefore goes second.
DETOPS_HD float Min(float a, float b) { return a < b ? a : b; }
DETOPS_HD float Max(float a, float b) { return a > b ? a : b; }
DETOPS_HD Binary64 Min(Binary64 a, Binary64 b) { return a < b ? a : b; }
DETOPS_HD Binary64 Max(Binary64 a, Binary64 b) { return a > b ? a : b; }

}  // namespace detops::math

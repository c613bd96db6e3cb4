// SPDX-License-Identifier: Apache-2.0
//
// The type in which formulas compute what float can't hold: double, or SoftDouble on a device that
// has none. Both give the same bits, so these formulas are templates over it, called Wide there;
// tests instantiate them with both.
#pragma once

#ifdef __BANG__
#include "math/soft_double.h"
#endif

namespace detops::math {

#ifdef __BANG__
using Binary64 = SoftDouble;
#else
using Binary64 = double;
#endif

}  // namespace detops::math

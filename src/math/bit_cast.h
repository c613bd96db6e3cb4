// SPDX-License-Identifier: Apache-2.0
//
// std::bit_cast, which C++17 and the compilers of some devices lack.
#pragma once

#include "math/host_device.h"

namespace detops::math {

template <class To, class From>
DETOPS_HD constexpr To BitCast(const From& from) {
  return __builtin_bit_cast(To, from);
}

}  // namespace detops::math

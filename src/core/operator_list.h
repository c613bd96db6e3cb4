// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace detops::core {

// Operators as types, to go through them all; CMake writes the lists (cmake/operators.cmake).
template <class... Ops>
struct OperatorList {};

}  // namespace detops::core

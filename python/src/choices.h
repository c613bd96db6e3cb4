// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "errors.h"

namespace detops::python {

// Whether an argument that names one of two things names the second.
inline bool IsSecond(const char* argument, std::string_view value, std::string_view first,
                     std::string_view second) {
  if (value == second) return true;
  if (value == first) return false;
  ThrowValueError(std::string(argument) + ": is \"" + std::string(value) + "\", expected \"" +
                  std::string(first) + "\" or \"" + std::string(second) + "\"");
}

}  // namespace detops::python

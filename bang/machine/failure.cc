// SPDX-License-Identifier: Apache-2.0
#include "machine/failure.h"

#include <stdio.h>

namespace bang {

std::string FormatList(const char* format, va_list arguments) {
  va_list copy;
  va_copy(copy, arguments);
  const int length = vsnprintf(nullptr, 0, format, copy);
  va_end(copy);
  std::string text(length < 0 ? 0 : length, '\0');
  vsnprintf(text.data(), text.size() + 1, format, arguments);
  return text;
}

std::string Format(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::string text = FormatList(format, arguments);
  va_end(arguments);
  return text;
}

std::string At(Where where) { return Format("%s:%d", where.file, where.line); }

}  // namespace bang

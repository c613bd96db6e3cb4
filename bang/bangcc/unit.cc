// SPDX-License-Identifier: Apache-2.0
#include "bangcc/unit.h"

#include <inttypes.h>
#include <stdio.h>

namespace bangcc {

void Unit::Say(size_t token, const char* kind, const std::string& text) {
  const Token& where = source.tokens[token];
  messages += source.files[where.file] + ":" + std::to_string(where.line) + ": " + kind + ": " +
              text + "\n";
}

std::string Unit::FileAndLine(size_t token) const {
  const Token& where = source.tokens[token];
  return Quoted(source.files[where.file]) + ", " + std::to_string(where.line);
}

std::string Unit::Id() const {
  char digits[20];
  snprintf(digits, sizeof digits, "%016" PRIx64, file_id);
  return digits;
}

std::string Quoted(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

}  // namespace bangcc

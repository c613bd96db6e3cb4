// SPDX-License-Identifier: Apache-2.0
#include "timeline/json.h"

#include <math.h>
#include <stdio.h>

namespace bang {
namespace {

// How many bytes the UTF-8 character at `text` has; 0: it is none.
size_t CharacterBytes(const std::string& text, size_t at) {
  const auto byte = [&](size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const unsigned first = byte(at);
  const size_t bytes = first < 0x80                    ? 1
                       : first >= 0xC2 && first < 0xE0 ? 2
                       : first >= 0xE0 && first < 0xF0 ? 3
                       : first >= 0xF0 && first < 0xF5 ? 4
                                                       : 0;
  for (size_t i = 1; i < bytes; ++i) {
    if (byte(at + i) >> 6 != 2) return 0;
  }
  // Longer forms than needed, surrogates, beyond U+10FFFF.
  const unsigned second = byte(at + 1);
  if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second >= 0xA0) ||
      (first == 0xF0 && second < 0x90) || (first == 0xF4 && second >= 0x90)) {
    return 0;
  }
  return bytes;
}

}  // namespace

std::string JsonString(const std::string& text) {
  std::string json = "\"";
  for (size_t i = 0; i < text.size();) {
    const size_t bytes = CharacterBytes(text, i);
    const char c = text[i];
    if (bytes == 0) {
      json += "\\ufffd";
    } else if (bytes > 1) {
      json.append(text, i, bytes);
    } else if (c == '"' || c == '\\') {
      json += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20 || c == '<' || c == '>' || c == '&') {
      char escaped[8];
      snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c));
      json += escaped;
    } else {
      json += c;
    }
    i += bytes == 0 ? 1 : bytes;
  }
  return json + '"';
}

std::string JsonNumber(double value, int decimals) {
  if (!isfinite(value)) return "0";
  char text[400];
  snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

}  // namespace bang

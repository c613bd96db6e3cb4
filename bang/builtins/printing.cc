// SPDX-License-Identifier: Apache-2.0
//
// __bang_printf: printf's formats, and %hf for half, which comes as a double here.
#include <stdio.h>
#include <string.h>

#include <string>

#include "bang/builtins.h"

namespace bang {
namespace {

constexpr char kLengths[] = "hlLqjzt";

std::string One(const std::string& flags, char letter, const PrintArgument* argument) {
  if (argument == nullptr) return "(no argument)";
  char text[512];
  const std::string format = "%" + flags;
  if (strchr("fFeEgGaA", letter) != nullptr) {
    const double value = argument->kind() == PrintArgument::Kind::kInteger
                             ? static_cast<double>(argument->integer())
                             : argument->floating();
    snprintf(text, sizeof text, (format + letter).c_str(), value);
    return text;
  }
  const bool is_pointer = argument->kind() == PrintArgument::Kind::kPointer;
  if (letter == 's' && is_pointer) {
    const char* const string = static_cast<const char*>(argument->pointer());
    const int length = snprintf(nullptr, 0, (format + "s").c_str(), string);
    std::string result(length + 1, '\0');
    snprintf(result.data(), result.size(), (format + "s").c_str(), string);
    result.pop_back();
    return result;
  }
  if (letter == 'p' || is_pointer) {
    snprintf(text, sizeof text, (format + "p").c_str(), argument->pointer());
    return text;
  }
  const long long value = argument->kind() == PrintArgument::Kind::kDouble
                              ? static_cast<long long>(argument->floating())
                              : argument->integer();
  if (letter == 'c') {
    snprintf(text, sizeof text, (format + "c").c_str(), static_cast<int>(value));
  } else {
    snprintf(text, sizeof text, (format + "ll" + letter).c_str(), value);
  }
  return text;
}

// An unsigned letter of an argument that was an int: its own width again.
long long Fit(long long value, const std::string& lengths, char letter) {
  if (strchr("uxXo", letter) == nullptr || lengths.find_first_of("lqjzt") != std::string::npos) {
    return value;
  }
  return static_cast<long long>(static_cast<unsigned>(value));
}

}  // namespace

void PrintFormatted(const char* format, std::initializer_list<PrintArgument> arguments) {
  std::string text;
  const PrintArgument* next = arguments.begin();
  for (const char* c = format; *c != '\0'; ++c) {
    if (*c != '%') {
      text += *c;
      continue;
    }
    std::string flags, lengths;
    for (++c; *c != '\0' && strchr("-+ #0123456789.*", *c) != nullptr; ++c) {
      if (*c == '*') {
        flags += std::to_string(next != arguments.end() ? (next++)->integer() : 0);
      } else {
        flags += *c;
      }
    }
    for (; *c != '\0' && strchr(kLengths, *c) != nullptr; ++c) lengths += *c;
    if (*c == '%') {
      text += '%';
    } else if (*c == '\0') {
      break;
    } else if (next == arguments.end()) {
      text += One(flags, *c, nullptr);
    } else if (next->kind() == PrintArgument::Kind::kInteger) {
      const PrintArgument fitting(Fit(next->integer(), lengths, *c));
      text += One(flags, *c, &fitting);
      ++next;
    } else {
      text += One(flags, *c, next);
      ++next;
    }
  }
  Print("%s", text.c_str());
}

}  // namespace bang

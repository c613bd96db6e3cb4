// SPDX-License-Identifier: Apache-2.0
#include "builtins/assumptions.h"

#include <stdio.h>
#include <stdlib.h>

#include <string>
#include <string_view>

namespace bang {
namespace {

bool SetOne(std::string_view word, Assumptions* assumptions) {
#define ASSUMPTION(member, name, otherwise, usual, meaning) \
  if (word == name "=" otherwise) {                         \
    assumptions->member = true;                             \
    return true;                                            \
  }                                                         \
  if (word == name "=" usual) {                             \
    assumptions->member = false;                            \
    return true;                                            \
  }
#include "builtins/assumptions.inc"
  return false;
}

bool Parse(std::string_view text, Assumptions* assumptions) {
  bool understood = true;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view word = text.substr(0, comma);
    if (!word.empty() && !SetOne(word, assumptions)) {
      fprintf(stderr, "bang: BANG_ASSUME: \"%s\" is no assumption; there are:\n",
              std::string(word).c_str());
#define ASSUMPTION(member, name, otherwise, usual, meaning) \
  fprintf(stderr, "  " name "=" usual " or " name "=" otherwise "\n");
#include "builtins/assumptions.inc"
      understood = false;
    }
    text = comma == std::string_view::npos ? "" : text.substr(comma + 1);
  }
  return understood;
}

Assumptions& Current() {
  static Assumptions assumptions = [] {
    Assumptions from_environment;
    const char* const text = getenv("BANG_ASSUME");
    if (text != nullptr && !Parse(text, &from_environment)) exit(1);
    return from_environment;
  }();
  return assumptions;
}

}  // namespace

const Assumptions& Assumed() { return Current(); }

bool SetAssumptions(const char* text) {
  Assumptions assumptions;
  if (!Parse(text, &assumptions)) return false;
  Current() = assumptions;
  return true;
}

}  // namespace bang

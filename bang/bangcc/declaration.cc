// SPDX-License-Identifier: Apache-2.0
//
// Words that a declaration has, and the names that one of variables declares.
#include <algorithm>
#include <iterator>

#include "bangcc/program.h"

namespace bangcc {
namespace {

template <typename Words>
bool IsOneOf(std::string_view word, const Words& words) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

}  // namespace

bool TakesBrackets(std::string_view word) {
  static constexpr std::string_view kWords[] = {
      "__attribute__", "__attribute", "alignas",    "decltype", "noexcept", "explicit",
      "throw",         "__declspec",  "__asm__",    "__asm",    "asm",      "requires",
      "__typeof__",    "typeof",      "__decltype", "_Alignas", "sizeof",   "alignof",
  };
  return IsOneOf(word, kWords);
}

bool IsKernelMark(std::string_view word) {
  return word == "__mlu_global__" || word == "__mlu_entry__";
}

bool IsFunctionMark(std::string_view word) {
  static constexpr std::string_view kWords[] = {
      "__mlu_func__",    "__mlu_device__", "__mlu_host__", "__mlu_builtin__",
      "__mlu_vector__",  "__mlu_generic__", "__mlu_global__", "__mlu_entry__"};
  return IsOneOf(word, kWords);
}

bool IsSpaceMark(std::string_view word) {
  static constexpr std::string_view kWords[] = {"__nram__",  "__wram__",      "__mlu_shared__",
                                                "__ldram__", "__mlu_const__", "__mlu_constant__"};
  return IsOneOf(word, kWords);
}

bool IsVectorRegister(std::string_view word) {
  static constexpr std::string_view kWords[] = {
      "__mlu_vector__", "vv_half",  "vv_bfloat16", "vv_float", "vv_int8",   "vv_uint8", "vv_int16",
      "vv_uint16",      "vv_int32", "vv_uint32",   "vv_int64", "vv_uint64", "vv_bool"};
  return word.substr(0, 5) == "__vv_" || IsOneOf(word, kWords);
}

size_t SkipAngles(const Source& source, size_t open, size_t end) {
  int depth = 0;
  for (size_t i = open; i < end; ++i) {
    if (source.tokens[i].kind != TokenKind::kPunctuation) continue;
    if (source.Is(i, "<")) {
      ++depth;
    } else if (source.Is(i, ">")) {
      if (--depth == 0) return i + 1;
    } else if (source.Is(i, ";") || source.Is(i, "&&=") || source.Is(i, ")") || source.Is(i, "]") ||
               source.Is(i, "}")) {
      return kNone;
    } else if (source.Partner(i) > i) {
      i = source.Partner(i);
    }
  }
  return kNone;
}

Declaration ReadDeclaration(const Source& source, size_t first, size_t semicolon) {
  Declaration result{first, first, {}};
  bool first_name = true;
  for (size_t i = first; i < semicolon; ++i) {
    // The first name is the last word in front of what can follow a name.
    const std::string_view word = source.Text(i);
    if (source.IsIdentifier(i) && TakesBrackets(word) && source.Is(i + 1, "(")) {
      i = source.Partner(i + 1);
      continue;
    }
    if (source.Is(i, "<")) {
      const size_t behind = SkipAngles(source, i, semicolon);
      if (behind != kNone) i = behind - 1;
      continue;
    }
    if (source.Is(i, "[") && source.Is(i + 1, "[")) {
      i = source.Partner(i);
      continue;
    }
    const size_t next = i + 1;
    size_t behind = next;
    while (source.Is(behind, "__attribute__")) behind = source.Partner(behind + 1) + 1;
    const bool ends = behind == semicolon || source.Is(behind, "[") || source.Is(behind, ",") ||
                      source.Is(behind, "=") || source.Is(behind, "{") || source.Is(behind, "(");
    if (!source.IsIdentifier(i) || !ends) continue;
    Declarator declarator;
    declarator.name = declarator.first = declarator.last = i;
    while (declarator.first > first &&
           (source.Is(declarator.first - 1, "*") || source.Is(declarator.first - 1, "&"))) {
      --declarator.first;
      declarator.pointer = true;
    }
    if (first_name) result.type_last = declarator.first - 1;
    first_name = false;
    size_t j = next;
    while (j < semicolon && source.Is(j, "[")) {
      if (declarator.bounds == kNone) declarator.bounds = j;
      declarator.bounds_last = source.Partner(j);
      j = source.Partner(j) + 1;
    }
    for (; j < semicolon && !source.Is(j, ","); ++j) {
      if (source.Is(j, "=") || source.Is(j, "{")) declarator.initialised = true;
      if (source.Partner(j) > j) j = source.Partner(j);
    }
    declarator.last = j - 1;
    result.declarators.push_back(declarator);
    i = j;
  }
  return result;
}

}  // namespace bangcc

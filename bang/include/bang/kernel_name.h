// SPDX-License-Identifier: Apache-2.0
//
// What errors and reports call a kernel that is a template: Scale<float, 4>.
#ifndef BANG_KERNEL_NAME_H_
#define BANG_KERNEL_NAME_H_

#include <stddef.h>

namespace bang {

template <size_t kSize>
struct KernelName {
  char text[kSize] = {};
  size_t length = 0;

  constexpr void Append(const char* from, size_t count) {
    for (size_t i = 0; i < count && length + 1 < kSize; ++i) text[length++] = from[i];
  }
};

constexpr bool BeginsWith(const char* text, const char* start) {
  for (; *start != '\0'; ++text, ++start) {
    if (*text != *start) return false;
  }
  return true;
}

// Half types have their compiler's names there.
struct TypeAlias {
  const char* compilers;
  size_t length;
  const char* users;
  size_t users_length;
};
constexpr TypeAlias kTypeAliases[] = {{"_Float16", 8, "half", 4},
                                      {"bang::Float16<5, 10>", 20, "half", 4},
                                      {"bang::Float16<8, 7>", 19, "bfloat16_t", 10}};

// `pretty` is __PRETTY_FUNCTION__ in the kernel: "void Scale(T*) [with T = float; int N = 4]" of
// g++, "void Scale(T *) [T = float, N = 4]" of clang. `parameters` are the template's: "T,N".
template <size_t kPretty, size_t kName, size_t kParameters>
constexpr auto MakeKernelName(const char (&pretty)[kPretty], const char (&name)[kName],
                              const char (&parameters)[kParameters]) {
  KernelName<2 * (kPretty + kName + kParameters)> result;
  result.Append(name, kName - 1);
  size_t list = kPretty - 1;
  for (int depth = 0; list > 0; --list) {
    if (pretty[list] == ']') ++depth;
    if (pretty[list] == '[' && --depth == 0) break;
  }
  const char* separator = "<";
  for (size_t parameter = 0; parameter + 1 < kParameters; ++parameter) {
    size_t length = 0;
    while (parameter + length + 1 < kParameters && parameters[parameter + length] != ',') ++length;
    for (size_t i = list + 1; i + length + 3 < kPretty; ++i) {
      bool found =
          (pretty[i - 1] == ' ' || pretty[i - 1] == '[') && BeginsWith(pretty + i + length, " = ");
      for (size_t k = 0; k < length; ++k)
        found = found && pretty[i + k] == parameters[parameter + k];
      if (!found) continue;
      size_t begin = i + length + 3, end = begin;
      for (int depth = 0; end + 2 < kPretty; ++end) {
        const char c = pretty[end];
        if (c == '<' || c == '(' || c == '{') ++depth;
        if (c == '>' || c == ')' || c == '}') --depth;
        if (depth == 0 && (c == ';' || c == ',')) break;
      }
      // A pack has brackets around it.
      if (pretty[begin] == '{' || pretty[begin] == '<') ++begin, --end;
      if (begin == end) break;
      result.Append(separator, separator[1] == '\0' ? 1 : 2);
      separator = ", ";
      while (begin < end) {
        const TypeAlias* alias = nullptr;
        for (const TypeAlias& candidate : kTypeAliases) {
          if (BeginsWith(pretty + begin, candidate.compilers)) alias = &candidate;
        }
        if (alias != nullptr) {
          result.Append(alias->users, alias->users_length);
          begin += alias->length;
        } else {
          result.Append(pretty + begin++, 1);
        }
      }
      break;
    }
    parameter += length;
  }
  if (separator[1] != '\0') result.Append(">", 1);
  return result;
}

}  // namespace bang

#endif  // BANG_KERNEL_NAME_H_

// SPDX-License-Identifier: Apache-2.0
//
// The line of the user's source that calls a built-in: every built-in's last parameter is
// `Where where = Here()`, which is filled in where the call stands.
#ifndef BANG_WHERE_H_
#define BANG_WHERE_H_

namespace bang {

struct Where {
  const char* file;
  int line;
};

constexpr Where Here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  return {file, line};
}

}  // namespace bang

#endif  // BANG_WHERE_H_

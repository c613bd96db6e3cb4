// SPDX-License-Identifier: Apache-2.0
//
// How the program ends where something went wrong, and how text from outside is shown: names of
// files and what is in them may hold sequences that move the cursor, recolour or retitle a
// terminal.
#pragma once

#include <functional>
#include <new>
#include <string>

namespace detops::cli {

inline constexpr int kExitFailed = 1, kExitUsage = 2;

// In one line: bytes of control characters, of characters that reverse the direction of writing,
// and of what is no UTF-8 become \x1b. Everything else stays.
std::string Shown(const std::string& text);

// "program: text" on stderr, as Shown. Needs no memory, so that it can say that there is none.
void PrintError(const char* program, const char* text) noexcept;

// While one lives, memory that runs out ends the program, with that text. For calls of protobuf,
// whose messages are broken once an exception has left them.
class EndsWithoutMemory {
 public:
  EndsWithoutMemory();
  ~EndsWithoutMemory();
  EndsWithoutMemory(const EndsWithoutMemory&) = delete;
  EndsWithoutMemory& operator=(const EndsWithoutMemory&) = delete;

 private:
  const std::new_handler before_;
};

// The exit code of `run`, which may throw, and of what it printed: an output that can't be written
// shows only in the end.
int ExitCodeOf(const char* program, const std::function<int()>& run);

}  // namespace detops::cli

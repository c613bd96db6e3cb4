// SPDX-License-Identifier: Apache-2.0
#include "terminal/errors.h"

#include <gmp.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>

namespace detops::cli {
namespace {

struct Character {
  uint32_t code;
  size_t bytes;
};

// The first of a text that is not empty; code 0 where it is no UTF-8.
Character FirstOf(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {0, 1};
  uint32_t code = lead & (0x7fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {0, 1};
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr std::array<uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  if (code < kLeast[bytes] || surrogate || code > 0x10ffff) return {0, 1};
  return {code, bytes};
}

bool IsHarmless(uint32_t code) {
  const bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
  const bool separator = code == 0x2028 || code == 0x2029;
  const bool direction = code == 0x200e || code == 0x200f || (code >= 0x202a && code <= 0x202e) ||
                         (code >= 0x2066 && code <= 0x2069);
  return !control && !separator && !direction;
}

// Calls put(char) for what Shown returns.
template <class Put>
void Show(std::string_view text, const Put& put) {
  constexpr char kDigits[] = "0123456789abcdef";
  while (!text.empty()) {
    const Character first = FirstOf(text);
    for (const char c : text.substr(0, first.bytes)) {
      if (IsHarmless(first.code)) {
        put(c);
        continue;
      }
      const auto byte = static_cast<unsigned char>(c);
      for (const char part : {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]}) put(part);
    }
    text.remove_prefix(first.bytes);
  }
}

// To stderr, which has no buffer of its own.
class Line {
 public:
  void Put(char c) {
    buffer_[size_++] = c;
    if (size_ == buffer_.size()) Flush();
  }
  void Flush() {
    std::fwrite(buffer_.data(), 1, size_, stderr);
    size_ = 0;
  }

 private:
  std::array<char, 512> buffer_;
  size_t size_ = 0;
};

const char* running_program = "";
constexpr char kOutOfMemory[] = "out of memory; try a smaller size";

[[noreturn]] void EndOutOfMemory() {
  PrintError(running_program, kOutOfMemory);
  std::_Exit(kExitUsage);
}

// GMP computes the exact results that others are compared with. It is C, so nothing can be thrown
// through it, and by itself it aborts.
void* Allocated(void* memory) {
  if (memory == nullptr) EndOutOfMemory();
  return memory;
}
void EndGmpWithText() {
  mp_set_memory_functions(
      [](size_t bytes) { return Allocated(std::malloc(bytes)); },
      [](void* memory, size_t, size_t bytes) { return Allocated(std::realloc(memory, bytes)); },
      [](void* memory, size_t) { std::free(memory); });
}

void PrintCurrentException() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    PrintError(running_program, kOutOfMemory);
  } catch (const std::exception& e) {
    PrintError(running_program, e.what());
  }
}

// Where no exception can be caught. The JSON library takes memory in destructors, for instance.
[[noreturn]] void EndWithText() {
  if (std::current_exception() == nullptr) std::abort();
  PrintCurrentException();
  std::_Exit(kExitUsage);
}

}  // namespace

std::string Shown(const std::string& text) {
  std::string shown;
  shown.reserve(text.size());
  Show(text, [&](char c) { shown += c; });
  return shown;
}

void PrintError(const char* program, const char* text) noexcept {
  Line line;
  const auto put = [&](char c) { line.Put(c); };
  Show(program, put);
  Show(": ", put);
  Show(text, put);
  line.Put('\n');
  line.Flush();
}

EndsWithoutMemory::EndsWithoutMemory() : before_(std::set_new_handler(EndOutOfMemory)) {}
EndsWithoutMemory::~EndsWithoutMemory() { std::set_new_handler(before_); }

int ExitCodeOf(const char* program, const std::function<int()>& run) {
  running_program = program;
  std::set_terminate(EndWithText);
  EndGmpWithText();
  int exit_code = kExitUsage;
  try {
    exit_code = run();
  } catch (const std::exception&) {
    if (std::ferror(stdout) == 0) PrintCurrentException();
  }
  // A full disk may show only here, where the last of the output leaves the program.
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return exit_code;
  PrintError(program, "the output can't be written");
  return kExitUsage;
}

}  // namespace detops::cli

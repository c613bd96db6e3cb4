// SPDX-License-Identifier: Apache-2.0
#include "core/status.h"

#include <cstdio>
#include <new>

#include "core/per_thread.h"

namespace detops::core {
namespace {

// A fixed buffer: recording that memory ran out must not need memory, and where there is none for a
// thread's first text, it has this one.
struct Text {
  char characters[1024];
};
Text out_of_memory = {"out of host memory"};

struct DestroyText {
  void operator()(Text* text) const {
    if (text != &out_of_memory) delete text;
  }
};

PerThread<Text, DestroyText>& Texts() {
  static PerThread<Text, DestroyText> texts;
  return texts;
}

void SetLastError(const char* function, const char* text) noexcept {
  try {
    auto& texts = Texts();
    if (texts.Find() == &out_of_memory) texts.Set(nullptr);
    try {
      Text& last = texts.Mine();
      std::snprintf(last.characters, sizeof(last.characters), "%s: %s", function, text);
    } catch (const std::bad_alloc&) {
      texts.Set(&out_of_memory);
    }
  } catch (const std::bad_alloc&) {  // no thread has a text
  }
}

}  // namespace

const char* LastError() noexcept {
  try {
    const Text* const last = Texts().Find();
    return last != nullptr ? last->characters : "";
  } catch (const std::bad_alloc&) {
    return out_of_memory.characters;
  }
}

mluOpStatus_t RecordCurrentException(const char* function) noexcept {
  try {
    throw;
  } catch (const Failure& failure) {
    SetLastError(function, failure.what());
    return failure.status();
  } catch (const std::bad_alloc&) {
    SetLastError(function, "out of host memory");
    return MLUOP_STATUS_ALLOC_FAILED;
  } catch (const std::exception& error) {
    SetLastError(function, error.what());
    return MLUOP_STATUS_INTERNAL_ERROR;
  } catch (...) {
    SetLastError(function, "unknown error");
    return MLUOP_STATUS_INTERNAL_ERROR;
  }
}

}  // namespace detops::core

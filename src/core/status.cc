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

// False where the text is that memory ran out instead.
bool SetLastError(const char* function, const char* text) noexcept {
  try {
    auto& texts = Texts();
    if (texts.Find() == &out_of_memory) texts.Set(nullptr);
    try {
      Text& last = texts.Mine();
      std::snprintf(last.characters, sizeof(last.characters), "%s: %s", function, text);
      return true;
    } catch (const std::bad_alloc&) {
      texts.Set(&out_of_memory);
    }
  } catch (const std::bad_alloc&) {  // no thread has a text
  }
  return false;
}

// The status that goes with the text.
mluOpStatus_t Recorded(mluOpStatus_t status, const char* function, const char* text) noexcept {
  return SetLastError(function, text) ? status : MLUOP_STATUS_ALLOC_FAILED;
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
    return Recorded(failure.status(), function, failure.what());
  } catch (const std::bad_alloc&) {
    return Recorded(MLUOP_STATUS_ALLOC_FAILED, function, "out of host memory");
  } catch (const std::exception& error) {
    return Recorded(MLUOP_STATUS_INTERNAL_ERROR, function, error.what());
  } catch (...) {
    return Recorded(MLUOP_STATUS_INTERNAL_ERROR, function, "unknown error");
  }
}

}  // namespace detops::core

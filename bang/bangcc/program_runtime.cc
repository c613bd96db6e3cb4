// SPDX-License-Identifier: Apache-2.0
//
// What arrays of NRAM, WRAM and LDRAM at namespace scope stand in: part of libbang, as compiled
// programs call it.
#include <stdlib.h>

#include <memory>
#include <new>
#include <vector>

#include "bang/launch.h"

namespace bang {
namespace {

struct Release {
  void operator()(void* memory) const { free(memory); }
};

}  // namespace

void* CoreMemory(int64_t bytes) {
  thread_local std::vector<std::unique_ptr<void, Release>> owned;
  constexpr int64_t kAlignment = 4096;
  const int64_t whole = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  owned.emplace_back(aligned_alloc(kAlignment, whole > 0 ? whole : kAlignment));
  if (owned.back() == nullptr) throw std::bad_alloc();
  return owned.back().get();
}

}  // namespace bang

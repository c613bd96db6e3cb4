// SPDX-License-Identifier: Apache-2.0
//
// Loads and stores of scalar code. Device code is compiled with the compiler's announcements for
// race detectors, renamed from __tsan_ to bang_tsan_: each access calls one of these before it
// happens.
#include <stdint.h>
#include <string.h>

#include <map>
#include <mutex>

#include "machine/code_lines.h"
#include "machine/running_core.h"
#include "machine/host_memory.h"
#include "machine/union_task.h"

namespace bang {

Where ScalarWhere(const void* code, const KernelRecord& kernel) {
  // Asking takes long, and texts keep the name as long as the program runs.
  static std::mutex mutex;
  static auto* const known = new std::map<const void*, CodeLine>;
  std::lock_guard lock(mutex);
  auto at = known->find(code);
  if (at == known->end()) at = known->emplace(code, FindCodeLine(code)).first;
  if (at->second.file.empty()) return {kernel.file, kernel.line};
  return {at->second.file.c_str(), at->second.line};
}

void RunningCore::ScalarAccess(const char* data, int64_t bytes, bool writes, const void* code) {
  if (store_.bytes != 0) CheckStore();
  if ((++accesses_of_scalars_ & 0xFFFF) == 0) Look();
  Array* const array = arrays_.Find(data);
  if (array == nullptr && OnStack(data)) return;
  recorder_.ScalarAccess(array != nullptr ? array->space() : Space::kGdram);
  const Region region = Contiguous(data, bytes);
  if (!is_mpu() && in_flight_.HasCompute() && in_flight_.TouchesCompute(region, writes)) {
    WaitForCompute({launch_->kernel.file, launch_->kernel.line});
  }
  if (!check_) return;
  if (array == nullptr) {
    const Allocation* allocation = FindAllocation(data);
    if (allocation == nullptr) {
      if (!IsProgramData(data)) FailScalar(region, writes, code);
      return;
    }
    if (region.end() > allocation->begin + allocation->bytes) FailScalar(region, writes, code);
  } else if (region.end() > array->end()) {
    FailScalar(region, writes, code);
  }
  if (is_mpu() && (array == nullptr || array->space() != Space::kSram)) return;
  if (in_flight_.HasCopies()) {
    const Access access{nullptr, nullptr, Pipe::kScalar, writes, false};
    if (!in_flight_.Conflict(access, region).empty()) {
      CheckInFlight(access, ScalarWhere(code), region);
    }
  }
  const Space space = array != nullptr ? array->space() : Space::kGdram;
  if (unit_ != nullptr && (space == Space::kSram || space == Space::kGdram)) {
    Races::Race race;
    if (unit_->races().Access(member_, data, bytes, writes, nullptr, {nullptr, {}, code}, &race)) {
      if (!writes || bytes > static_cast<int64_t>(sizeof store_.before)) {
        Report(nullptr, ScalarWhere(code), space, writes, race);
      }
      store_ = {true, data, bytes, {}, space, code, race};
      memcpy(store_.before, data, bytes);
    }
  }
  if (stored_ != nullptr && space == Space::kGdram) {
    Note(region, writes, {nullptr, {}, code});
    if (writes) {
      stored_->Announce(data, bytes, &announced_);
      if (announced_.pending() && store_.bytes == 0) store_ = {false, data, bytes, {}, space, code, {}};
    }
  }
  if (array == nullptr) return;
  if (writes) {
    array->MarkWritten(data, bytes);
  } else if (array->HasUnwritten(data, bytes)) {
    SayUnwritten(*array, data, code);
  }
}

void RunningCore::SayUnwritten(const Array& array, const char* data, const void* code) {
  // The line is asked for once per place in the code.
  for (auto& [known, number] : unwritten_reads_) {
    if (known == code) {
      if (number < remarks_.size()) ++remarks_[number].times;
      return;
    }
  }
  unwritten_reads_.emplace_back(code, remarks_.size());
  Say(ScalarWhere(code), Format("a scalar load reads byte %lld of %s, which nobody has written",
                                static_cast<long long>(data - array.begin()), array.name()));
}

void RunningCore::FailScalar(const Region& region, bool writes, const void* code) {
  const char* const what = writes ? "a scalar store" : "a scalar load";
  const Where where = ScalarWhere(code);
  const Array* array = arrays_.Find(region.begin);
  if (array != nullptr) FailPlace(what, "the variable", where, region, array->space());
  // An index that is a little too large, or too small.
  constexpr int64_t kNear = 65536;
  const auto bytes = static_cast<long long>(region.bytes);
  const auto fail_beside = [&](int64_t distance, const char* side, const Array& beside) {
    Fail(where, Format("%s: the variable (%lld bytes) begins %lld bytes %s %s (%s, %lld bytes, %s)", what,
                       bytes, static_cast<long long>(distance), side, beside.name(),
                       SpaceName(beside.space()), static_cast<long long>(beside.bytes()),
                       At(beside.where()).c_str()));
  };
  const Array* const below = arrays_.Below(region.begin);
  const Array* const above = arrays_.Above(region.begin);
  const int64_t behind = below != nullptr ? region.begin - below->end() : kNear;
  const int64_t before = above != nullptr ? above->begin() - region.begin : kNear;
  if (FindAllocation(region.begin) == nullptr) {
    if (behind < kNear && behind <= before) fail_beside(behind, "beyond the end of", *below);
    if (before < kNear) fail_beside(before, "before", *above);
  }
  FailPlace(what, "the variable", where, region, Space::kGdram);
}

}  // namespace bang

#pragma GCC visibility push(default)
extern "C" {

#define BANG_ACCESS(name, bytes, writes)                                                   \
  void bang_tsan_##name(void* data) {                                                      \
    if (bang::RunningCore* core = bang::current_core) {                                           \
      core->ScalarAccess(static_cast<char*>(data), bytes, writes, __builtin_return_address(0)); \
    }                                                                                      \
  }
#define BANG_ACCESSES(bytes)                  \
  BANG_ACCESS(read##bytes, bytes, false)      \
  BANG_ACCESS(write##bytes, bytes, true)      \
  BANG_ACCESS(volatile_read##bytes, bytes, false)  \
  BANG_ACCESS(volatile_write##bytes, bytes, true)
#define BANG_UNALIGNED(bytes)                           \
  BANG_ACCESS(unaligned_read##bytes, bytes, false)      \
  BANG_ACCESS(unaligned_write##bytes, bytes, true)      \
  BANG_ACCESS(unaligned_volatile_read##bytes, bytes, false)  \
  BANG_ACCESS(unaligned_volatile_write##bytes, bytes, true)
BANG_ACCESSES(1)
BANG_ACCESSES(2)
BANG_ACCESSES(4)
BANG_ACCESSES(8)
BANG_ACCESSES(16)
BANG_UNALIGNED(2)
BANG_UNALIGNED(4)
BANG_UNALIGNED(8)
BANG_UNALIGNED(16)

// A read and a write of the same place: clang's compound assignment.
#define BANG_READ_WRITE(name, bytes)                                                       \
  void bang_tsan_##name(void* data) {                                                      \
    if (bang::RunningCore* core = bang::current_core) {                                           \
      const void* const code = __builtin_return_address(0);                                \
      core->ScalarAccess(static_cast<char*>(data), bytes, false, code);                    \
      core->ScalarAccess(static_cast<char*>(data), bytes, true, code);                     \
    }                                                                                      \
  }
BANG_READ_WRITE(read_write1, 1)
BANG_READ_WRITE(read_write2, 2)
BANG_READ_WRITE(read_write4, 4)
BANG_READ_WRITE(read_write8, 8)
BANG_READ_WRITE(read_write16, 16)
BANG_READ_WRITE(unaligned_read_write2, 2)
BANG_READ_WRITE(unaligned_read_write4, 4)
BANG_READ_WRITE(unaligned_read_write8, 8)
BANG_READ_WRITE(unaligned_read_write16, 16)

void bang_tsan_read_range(void* data, unsigned long bytes) {
  if (bang::RunningCore* core = bang::current_core; core != nullptr && bytes != 0) {
    core->ScalarAccess(static_cast<char*>(data), static_cast<int64_t>(bytes), false,
                       __builtin_return_address(0));
  }
}
void bang_tsan_write_range(void* data, unsigned long bytes) {
  if (bang::RunningCore* core = bang::current_core; core != nullptr && bytes != 0) {
    core->ScalarAccess(static_cast<char*>(data), static_cast<int64_t>(bytes), true,
                       __builtin_return_address(0));
  }
}
void* bang_tsan_memcpy(void* dst, const void* src, unsigned long bytes) {
  bang_tsan_read_range(const_cast<void*>(src), bytes);
  bang_tsan_write_range(dst, bytes);
  return memcpy(dst, src, bytes);
}
void* bang_tsan_memmove(void* dst, const void* src, unsigned long bytes) {
  bang_tsan_read_range(const_cast<void*>(src), bytes);
  bang_tsan_write_range(dst, bytes);
  return memmove(dst, src, bytes);
}
void* bang_tsan_memset(void* dst, int value, unsigned long bytes) {
  bang_tsan_write_range(dst, bytes);
  return memset(dst, value, bytes);
}
void bang_tsan_vptr_update(void** data, void*) { bang_tsan_write8(data); }
void bang_tsan_vptr_read(void** data) { bang_tsan_read8(data); }
void bang_tsan_init() {}
void bang_tsan_func_entry(void*) {}
void bang_tsan_func_exit() {}

}  // extern "C"
#pragma GCC visibility pop

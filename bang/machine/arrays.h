// SPDX-License-Identifier: Apache-2.0
//
// The arrays that a core sees in NRAM, WRAM, LDRAM and SRAM: where they lie, and which of their
// bytes nobody has written yet.
#ifndef BANG_MACHINE_ARRAYS_H_
#define BANG_MACHINE_ARRAYS_H_

#include <stdint.h>

#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "bang/launch.h"

namespace bang {

const char* SpaceName(Space space);  // "NRAM"

// One array. With checks on it keeps a shadow: a byte per byte, 1 where nobody wrote yet.
class Array {
 public:
  Array(const char* name, Where where, Space space, void* data, int64_t bytes);

  const char* name() const { return name_; }
  Where where() const { return where_; }
  Space space() const { return space_; }
  char* begin() const { return begin_; }
  char* end() const { return begin_ + bytes_; }
  int64_t bytes() const { return bytes_; }
  bool Holds(const void* address) const {
    return static_cast<const char*>(address) >= begin_ && static_cast<const char*>(address) < end();
  }

  // As it is when a task starts: no value that a kernel may rely on, the same on every run.
  void Reset();

  // The following take ranges inside the array, and do nothing with checks off.
  void MarkWritten(const void* data, int64_t bytes) { Mark(data, bytes, 0); }
  void MarkUnwritten(const void* data, int64_t bytes) { Mark(data, bytes, 1); }
  bool HasUnwritten(const void* data, int64_t bytes) const;
  // The shadow of a range, for copying it along; null with checks off.
  uint8_t* Shadow(const void* data);
  // Call after a write through Shadow().
  void Touch(const void* data, int64_t bytes);

 private:
  void Mark(const void* data, int64_t bytes, uint8_t unwritten);

  const char* name_;
  Where where_;
  Space space_;
  char* begin_;
  int64_t bytes_;
  std::vector<uint8_t> shadow_;
  // What may differ from the state after Reset.
  int64_t touched_begin_ = 0, touched_end_;
};

// What one core sees. Arrays of namespace scope are the thread's own and found once; arrays inside
// functions come and go like a stack.
class Arrays {
 public:
  // Declares the arrays of the kernel's file, and resets those that the kernel uses.
  void Enter(const KernelRecord& kernel, Module module);
  void Leave();

  // The array that holds the byte; null: none does.
  Array* Find(const void* address) {
    if (last_ != nullptr && last_->Holds(address)) return last_;
    return Search(address);
  }
  // The array that ends nearest below the address, for error texts; null: there is none.
  const Array* Below(const void* address) const;
  // The array that begins nearest above it; null: there is none.
  const Array* Above(const void* address) const;

  Array& PushLocal(const char* name, Space space, void* data, int64_t bytes, Where where);
  void PopLocal();
  const Array& top_local() const { return *locals_.back(); }

  // Bytes of the space that are in use: the kernel's, and those of the functions entered.
  int64_t Used(Space space) const { return used_[static_cast<int>(space)]; }

  // SRAM: of the core's own cluster first, then of the others of its union task, which copies
  // between clusters write to.
  using Shared = const std::vector<std::unique_ptr<Array>>*;
  void SetShared(std::vector<Shared> shared) { shared_ = std::move(shared), last_ = nullptr; }

 private:
  Array* Search(const void* address);
  template <typename Look>
  void ForEach(const Look& look) const;

  struct File {
    uint64_t id;
    std::vector<std::unique_ptr<Array>> arrays;  // by address
    std::vector<Array*> by_id;                   // indexed by the record's id; null: SRAM
  };
  File& GetFile(uint64_t id, Module module);

  std::vector<File> files_;
  const File* file_ = nullptr;
  std::vector<std::unique_ptr<Array>> locals_;
  std::vector<Shared> shared_;
  Array* last_ = nullptr;
  int64_t used_[5] = {};
};

constexpr uint8_t kFill = 0x4B;  // a float of 1.3e7, no number that a kernel's author expects

}  // namespace bang

#endif  // BANG_MACHINE_ARRAYS_H_

// SPDX-License-Identifier: Apache-2.0
//
// What the code that bangcc writes around a program's arrays and kernels calls. Programs don't use
// it by hand.
#ifndef BANG_LAUNCH_H_
#define BANG_LAUNCH_H_

#include <stdint.h>

#include <type_traits>

#include "bang/task.h"
#include "bang/where.h"
#include "cnrt.h"

namespace bang {

enum class Space : uint8_t { kNram, kWram, kSram, kLdram, kGdram };

// An array at namespace scope. The records of a program, or of a shared library, stand one behind
// another in its section "bang_arrays"; as long as it is aligned, no compiler leaves gaps there.
struct alignas(64) ArrayRecord {
  const char* name;  // as the source writes it
  const char* file;
  int line;
  uint64_t file_id;  // of the .mlu that was compiled: device code is private to its file
  uint32_t id;       // of the array in that file
  Space space;
  int64_t bytes;
  // The calling thread's own array (NRAM, WRAM, LDRAM); null for SRAM, which a cluster's cores
  // share and SharedMemory places.
  void* (*address)();
};
static_assert(sizeof(ArrayRecord) == 64);

struct KernelRecord {
  const char* name;  // as the source writes it, with template arguments where there are some
  const char* file;
  int line;
  uint64_t file_id;
  const uint32_t* arrays;  // ids of the arrays at namespace scope that the kernel can reach
  int array_count;
  bool ordered;  // it uses atomics or locks: tasks run one after another, for equal results
  int arch;      // 372 or 592, what it was compiled for
};

// An array inside a kernel or a device function: this stands behind its declaration, and gives the
// space back at the end of the scope.
class LocalArray {
 public:
  LocalArray(const char* name, Space space, void* data, int64_t bytes, Where where = Here());
  ~LocalArray() noexcept(false);  // what is still in flight there may break a rule
  LocalArray(const LocalArray&) = delete;
  LocalArray& operator=(const LocalArray&) = delete;
};

// Memory for an array of NRAM, WRAM or LDRAM, the calling thread's own as long as it lives.
void* CoreMemory(int64_t bytes);

// The values that an array is declared with, at the start of a task.
void SetValues(void* array, const void* values, int64_t bytes);

// The same address, but the compiler no longer knows what it is of: clang tells of loads and stores
// of an array on the stack only through pointers that may come from elsewhere.
inline void* Launder(void* data) {
  __asm__("" : "+r"(data));
  return data;
}

// memcpy that tells the machine what it reads and writes.
extern "C" void* bang_tsan_memcpy(void* dst, const void* src, unsigned long bytes);

// Where the calling core's cluster has this SRAM array.
void* SharedMemory(const ArrayRecord& record);

template <typename Array>
Array& SharedArray(const ArrayRecord& record) {
  return *static_cast<Array*>(SharedMemory(record));
}

// The three arguments of <<< >>>, for the calling thread's next launch.
void Configure(Where where, cnrtDim3_t dim, cnrtFunctionType_t type, cnrtQueue_t queue);

// The records of the program or library that a kernel belongs to.
struct Module {
  const ArrayRecord* begin;
  const ArrayRecord* end;
};

// Runs `body` once per task (and per MPU of a union task), each time by `run_copy`, which copies the
// kernel's arguments first: a kernel may change them. Ends when all tasks have ended; errors go to
// cnrtGetLastError and to stderr.
void LaunchErased(const KernelRecord& kernel, Module module, const void* body,
                  void (*run_copy)(const void* body));

extern "C" {
// The linker's names for the ends of the section; weak, for a program without arrays has none.
extern const ArrayRecord __start_bang_arrays[] __attribute__((weak, visibility("hidden")));
extern const ArrayRecord __stop_bang_arrays[] __attribute__((weak, visibility("hidden")));
}

struct BindNothing {
  static void Bind() {}
};

// Arrays::Bind tells the calling thread, in front of each task, where the kernel's arrays are.
template <typename Arrays = BindNothing, typename Body>
void Launch(const KernelRecord& kernel, const Body& body) {
  LaunchErased(kernel, Module{__start_bang_arrays, __stop_bang_arrays}, &body,
               // No device code, for the arguments are where the host left them; so the compiler
               // can't draw the kernel into it, nor what it reads of taskId and of where arrays
               // are in front of what sets these.
               [](const void* erased) __attribute__((no_sanitize("thread"))) {
                 BindTask();
                 Arrays::Bind();
                 Body copy = *static_cast<const Body*>(erased);
                 copy();
               });
}

// Scalar code counts: bangcc puts Tick(n) into every function and loop of device code, n being the
// number of operators that it executes. Loads and stores announce themselves. The time limit of an
// endless kernel is looked at here, too.
void Tick(int64_t operators);

// Inline assembly: "sync;" is a sync, all else is an error when it is reached.
void InlineAssembly(const char* text, Where where = Here());

}  // namespace bang

#endif  // BANG_LAUNCH_H_

// SPDX-License-Identifier: Apache-2.0
//
// The cores that work on one thing together: those of a union task, which share barriers. For
// kernels only.
#pragma once

#include <stdint.h>

namespace detops::mlu {

// NRAM that a kernel may use: the compiler keeps 128 KB for its stack.
constexpr int kNramBytes = (__MLU_NRAM_SIZE__ - 128) * 1024;

// A union task is launched as {cores, tasks, 1}: several of them work on something each.
struct Team {
  int core, cores;

  static __mlu_func__ Team OfUnionTask() { return {taskIdX, taskDimX}; }

  // What any core wrote to GDRAM before it, every core reads after it.
  __mlu_func__ void Sync() const { __sync_all_ipu(); }
};

// Which of `count` things are this core's, in whole groups of `group`.
struct Share {
  int64_t begin, end;

  __mlu_func__ Share(const Team& team, int64_t count, int64_t group = 1) {
    const int64_t groups = (count + group - 1) / group;
    begin = groups * team.core / team.cores * group;
    end = groups * (team.core + 1) / team.cores * group;
    begin = begin < count ? begin : count;
    end = end < count ? end : count;
  }
  __mlu_func__ int64_t size() const { return end - begin; }
};

// A piece of NRAM that is handed out from the front.
struct Nram {
  char* next;

  template <class T>
  __mlu_func__ T* Array(int64_t count) {
    T* const result = reinterpret_cast<T*>(next);
    next += (count * static_cast<int64_t>(sizeof(T)) + 127) / 128 * 128;
    return result;
  }
};

}  // namespace detops::mlu

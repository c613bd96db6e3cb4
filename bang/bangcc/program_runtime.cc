// SPDX-License-Identifier: Apache-2.0
//
// Part of libbang: what the code that bangcc writes into programs calls.
#include <stdlib.h>
#include <unwind.h>

#include <memory>
#include <new>
#include <vector>

#include "bang/launch.h"
#include "bang/task.h"

// The variables of bang/task.h, of the names that its declarations give them.
extern "C" {
#define BANG_TASK_NUMBER(name) __thread int bang_##name __attribute__((tls_model("initial-exec")))
BANG_TASK_NUMBER(taskId);
BANG_TASK_NUMBER(taskIdX);
BANG_TASK_NUMBER(taskIdY);
BANG_TASK_NUMBER(taskIdZ);
BANG_TASK_NUMBER(taskDim);
BANG_TASK_NUMBER(taskDimX);
BANG_TASK_NUMBER(taskDimY);
BANG_TASK_NUMBER(taskDimZ);
BANG_TASK_NUMBER(clusterId);
BANG_TASK_NUMBER(clusterDim);
BANG_TASK_NUMBER(coreId);
BANG_TASK_NUMBER(coreDim);
#undef BANG_TASK_NUMBER

// Stands for the C++ personality in device code, which has no exceptions of its own: the one of a
// stopped kernel passes through. The compilers think that what tells of a load or store throws
// nothing, and would end the program there.
_Unwind_Reason_Code bang_personality(int, _Unwind_Action, _Unwind_Exception_Class,
                                     _Unwind_Exception*, _Unwind_Context*) {
  return _URC_CONTINUE_UNWIND;
}
}

namespace bang {
namespace {

struct Release {
  void operator()(void* memory) const { free(memory); }
};

}  // namespace

void BindTask() {
  const Task& task = CurrentTask();
  bang_taskId = task.id;
  bang_taskIdX = task.id_x;
  bang_taskIdY = task.id_y;
  bang_taskIdZ = task.id_z;
  bang_taskDim = task.dim;
  bang_taskDimX = task.dim_x;
  bang_taskDimY = task.dim_y;
  bang_taskDimZ = task.dim_z;
  bang_clusterId = task.cluster_id;
  bang_clusterDim = task.cluster_dim;
  bang_coreId = task.core_id;
  bang_coreDim = task.core_dim;
}

void* CoreMemory(int64_t bytes) {
  thread_local std::vector<std::unique_ptr<void, Release>> owned;
  constexpr int64_t kAlignment = 4096;
  const int64_t whole = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  // A page on either side is nobody's: there an index that is a little wrong is seen.
  owned.emplace_back(aligned_alloc(kAlignment, whole + 2 * kAlignment));
  if (owned.back() == nullptr) throw std::bad_alloc();
  return static_cast<char*>(owned.back().get()) + kAlignment;
}

}  // namespace bang

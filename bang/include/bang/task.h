// SPDX-License-Identifier: Apache-2.0
//
// Which task and which core the calling code is: taskId, coreId and their like, in device code.
#ifndef BANG_TASK_H_
#define BANG_TASK_H_

namespace bang {

struct Task {
  int id, id_x, id_y, id_z;
  int dim, dim_x, dim_y, dim_z;
  int cluster_id, cluster_dim;
  int core_id, core_dim;
};

constexpr int kMpuCoreId = 0x80;

// Const: a task keeps its numbers as long as it runs, and no other task runs on its thread.
const Task& CurrentTask() __attribute__((const));

// Sets the variables below for the calling thread; Launch calls it in front of each task.
void BindTask();

}  // namespace bang

// Variables, not macros, for kernels have variables of these names of their own. Host code of a
// .mlu sees them, too, for libraries name them in macros that both sides use: there they are 0.
#ifdef __BANG__
#define BANG_TASK_NUMBER(name) \
  extern __thread const int name __asm__("bang_" #name) __attribute__((tls_model("initial-exec")))
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

inline bool __is_mpu() { return coreId == ::bang::kMpuCoreId; }
inline bool __is_ipu() { return !__is_mpu(); }
#endif

#endif  // BANG_TASK_H_

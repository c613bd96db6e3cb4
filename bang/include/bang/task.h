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

extern "C" __thread const Task* bang_task __attribute__((tls_model("initial-exec")));

}  // namespace bang

#ifdef __BANG__
#define taskId (::bang::bang_task->id)
#define taskIdX (::bang::bang_task->id_x)
#define taskIdY (::bang::bang_task->id_y)
#define taskIdZ (::bang::bang_task->id_z)
#define taskDim (::bang::bang_task->dim)
#define taskDimX (::bang::bang_task->dim_x)
#define taskDimY (::bang::bang_task->dim_y)
#define taskDimZ (::bang::bang_task->dim_z)
#define clusterId (::bang::bang_task->cluster_id)
#define clusterDim (::bang::bang_task->cluster_dim)
#define coreId (::bang::bang_task->core_id)
#define coreDim (::bang::bang_task->core_dim)

inline bool __is_mpu() { return coreId == ::bang::kMpuCoreId; }
inline bool __is_ipu() { return !__is_mpu(); }
#endif

#endif  // BANG_TASK_H_

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

}  // namespace bang

#ifdef __BANG__
#define taskId (::bang::CurrentTask().id)
#define taskIdX (::bang::CurrentTask().id_x)
#define taskIdY (::bang::CurrentTask().id_y)
#define taskIdZ (::bang::CurrentTask().id_z)
#define taskDim (::bang::CurrentTask().dim)
#define taskDimX (::bang::CurrentTask().dim_x)
#define taskDimY (::bang::CurrentTask().dim_y)
#define taskDimZ (::bang::CurrentTask().dim_z)
#define clusterId (::bang::CurrentTask().cluster_id)
#define clusterDim (::bang::CurrentTask().cluster_dim)
#define coreId (::bang::CurrentTask().core_id)
#define coreDim (::bang::CurrentTask().core_dim)

inline bool __is_mpu() { return coreId == ::bang::kMpuCoreId; }
inline bool __is_ipu() { return !__is_mpu(); }
#endif

#endif  // BANG_TASK_H_

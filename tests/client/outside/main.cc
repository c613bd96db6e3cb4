// SPDX-License-Identifier: Apache-2.0
#include <mlu_op.h>

#include <cstdint>
#include <cstdio>
#include <vector>

// Points in a box, on the CPU, where device memory is host memory.
int main() {
  mluOpHandle_t handle = nullptr;
  mluOpTensorDescriptor_t points_desc, boxes_desc, indices_desc;
  mluOpTensorDescriptor_t* group[] = {&points_desc, &boxes_desc, &indices_desc};
  if (mluOpCreate(&handle) != MLUOP_STATUS_SUCCESS) return 1;
  if (mluOpCreateGroupTensorDescriptors(group, 3) != MLUOP_STATUS_SUCCESS) return 1;
  const int points_dims[] = {1, 2, 3}, boxes_dims[] = {1, 1, 7}, indices_dims[] = {1, 2};
  mluOpSetTensorDescriptor(points_desc, MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_FLOAT, 3, points_dims);
  mluOpSetTensorDescriptor(boxes_desc, MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_FLOAT, 3, boxes_dims);
  mluOpSetTensorDescriptor(indices_desc, MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_INT32, 2, indices_dims);

  const std::vector<float> points = {0, 0, 0, 5, 5, 5}, boxes = {0, 0, 0, 2, 2, 2, 0};
  std::vector<int32_t> indices(2, 99);
  const mluOpStatus_t status = mluOpPointsInBoxes(handle, points_desc, points.data(), boxes_desc,
                                                  boxes.data(), indices_desc, indices.data());
  std::printf("%s: %d %d\n", mluOpGetErrorString(status), indices[0], indices[1]);
  mluOpDestroyGroupTensorDescriptors(group, 3);
  mluOpDestroy(handle);
  return status == MLUOP_STATUS_SUCCESS && indices == std::vector<int32_t>{0, -1} ? 0 : 1;
}

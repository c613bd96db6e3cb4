/* SPDX-License-Identifier: Apache-2.0 */
#include <mlu_op.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  const float boxes[3][9] = {{0, 0, 1, 0, 1, 1, 0, 1, 1}, /* x1 y1 ... x4 y4 score */
                             {.5f, .5f, 1.5f, .5f, 1.5f, 1.5f, .5f, 1.5f, 2},
                             {0, 0, -.5f, 0, -.5f, -.5f, 0, -.5f, 3}};
  const int boxes_dims[] = {3, 9}, kept_dims[] = {3};
  int kept[3], count;
  size_t bytes;
  mluOpHandle_t handle;
  mluOpTensorDescriptor_t boxes_desc, kept_desc;
  mluOpCreate(&handle);
  mluOpCreateTensorDescriptor(&boxes_desc);
  mluOpCreateTensorDescriptor(&kept_desc);
  mluOpSetTensorDescriptor(boxes_desc, MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_FLOAT, 2, boxes_dims);
  mluOpSetTensorDescriptor(kept_desc, MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_INT32, 1, kept_dims);

  mluOpGetPolyNmsWorkspaceSize(handle, boxes_desc, &bytes);
  void* workspace = malloc(bytes);
  mluOpPolyNms(handle, boxes_desc, boxes, 0.1f, workspace, bytes, kept_desc, kept, &count);
  printf("kept %d of 3:", count); /* kept 2 of 3: 1 2 */
  for (int i = 0; i < count; ++i) printf(" %d", kept[i]);
  printf("\n");

  free(workspace);
  mluOpDestroyTensorDescriptor(kept_desc);
  mluOpDestroyTensorDescriptor(boxes_desc);
  mluOpDestroy(handle);
  return 0;
}

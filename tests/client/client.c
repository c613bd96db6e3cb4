/* SPDX-License-Identifier: Apache-2.0
 *
 * A program as clients of the mluOp C API write it: pure C, these two headers alone. It runs the
 * operators of mlu_op.h on small examples, prints a line for each and fails on any mismatch.
 */
#include <cnrt.h>
#include <math.h>
#include <mlu_op.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As programs choose between versions. */
#if MLUOP_VERSION < MLUOP_MAJOR * 1000 + MLUOP_MINOR * 100 + MLUOP_PATCHLEVEL
#error "mlu_op.h has no MLUOP_VERSION"
#endif

#define MLUOP_CHECK(call)                                                               \
  do {                                                                                  \
    mluOpStatus_t status_ = (call);                                                     \
    if (status_ != MLUOP_STATUS_SUCCESS) {                                              \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, mluOpGetErrorString(status_)); \
      exit(EXIT_FAILURE);                                                               \
    }                                                                                   \
  } while (0)

static mluOpHandle_t handle;
static cnrtQueue_t queue;

static void* upload(const void* host, size_t bytes) {
  void* device = NULL;
  CNRT_CHECK(cnrtMalloc(&device, bytes));
  CNRT_CHECK(cnrtMemcpyAsync(device, host, bytes, queue, cnrtMemcpyHostToDev));
  return device;
}

static void* reserve(size_t bytes) {
  void* device = NULL;
  CNRT_CHECK(cnrtMalloc(&device, bytes));
  CNRT_CHECK(cnrtMemset(device, 0xff, bytes));
  return device;
}

/* Waits for the queue, copies back and frees. */
static void download(void* host, void* device, size_t bytes) {
  CNRT_CHECK(cnrtQueueSync(queue));
  CNRT_CHECK(cnrtMemcpy(host, device, bytes, cnrtMemcpyDevToHost));
  CNRT_CHECK(cnrtFree(device));
}

static mluOpTensorDescriptor_t describe(mluOpTensorLayout_t layout, mluOpDataType_t dtype, int rank,
                                        const int* dims) {
  mluOpTensorDescriptor_t desc = NULL;
  MLUOP_CHECK(mluOpCreateTensorDescriptor(&desc));
  MLUOP_CHECK(mluOpSetTensorDescriptor(desc, layout, dtype, rank, dims));
  return desc;
}

static mluOpTensorDescriptor_t array(mluOpDataType_t dtype, int rank, const int* dims) {
  return describe(MLUOP_LAYOUT_ARRAY, dtype, rank, dims);
}

static int report(const char* op, int equal) {
  printf("%s: %s\n", op, equal ? "ok" : "MISMATCH");
  return equal;
}

/* Every value is exact, but a NaN is any NaN. */
static int same_floats(const float* got, const float* expected, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (isnan(expected[i]) ? !isnan(got[i]) : !(got[i] == expected[i])) return 0;
  }
  return 1;
}

static int bbox_overlaps(void) {
  const float bbox1[] = {0, 0, 10, 10, 10, 10, 20, 20, 32, 32, 38, 42};
  const float bbox2[] = {0, 0, 10, 20, 0, 10, 10, 19, 10, 10, 20, 20};
  const float expected[] = {0.5f, 0, 0, 0, 0, 1, 0, 0, 0};
  float ious[9];
  mluOpTensorDescriptor_t boxes_desc = array(MLUOP_DTYPE_FLOAT, 2, (const int[]){3, 4});
  mluOpTensorDescriptor_t ious_desc = array(MLUOP_DTYPE_FLOAT, 2, (const int[]){3, 3});
  void *bbox1_device = upload(bbox1, sizeof(bbox1)), *bbox2_device = upload(bbox2, sizeof(bbox2));
  void* ious_device = reserve(sizeof(ious));
  MLUOP_CHECK(mluOpBboxOverlaps(handle, 0, false, 0, boxes_desc, bbox1_device, boxes_desc,
                                bbox2_device, ious_desc, ious_device));
  download(ious, ious_device, sizeof(ious));
  CNRT_CHECK(cnrtFree(bbox1_device));
  CNRT_CHECK(cnrtFree(bbox2_device));
  MLUOP_CHECK(mluOpDestroyTensorDescriptor(boxes_desc));
  MLUOP_CHECK(mluOpDestroyTensorDescriptor(ious_desc));
  return report("bbox_overlaps", same_floats(ious, expected, 9));
}

static int poly_nms(void) {
  /* Boxes 0 and 1 overlap by 1/7, box 2 touches neither; box 1 has the higher score. */
  const float boxes[] = {0,    0,    1,    0, 1, 1, 0,     1, 1,     0.5f,  0.5f, 1.5f,  0.5f, 1.5f,
                         1.5f, 0.5f, 1.5f, 2, 0, 0, -0.5f, 0, -0.5f, -0.5f, 0,    -0.5f, 3};
  int32_t output[3], result_num = -1;
  size_t workspace_size = 0;
  mluOpTensorDescriptor_t boxes_desc = array(MLUOP_DTYPE_FLOAT, 2, (const int[]){3, 9});
  mluOpTensorDescriptor_t output_desc = array(MLUOP_DTYPE_INT32, 1, (const int[]){3});
  MLUOP_CHECK(mluOpGetPolyNmsWorkspaceSize(handle, boxes_desc, &workspace_size));
  void *workspace = reserve(workspace_size), *boxes_device = upload(boxes, sizeof(boxes));
  void *output_device = reserve(sizeof(output)), *num_device = reserve(sizeof(result_num));
  MLUOP_CHECK(mluOpPolyNms(handle, boxes_desc, boxes_device, 0.1f, workspace, workspace_size,
                           output_desc, output_device, num_device));
  download(output, output_device, sizeof(output));
  download(&result_num, num_device, sizeof(result_num));
  CNRT_CHECK(cnrtFree(workspace));
  CNRT_CHECK(cnrtFree(boxes_device));
  MLUOP_CHECK(mluOpDestroyTensorDescriptor(boxes_desc));
  MLUOP_CHECK(mluOpDestroyTensorDescriptor(output_desc));
  return report("poly_nms", result_num == 2 && output[0] == 1 && output[1] == 2);
}

static int border_align_forward(void) {
  /* One channel for each border; the map is given border by border, 3 rows of 4. */
  const float borders[4][12] = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
                                {6, 7, 5, 8, 2, 1, 3, 4, 12, 9, 11, 10},
                                {-2, -3, 2, 0, -4, -5, 1, -1, -1, -1, -1, -1},
                                {0, -1, 2, 1, -4, -3, -2, -1, -1, -2, -3, -4}};
  const float boxes[] = {0, 0, 2, 1, 1, 0, 3, 1, 0, 0, 1, 2};
  const float expected[] = {3, 6, 1, 2, 4, 7, -1, 1, 2, 12, -1, -1};
  const int32_t expected_argmax[] = {1, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0, 1};
  float input[48], output[12];
  int32_t argmax[12];
  for (int i = 0; i < 48; ++i) input[i] = borders[i % 4][i / 4];
  mluOpTensorDescriptor_t descs[4] = {
      describe(MLUOP_LAYOUT_NHWC, MLUOP_DTYPE_FLOAT, 4, (const int[]){1, 3, 4, 4}),
      array(MLUOP_DTYPE_FLOAT, 3, (const int[]){1, 3, 4}),
      describe(MLUOP_LAYOUT_NHWC, MLUOP_DTYPE_FLOAT, 4, (const int[]){1, 3, 4, 1}),
      describe(MLUOP_LAYOUT_NHWC, MLUOP_DTYPE_INT32, 4, (const int[]){1, 3, 4, 1})};
  void *input_device = upload(input, sizeof(input)), *boxes_device = upload(boxes, sizeof(boxes));
  void *output_device = reserve(sizeof(output)), *argmax_device = reserve(sizeof(argmax));
  MLUOP_CHECK(mluOpBorderAlignForward(handle, descs[0], input_device, descs[1], boxes_device, 1,
                                      descs[2], output_device, descs[3], argmax_device));
  download(output, output_device, sizeof(output));
  download(argmax, argmax_device, sizeof(argmax));
  CNRT_CHECK(cnrtFree(input_device));
  CNRT_CHECK(cnrtFree(boxes_device));
  for (int i = 0; i < 4; ++i) MLUOP_CHECK(mluOpDestroyTensorDescriptor(descs[i]));
  return report("border_align_forward", same_floats(output, expected, 12) &&
                                            memcmp(argmax, expected_argmax, sizeof(argmax)) == 0);
}

static int generate_proposals_v2(void) {
  /* Two images of two anchors; a NaN score comes first and is written out as it is. */
  const float scores[] = {0.2f, NAN, 0.5f, -INFINITY};
  const float deltas[] = {0, 0, 2, 2, 0, 0, 2, 2, 0, 0, 2, 2, 0, 0, 2, 2};
  const float im_shape[] = {5, 5, 5, 5}, anchors[] = {1, 1, 3, 3, 1, 1, 3, 3};
  const float expected_rois[] = {0, 0, 5, 5, 0, 0, 5, 5}, expected_probs[] = {NAN, 0.5f};
  enum { kPost = 3 };
  float rois[2 * kPost * 4], probs[2 * kPost];
  int32_t num[2], batch_size = -1;
  size_t workspace_size = 0;
  mluOpTensorDescriptor_t scores_desc = array(MLUOP_DTYPE_FLOAT, 4, (const int[]){2, 1, 2, 1});
  mluOpTensorDescriptor_t deltas_desc = array(MLUOP_DTYPE_FLOAT, 4, (const int[]){2, 1, 2, 4});
  mluOpTensorDescriptor_t shape_desc = array(MLUOP_DTYPE_FLOAT, 2, (const int[]){2, 2});
  mluOpTensorDescriptor_t anchors_desc = array(MLUOP_DTYPE_FLOAT, 4, (const int[]){1, 2, 1, 4});
  mluOpTensorDescriptor_t rois_desc = array(MLUOP_DTYPE_FLOAT, 2, (const int[]){2 * kPost, 4});
  mluOpTensorDescriptor_t probs_desc = array(MLUOP_DTYPE_FLOAT, 2, (const int[]){2 * kPost, 1});
  mluOpTensorDescriptor_t num_desc = array(MLUOP_DTYPE_INT32, 1, (const int[]){2});
  MLUOP_CHECK(
      mluOpGetGenerateProposalsV2WorkspaceSize_v2(handle, scores_desc, 2000, &workspace_size));
  void* scores_device = upload(scores, sizeof(scores));
  void* deltas_device = upload(deltas, sizeof(deltas));
  void* shape_device = upload(im_shape, sizeof(im_shape));
  void* anchors_device = upload(anchors, sizeof(anchors));
  void* workspace = reserve(workspace_size);
  void *rois_device = reserve(sizeof(rois)), *probs_device = reserve(sizeof(probs));
  void *num_device = reserve(sizeof(num)), *batch_device = reserve(sizeof(batch_size));
  MLUOP_CHECK(mluOpGenerateProposalsV2(
      handle, 2000, kPost, 0.5f, 0.0f, 1.0f, false, scores_desc, scores_device, deltas_desc,
      deltas_device, shape_desc, shape_device, anchors_desc, anchors_device, anchors_desc,
      anchors_device, workspace, workspace_size, rois_desc, rois_device, probs_desc, probs_device,
      num_desc, num_device, batch_device));
  download(rois, rois_device, sizeof(rois));
  download(probs, probs_device, sizeof(probs));
  download(num, num_device, sizeof(num));
  download(&batch_size, batch_device, sizeof(batch_size));
  void* inputs[] = {scores_device, deltas_device, shape_device, anchors_device, workspace};
  for (size_t i = 0; i < sizeof(inputs) / sizeof(inputs[0]); ++i) CNRT_CHECK(cnrtFree(inputs[i]));
  mluOpTensorDescriptor_t* group[] = {&scores_desc, &deltas_desc, &shape_desc, &anchors_desc,
                                      &rois_desc,   &probs_desc,  &num_desc};
  MLUOP_CHECK(mluOpDestroyGroupTensorDescriptors(group, sizeof(group) / sizeof(group[0])));
  return report("generate_proposals_v2", batch_size == 2 && num[0] == 1 && num[1] == 1 &&
                                             same_floats(rois, expected_rois, 8) &&
                                             same_floats(probs, expected_probs, 2));
}

static int points_in_boxes(void) {
  /* A box along x turned by a quarter lies along y; a larger one comes after it. */
  const float points[] = {0, 1.5f, 0, 1.5f, 0, 0, 0, 0, 3, 9, 9, 9};
  const float boxes[] = {0, 0, 0, 4, 1, 2, 1.5707964f, 0, 0, 0, 8, 8, 8, 0};
  const int32_t expected[] = {0, 1, 1, -1};
  int32_t indices[4];
  mluOpTensorDescriptor_t points_desc = array(MLUOP_DTYPE_FLOAT, 3, (const int[]){1, 4, 3});
  mluOpTensorDescriptor_t boxes_desc = array(MLUOP_DTYPE_FLOAT, 3, (const int[]){1, 2, 7});
  mluOpTensorDescriptor_t indices_desc = array(MLUOP_DTYPE_INT32, 2, (const int[]){1, 4});
  void *points_device = upload(points, sizeof(points)),
       *boxes_device = upload(boxes, sizeof(boxes));
  void* indices_device = reserve(sizeof(indices));
  MLUOP_CHECK(mluOpPointsInBoxes(handle, points_desc, points_device, boxes_desc, boxes_device,
                                 indices_desc, indices_device));
  download(indices, indices_device, sizeof(indices));
  CNRT_CHECK(cnrtFree(points_device));
  CNRT_CHECK(cnrtFree(boxes_device));
  MLUOP_CHECK(mluOpDestroyTensorDescriptor(points_desc));
  MLUOP_CHECK(mluOpDestroyTensorDescriptor(boxes_desc));
  MLUOP_CHECK(mluOpDestroyTensorDescriptor(indices_desc));
  return report("points_in_boxes", memcmp(indices, expected, sizeof(indices)) == 0);
}

int main(void) {
  CNRT_CHECK(cnrtSetDevice(0));
  CNRT_CHECK(cnrtQueueCreate(&queue));
  MLUOP_CHECK(mluOpCreate(&handle));
  MLUOP_CHECK(mluOpSetQueue(handle, queue));
  int good = bbox_overlaps();
  good &= poly_nms();
  good &= border_align_forward();
  good &= generate_proposals_v2();
  good &= points_in_boxes();
  MLUOP_CHECK(mluOpDestroy(handle));
  CNRT_CHECK(cnrtQueueDestroy(queue));
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

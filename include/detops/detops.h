/* SPDX-License-Identifier: Apache-2.0
 *
 * What detops adds to mlu_op.h: the text of the last error, devices by name, the table of
 * implementations, border_align in both layouts, and operators that mluOp does not have. Pure C;
 * detops.hpp is the C++ API.
 */
#ifndef DETOPS_DETOPS_H_
#define DETOPS_DETOPS_H_

#include "mlu_op.h"

#define DETOPS_VERSION_MAJOR 0
#define DETOPS_VERSION_MINOR 1
#define DETOPS_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* "0.1.0" */
const char *detopsGetVersion(void);

/* What the last failed call of this thread found wrong: function, argument, what came, what was
 * expected. "" if nothing failed yet. Valid until the thread's next failure. */
const char *detopsGetLastErrorMessage(void);

/* ---- devices ----------------------------------------------------------------------------- */

/* A handle on the device named ("cpu", "cuda:1", "mlu370"; "cuda" and "mlu" are the first of their
 * kind); null or "" is the thread's current device. */
mluOpStatus_t detopsCreate(mluOpHandle_t *handle, const char *device);
/* Makes the device named the thread's current one, for cnrt.h and mluOpCreate. */
mluOpStatus_t detopsSetDevice(const char *device);
/* The name of the handle's device; null for a null handle. */
const char *detopsGetDevice(mluOpHandle_t handle);

/* A queue that is the caller's own stream: a cudaStream_t of the device named, or an MLU's queue of
 * its own runtime; null is the default one. cnrtQueueDestroy gives the queue back; the stream stays
 * the caller's. */
mluOpStatus_t detopsQueueFromStream(cnrtQueue_t *queue, const char *device, void *stream);

typedef struct {
  const char *name;        /* "cpu", "cuda:0", "mlu590" */
  const char *description; /* for people: the processor's name */
  bool usable;
  const char *reason; /* why not, where not usable; else "" */
} detopsDeviceInfo;

/* Writes min(capacity, *count) entries; *count is how many there are. devices may be null when
 * capacity is 0. The strings live as long as the library. */
mluOpStatus_t detopsListDevices(detopsDeviceInfo *devices, size_t capacity, size_t *count);

typedef struct {
  bool simulated; /* it computes what the device would, and its times are those of a model */
  double simulator_seconds; /* that this took so far, of the calling thread's time */
  /* At best, as its maker says; 0 where the library does not know. An operation is that of one
   * element in one vector instruction. */
  double bytes_per_second; /* of its memory */
  double float_operations_per_second, half_operations_per_second;
} detopsDeviceProperties;

/* Of the handle's device. */
mluOpStatus_t detopsGetDeviceProperties(mluOpHandle_t handle, detopsDeviceProperties *properties);

/* Memory of the handle's device. Copies go through the handle's queue and have finished when the
 * call returns. */
mluOpStatus_t detopsAllocate(mluOpHandle_t handle, size_t bytes, void **memory);
mluOpStatus_t detopsFree(mluOpHandle_t handle, void *memory);
mluOpStatus_t detopsCopyToDevice(mluOpHandle_t handle, void *dst, const void *src, size_t bytes);
mluOpStatus_t detopsCopyToHost(mluOpHandle_t handle, void *dst, const void *src, size_t bytes);

/* ---- implementations --------------------------------------------------------------------- */

typedef struct {
  const char *op;   /* "poly_nms" */
  const char *name; /* "cpu:reference": the backend, then the implementation */
  bool usable;
  const char *reason; /* why this machine can't run it, "needs AVX-512"; "" if it can */
} detopsImplementationInfo;

/* As detopsListDevices; by operator, within each the preferred first and the reference last. */
mluOpStatus_t detopsListImplementations(detopsImplementationInfo *implementations, size_t capacity,
                                        size_t *count);
/* Every later call on the handle runs this implementation or fails with NOT_SUPPORTED; null or ""
 * goes back to the table's choice. DETOPS_IMPL sets it for every new handle. DETOPS_CPU, read once,
 * is the widest instruction set to choose from: avx512, avx2, sse4; sve256, neon. */
mluOpStatus_t detopsSetImplementation(mluOpHandle_t handle, const char *name);
/* The implementation that the handle's last operator call ran; "" if none did. */
const char *detopsGetLastImplementation(mluOpHandle_t handle);

/* How many pairs that call evaluated (boxes clipped, points tested, ...), for reports; -1 where the
 * implementation does not count. On a GPU, nms, poly_nms and generate_proposals_v2 count; asking
 * waits for the handle's queue, so not while it records a graph. */
int64_t detopsGetLastPairCount(mluOpHandle_t handle);
/* How many candidates (cells and boxes) it examined to find those pairs; -1 likewise. */
int64_t detopsGetLastCandidateCount(mluOpHandle_t handle);

/* ---- threads ----------------------------------------------------------------------------- */

/* A thread that calls operators on the CPU needs a stack of 512 KiB; most systems give 8 MiB.
 *
 * At most this many threads for the handle's CPU kernels, up to 4096; 0 is the default:
 * DETOPS_THREADS, else OMP_NUM_THREADS, else the processors that the calling thread may run on, or
 * fewer where the process's control group has a quota of processor time. The answer does not depend
 * on it, and where threads can't be started, calls go on with those there are. */
mluOpStatus_t detopsSetThreads(mluOpHandle_t handle, int count);
/* How many that is; 0 for a null handle. */
int detopsGetThreads(mluOpHandle_t handle);

/* ---- operators --------------------------------------------------------------------------- */

/* mluOpBorderAlignForward, and also with layout NCHW on input, output and argmax_idx:
 *   input [N,4C,H,W]  boxes [N,K,4]  output, argmax_idx [N,C,K,4] */
mluOpStatus_t detopsBorderAlignForward(mluOpHandle_t handle,
                                       const mluOpTensorDescriptor_t input_desc, const void *input,
                                       const mluOpTensorDescriptor_t boxes_desc, const void *boxes,
                                       const int32_t pool_size,
                                       const mluOpTensorDescriptor_t output_desc, void *output,
                                       const mluOpTensorDescriptor_t argmax_idx_desc,
                                       void *argmax_idx);

/* Suppression of upright boxes, as torchvision's nms:
 *   boxes [N,4] x1,y1,x2,y2 and scores [N], both half or both float
 *   output [N] int32: the indices kept, best first; result_num [1] int32: how many */
mluOpStatus_t detopsGetNmsWorkspaceSize(mluOpHandle_t handle,
                                        const mluOpTensorDescriptor_t boxes_desc, size_t *size);
mluOpStatus_t detopsNms(mluOpHandle_t handle, const mluOpTensorDescriptor_t boxes_desc,
                        const void *boxes, const mluOpTensorDescriptor_t scores_desc,
                        const void *scores, float iou_threshold, void *workspace,
                        size_t workspace_size, const mluOpTensorDescriptor_t output_desc,
                        void *output, void *result_num);

/* Copies a strided tensor into a contiguous one of the same shape and type, on the handle's device
 * and queue. dst is given by its pointer alone: row-major. On the CPU both may lie at any address.
 */
mluOpStatus_t detopsMakeContiguous(mluOpHandle_t handle, const mluOpTensorDescriptor_t src_desc,
                                   const void *src, void *dst);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif /* DETOPS_DETOPS_H_ */

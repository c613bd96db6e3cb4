/* SPDX-License-Identifier: Apache-2.0
 *
 * The mluOp C API, as far as programs use it that call the operators declared here: names, values
 * and behaviour are those of mluOp 1.11.1, so that such programs compile and run unchanged.
 *
 * Every function returns a status and never throws, prints or aborts. After a failure,
 * detopsGetLastErrorMessage() (detops/detops.h) says which argument was wrong and what was
 * expected; the outputs are untouched.
 *
 * A handle is used by one thread at a time; different handles may be used at the same time.
 *
 * Tensors lie at addresses that are multiples of the size of their elements, as those of every
 * allocator do; others are refused. A workspace may lie anywhere. Inputs stay as they are during a
 * call: where another thread changes them, the results may be anything, but no other memory is
 * touched.
 */
#ifndef MLU_OP_H_
#define MLU_OP_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cnrt.h>

#define MLUOP_MAJOR 1
#define MLUOP_MINOR 11
#define MLUOP_PATCHLEVEL 1

/* For programs that compare it; a minor version above 9 counts like a later major one. */
#define MLUOP_VERSION (MLUOP_MAJOR * 1000 + MLUOP_MINOR * 100 + MLUOP_PATCHLEVEL)

#define MLUOP_DIM_MAX 8

#ifndef MLUOP_WIN_API
#ifdef _WIN32
#define MLUOP_WIN_API __stdcall
#else
#define MLUOP_WIN_API
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Opaque; declared before the push, so that their members stay the library's own. */
struct mluOpContext;
struct mluOpTensorStruct;
typedef struct mluOpContext *mluOpHandle_t;
typedef struct mluOpTensorStruct *mluOpTensorDescriptor_t;

#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* ---- types ------------------------------------------------------------------------------- */

typedef enum {
  MLUOP_STATUS_SUCCESS = 0,
  MLUOP_STATUS_NOT_INITIALIZED = 1,
  MLUOP_STATUS_ALLOC_FAILED = 2,
  MLUOP_STATUS_BAD_PARAM = 3,
  MLUOP_STATUS_INTERNAL_ERROR = 4,
  MLUOP_STATUS_ARCH_MISMATCH = 5,
  MLUOP_STATUS_EXECUTION_FAILED = 6,
  MLUOP_STATUS_NOT_SUPPORTED = 7,
  MLUOP_STATUS_NUMERICAL_OVERFLOW = 8
} mluOpStatus_t;

typedef enum {
  MLUOP_LAYOUT_NCHW = 0,
  MLUOP_LAYOUT_NHWC = 1,
  MLUOP_LAYOUT_HWCN = 2,
  MLUOP_LAYOUT_NDHWC = 3,
  MLUOP_LAYOUT_ARRAY = 4,
  MLUOP_LAYOUT_NCDHW = 5,
  MLUOP_LAYOUT_TNC = 6,
  MLUOP_LAYOUT_NTC = 7,
  MLUOP_LAYOUT_NC = 8,
  MLUOP_LAYOUT_NLC = 9,
  MLUOP_LAYOUT_NCL = 10
} mluOpTensorLayout_t;

typedef enum {
  MLUOP_DTYPE_INVALID = 0,
  MLUOP_DTYPE_HALF = 1,
  MLUOP_DTYPE_FLOAT = 2,
  MLUOP_DTYPE_INT8 = 3,
  MLUOP_DTYPE_INT16 = 4,
  MLUOP_DTYPE_INT31 = 5,
  MLUOP_DTYPE_INT32 = 6,
  MLUOP_DTYPE_UINT8 = 7,
  MLUOP_DTYPE_BOOL = 8,
  MLUOP_DTYPE_INT64 = 9,
  MLUOP_DTYPE_UINT32 = 11,
  MLUOP_DTYPE_UINT64 = 12,
  MLUOP_DTYPE_UINT16 = 13,
  MLUOP_DTYPE_DOUBLE = 14,
  MLUOP_DTYPE_COMPLEX_HALF = 15,
  MLUOP_DTYPE_COMPLEX_FLOAT = 16,
  MLUOP_DTYPE_BFLOAT16 = 17
} mluOpDataType_t;

typedef enum { MLUOP_POINTER_MODE_HOST = 0, MLUOP_POINTER_MODE_DEVICE = 1 } mluOpPointerMode_t;

typedef enum {
  MLUOP_ROUND_HALF_TO_EVEN = 0,
  MLUOP_ROUND_HALF_UP = 1,
  MLUOP_ROUND_HALF_OFF_ZERO = 2
} mluOpQuantizeRoundMode_t;

typedef enum { MLUOP_ATOMICS_NOT_ALLOWED = 1, MLUOP_ATOMICS_ALLOWED = 2 } mluOpAtomicsMode_t;

/* ---- library ----------------------------------------------------------------------------- */

/* The name of the enumerator; "MLUOP_STATUS_UNKNOWN" for any other value. */
const char *MLUOP_WIN_API mluOpGetErrorString(mluOpStatus_t status);
/* The version of the mluOp API spoken here; any pointer may be null. */
void MLUOP_WIN_API mluOpGetLibVersion(int *major, int *minor, int *patch);
mluOpStatus_t MLUOP_WIN_API mluOpGetSizeOfDataType(mluOpDataType_t data_type, size_t *size);

/* ---- handle ------------------------------------------------------------------------------ */

/* On the calling thread's current device: cnrtSetDevice's, or what DETOPS_DEVICE names. */
mluOpStatus_t MLUOP_WIN_API mluOpCreate(mluOpHandle_t *handle);
mluOpStatus_t MLUOP_WIN_API mluOpDestroy(mluOpHandle_t handle);
mluOpStatus_t MLUOP_WIN_API mluOpUpdateContextInformation(mluOpHandle_t handle);
/* Null is the device's default queue. */
mluOpStatus_t MLUOP_WIN_API mluOpSetQueue(mluOpHandle_t handle, cnrtQueue_t queue);
mluOpStatus_t MLUOP_WIN_API mluOpGetQueue(mluOpHandle_t handle, cnrtQueue_t *queue);
mluOpStatus_t MLUOP_WIN_API mluOpSetQuantizeRoundMode(mluOpHandle_t handle,
                                                      mluOpQuantizeRoundMode_t round_mode);
mluOpStatus_t MLUOP_WIN_API mluOpGetQuantizeRoundMode(mluOpHandle_t handle,
                                                      mluOpQuantizeRoundMode_t *round_mode);
mluOpStatus_t MLUOP_WIN_API mluOpSetAtomicsMode(mluOpHandle_t handle,
                                                mluOpAtomicsMode_t atomics_mode);
mluOpStatus_t MLUOP_WIN_API mluOpGetAtomicsMode(mluOpHandle_t handle,
                                                mluOpAtomicsMode_t *atomics_mode);

/* ---- tensor descriptors ------------------------------------------------------------------ */

/* A fresh descriptor has 0 dims, FLOAT, ARRAY, DEVICE pointer mode and no elements. */
mluOpStatus_t MLUOP_WIN_API mluOpCreateTensorDescriptor(mluOpTensorDescriptor_t *desc);
mluOpStatus_t MLUOP_WIN_API mluOpDestroyTensorDescriptor(mluOpTensorDescriptor_t desc);
mluOpStatus_t MLUOP_WIN_API mluOpCreateGroupTensorDescriptors(mluOpTensorDescriptor_t *group_desc[],
                                                              const int desc_num);
mluOpStatus_t MLUOP_WIN_API
mluOpDestroyGroupTensorDescriptors(mluOpTensorDescriptor_t *group_desc[], const int desc_num);

/* Row-major strides are inferred. Negative dims, more than MLUOP_DIM_MAX dims, unknown types and
 * sizes that overflow 64 bits are BAD_PARAM, and leave the descriptor as it was. dimNb 0 is a
 * scalar in HOST pointer mode, otherwise BAD_PARAM. */
mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptor(mluOpTensorDescriptor_t desc,
                                                     mluOpTensorLayout_t layout,
                                                     mluOpDataType_t dtype, int dimNb,
                                                     const int dimSize[]);
mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptor_v2(mluOpTensorDescriptor_t desc,
                                                        mluOpTensorLayout_t layout,
                                                        mluOpDataType_t dtype, int dimNb,
                                                        const int64_t dimSize[]);
/* Strides count elements. */
mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptorEx(mluOpTensorDescriptor_t desc,
                                                       mluOpTensorLayout_t layout,
                                                       mluOpDataType_t dtype, int dimNb,
                                                       const int dimSize[], const int dimStride[]);
mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptorEx_v2(mluOpTensorDescriptor_t desc,
                                                          mluOpTensorLayout_t layout,
                                                          mluOpDataType_t dtype, int dimNb,
                                                          const int64_t dimSize[],
                                                          const int64_t dimStride[]);
/* All descriptors of a group, or none where one can't be set. group_dimSize has the dims of the
 * first, then those of the second, and so on. */
mluOpStatus_t MLUOP_WIN_API mluOpSetGroupTensorDescriptors(mluOpTensorDescriptor_t *group_desc[],
                                                           const mluOpTensorLayout_t group_layout[],
                                                           const mluOpDataType_t group_dtype[],
                                                           const int group_dimNb[],
                                                           const int group_dimSize[],
                                                           const int desc_num);
mluOpStatus_t MLUOP_WIN_API mluOpSetGroupTensorDescriptors_v2(
    mluOpTensorDescriptor_t *group_desc[], const mluOpTensorLayout_t group_layout[],
    const mluOpDataType_t group_dtype[], const int group_dimNb[], const int64_t group_dimSize[],
    const int desc_num);
/* Keeps layout and type. */
mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptorDim(mluOpTensorDescriptor_t desc, int dimNb,
                                                        const int *dimSize);
mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptorDim_v2(mluOpTensorDescriptor_t desc, int dimNb,
                                                           const int64_t *dimSize);
mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptorOnchipDataType(mluOpTensorDescriptor_t desc,
                                                                   mluOpDataType_t onchip_dtype);
/* Of fixed-point data; kept, and read by no operator. The shorter ones leave the rest as it is. */
mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptorPosition(mluOpTensorDescriptor_t desc,
                                                             int position);
mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptorPositionAndScale(mluOpTensorDescriptor_t desc,
                                                                     int position, float scale);
mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptorPositionScaleAndOffset(
    mluOpTensorDescriptor_t desc, int position, float scale, int offset);
mluOpStatus_t MLUOP_WIN_API mluOpSetTensorDescriptorPointerMode(mluOpTensorDescriptor_t desc,
                                                                mluOpPointerMode_t pointer_mode);

/* Any out pointer may be null. A dim above INT_MAX is BAD_PARAM here: use _v2. */
mluOpStatus_t MLUOP_WIN_API mluOpGetTensorDescriptor(const mluOpTensorDescriptor_t desc,
                                                     mluOpTensorLayout_t *layout,
                                                     mluOpDataType_t *dtype, int *dimNb,
                                                     int dimSize[]);
mluOpStatus_t MLUOP_WIN_API mluOpGetTensorDescriptor_v2(const mluOpTensorDescriptor_t desc,
                                                        mluOpTensorLayout_t *layout,
                                                        mluOpDataType_t *dtype, int *dimNb,
                                                        int64_t dimSize[]);
/* No out pointer may be null. */
mluOpStatus_t MLUOP_WIN_API mluOpGetTensorDescriptorEx(const mluOpTensorDescriptor_t desc,
                                                       mluOpTensorLayout_t *layout,
                                                       mluOpDataType_t *dtype, int *dimNb,
                                                       int dimSize[], int dimStride[]);
mluOpStatus_t MLUOP_WIN_API mluOpGetTensorDescriptorEx_v2(const mluOpTensorDescriptor_t desc,
                                                          mluOpTensorLayout_t *layout,
                                                          mluOpDataType_t *dtype, int *dimNb,
                                                          int64_t dimSize[], int64_t dimStride[]);
mluOpStatus_t MLUOP_WIN_API mluOpGetTensorDescriptorOnchipDataType(
    const mluOpTensorDescriptor_t desc, mluOpDataType_t *onchip_dtype);
mluOpStatus_t MLUOP_WIN_API mluOpGetTensorDescriptorPosition(const mluOpTensorDescriptor_t desc,
                                                             int *position);
mluOpStatus_t MLUOP_WIN_API mluOpGetTensorDescriptorPositionAndScale(
    const mluOpTensorDescriptor_t desc, int *position, float *scale);
mluOpStatus_t MLUOP_WIN_API mluOpGetTensorDescriptorPositionScaleAndOffset(
    const mluOpTensorDescriptor_t desc, int *position, float *scale, int *offset);
mluOpStatus_t MLUOP_WIN_API mluOpGetTensorDescriptorPointerMode(const mluOpTensorDescriptor_t desc,
                                                                mluOpPointerMode_t *pointer_mode);

/* Back to a fresh descriptor. */
mluOpStatus_t MLUOP_WIN_API mluOpResetTensorDescriptor(mluOpTensorDescriptor_t desc);
/* The product of the dims; 0 for a null or fresh descriptor. */
size_t MLUOP_WIN_API mluOpGetTensorElementNum(const mluOpTensorDescriptor_t desc);

/* ---- operators --------------------------------------------------------------------------- */

/* IoU (mode 0) or IoF (mode 1: over the area of bbox1) of boxes x1,y1,x2,y2.
 *   bbox1 [M,4], bbox2 [N,4]   half or float, one type for all three
 *   ious  [M,N]; aligned: M == N and ious is [M] or [M,1]
 * offset 0 or 1 is added to every length. 0/0 is NaN. */
mluOpStatus_t MLUOP_WIN_API mluOpBboxOverlaps(mluOpHandle_t handle, const int mode,
                                              const bool aligned, const int offset,
                                              const mluOpTensorDescriptor_t bbox1_desc,
                                              const void *bbox1,
                                              const mluOpTensorDescriptor_t bbox2_desc,
                                              const void *bbox2,
                                              const mluOpTensorDescriptor_t ious_desc, void *ious);

/* Non-maximum suppression of quadrilaterals.
 *   boxes  [N,9] float   x1,y1,...,x4,y4,score; convex or concave, either orientation
 *   output [N]   int32   the indices kept, ascending; only the first *result_num are written
 *   result_num [1] int32 */
mluOpStatus_t MLUOP_WIN_API mluOpGetPolyNmsWorkspaceSize(mluOpHandle_t handle,
                                                         const mluOpTensorDescriptor_t boxes_desc,
                                                         size_t *size);
mluOpStatus_t MLUOP_WIN_API mluOpPolyNms(mluOpHandle_t handle,
                                         const mluOpTensorDescriptor_t boxes_desc,
                                         const void *boxes, float iou_threshold, void *workspace,
                                         size_t workspace_size,
                                         const mluOpTensorDescriptor_t output_desc, void *output,
                                         void *result_num);

/* The maximum of pool_size + 1 bilinear samples along each border of each box.
 *   input      [N,H,W,4C]  half or float, NHWC; C channels each for top, left, bottom, right
 *   boxes      [N,K,4]     of that type
 *   output     [N,K,4,C]   of that type, NHWC
 *   argmax_idx [N,K,4,C]   int32, NHWC: the first sample that holds the maximum */
mluOpStatus_t MLUOP_WIN_API mluOpBorderAlignForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc, const void *input,
    const mluOpTensorDescriptor_t boxes_desc, const void *boxes, const int32_t pool_size,
    const mluOpTensorDescriptor_t output_desc, void *output,
    const mluOpTensorDescriptor_t argmax_idx_desc, void *argmax_idx);

/* Region proposals of N images: top-k, decode, clip, drop the small, non-maximum suppression.
 *   scores [N,H,W,A]  bbox_deltas [N,H,W,4A]  im_shape [N,2] (height, width)
 *   anchors [H,W,A,4]  variances [H,W,A,4]     all float, ARRAY
 *   rpn_rois [N*post,4] float  rpn_roi_probs [N*post,1] float  rpn_rois_num [N] int32
 *   rpn_rois_batch_size [1] int32: rois and probs written, packed over the images
 * Both queries give the size that any pre_nms_top_n needs. */
mluOpStatus_t MLUOP_WIN_API mluOpGetGenerateProposalsV2WorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t scores_desc, size_t *size);
mluOpStatus_t MLUOP_WIN_API mluOpGetGenerateProposalsV2WorkspaceSize_v2(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t scores_desc, const int32_t pre_nms_top_n,
    size_t *size);
mluOpStatus_t MLUOP_WIN_API mluOpGenerateProposalsV2(
    mluOpHandle_t handle, const int pre_nms_top_n, const int post_nms_top_n, const float nms_thresh,
    const float min_size, const float eta, bool pixel_offset,
    const mluOpTensorDescriptor_t scores_desc, const void *scores,
    const mluOpTensorDescriptor_t bbox_deltas_desc, const void *bbox_deltas,
    const mluOpTensorDescriptor_t im_shape_desc, const void *im_shape,
    const mluOpTensorDescriptor_t anchors_desc, const void *anchors,
    const mluOpTensorDescriptor_t variances_desc, const void *variances, void *workspace,
    size_t workspace_size, const mluOpTensorDescriptor_t rpn_rois_desc, void *rpn_rois,
    const mluOpTensorDescriptor_t rpn_roi_probs_desc, void *rpn_roi_probs,
    const mluOpTensorDescriptor_t rpn_rois_num_desc, void *rpn_rois_num, void *rpn_rois_batch_size);

/* The first box that holds each point, or -1.
 *   points [B,M,3] float  x,y,z
 *   boxes  [B,T,7] float  cx,cy,cz (the geometric centre),dx,dy,dz,heading
 *   points_indices [B,M] int32 */
mluOpStatus_t MLUOP_WIN_API
mluOpPointsInBoxes(mluOpHandle_t handle, const mluOpTensorDescriptor_t points_desc,
                   const void *points, const mluOpTensorDescriptor_t boxes_desc, const void *boxes,
                   const mluOpTensorDescriptor_t points_indices_desc, void *points_indices);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif /* MLU_OP_H_ */

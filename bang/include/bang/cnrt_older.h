/* SPDX-License-Identifier: Apache-2.0
 *
 * The older names of cnrt.h, which many programs still use, and the conversions of half that went
 * with them. cnrt.h includes this. */
#ifndef BANG_CNRT_OLDER_H_
#define BANG_CNRT_OLDER_H_

#include "cnrt.h"

/* ---- results ---- */

#define CNRT_RET_SUCCESS cnrtSuccess
#define CNRT_RET_ERR_NOT_READY cnrtErrorNotReady
#define CNRT_RET_ERR_INVALID cnrtErrorArgsInvalid
#define CNRT_RET_ERR_NOMEM cnrtErrorNoMem
#define CNRT_RET_ERR_NODEV cnrtErrorNoDevice
#define CNRT_RET_ERR_SYS cnrtErrorSys
#define CNRT_RET_ERR_UNSUPPORTED cnrtErrorNotSupport
#define CNRT_RET_ERR_UNKNOWN cnrtErrorUnknown

/* ---- values ---- */

#define CNRT_MEM_TRANS_DIR_HOST2DEV cnrtMemcpyHostToDev
#define CNRT_MEM_TRANS_DIR_DEV2DEV cnrtMemcpyDevToDev
#define CNRT_MEM_TRANS_DIR_DEV2HOST cnrtMemcpyDevToHost
#define CNRT_MEM_TRANS_DIR_HOST2HOST cnrtMemcpyHostToHost
#define CNRT_MEM_TRANS_DIR_PEER2PEER cnrtMemcpyPeerToPeer
#define CNRT_MEM_TRANS_DIR_NODIR cnrtMemcpyNoDirection

#define CNRT_FUNC_TYPE_MUTABLE cnrtFuncTypeMutable
#define CNRT_FUNC_TYPE_BLOCK cnrtFuncTypeBlock
#define CNRT_FUNC_TYPE_UNION1 cnrtFuncTypeUnion1
#define CNRT_FUNC_TYPE_UNION2 cnrtFuncTypeUnion2
#define CNRT_FUNC_TYPE_UNION4 cnrtFuncTypeUnion4
#define CNRT_FUNC_TYPE_UNION8 cnrtFuncTypeUnion8
#define CNRT_FUNC_TYPE_UNION16 cnrtFuncTypeUnion16
#define cnrtJobTypeBlock cnrtFuncTypeBlock
#define cnrtJobTypeUnion1 cnrtFuncTypeUnion1
#define cnrtJobTypeUnion2 cnrtFuncTypeUnion2
#define cnrtJobTypeUnion4 cnrtFuncTypeUnion4
typedef cnrtFunctionType_t cnrtJobType_t;

#define CNRT_FLOAT16 cnrtFloat16
#define CNRT_FLOAT32 cnrtFloat32
#define CNRT_INT8 cnrtInt8
#define CNRT_INT16 cnrtInt16
#define CNRT_INT32 cnrtInt32
#define CNRT_UINT8 cnrtUInt8
#define CNRT_BOOL cnrtBool

#define CNRT_NOTIFIER_DEFAULT 0u
#define CNRT_NOTIFIER_DISABLE_TIMING_SW 2u
#define CNRT_NOTIFIER_DISABLE_TIMING_ALL 4u

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* ---- functions ---- */

typedef uint64_t cnrtDev_t;

cnrtRet_t cnrtInit(unsigned int flags);
void cnrtDestroy(void);
cnrtRet_t cnrtGetDeviceHandle(cnrtDev_t* device, int ordinal);
cnrtRet_t cnrtSetCurrentDevice(cnrtDev_t device);
cnrtRet_t cnrtGetCurrentDevice(cnrtDev_t* device);

cnrtRet_t cnrtCreateQueue(cnrtQueue_t* queue);
cnrtRet_t cnrtDestroyQueue(cnrtQueue_t queue);
cnrtRet_t cnrtSyncQueue(cnrtQueue_t queue);
cnrtRet_t cnrtQueryQueue(cnrtQueue_t queue);

cnrtRet_t cnrtCreateNotifier(cnrtNotifier_t* notifier);
cnrtRet_t cnrtDestroyNotifier(cnrtNotifier_t* notifier);

int cnrtDataTypeSize(cnrtDataType_t type);

/* Nearest even, as the kernels' own conversion; half as its bits. */
cnrtRet_t cnrtConvertFloatToHalf(uint16_t* half_bits, float value);
cnrtRet_t cnrtConvertHalfToFloat(float* value, uint16_t half_bits);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}  // extern "C"

// Where half is a type of its own. As templates, these also leave room for the functions of the
// same names that many programs write for themselves.
template <typename Half>
inline cnrtRet_t cnrtConvertFloatToHalf(Half* half_value, float value) {
  static_assert(sizeof(Half) == sizeof(uint16_t), "half has 16 bits");
  return cnrtConvertFloatToHalf(reinterpret_cast<uint16_t*>(half_value), value);
}

template <typename Half>
inline cnrtRet_t cnrtConvertFloatToHalfArray(Half* half_values, const float* values, int count) {
  for (int i = 0; i < count; ++i) cnrtConvertFloatToHalf(half_values + i, values[i]);
  return cnrtSuccess;
}

template <typename Half>
inline cnrtRet_t cnrtConvertHalfToFloatArray(float* values, const Half* half_values, int count) {
  static_assert(sizeof(Half) == sizeof(uint16_t), "half has 16 bits");
  for (int i = 0; i < count; ++i) {
    uint16_t bits;
    __builtin_memcpy(&bits, half_values + i, 2);
    cnrtConvertHalfToFloat(values + i, bits);
  }
  return cnrtSuccess;
}
#endif

#endif /* BANG_CNRT_OLDER_H_ */

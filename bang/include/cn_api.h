/* SPDX-License-Identifier: Apache-2.0
 *
 * The few names of the driver's interface that programs with BANG C kernels use: what the card is
 * like, for choosing how to launch. C11 and C++. */
#ifndef CN_API_H_
#define CN_API_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int CNdev;
struct CNctx_st;
typedef struct CNctx_st* CNcontext;

typedef enum {
  CN_SUCCESS = 0,
  CN_ERROR_INVALID_DEVICE = 100005,
  CN_ERROR_INVALID_VALUE = 100006,
  CN_ERROR_UNKNOWN = 999991
} CNresult;

/* The number of cores that run a task together. */
typedef enum {
  CN_KERNEL_CLASS_BLOCK = 1,
  CN_KERNEL_CLASS_UNION = 4,
  CN_KERNEL_CLASS_UNION2 = 8,
  CN_KERNEL_CLASS_UNION4 = 16,
  CN_KERNEL_CLASS_UNION8 = 32,
  CN_KERNEL_CLASS_UNION16 = 64,
  CN_KERNEL_CLASS_NONE = 0xff
} KernelClass;

typedef enum {
  CN_CTX_CONFIG_VISIBLE_CLUSTER = 0,
  CN_CTX_CONFIG_VISIBLE_CLUSTER_NUM = 1,
  CN_CTX_CONFIG_UNION_LIMIT = 2
} CNctxConfigParamType;

typedef union {
  uint64_t visibleCluster; /* a bit per cluster */
  uint64_t visibleClusterNumber;
  KernelClass unionLimit;
} CNctxConfigParam;

/* The values are those of cnrtDeviceAttr_t. */
typedef enum {
  CN_DEVICE_ATTRIBUTE_MAX_BLOCK_TASK_DIM_X = 0x201,
  CN_DEVICE_ATTRIBUTE_MAX_BLOCK_TASK_DIM_Y = 0x202,
  CN_DEVICE_ATTRIBUTE_MAX_BLOCK_TASK_DIM_Z = 0x203,
  CN_DEVICE_ATTRIBUTE_MAX_CLUSTER_COUNT_PER_UNION_TASK = 0x204,
  CN_DEVICE_ATTRIBUTE_MAX_CLUSTER_COUNT = 0x205,
  CN_DEVICE_ATTRIBUTE_MAX_CORE_COUNT_PER_CLUSTER = 0x206,
  CN_DEVICE_ATTRIBUTE_MAX_CLUSTERS_PER_UNION_LIMIT_TASK = 0x209,
  CN_DEVICE_ATTRIBUTE_MLU_ISA_VERSION = 0x20a,
  CN_DEVICE_ATTRIBUTE_NRAM_SIZE_PER_CORE = 0x302,
  CN_DEVICE_ATTRIBUTE_WEIGHT_RAM_SIZE_PER_CORE = 0x303,
  CN_DEVICE_ATTRIBUTE_LOCAL_MEMORY_SIZE_PER_CORE = 0x305,
  CN_DEVICE_ATTRIBUTE_MAX_SHARED_RAM_SIZE_PER_CLUSTER = 0x306,
  CN_DEVICE_ATTRIBUTE_CLUSTER_CLOCK_RATE = 0x402,
  CN_DEVICE_ATTRIBUTE_TOTAL_MEMORY_SIZE = 0x405
} CNdevice_attribute;

#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

CNresult cnInit(unsigned int flags);
CNresult cnDeviceGetCount(int* count);
CNresult cnDeviceGet(CNdev* device, int ordinal);
CNresult cnDeviceGetName(char* name, int bytes, CNdev device);
CNresult cnDeviceGetAttribute(int* value, CNdevice_attribute attribute, CNdev device);
CNresult cnCtxGetCurrent(CNcontext* context);
CNresult cnCtxGetDevice(CNdev* device);
/* All clusters, and the widest union task. */
CNresult cnGetCtxConfigParam(CNcontext context, CNctxConfigParamType type, CNctxConfigParam* value);
CNresult cnGetErrorString(CNresult error, const char** text);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif /* CN_API_H_ */

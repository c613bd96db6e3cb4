/* SPDX-License-Identifier: Apache-2.0
 *
 * The CNRT C API as programs with BANG C kernels call it, on simulated devices. C11 and C++.
 *
 * Each device is a simulated card: "MLU590 (simulated)" or "MLU370 (simulated)". BANG_DEVICE names
 * the devices that there are, mlu590, mlu370 or a list of them with commas, and device 0 is the
 * first of the list. Without it there is one for each card that the program has code for, or else
 * mlu590.
 *
 * Every call has done its work when it returns, asynchronous ones too. Time on the device is
 * simulated: it moves with the work of queues, and notifiers read it.
 */
#ifndef CNRT_H_
#define CNRT_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Opaque. */
struct cnrtQueue;
struct cnrtNotifier;
typedef struct cnrtQueue* cnrtQueue_t;
typedef struct cnrtNotifier* cnrtNotifier_t;

#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* ---- results ---- */

typedef enum {
  cnrtSuccess = 0,
  cnrtErrorNotReady = 1,
  cnrtErrorInit = 2,
  cnrtErrorNoMem = 3,
  cnrtErrorNoDevice = 4,
  cnrtErrorArgsInvalid = 5,
  cnrtErrorSys = 6,
  cnrtErrorDeviceInvalid = 100005,         /* no device has this number */
  cnrtErrorSysNoMem = 100010,              /* the host's memory is used up */
  cnrtErrorInvalidResourceHandle = 100014, /* a queue or notifier that does not exist */
  cnrtErrorNotSupport = 100050,
  cnrtErrorAssert = 100128,         /* an assertion of a kernel failed */
  cnrtErrorKernelTrap = 100132,     /* a kernel was stopped; stderr says where and why */
  cnrtErrorKernelUserTrap = 100133, /* a kernel stopped itself */
  cnrtErrorInvalidKernel = 100302,  /* a launch that this card can't run */
  cnrtErrorDevice = 632006,         /* memory or a queue of another device */
  cnrtErrorNoAttribute = 632009,
  cnrtErrorMemcpyDirectionInvalid = 632013,
  cnrtErrorUnknown = 999991
} cnrtRet_t;

/* The enumerator's name; "cnrtErrorUnknown" for any other value. */
const char* cnrtGetErrorStr(cnrtRet_t error_code);
const char* cnrtGetErrorName(cnrtRet_t error_code);
/* The calling thread's last error; Get makes it cnrtSuccess again, except after a kernel was
 * stopped: that stays the device's error until cnrtDeviceReset. */
cnrtRet_t cnrtGetLastError(void);
cnrtRet_t cnrtPeekAtLastError(void);

/* ---- devices ---- */

typedef enum {
  cnrtAttrComputeCapabilityMajor = 0x01,
  cnrtAttrComputeCapabilityMinor = 0x02,
  cnrtAttrFP16ComputingSupported = 0x04,
  cnrtAttrINT8ComputingSupported = 0x06,
  cnrtAttrMaxDimX = 0x201,
  cnrtAttrMaxDimY = 0x202,
  cnrtAttrMaxDimZ = 0x203,
  cnrtAttrMaxClusterCountPerUnionTask = 0x204,
  cnrtAttrClusterCount = 0x205,
  cnrtAttrMcorePerCluster = 0x206,
  cnrtAttrMaxClusterPerUnionLimitTask = 0x209,
  cnrtAttrISAVersion = 0x20a,
  cnrtAttrNramSizePerMcore = 0x302,          /* bytes, the compiler's stack included */
  cnrtAttrWramSizePerMcore = 0x303,          /* bytes */
  cnrtAttrLmemSizePerMcore = 0x305,          /* MB */
  cnrtAttrSramSizePerMcore = 0x306,          /* bytes, of a cluster in spite of the name */
  cnrtAttrAvailableGlobalMemorySize = 0x312, /* MB */
  cnrtAttrIpuClockRate = 0x402,              /* kHz */
  cnrtAttrMemClockRate = 0x403,              /* kHz; data come twice per cycle */
  cnrtAttrGmemBusWidth = 0x404,              /* bits */
  cnrtAttrTotalMemSize = 0x405               /* MB */
} cnrtDeviceAttr_t;

typedef struct {
  char name[256];
  int totalMem; /* MB */
  int maxDim[3];
  int ipuClockRate; /* kHz */
  int major;
  int minor;
  int FP16ComputingSupported;
  int INT8ComputingSupported;
  int maxClusterCountPerUnionTask;
  int clusterCount;
  int McorePerCluster;
  int ISAVersion;
  int NramSizePerMcore;
  int WramSizePerMcore;
  int LmemSizePerMcore; /* MB */
  int SramSizePerMcore;
  int availableGlobalMemorySize; /* MB */
  uint64_t totalGlobalMemSize;   /* bytes */
} cnrtDeviceProp_t;

cnrtRet_t cnrtGetDeviceCount(unsigned int* count);
cnrtRet_t cnrtGetDevice(int* ordinal);
cnrtRet_t cnrtSetDevice(int ordinal); /* for the calling thread */
cnrtRet_t cnrtDeviceGetAttribute(int* value, cnrtDeviceAttr_t attribute, int ordinal);
cnrtRet_t cnrtGetDeviceProperties(cnrtDeviceProp_t* properties, int ordinal);
cnrtRet_t cnrtSyncDevice(void);
/* Frees the current device's memory, queues and notifiers, and forgets its errors. */
cnrtRet_t cnrtDeviceReset(void);
cnrtRet_t cnrtGetLibVersion(int* major, int* minor, int* patch);

/* ---- memory ---- */

typedef enum {
  cnrtMemcpyHostToDev = 0,
  cnrtMemcpyDevToDev = 1,
  cnrtMemcpyDevToHost = 2,
  cnrtMemcpyHostToHost = 3,
  cnrtMemcpyPeerToPeer = 4,
  cnrtMemcpyNoDirection = 5 /* from what the pointers are */
} cnrtMemTransDir_t;

/* bytes 0 succeeds, with a pointer that cnrtFree takes. */
cnrtRet_t cnrtMalloc(void** ptr, size_t bytes);
cnrtRet_t cnrtFree(void* ptr);
cnrtRet_t cnrtHostMalloc(void** ptr, size_t bytes);
cnrtRet_t cnrtFreeHost(void* ptr);
cnrtRet_t cnrtMemGetInfo(size_t* free_bytes, size_t* total_bytes);

cnrtRet_t cnrtMemset(void* ptr, int value, size_t bytes);
cnrtRet_t cnrtMemsetAsync(void* ptr, int value, size_t bytes, cnrtQueue_t queue);
/* count elements of 8, 16 or 32 bits */
cnrtRet_t cnrtMemsetD8(void* ptr, unsigned char value, size_t count);
cnrtRet_t cnrtMemsetD16(void* ptr, unsigned short value, size_t count);
cnrtRet_t cnrtMemsetD32(void* ptr, unsigned int value, size_t count);
cnrtRet_t cnrtMemsetD8Async(void* ptr, unsigned char value, size_t count, cnrtQueue_t queue);
cnrtRet_t cnrtMemsetD16Async(void* ptr, unsigned short value, size_t count, cnrtQueue_t queue);
cnrtRet_t cnrtMemsetD32Async(void* ptr, unsigned int value, size_t count, cnrtQueue_t queue);

cnrtRet_t cnrtMemcpy(void* dst, const void* src, size_t bytes, cnrtMemTransDir_t dir);
cnrtRet_t cnrtMemcpyAsync(void* dst, const void* src, size_t bytes, cnrtQueue_t queue,
                          cnrtMemTransDir_t dir);
/* height rows of width bytes, whose beginnings are a pitch apart */
cnrtRet_t cnrtMemcpy2D(void* dst, size_t dst_pitch, const void* src, size_t src_pitch, size_t width,
                       size_t height, cnrtMemTransDir_t dir);
/* from one device to another, or within one */
cnrtRet_t cnrtMemcpyPeer(void* dst, int dst_ordinal, const void* src, int src_ordinal,
                         size_t bytes);

/* ---- queues ---- */

cnrtRet_t cnrtQueueCreate(cnrtQueue_t* queue);
cnrtRet_t cnrtQueueCreateWithPriority(cnrtQueue_t* queue, unsigned int flags, int priority);
cnrtRet_t cnrtQueueDestroy(cnrtQueue_t queue);
/* Waits for all that was put on the queue; null is the current device's default queue. */
cnrtRet_t cnrtQueueSync(cnrtQueue_t queue);
cnrtRet_t cnrtQueueQuery(cnrtQueue_t queue);
/* What is put on the queue later waits for the notifier. */
cnrtRet_t cnrtQueueWaitNotifier(cnrtNotifier_t notifier, cnrtQueue_t queue, unsigned int flags);
typedef void (*cnrtHostFn_t)(void* user_data);
cnrtRet_t cnrtInvokeHostFunc(cnrtQueue_t queue, cnrtHostFn_t function, void* user_data);

/* ---- notifiers: points in a queue's simulated time ---- */

cnrtRet_t cnrtNotifierCreate(cnrtNotifier_t* notifier);
cnrtRet_t cnrtNotifierCreateWithFlags(cnrtNotifier_t* notifier, unsigned int flags);
cnrtRet_t cnrtNotifierDestroy(cnrtNotifier_t notifier);
cnrtRet_t cnrtPlaceNotifier(cnrtNotifier_t notifier, cnrtQueue_t queue);
cnrtRet_t cnrtWaitNotifier(cnrtNotifier_t notifier);
cnrtRet_t cnrtQueryNotifier(cnrtNotifier_t notifier);
cnrtRet_t cnrtNotifierDuration(cnrtNotifier_t start, cnrtNotifier_t end, float* microseconds);
cnrtRet_t cnrtNotifierElapsedTime(cnrtNotifier_t start, cnrtNotifier_t end, float* milliseconds);

/* ---- launches: kernel<<<dim, type, queue>>>(...) ---- */

typedef struct {
  unsigned int x;
  unsigned int y;
  unsigned int z;
} cnrtDim3_t;

/* The number of cores that run a task together. */
typedef enum {
  cnrtFuncTypeMutable = -1,
  cnrtFuncTypeBlock = 1,
  cnrtFuncTypeUnion1 = 4,
  cnrtFuncTypeUnion2 = 8,
  cnrtFuncTypeUnion4 = 16,
  cnrtFuncTypeUnion8 = 32,
  cnrtFuncTypeUnion16 = 64 /* more clusters than these cards have */
} cnrtFunctionType_t;

/* ---- data types: names only, for programs that hand them to their kernels ---- */

typedef enum {
  cnrtInvalid = 0x0,
  cnrtFloat16 = 0x12,
  cnrtFloat32 = 0x13,
  cnrtFloat64 = 0x14,
  cnrtInt8 = 0x21,
  cnrtInt16 = 0x22,
  cnrtInt32 = 0x23,
  cnrtInt64 = 0x24,
  cnrtUInt8 = 0x31,
  cnrtUInt16 = 0x32,
  cnrtUInt32 = 0x33,
  cnrtBool = 0x61
} cnrtDataType_t;

typedef enum {
  cnrtUnknown = 0,
  cnrtDouble = 0x1,
  cnrtFloat = 0x2,
  cnrtHalf = 0x3,
  cnrtBfloat = 0x4,
  cnrtUlonglong = 0x11,
  cnrtUint = 0x12,
  cnrtUshort = 0x13,
  cnrtUchar = 0x14,
  cnrtLonglong = 0x21,
  cnrtInt = 0x22,
  cnrtShort = 0x23,
  cnrtChar = 0x24,
  cnrtBoolean = 0x31
} cnrtDataType_V2_t;

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

/* For programs, not for libraries: prints what failed and exits. */
#define CNRT_CHECK(expr)                                            \
  do {                                                              \
    cnrtRet_t cnrt_check_ret_ = (expr);                             \
    if (cnrt_check_ret_ != cnrtSuccess) {                           \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #expr, \
              cnrtGetErrorStr(cnrt_check_ret_));                    \
      exit(EXIT_FAILURE);                                           \
    }                                                               \
  } while (0)

#include "bang/cnrt_older.h"

#endif /* CNRT_H_ */

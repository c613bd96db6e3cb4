/* SPDX-License-Identifier: Apache-2.0
 *
 * The small part of the CNRT C API that programs of mlu_op.h use: devices, memory, queues, and
 * notifiers, which take the time.
 *
 * "The device" is the calling thread's current one: what DETOPS_DEVICE names at first use (default
 * "cpu"), or what cnrtSetDevice or detopsSetDevice chose. On the CPU, device memory is host memory
 * and every call has finished when it returns.
 */
#ifndef CNRT_H_
#define CNRT_H_

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Opaque; declared before the push, so that its members stay the library's own. */
struct cnrtQueue;
struct cnrtNotifier;
typedef struct cnrtQueue *cnrtQueue_t;
typedef struct cnrtNotifier *cnrtNotifier_t;

#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

typedef enum {
  cnrtSuccess = 0,
  cnrtErrorNotReady = 1,
  cnrtErrorInit = 2,
  cnrtErrorNoMem = 3,
  cnrtErrorNoDevice = 4,
  cnrtErrorArgsInvalid = 5,
  cnrtErrorSys = 6
} cnrtRet_t;

/* The older spelling, which many clients still use. */
#define CNRT_RET_SUCCESS cnrtSuccess

typedef enum {
  cnrtMemcpyHostToDev = 0,
  cnrtMemcpyDevToDev = 1,
  cnrtMemcpyDevToHost = 2,
  cnrtMemcpyHostToHost = 3
} cnrtMemTransDir_t;

/* The enumerator's name; "cnrtErrorUnknown" for any other value. */
const char *cnrtGetErrorStr(cnrtRet_t error_code);

cnrtRet_t cnrtGetDeviceCount(unsigned int *count);
cnrtRet_t cnrtGetDevice(int *ordinal);
cnrtRet_t cnrtSetDevice(int ordinal);

/* bytes 0 succeeds, with a pointer that cnrtFree takes. */
cnrtRet_t cnrtMalloc(void **ptr, size_t bytes);
cnrtRet_t cnrtFree(void *ptr);
cnrtRet_t cnrtMemset(void *ptr, int value, size_t bytes);
cnrtRet_t cnrtMemcpy(void *dst, const void *src, size_t bytes, cnrtMemTransDir_t dir);
cnrtRet_t cnrtMemcpyAsync(void *dst, const void *src, size_t bytes, cnrtQueue_t queue,
                          cnrtMemTransDir_t dir);

cnrtRet_t cnrtQueueCreate(cnrtQueue_t *queue);
cnrtRet_t cnrtQueueDestroy(cnrtQueue_t queue);
/* Waits for all that was put on the queue; null is the device's default queue. */
cnrtRet_t cnrtQueueSync(cnrtQueue_t queue);

/* Points in the time of a queue. What was put on the queue between two of them took, on the device:
 *   cnrtPlaceNotifier(start, queue); ... cnrtPlaceNotifier(end, queue);
 *   cnrtWaitNotifier(end); cnrtNotifierDuration(start, end, &microseconds);
 * On a simulated device that is simulated time, the same in each run; on the CPU the clock's. */
cnrtRet_t cnrtNotifierCreate(cnrtNotifier_t *notifier);
cnrtRet_t cnrtNotifierDestroy(cnrtNotifier_t notifier);
/* On a queue of the device that was current when the notifier was created; null is its default
 * queue. */
cnrtRet_t cnrtPlaceNotifier(cnrtNotifier_t notifier, cnrtQueue_t queue);
/* Waits for what was put on the queue before it. */
cnrtRet_t cnrtWaitNotifier(cnrtNotifier_t notifier);
cnrtRet_t cnrtNotifierDuration(cnrtNotifier_t start, cnrtNotifier_t end, float *microseconds);

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

#endif /* CNRT_H_ */

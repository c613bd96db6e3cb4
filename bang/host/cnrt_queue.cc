// SPDX-License-Identifier: Apache-2.0
//
// cnrt.h: queues, and notifiers in simulated time.
#include "cnrt.h"
#include "host/devices.h"
#include "host/queues.h"
#include "host/report.h"

using bang::DeviceOf;
using bang::Fail;

namespace {

// Null is the default queue.
bool Usable(cnrtQueue_t queue) { return queue == nullptr || bang::Queues().IsAlive(queue); }
bool Usable(cnrtNotifier_t notifier) { return bang::Notifiers().IsAlive(notifier); }

cnrtRet_t NoQueue(const char* call) {
  return Fail(cnrtErrorInvalidResourceHandle, call,
              "there is no such queue: it was not created, or was destroyed");
}

cnrtRet_t NoNotifier(const char* call) {
  return Fail(cnrtErrorInvalidResourceHandle, call,
              "there is no such notifier: it was not created, or was destroyed");
}

bang::SimulatedDevice& Owner(cnrtQueue_t queue) {
  return queue == nullptr ? bang::Current() : *queue->device;
}

cnrtRet_t Microseconds(const char* call, cnrtNotifier_t start, cnrtNotifier_t end, double* time) {
  if (!Usable(start) || !Usable(end)) return NoNotifier(call);
  if (!start->placed || !end->placed) {
    return Fail(cnrtErrorNotReady, call, "the %s notifier was never placed on a queue",
                start->placed ? "end" : "start");
  }
  if (start->device != end->device) {
    return Fail(cnrtErrorArgsInvalid, call, "the notifiers belong to two devices");
  }
  *time = end->time - start->time;
  return cnrtSuccess;
}

}  // namespace

cnrtRet_t cnrtQueueCreate(cnrtQueue_t* queue) {
  if (queue == nullptr) return Fail(cnrtErrorArgsInvalid, "cnrtQueueCreate", "queue is null");
  *queue = bang::Queues().Create(&bang::Current());
  return cnrtSuccess;
}

cnrtRet_t cnrtQueueCreateWithPriority(cnrtQueue_t* queue, unsigned int, int) {
  return cnrtQueueCreate(queue);
}

cnrtRet_t cnrtQueueDestroy(cnrtQueue_t queue) {
  return bang::Queues().Destroy(queue) ? cnrtSuccess : NoQueue("cnrtQueueDestroy");
}

cnrtRet_t cnrtQueueSync(cnrtQueue_t queue) {
  if (!Usable(queue)) return NoQueue("cnrtQueueSync");
  bang::SimulatedDevice& device = Owner(queue);
  device.Wait(queue);
  return device.sticky_error();
}

cnrtRet_t cnrtQueueQuery(cnrtQueue_t queue) {
  return Usable(queue) ? Owner(queue).sticky_error() : NoQueue("cnrtQueueQuery");
}

cnrtRet_t cnrtQueueWaitNotifier(cnrtNotifier_t notifier, cnrtQueue_t queue, unsigned int) {
  if (!Usable(queue)) return NoQueue("cnrtQueueWaitNotifier");
  if (!Usable(notifier)) return NoNotifier("cnrtQueueWaitNotifier");
  // One that was never placed is passed.
  if (notifier->placed && notifier->device == &Owner(queue)) {
    Owner(queue).HoldUntil(queue, notifier->time);
  }
  return cnrtSuccess;
}

cnrtRet_t cnrtInvokeHostFunc(cnrtQueue_t queue, cnrtHostFn_t function, void* user_data) {
  if (!Usable(queue)) return NoQueue("cnrtInvokeHostFunc");
  if (function == nullptr) {
    return Fail(cnrtErrorArgsInvalid, "cnrtInvokeHostFunc", "function is null");
  }
  function(user_data);
  return cnrtSuccess;
}

cnrtRet_t cnrtNotifierCreate(cnrtNotifier_t* notifier) {
  if (notifier == nullptr) {
    return Fail(cnrtErrorArgsInvalid, "cnrtNotifierCreate", "notifier is null");
  }
  *notifier = bang::Notifiers().Create(&bang::Current());
  return cnrtSuccess;
}

cnrtRet_t cnrtNotifierCreateWithFlags(cnrtNotifier_t* notifier, unsigned int) {
  return cnrtNotifierCreate(notifier);
}

cnrtRet_t cnrtNotifierDestroy(cnrtNotifier_t notifier) {
  return bang::Notifiers().Destroy(notifier) ? cnrtSuccess : NoNotifier("cnrtNotifierDestroy");
}

cnrtRet_t cnrtPlaceNotifier(cnrtNotifier_t notifier, cnrtQueue_t queue) {
  if (!Usable(queue)) return NoQueue("cnrtPlaceNotifier");
  if (!Usable(notifier)) return NoNotifier("cnrtPlaceNotifier");
  notifier->device = &Owner(queue);
  notifier->time = notifier->device->TimeOf(queue);
  notifier->placed = true;
  return notifier->device->sticky_error();
}

cnrtRet_t cnrtWaitNotifier(cnrtNotifier_t notifier) {
  if (!Usable(notifier)) return NoNotifier("cnrtWaitNotifier");
  if (notifier->placed) notifier->device->WaitUntil(notifier->time);
  return notifier->device->sticky_error();
}

cnrtRet_t cnrtQueryNotifier(cnrtNotifier_t notifier) {
  return Usable(notifier) ? notifier->device->sticky_error() : NoNotifier("cnrtQueryNotifier");
}

cnrtRet_t cnrtNotifierDuration(cnrtNotifier_t start, cnrtNotifier_t end, float* microseconds) {
  if (microseconds == nullptr) {
    return Fail(cnrtErrorArgsInvalid, "cnrtNotifierDuration", "microseconds is null");
  }
  double time = 0;
  const cnrtRet_t result = Microseconds("cnrtNotifierDuration", start, end, &time);
  *microseconds = static_cast<float>(time);
  return result;
}

cnrtRet_t cnrtNotifierElapsedTime(cnrtNotifier_t start, cnrtNotifier_t end, float* milliseconds) {
  if (milliseconds == nullptr) {
    return Fail(cnrtErrorArgsInvalid, "cnrtNotifierElapsedTime", "milliseconds is null");
  }
  double time = 0;
  const cnrtRet_t result = Microseconds("cnrtNotifierElapsedTime", start, end, &time);
  *milliseconds = static_cast<float>(time / 1000);
  return result;
}

// The older names.

cnrtRet_t cnrtCreateQueue(cnrtQueue_t* queue) { return cnrtQueueCreate(queue); }
cnrtRet_t cnrtDestroyQueue(cnrtQueue_t queue) { return cnrtQueueDestroy(queue); }
cnrtRet_t cnrtSyncQueue(cnrtQueue_t queue) { return cnrtQueueSync(queue); }
cnrtRet_t cnrtQueryQueue(cnrtQueue_t queue) { return cnrtQueueQuery(queue); }
cnrtRet_t cnrtCreateNotifier(cnrtNotifier_t* notifier) { return cnrtNotifierCreate(notifier); }
cnrtRet_t cnrtDestroyNotifier(cnrtNotifier_t* notifier) {
  return cnrtNotifierDestroy(notifier == nullptr ? nullptr : *notifier);
}

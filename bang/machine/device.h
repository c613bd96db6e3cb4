// SPDX-License-Identifier: Apache-2.0
//
// A simulated card as the host side and the machine share it.
#ifndef BANG_MACHINE_DEVICE_H_
#define BANG_MACHINE_DEVICE_H_

#include <string>

#include "clock/card.h"
#include "cnrt.h"
#include "machine/device_memory.h"

namespace bang {

// What a queue's work runs on; a queue's items run in order, those of two queues side by side.
enum class Engine { kCores, kHostToDevice, kDeviceToHost, kDeviceToDevice };

class Device {
 public:
  virtual ~Device() = default;
  virtual const Card& card() const = 0;
  virtual DeviceMemory& memory() = 0;
  // Puts work of this simulated length behind what is on the queue (null: the default queue).
  virtual void Advance(cnrtQueue_t queue, Engine engine, double microseconds) = 0;
  // What cnrtQueueSync and later calls report after a kernel was stopped, and why it was; the first
  // one stays.
  virtual void SetStickyError(cnrtRet_t error, const std::string& why) = 0;
  virtual cnrtRet_t sticky_error() const = 0;
};

Device& CurrentDevice();  // the calling thread's
// The device that a queue was created on; the current one for null.
Device& DeviceOf(cnrtQueue_t queue);
void SetLastError(cnrtRet_t error);  // the calling thread's cnrtGetLastError

}  // namespace bang

#endif  // BANG_MACHINE_DEVICE_H_

// SPDX-License-Identifier: Apache-2.0
//
// The simulated devices of the process, and the simulated time of their queues.
#ifndef BANG_HOST_DEVICES_H_
#define BANG_HOST_DEVICES_H_

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "host/queues.h"
#include "machine/device.h"

namespace bang {

class SimulatedDevice : public Device {
 public:
  SimulatedDevice(int ordinal, const Card& card);

  const Card& card() const override { return card_; }
  DeviceMemory& memory() override { return memory_; }
  void Advance(cnrtQueue_t queue, Engine engine, double microseconds) override;
  void SetStickyError(cnrtRet_t error, const std::string& why) override;
  cnrtRet_t sticky_error() const override { return sticky_error_; }

  // Why the sticky error is there; "" without one. Valid until Reset.
  const char* why();

  int ordinal() const { return ordinal_; }
  const std::string& name() const { return name_; }  // "MLU590 (simulated)"

  // The calling thread waits for the queue, for all that the device does, or for a point in time.
  void Wait(cnrtQueue_t queue);
  void WaitForAll();
  void WaitUntil(double time);
  // A copy or memset of `bytes` on the queue; `wait`: the calling thread waits for it, too.
  void Transfer(cnrtQueue_t queue, Engine engine, int64_t bytes, bool wait);
  double TimeOf(cnrtQueue_t queue);  // of what would be put on the queue now
  void HoldUntil(cnrtQueue_t queue, double time);

  void Reset();

 private:
  cnrtQueue& Resolve(cnrtQueue_t queue) { return queue == nullptr ? default_queue_ : *queue; }
  double& HostTime();  // how far the calling thread has seen the device's time go

  const int ordinal_;
  const Card& card_;
  const std::string name_;
  DeviceMemory memory_;
  std::atomic<cnrtRet_t> sticky_error_ = cnrtSuccess;
  std::mutex mutex_;  // guards what follows, and the times of the device's queues
  std::string why_;
  std::array<double, 4> engine_end_ = {};
  cnrtQueue default_queue_;
};

// At least one; fixed at first use.
const std::vector<std::unique_ptr<SimulatedDevice>>& Devices();
SimulatedDevice& Current();
void SetCurrent(int ordinal);

// The device whose memory this is, or null.
SimulatedDevice* OwnerOf(const void* address);

}  // namespace bang

#endif  // BANG_HOST_DEVICES_H_

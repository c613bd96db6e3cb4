// SPDX-License-Identifier: Apache-2.0
#include "running/call_time.h"

#include <chrono>

namespace detops::cli {
namespace {

void Check(cnrtRet_t error) {
  if (error != cnrtSuccess) {
    throw RunError(MLUOP_STATUS_EXECUTION_FAILED, detopsGetLastErrorMessage());
  }
}

// On the thread's current device, which is the execution's.
class Notifier {
 public:
  Notifier() { Check(cnrtNotifierCreate(&notifier_)); }
  ~Notifier() { cnrtNotifierDestroy(notifier_); }
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;
  operator cnrtNotifier_t() const { return notifier_; }

 private:
  cnrtNotifier_t notifier_ = nullptr;
};

double SimulatorSeconds(mluOpHandle_t handle) {
  detopsDeviceProperties properties = {};
  schema::Require(detopsGetDeviceProperties(handle, &properties));
  return properties.simulator_seconds;
}

}  // namespace

CallTime TimeCall(Execution& execution) {
  using Clock = std::chrono::steady_clock;
  schema::Require(detopsSetDevice(detopsGetDevice(execution.handle())));
  cnrtQueue_t queue = nullptr;
  schema::Require(mluOpGetQueue(execution.handle(), &queue));
  const Notifier start, end;
  Check(cnrtPlaceNotifier(start, queue));
  const double simulated_before = SimulatorSeconds(execution.handle());
  const auto called = Clock::now();
  execution.Start();
  const std::chrono::duration<double> host = Clock::now() - called;
  const double simulated = SimulatorSeconds(execution.handle()) - simulated_before;
  Check(cnrtPlaceNotifier(end, queue));
  Check(cnrtWaitNotifier(end));
  float microseconds = 0;
  Check(cnrtNotifierDuration(start, end, &microseconds));
  return {1e-6 * static_cast<double>(microseconds), host.count() - simulated};
}

}  // namespace detops::cli

// SPDX-License-Identifier: Apache-2.0
#include "session.h"

#include <memory>
#include <utility>
#include <vector>

#include "core/per_thread.h"
#include "errors.h"

namespace detops::python {
namespace {

class Session {
 public:
  explicit Session(const Device& device) : device_(device) {
    Check(detopsCreate(&handle_, device.name().c_str()));
  }
  ~Session() {
    mluOpDestroy(handle_);
    DestroyQueues();
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const Device& device() const { return device_; }

  mluOpHandle_t On(void* stream) {
    if (!device_.on_host) Check(mluOpSetQueue(handle_, QueueOf(stream)));
    return handle_;
  }

 private:
  // A stream that was destroyed may come back at the same address; a wrapped one holds nothing
  // else.
  cnrtQueue_t QueueOf(void* stream) {
    for (const auto& [known, queue] : queues_) {
      if (known == stream) return queue;
    }
    if (queues_.size() == kMostQueues) {
      Check(mluOpSetQueue(handle_, nullptr));
      DestroyQueues();
    }
    cnrtQueue_t queue = nullptr;
    Check(detopsQueueFromStream(&queue, device_.name().c_str(), stream));
    queues_.emplace_back(stream, queue);
    return queue;
  }

  void DestroyQueues() {
    for (const auto& [stream, queue] : queues_) cnrtQueueDestroy(queue);
    queues_.clear();
  }

  static constexpr size_t kMostQueues = 64;  // PyTorch has 32 streams a device
  Device device_;
  mluOpHandle_t handle_ = nullptr;
  std::vector<std::pair<void*, cnrtQueue_t>> queues_;
};

using Sessions = std::vector<std::unique_ptr<Session>>;

Sessions& ThreadSessions() {
  static core::PerThread<Sessions> sessions;
  return sessions.Mine();
}

}  // namespace

mluOpHandle_t ThreadHandle(const Device& device, void* stream) {
  Sessions& sessions = ThreadSessions();
  for (const auto& session : sessions) {
    if (session->device() == device) return session->On(stream);
  }
  sessions.push_back(std::make_unique<Session>(device));
  return sessions.back()->On(stream);
}

void ForgetThreadHandles() {
  // Not destroyed: a child can do nothing with what belongs to CUDA.
  for (auto& session : ThreadSessions()) session.release();
  ThreadSessions().clear();
}

}  // namespace detops::python

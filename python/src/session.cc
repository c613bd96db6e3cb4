// SPDX-License-Identifier: Apache-2.0
#include "session.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "argument.h"
#include "core/per_thread.h"
#include "errors.h"

namespace detops::python {
namespace {

const Device kHost;

class Session {
 public:
  Session(const Device& device, int threads) : device_(device) {
    Check(detopsCreate(&handle_, device.name().c_str()));
    if (threads > 0) detopsSetThreads(handle_, threads);  // which was accepted before
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

// What belongs to one thread.
struct Sessions {
  std::vector<std::unique_ptr<Session>> of_devices;
  int threads = 0;  // as it was set
};

Sessions& ThreadSessions() {
  static core::PerThread<Sessions> sessions;
  return sessions.Mine();
}

}  // namespace

mluOpHandle_t ThreadHandle(const Device& device, void* stream) {
  Sessions& sessions = ThreadSessions();
  for (const auto& session : sessions.of_devices) {
    if (session->device() == device) return session->On(stream);
  }
  sessions.of_devices.push_back(std::make_unique<Session>(device, sessions.threads));
  return sessions.of_devices.back()->On(stream);
}

int SetThreads(const char* function, nb::handle n) {
  const int count = ToInt(function, "n", n);
  const mluOpStatus_t status = detopsSetThreads(ThreadHandle(kHost, nullptr), count);
  if (status != MLUOP_STATUS_SUCCESS) {
    // "count: is 5000, expected ...", or what is wrong with the default.
    std::string text(LastErrorText());
    constexpr std::string_view kLibrarysName = "count: ";
    if (text.starts_with(kLibrarysName)) {
      text.replace(0, kLibrarysName.size(), "n ");
      text[text.find(", expected")] = ';';
    }
    Throw(ExceptionOf(status), std::string(function) + ": " + text);
  }
  return std::exchange(ThreadSessions().threads, count);
}

int GetThreads() { return detopsGetThreads(ThreadHandle(kHost, nullptr)); }

void ForgetThreadHandles() {
  // Not destroyed: a child can do nothing with what belongs to CUDA.
  for (auto& session : ThreadSessions().of_devices) session.release();
  ThreadSessions().of_devices.clear();
}

}  // namespace detops::python

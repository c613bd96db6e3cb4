// SPDX-License-Identifier: Apache-2.0
#include "session.h"

#include <cstdlib>
#include <memory>
#include <optional>
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
constexpr const char* kHostName = "cpu";

class Session {
 public:
  // `whose` says in errors who named the device.
  Session(std::string device, const char* whose, int threads) : device_(std::move(device)) {
    const mluOpStatus_t status = detopsCreate(&handle_, device_.c_str());
    if (status != MLUOP_STATUS_SUCCESS) {
      Throw(ExceptionOf(status), whose + std::string(LastErrorText()));
    }
    if (threads > 0) detopsSetThreads(handle_, threads);  // which was accepted before
  }
  ~Session() {
    mluOpDestroy(handle_);
    DestroyQueues();
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const std::string& device() const { return device_; }

  // Null is CUDA's default stream.
  mluOpHandle_t OnStream(void* stream) {
    Check(mluOpSetQueue(handle_, QueueOf(stream)));
    return handle_;
  }
  mluOpHandle_t OnDefaultQueue() {
    Check(mluOpSetQueue(handle_, nullptr));
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
    Check(detopsQueueFromStream(&queue, device_.c_str(), stream));
    queues_.emplace_back(stream, queue);
    return queue;
  }

  void DestroyQueues() {
    for (const auto& [stream, queue] : queues_) cnrtQueueDestroy(queue);
    queues_.clear();
  }

  static constexpr size_t kMostQueues = 64;  // PyTorch has 32 streams a device
  std::string device_;
  mluOpHandle_t handle_ = nullptr;
  std::vector<std::pair<void*, cnrtQueue_t>> queues_;
};

// What belongs to one thread.
struct Sessions {
  std::vector<std::unique_ptr<Session>> of_devices;
  int threads = 0;                    // as it was set
  std::optional<std::string> device;  // as it was chosen; "" is the host
};

Sessions& ThreadSessions() {
  static core::PerThread<Sessions> sessions;
  return sessions.Mine();
}

Session& SessionOn(const std::string& device, const char* whose = "") {
  Sessions& sessions = ThreadSessions();
  for (const auto& session : sessions.of_devices) {
    if (session->device() == device) return *session;
  }
  sessions.of_devices.push_back(std::make_unique<Session>(device, whose, sessions.threads));
  return *sessions.of_devices.back();
}

// Read once, as the library does for each thread.
const std::string& DefaultDevice() {
  static const std::string device = [] {
    const char* name = std::getenv("DETOPS_DEVICE");
    return std::string(name == nullptr || std::string_view(name) == kHostName ? "" : name);
  }();
  return device;
}

}  // namespace

mluOpHandle_t ThreadHandle(const Device& device, void* stream) {
  Session& session = SessionOn(device.name());
  return device.on_host ? session.OnDefaultQueue() : session.OnStream(stream);
}

mluOpHandle_t ThreadHandle(const std::string& device) {
  const char* const whose = &device == &DefaultDevice() ? "DETOPS_DEVICE: " : "";
  return SessionOn(device, whose).OnDefaultQueue();
}

const std::string& ThreadDevice() {
  const std::optional<std::string>& chosen = ThreadSessions().device;
  return chosen ? *chosen : DefaultDevice();
}

nb::object SetDevice(const char* function, nb::handle device) {
  std::optional<std::string> chosen;
  if (!device.is_none()) {
    if (!PyUnicode_Check(device.ptr())) {
      Throw(PyExc_TypeError, std::string(function) + ": name is of type " +
                                 TextOf(device.type().attr("__name__")) +
                                 "; expected a device's name or None");
    }
    chosen = TextOf(device);
    mluOpHandle_t handle = nullptr;
    const mluOpStatus_t status = detopsCreate(&handle, chosen->c_str());
    if (status != MLUOP_STATUS_SUCCESS) {
      Throw(ExceptionOf(status), std::string(function) + ": " + std::string(LastErrorText()));
    }
    // "mlu" is the first of them, and the host needs no copies.
    chosen = detopsGetDevice(handle);
    mluOpDestroy(handle);
    if (*chosen == kHostName) chosen = "";
  }
  const std::optional<std::string> before =
      std::exchange(ThreadSessions().device, std::move(chosen));
  if (!before) return nb::none();
  return nb::str(before->empty() ? kHostName : before->c_str());
}

std::string GetDevice() {
  const std::string& device = ThreadDevice();
  return device.empty() ? kHostName : detopsGetDevice(ThreadHandle(device));
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

// SPDX-License-Identifier: Apache-2.0
//
// Queues and notifiers. What is behind a handle is kept when its owner destroys it, so that later
// uses of the handle are noticed.
#ifndef BANG_HOST_QUEUES_H_
#define BANG_HOST_QUEUES_H_

#include <memory>
#include <mutex>
#include <unordered_map>

#include "cnrt.h"

namespace bang {
class SimulatedDevice;
}

struct cnrtQueue {
  bang::SimulatedDevice* device = nullptr;
  bool alive = true;
  double end = 0;  // when its last item ends, in microseconds of simulated time
};

struct cnrtNotifier {
  bang::SimulatedDevice* device = nullptr;
  bool alive = true;
  bool placed = false;
  double time = 0;
};

namespace bang {

template <typename T>
class Handles {
 public:
  T* Create(SimulatedDevice* device) {
    auto owner = std::make_unique<T>();
    T* object = owner.get();
    object->device = device;
    const std::lock_guard lock(mutex_);
    objects_[object] = std::move(owner);
    return object;
  }

  bool IsAlive(const T* handle) const {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(handle);
    return found != objects_.end() && found->second->alive;
  }

  bool Destroy(const T* handle) {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(handle);
    if (found == objects_.end() || !found->second->alive) return false;
    found->second->alive = false;
    return true;
  }

  void DestroyAllOf(const SimulatedDevice* device) {
    const std::lock_guard lock(mutex_);
    for (auto& [handle, object] : objects_) {
      if (object->device == device) object->alive = false;
    }
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<const T*, std::unique_ptr<T>> objects_;
};

Handles<cnrtQueue>& Queues();
Handles<cnrtNotifier>& Notifiers();

}  // namespace bang

#endif  // BANG_HOST_QUEUES_H_

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <memory>
#include <new>

namespace detops::core {

// A T of each thread, made when the thread first asks for it and destroyed when the thread ends
// (the main thread's lives as long as the process). Not thread_local: glibc ends the process where
// it has no memory for a thread_local of a library that was loaded late, or to note that it has a
// destructor. Here that is std::bad_alloc.
template <class T, class Destroy = std::default_delete<T>>
class PerThread {
 public:
  PerThread() {
    const auto destroy = [](void* mine) { Destroy()(static_cast<T*>(mine)); };
    if (pthread_key_create(&key_, destroy) != 0) throw std::bad_alloc();
  }
  PerThread(const PerThread&) = delete;
  PerThread& operator=(const PerThread&) = delete;

  // Null where the thread has none yet.
  T* Find() const noexcept { return static_cast<T*>(pthread_getspecific(key_)); }
  // False where there is no memory to note it.
  bool Set(T* mine) noexcept { return pthread_setspecific(key_, mine) == 0; }
  T& Mine() {
    if (T* const mine = Find()) return *mine;
    std::unique_ptr<T, Destroy> made(new T());
    if (!Set(made.get())) throw std::bad_alloc();
    return *made.release();
  }

 private:
  pthread_key_t key_;
};

}  // namespace detops::core

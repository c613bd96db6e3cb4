// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <memory>
#include <new>

namespace detops::python {

// A T of each thread, made when the thread first asks for it and destroyed when the thread ends
// (the main thread's lives as long as the process). Not thread_local: glibc ends the process where
// there is no memory to note that a thread_local has a destructor, and here that is std::bad_alloc.
template <class T>
class PerThread {
 public:
  PerThread() {
    if (pthread_key_create(&key_, [](void* mine) { delete static_cast<T*>(mine); }) != 0) {
      throw std::bad_alloc();
    }
  }
  PerThread(const PerThread&) = delete;
  PerThread& operator=(const PerThread&) = delete;

  T& mine() {
    if (void* const made = pthread_getspecific(key_)) return *static_cast<T*>(made);
    auto made = std::make_unique<T>();
    if (pthread_setspecific(key_, made.get()) != 0) throw std::bad_alloc();
    return *made.release();
  }

 private:
  pthread_key_t key_;
};

}  // namespace detops::python

// SPDX-License-Identifier: Apache-2.0
#include "machine/workers.h"

#include <pthread.h>

#include <condition_variable>
#include <mutex>
#include <vector>

#include "machine/faults.h"
#include "machine/running_core.h"

namespace bang {
namespace {

// Arrays inside kernels lie on the stack, and arrays of the program may be on it, too.
constexpr size_t kStackBytes = size_t{64} << 20;

struct Pool {
  std::mutex mutex;
  std::condition_variable start, done;
  const std::function<void(int, RunningCore*)>* job = nullptr;
  int wanted = 0;      // workers with a smaller number run the job
  int running = 0;
  uint64_t round = 0;
  std::vector<pthread_t> threads;
};

struct Arguments {
  Pool* pool;
  int number;
};

void* Work(void* erased) {
  auto* const arguments = static_cast<Arguments*>(erased);
  Pool& pool = *arguments->pool;
  const int number = arguments->number;
  delete arguments;
  RunningCore core;
  uint64_t seen = 0;
  std::unique_lock lock(pool.mutex);
  while (true) {
    pool.start.wait(lock, [&] { return pool.round != seen; });
    seen = pool.round;
    if (number >= pool.wanted) continue;
    const auto* const job = pool.job;
    lock.unlock();
    (*job)(number, &core);
    lock.lock();
    if (--pool.running == 0) pool.done.notify_one();
  }
  return nullptr;
}

bool AddThread(Pool* pool) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_attr_setguardsize(&attributes, kStackGuardBytes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  auto* const arguments = new Arguments{pool, static_cast<int>(pool->threads.size())};
  const int error = pthread_create(&thread, &attributes, Work, arguments);
  pthread_attr_destroy(&attributes);
  if (error != 0) {
    delete arguments;
    return false;
  }
  pool->threads.push_back(thread);
  return true;
}

// Never destroyed: the threads wait in it until the process ends. A forked child has none of them,
// and begins with another.
Pool* current_pool = nullptr;

Pool& CurrentPool() {
  static const bool once = [] {
    current_pool = new Pool;
    pthread_atfork(nullptr, nullptr, [] { current_pool = new Pool; });
    return true;
  }();
  (void)once;
  return *current_pool;
}

}  // namespace

bool RunWorkers(int count, std::chrono::steady_clock::time_point interrupt,
                const std::function<void(int, RunningCore*)>& job) {
  Pool* const pool = &CurrentPool();
  std::unique_lock lock(pool->mutex);
  while (static_cast<int>(pool->threads.size()) < count) {
    if (!AddThread(pool)) return false;
  }
  pool->job = &job;
  pool->wanted = pool->running = count;
  ++pool->round;
  pool->start.notify_all();
  const auto ended = [&] { return pool->running == 0; };
  if (interrupt == std::chrono::steady_clock::time_point::max()) {
    pool->done.wait(lock, ended);
    return true;
  }
  while (!pool->done.wait_until(lock, interrupt, ended)) {
    for (int i = 0; i < count; ++i) pthread_kill(pool->threads[i], kTimeSignal);
    interrupt = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
  }
  return true;
}

}  // namespace bang

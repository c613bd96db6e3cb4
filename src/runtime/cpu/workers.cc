// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/workers.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cfenv>
#include <chrono>
#include <csignal>

namespace detops::runtime {
namespace {

// Pthreads' own mutexes and conditions need no construction and no destruction: the workers may be
// needed before static objects are made, and after they are gone.
class Lock {
 public:
  explicit Lock(pthread_mutex_t& mutex) : mutex_(mutex) { Take(); }
  ~Lock() { Drop(); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  void Take() { pthread_mutex_lock(&mutex_); }
  void Drop() { pthread_mutex_unlock(&mutex_); }
  void Wait(pthread_cond_t& condition) { pthread_cond_wait(&condition, &mutex_); }

 private:
  pthread_mutex_t& mutex_;
};

// A thread that has nothing to do spins for a while before it sleeps: the loops of a call
// follow each other within microseconds, and waking up takes longer. A worker, which does nothing
// meanwhile, yields its processor. A caller does not: where other programs wait for the processor
// it would get it back milliseconds later.
enum class Meanwhile { kKeepProcessor, kYield };

template <class Until>
void SpinUntil(const Until& until, Meanwhile meanwhile) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::microseconds(100);
  do {
    for (int i = 0; i < 64; ++i) {
      if (until()) return;
#if defined(__x86_64__) || defined(__i386__)
      __builtin_ia32_pause();
#elif defined(__aarch64__)
      __asm__ volatile("isb");
#endif
    }
    if (meanwhile == Meanwhile::kYield) sched_yield();
  } while (Clock::now() < end);
}

// On the stack of the thread that runs it.
class Loop {
 public:
  Loop(HandleThreads& of, int64_t size, int64_t in_parts, RunPart run, const void* body)
      : handle(of), parts(in_parts), size_(size), run_(run), body_(body) {
    span_count_ = static_cast<int>(std::min({parts, int64_t{handle.threads}, kMostSpans}));
    for (int i = 0; i < span_count_; ++i) {
      spans_[i].next.store(parts * i / span_count_, std::memory_order_relaxed);
      spans_[i].end = parts * (i + 1) / span_count_;
    }
  }

  // Runs parts until none is left to begin with.
  void Work(int64_t first_span) {
    for (int i = 0; i < span_count_; ++i) {
      Span& span = spans_[(first_span + i) % span_count_];
      while (span.next.load(std::memory_order_relaxed) < span.end) {
        const int64_t part = span.next.fetch_add(1, std::memory_order_relaxed);
        if (part < span.end) run_(body_, Begin(part), Begin(part + 1));
      }
    }
    all_begun.store(true, std::memory_order_relaxed);
  }

  HandleThreads& handle;
  const int64_t parts;
  std::atomic<bool> all_begun = false;
  // Guarded by the workers' mutex; what their last decrement publishes is the results.
  std::atomic<int> helpers = 0;
  int64_t joined = 0;
  bool caller_sleeps = false;
  pthread_cond_t call = PTHREAD_COND_INITIALIZER;  // there is something for that caller
  Loop* next = nullptr;

 private:
  // A thread takes parts that lie next to each other as long as there are some: what it reads and
  // writes stays in its cache, and threads meet rarely.
  static constexpr int64_t kMostSpans = 64;
  struct alignas(64) Span {
    std::atomic<int64_t> next;
    int64_t end;
  };

  int64_t Begin(int64_t part) const {
    return part * (size_ / parts) + std::min(part, size_ % parts);
  }

  const int64_t size_;
  const RunPart run_;
  const void* const body_;
  int span_count_;
  std::array<Span, kMostSpans> spans_;
};

class Workers {
 public:
  void Run(Loop& loop) {
    Lock lock(mutex_);
    StartFor(loop.handle);
    loop.next = open_;
    open_ = &loop;
    const int wanted = Open(loop);
    lock.Drop();
    for (int i = 0; i < wanted; ++i) pthread_cond_signal(&opened_);
    loop.Work(0);
    WaitFor(loop, lock);
  }

  void Stop() {
    Lock lock(mutex_);
    stopped_ = true;
    openings_.fetch_add(1, std::memory_order_relaxed);
    pthread_cond_broadcast(&opened_);
    lock.Drop();
    for (int i = 0; i < count_; ++i) pthread_join(threads_[i], nullptr);
    lock.Take();
    count_ = 0;
  }

 private:
  // How many sleeping workers are to be woken up for a loop; callers that wait for loops of the
  // same handle help too.
  int Open(const Loop& loop) {
    openings_.fetch_add(1, std::memory_order_relaxed);
    for (Loop* other = open_; other != nullptr; other = other->next) {
      if (&other->handle == &loop.handle && other->caller_sleeps) pthread_cond_signal(&other->call);
    }
    const int64_t free = loop.handle.threads - 1 - loop.handle.helpers;
    const int64_t wanted = std::min(loop.parts - 1, free) - spinning_;
    return static_cast<int>(std::clamp<int64_t>(wanted, 0, sleeping_));
  }

  // The newest loop that has parts left. A worker is one thread more for its handle; a caller that
  // waits is one of the handle's already.
  Loop* Joinable(const HandleThreads* only) {
    for (Loop* loop = open_; loop != nullptr; loop = loop->next) {
      if (loop->all_begun.load(std::memory_order_relaxed) || loop->joined + 1 >= loop->parts)
        continue;
      if (only == nullptr ? loop->handle.helpers + 1 < loop->handle.threads
                          : only == &loop->handle) {
        return loop;
      }
    }
    return nullptr;
  }

  void Help(Loop& loop, int as_helpers, Lock& lock) {
    loop.helpers.fetch_add(1, std::memory_order_relaxed);
    loop.handle.helpers += as_helpers;
    const int64_t span = ++loop.joined;
    // A thread that spins counts for every loop that is opened meanwhile, but joins one.
    if (sleeping_ > 0 && Joinable(nullptr) != nullptr) pthread_cond_signal(&opened_);
    lock.Drop();
    loop.Work(span);
    lock.Take();
    loop.handle.helpers -= as_helpers;
    // The loop stays until its caller has the mutex.
    if (loop.helpers.fetch_sub(1, std::memory_order_release) == 1 && loop.caller_sleeps) {
      pthread_cond_signal(&loop.call);
    }
  }

  // Until nobody works on the loop any more; helps with others of the handle meanwhile.
  void WaitFor(Loop& loop, Lock& lock) {
    const auto alone = [&] { return loop.helpers.load(std::memory_order_acquire) == 0; };
    const unsigned seen = openings_.load(std::memory_order_relaxed);
    if (!alone()) {
      SpinUntil([&] { return alone() || openings_.load(std::memory_order_relaxed) != seen; },
                Meanwhile::kKeepProcessor);
    }
    lock.Take();
    while (!alone()) {
      if (Loop* other = Joinable(&loop.handle)) {
        Help(*other, 0, lock);
      } else {
        loop.caller_sleeps = true;
        lock.Wait(loop.call);
        loop.caller_sleeps = false;
      }
    }
    Loop** place = &open_;
    while (*place != &loop) place = &(*place)->next;
    *place = loop.next;
  }

  // What a worker does.
  void Serve() {
    std::fesetenv(FE_DFL_ENV);  // whatever the thread that started it has set
    Lock lock(mutex_);
    while (!stopped_) {
      if (Loop* loop = Joinable(nullptr)) {
        Help(*loop, 1, lock);
        continue;
      }
      const unsigned seen = openings_.load(std::memory_order_relaxed);
      const auto opened = [&] { return openings_.load(std::memory_order_relaxed) != seen; };
      ++spinning_;
      lock.Drop();
      SpinUntil(opened, Meanwhile::kYield);
      lock.Take();
      --spinning_;
      if (opened()) continue;
      ++sleeping_;
      lock.Wait(opened_);
      --sleeping_;
    }
  }

  // As many workers as the handle can use, or as the system gives. A handle asks once, so that a
  // system that gives none is not asked by every loop.
  void StartFor(HandleThreads& handle) {
    if (handle.started == process_ || stopped_) return;
    handle.started = process_;
    handle.helpers = 0;  // those that it had when the process was forked are not here
    if (count_ + 1 >= handle.threads) return;
    if (!knows_forks_ && pthread_atfork(BeforeFork, AfterForkInParent, AfterForkInChild) != 0) {
      return;
    }
    knows_forks_ = true;
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) return;
    // Not what the program's limit says, which may be nothing or everything; kernels need 512 KiB,
    // and more under sanitizers.
    constexpr size_t kStackBytes = 4 << 20;
    pthread_attr_setstacksize(&attributes, kStackBytes);
    // The program's signals are for its own threads, but those that a thread brings upon itself.
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGPROF}) {
      sigdelset(&blocked, signal);
    }
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    const auto serve = [](void* workers) -> void* {
      static_cast<Workers*>(workers)->Serve();
      return nullptr;
    };
    while (count_ + 1 < handle.threads &&
           pthread_create(&threads_[count_], &attributes, serve, this) == 0) {
      ++count_;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_attr_destroy(&attributes);
  }

  // A child has only the thread that forked: it starts workers of its own.
  static void BeforeFork();
  static void AfterForkInParent();
  static void AfterForkInChild();

  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t opened_ = PTHREAD_COND_INITIALIZER;  // for workers that sleep
  std::atomic<unsigned> openings_ = 0;
  Loop* open_ = nullptr;  // all that are not done, the newest first
  int spinning_ = 0, sleeping_ = 0;
  std::array<pthread_t, kMostThreads> threads_ = {};
  int count_ = 0;
  unsigned process_ = 1;
  bool knows_forks_ = false, stopped_ = false;
};

constinit Workers workers;

void Workers::BeforeFork() { pthread_mutex_lock(&workers.mutex_); }
void Workers::AfterForkInParent() { pthread_mutex_unlock(&workers.mutex_); }
void Workers::AfterForkInChild() {
  workers.mutex_ = PTHREAD_MUTEX_INITIALIZER;
  workers.opened_ = PTHREAD_COND_INITIALIZER;
  workers.open_ = nullptr;
  workers.spinning_ = workers.sleeping_ = workers.count_ = 0;
  ++workers.process_;
}

// When the process ends; the library is never unloaded.
struct StopAtTheEnd {
  ~StopAtTheEnd() { workers.Stop(); }
} stop_at_the_end;

}  // namespace

void RunLoop(HandleThreads& handle, int64_t size, int64_t parts, RunPart run,
             const void* body) noexcept {
  Loop loop(handle, size, parts, run, body);
  workers.Run(loop);
}

}  // namespace detops::runtime

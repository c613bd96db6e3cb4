// SPDX-License-Identifier: Apache-2.0
//
// Memory is filled and copied both by the C library and by streamed stores, and the better counts:
// which one wins differs between processors. All vector code is compiled for every instruction set
// and chosen at run time, as the library's kernels are.
#include "measuring/machine.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "measuring/machine.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace detops::cli::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// `count` is a multiple of any vector's lanes, the pointers are aligned. Not with zeros: there are
// machines that hardly move a cache line of them.
void StreamFill(float* to, size_t count) {
  const hn::ScalableTag<float> d;
  const auto value = hn::Set(d, 1.0f);
  for (size_t i = 0; i < count; i += hn::Lanes(d)) hn::Stream(value, d, to + i);
  hwy::FlushStream();
}

void StreamCopy(const float* from, float* to, size_t count) {
  const hn::ScalableTag<float> d;
  for (size_t i = 0; i < count; i += hn::Lanes(d)) hn::Stream(hn::Load(d, from + i), d, to + i);
  hwy::FlushStream();
}

// 12 independent sums hide the latency of two units of 6 cycles, and fit 16 registers. Each tends
// to add / (1 - factor), so no value ever becomes slow to work with.
constexpr size_t kSums = 12;

template <bool kFused>
float MultiplyAdd(int64_t rounds, double* operations) {
  const hn::ScalableTag<float> d;
  const auto factor = hn::Set(d, 0.5f), add = hn::Set(d, 1.0f);
  const auto step = [&](auto x) HWY_ATTR {
    return kFused ? hn::MulAdd(x, factor, add) : hn::Add(hn::Mul(x, factor), add);
  };
  auto s0 = hn::Iota(d, 0), s1 = hn::Iota(d, 1), s2 = hn::Iota(d, 2), s3 = hn::Iota(d, 3);
  auto s4 = hn::Iota(d, 4), s5 = hn::Iota(d, 5), s6 = hn::Iota(d, 6), s7 = hn::Iota(d, 7);
  auto s8 = hn::Iota(d, 8), s9 = hn::Iota(d, 9), s10 = hn::Iota(d, 10), s11 = hn::Iota(d, 11);
  for (int64_t i = 0; i < rounds; ++i) {
    s0 = step(s0), s1 = step(s1), s2 = step(s2), s3 = step(s3);
    s4 = step(s4), s5 = step(s5), s6 = step(s6), s7 = step(s7);
    s8 = step(s8), s9 = step(s9), s10 = step(s10), s11 = step(s11);
  }
  s0 = hn::Add(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)), hn::Add(s4, s5));
  s6 = hn::Add(hn::Add(hn::Add(s6, s7), hn::Add(s8, s9)), hn::Add(s10, s11));
  *operations = 2.0 * static_cast<double>(rounds) * static_cast<double>(kSums * hn::Lanes(d));
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(s0, s6)));
}

float Fused(int64_t rounds, double* operations) { return MultiplyAdd<true>(rounds, operations); }
float Separate(int64_t rounds, double* operations) {
  return MultiplyAdd<false>(rounds, operations);
}

}  // namespace
}  // namespace detops::cli::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#ifdef __linux__
#include <pthread.h>
#include <sched.h>
#endif

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace detops::cli {
namespace {

HWY_EXPORT(StreamFill);
HWY_EXPORT(StreamCopy);
HWY_EXPORT(Fused);
HWY_EXPORT(Separate);

// Keeps the calling thread on the n-th of the processors it may run on. A scheduler that puts two
// busy threads on one for a while would halve every rate.
class OnProcessor {
 public:
#ifdef __linux__
  explicit OnProcessor(int n) {
    pthread_getaffinity_np(pthread_self(), sizeof(before_), &before_);
    n %= std::max(1, CPU_COUNT(&before_));
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (!CPU_ISSET(cpu, &before_) || n-- != 0) continue;
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(cpu, &one);
      pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
    }
  }
  ~OnProcessor() { pthread_setaffinity_np(pthread_self(), sizeof(before_), &before_); }

 private:
  cpu_set_t before_;
#else
  explicit OnProcessor(int) {}
#endif
};

// body(thread) on all threads at once, after prepare() on one: seconds until the last has finished,
// the best of the tries.
template <class Prepare, class Body>
double BestSeconds(int threads, int tries, const Prepare& prepare, const Body& body) {
  using Clock = std::chrono::steady_clock;
  double best = std::numeric_limits<double>::infinity();
  std::barrier together(threads);
  const auto work = [&](int thread) {
    const OnProcessor stay(thread);
    Clock::time_point start;
    for (int i = 0; i < tries; ++i) {
      if (thread == 0) prepare();
      together.arrive_and_wait();
      if (thread == 0) start = Clock::now();
      body(thread);
      together.arrive_and_wait();
      if (thread != 0) continue;
      best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
    }
  };
  std::vector<std::thread> others;
  std::exception_ptr failure;
  const auto start = [&](int thread) {
    try {
      others.emplace_back(work, thread);
    } catch (const std::system_error& e) {
      throw std::runtime_error("to measure on " + std::to_string(threads) +
                               " threads, they must start: " + e.what() +
                               "; --threads 1 needs no other");
    }
  };
  try {
    for (int thread = 1; thread < threads; ++thread) start(thread);
  } catch (const std::exception&) {
    // Those that have started wait for all: they go through it without the others.
    failure = std::current_exception();
    for (auto i = static_cast<int>(others.size()) + 1; i < threads; ++i) together.arrive_and_drop();
  }
  work(0);
  for (std::thread& other : others) other.join();
  if (failure) std::rethrow_exception(failure);
  return best;
}

// body(begin, count) for all floats of a buffer, by pieces that threads take in turn: one that
// another program holds up does not hold up the others, as in the library.
template <class Body>
double BestSecondsByPieces(const schema::Buffer& buffer, int threads, int tries, const Body& body) {
  const size_t piece = 256 << 10;  // floats: more than any vector, and whole pages
  const size_t count = buffer.bytes() / sizeof(float);
  std::atomic<size_t> next = 0;
  return BestSeconds(
      threads, tries, [&] { next = 0; },
      [&](int) {
        for (size_t begin; (begin = next.fetch_add(piece)) < count;) {
          body(begin, std::min(piece, count - begin));
        }
      });
}

template <class Kernel>
double OperationRate(int threads, int tries, int64_t rounds, Kernel kernel) {
  std::vector<double> operations(static_cast<size_t>(threads));
  std::vector<float> sums(operations.size());  // kept, so that the work is not dropped
  const double seconds = BestSeconds(
      threads, tries, [] {},
      [&](int thread) {
        const auto t = static_cast<size_t>(thread);
        sums[t] = kernel(rounds, &operations[t]);
      });
  double total = 0;
  for (double o : operations) total += o;
  return total / seconds;
}

}  // namespace

// As large as the largest result of the cases; and from the library's allocator, so that pages are
// of the same kind.
Memory::Memory(bool quick)
    : from_(handle_, size_t{quick ? 4u : 400u} << 20, 1), to_(handle_, from_.bytes(), 1) {
  from_.Poison(0);
  to_.Poison(0);
}

double Memory::FillRate(int threads, int tries) const {
  auto* const to = static_cast<float*>(to_.at(0));
  const double library = BestSecondsByPieces(to_, threads, tries, [&](size_t begin, size_t count) {
    std::memset(to + begin, 1, count * sizeof(float));
  });
  const double streamed = BestSecondsByPieces(to_, threads, tries, [&](size_t begin, size_t count) {
    HWY_DYNAMIC_DISPATCH(StreamFill)(to + begin, count);
  });
  return static_cast<double>(to_.bytes()) / std::min(library, streamed);
}

double Memory::CopyRate(int threads, int tries) const {
  const auto* const from = static_cast<const float*>(from_.at(0));
  auto* const to = static_cast<float*>(to_.at(0));
  const double library = BestSecondsByPieces(to_, threads, tries, [&](size_t begin, size_t count) {
    std::memcpy(to + begin, from + begin, count * sizeof(float));
  });
  const double streamed = BestSecondsByPieces(to_, threads, tries, [&](size_t begin, size_t count) {
    HWY_DYNAMIC_DISPATCH(StreamCopy)(from + begin, to + begin, count);
  });
  return 2.0 * static_cast<double>(to_.bytes()) / std::min(library, streamed);
}

Rates MeasureRates(const Memory& memory, int threads, bool quick) {
  const int tries = quick ? 1 : 15;
  const int64_t rounds = quick ? 1000 : 2000000;
  return {memory.FillRate(threads, tries), memory.CopyRate(threads, tries),
          std::max(OperationRate(threads, tries, rounds, HWY_DYNAMIC_DISPATCH(Fused)),
                   OperationRate(threads, tries, rounds, HWY_DYNAMIC_DISPATCH(Separate)))};
}

int DefaultThreads() { return detopsGetThreads(schema::Handle("cpu")); }

std::string CompilerName() {
#ifdef __clang__
  return __VERSION__;  // begins with the compiler's name
#else
  return "GCC " __VERSION__;
#endif
}

}  // namespace detops::cli
#endif

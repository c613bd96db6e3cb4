// SPDX-License-Identifier: Apache-2.0
#include "bench/measurement.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>

namespace detops::bench {
namespace {

constexpr char kReference[] = "cpu:reference";

// Cases of at least this many bytes use several sets of data in turn, so that each call finds its
// inputs in memory. Smaller ones are warm in programs too: something has just computed them.
constexpr double kRotateFromBytes = 1 << 20;

// Of memory and call, and of one thread and all, in turn after each repetition.
constexpr int kRounds = 3;
// A turn of small calls has many, or it would measure how the threads wake up.
constexpr double kTurnSeconds = 0.005;
// Of the threads: where the memory serves so many times as much to all as to one, it scales.
constexpr double kMemoryScales = 0.85;
// Where the memory needs less than this share of a call's time, it does not hold the call back.
constexpr double kMemoryMatters = 0.1;

double CacheBytes() {
  double bytes = 32 << 20;
  for (const auto& cache : benchmark::CPUInfo::Get().caches) {
    bytes = std::max(bytes, static_cast<double>(cache.size));
  }
  return bytes;
}

int64_t SetsOf(const Case& what) {
  if (what.report.bytes < kRotateFromBytes) return 1;
  return 1 + static_cast<int64_t>(2 * CacheBytes() / what.report.bytes);
}

}  // namespace

std::string Measurement::Name() const {
  return what->op + "/" + what->name + "/" + implementation + "/threads=" + std::to_string(threads);
}

bool Measurement::IsReference() const { return implementation == kReference; }

std::deque<Measurement> PlanMeasurements(const std::vector<Case>& cases, bool smoke) {
  const std::vector<Row> rows = TableRows();
  const int threads = DefaultThreads();
  std::deque<Measurement> all;
  std::string last_op;
  for (const Case& what : cases) {
    if (smoke && what.op == last_op) continue;  // the first is the smallest
    last_op = what.op;
    const auto add = [&](const std::string& implementation, int count) {
      Measurement m;
      m.what = &what;
      m.implementation = implementation;
      m.threads = count;
      all.push_back(m);
    };
    if (what.reference) add(kReference, 1);  // it has no threads
    for (const Row& row : rows) {
      if (row.op != what.op || row.implementation == kReference || !row.why_not.empty()) continue;
      add(row.implementation, threads);
      if (what.one_thread && threads > 1 && !smoke) add(row.implementation, 1);
    }
  }
  return all;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

Figures FiguresOf(const Measurement& m, const std::deque<Measurement>& all,
                  const std::vector<Rates>& rates) {
  const Case& what = *m.what;
  Figures f;
  if (!m.timed) return f;
  std::optional<double> floor_operations;
  if (what.operations_a_pair == 0) {
    f.operations = what.report.operations;
    floor_operations = what.floor.operations;
  } else if (m.pairs >= 0) {
    f.operations = floor_operations = what.operations_a_pair * static_cast<double>(m.pairs);
  }
  f.gbps = what.report.bytes / m.median * 1e-9;
  if (f.operations) f.gflops = *f.operations / m.median * 1e-9;

  bool memory_matters = false;
  for (const Rates& r : rates) {
    if (r.threads != m.threads || DeviceOf(m.implementation) != "cpu") continue;
    const double of_operations = floor_operations ? *floor_operations / r.operations() : 0;
    const auto limit_at = [&](double memory_rate) {
      return std::max(of_operations, what.floor.bytes / memory_rate);
    };
    if (m.rounds.empty()) {  // data that stay in the cache are not bound by the memory
      if (of_operations == 0) break;
      f.limit = of_operations;
      f.share = of_operations / m.median;
      break;
    }
    std::vector<double> memory_rates, shares, memory_shares;
    for (const Round& round : m.rounds) {
      memory_rates.push_back(round.memory_rate);
      shares.push_back(limit_at(round.memory_rate) / round.seconds);
      memory_shares.push_back(what.floor.bytes / round.memory_rate / round.seconds);
    }
    f.memory_gbps = Median(memory_rates) * 1e-9;
    f.limit = limit_at(Median(memory_rates));
    f.share = Median(shares);
    memory_matters = Median(memory_shares) >= kMemoryMatters;
    break;
  }
  if (!m.turns.empty()) {
    std::vector<double> ratios, memory_ratios, ratios_with_memory;
    for (const Turn& turn : m.turns) {
      ratios.push_back(turn.one_thread / turn.all_threads);
      memory_ratios.push_back(turn.memory_scaling);
      if (turn.memory_scaling >= kMemoryScales * m.threads)
        ratios_with_memory.push_back(ratios.back());
    }
    f.scaling = Median(ratios);
    if (memory_matters) {
      f.memory_scaling = Median(memory_ratios);
      if (!ratios_with_memory.empty()) f.scaling_with_memory = Median(ratios_with_memory);
    }
  }
  for (const Measurement& other : all) {
    if (other.what == m.what && other.IsReference() && other.timed)
      f.ratio = other.median / m.median;
  }
  return f;
}

void Runner::FindAnswer(const Measurement& m, const std::vector<std::byte>& result) {
  if (!m.what->reference || m.IsReference()) {
    answer_ = result;
    answered_by_ = m.implementation;
    return;
  }
  // The reference was filtered out: it still gives the answer.
  const std::string device = DeviceOf(kReference);
  const std::unique_ptr<Problem> problem = m.what->make({device, 1});
  const Handle handle(device);
  Require(detopsSetImplementation(handle, kReference));
  Require(problem->Run(handle, 0));
  answer_ = problem->Result();
  answered_by_ = kReference;
}

void Runner::Verify(Measurement& m) {
  problem_->Poison();
  const mluOpStatus_t status = problem_->Run(*handle_, 0);
  m.refused = status == MLUOP_STATUS_NOT_SUPPORTED;
  Require(status);
  if (detopsGetLastImplementation(*handle_) != m.implementation) {
    throw std::runtime_error("another implementation ran");
  }
  const std::vector<std::byte> result = problem_->Result();
  if (answer_.empty()) FindAnswer(m, result);
  const auto differs = std::mismatch(result.begin(), result.end(), answer_.begin()).first;
  if (differs != result.end()) {
    throw std::runtime_error("result differs from that of " + answered_by_ + " at byte " +
                             std::to_string(differs - result.begin()));
  }
  if (answered_by_ != m.implementation) m.verified_against = answered_by_;
}

void Runner::Prepare(Measurement& m) {
  ready_ = &m;
  handle_.reset();
  one_thread_.reset();
  if (case_ != m.what) {
    problem_.reset();
    answer_.clear();
    case_ = m.what;
  }
  const std::string device = DeviceOf(m.implementation);
  Require(detopsSetDevice(device.c_str()));
  if (problem_ == nullptr || device_ != device) {
    problem_.reset();
    problem_ = m.what->make({device, smoke_ ? 1 : SetsOf(*m.what)});
    device_ = device;
  }
  m.in_cache = static_cast<double>(problem_->sets()) * m.what->report.bytes <= CacheBytes();
  handle_ = std::make_unique<Handle>(device);
  Require(detopsSetImplementation(*handle_, m.implementation.c_str()));
  Require(detopsSetThreads(*handle_, m.threads));
  Verify(m);
  if (m.what->one_thread && m.threads > 1 && !smoke_ && device == "cpu") {
    one_thread_ = std::make_unique<Handle>(device);
    Require(detopsSetImplementation(*one_thread_, m.implementation.c_str()));
    Require(detopsSetThreads(*one_thread_, 1));
  }
}

mluOpStatus_t Runner::Call(mluOpHandle_t handle) {
  const mluOpStatus_t status = problem_->Run(handle, next_set_++ % problem_->sets());
  cnrtQueueSync(nullptr);  // devices that run behind the caller's back
  return status;
}

double Runner::SecondsOfCalls(mluOpHandle_t handle, int64_t calls) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  for (int64_t i = 0; i < calls; ++i) Require(Call(handle));
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double Runner::MemoryRate(const Measurement& m, int threads) {
  return m.what->traffic == Traffic::kFill ? memory_.FillRate(threads, 1)
                                           : memory_.CopyRate(threads, 1);
}

Round Runner::BesideMemory(const Measurement& m) {
  Round round;
  round.memory_rate = MemoryRate(m, m.threads);
  round.seconds = SecondsOfCalls(*handle_, 1);
  return round;
}

Turn Runner::BesideOneThread(const Measurement& m) {
  const auto seconds_a_call = [&](mluOpHandle_t handle) {
    const double first = SecondsOfCalls(handle, 1);  // wakes the threads, fills the caches
    const auto calls = 1 + static_cast<int64_t>(kTurnSeconds / first);
    return SecondsOfCalls(handle, calls) / static_cast<double>(calls);
  };
  Turn turn;
  turn.memory_scaling = m.in_cache ? 0 : MemoryRate(m, m.threads) / MemoryRate(m, 1);
  turn.one_thread = seconds_a_call(*one_thread_);
  turn.all_threads = seconds_a_call(*handle_);
  return turn;
}

void Runner::Run(benchmark::State& state, Measurement& m) {
  if (ready_ != &m) {
    try {
      Prepare(m);
    } catch (const std::exception& e) {
      m.trouble = e.what();
    }
  }
  if (!m.trouble.empty()) {
    state.SkipWithError(m.trouble.c_str());
    return;
  }
  mluOpStatus_t failed = MLUOP_STATUS_SUCCESS;
  while (state.KeepRunning()) {
    const mluOpStatus_t status = Call(*handle_);
    if (status != MLUOP_STATUS_SUCCESS) failed = status;
  }
  if (failed != MLUOP_STATUS_SUCCESS) {
    m.trouble = detopsGetLastErrorMessage();
    state.SkipWithError(m.trouble.c_str());
  }
  m.pairs = detopsGetLastPairCount(*handle_);
  if (!m.trouble.empty() || DeviceOf(m.implementation) != "cpu") return;
  // A shared machine changes from second to second: ratios are of calls in turn.
  const int rounds = smoke_ || m.IsReference() ? 1 : kRounds;
  for (int i = 0; i < rounds; ++i) {
    // The rate of the memory now is what bounds this call.
    if (!m.in_cache) m.rounds.push_back(BesideMemory(m));
    if (one_thread_ != nullptr) m.turns.push_back(BesideOneThread(m));
  }
}

}  // namespace detops::bench

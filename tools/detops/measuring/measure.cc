// SPDX-License-Identifier: Apache-2.0
#include "measuring/measure.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "cases/tensor_values.h"
#include "checking/check.h"
#include "measuring/cuda_graph.h"
#include "measuring/timeline.h"
#include "running/call_time.h"

namespace detops::cli {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// From here on cases use several sets of data in turn, so that each call finds its inputs in
// memory. Smaller ones are warm in programs too: something has just computed them.
constexpr double kRotateFromBytes = 1 << 20;

double CacheBytes() {
  const long level3 = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return std::max(32.0 * (1 << 20), static_cast<double>(level3));
}

// A sample is as many calls as take this long: clocks and waiting cost microseconds.
constexpr double kSampleSeconds = 1e-3;
constexpr int64_t kLeastSamples = 5;
constexpr double kRepeatSeconds = 0.2;  // of simulating the same again
constexpr int kRounds = 7;
constexpr int kTurns = 7;
// A turn of small calls has many, or it would measure how the threads wake up.
constexpr double kTurnSeconds = 0.005;
// Smaller calls stay on the caller's thread.
constexpr double kScalingFromSeconds = 50e-6;

double Quantile(const std::vector<double>& sorted, double q) {
  return sorted[static_cast<size_t>(q * static_cast<double>(sorted.size() - 1) + 0.5)];
}

void Time(Execution& execution, double seconds, Measurement& m) {
  execution.Start();
  execution.Wait();
  const auto once = Clock::now();
  execution.Start();
  execution.Wait();
  const double first = std::max(1e-8, SecondsSince(once));
  const auto calls = static_cast<int64_t>(std::clamp(kSampleSeconds / first, 1.0, 10000.0));
  std::vector<double> samples;
  const auto start = Clock::now();
  while (static_cast<int64_t>(samples.size()) < kLeastSamples || SecondsSince(start) < seconds) {
    // A case that takes seconds is not worth five of them.
    if (samples.size() >= 2 && SecondsSince(start) > 10 * seconds + 2) break;
    const auto sample = Clock::now();
    for (int64_t i = 0; i < calls; ++i) execution.Start();
    execution.Wait();
    samples.push_back(SecondsSince(sample) / static_cast<double>(calls));
  }
  std::ranges::sort(samples);
  m.repeats = calls * static_cast<int64_t>(samples.size());
  m.median = Quantile(samples, 0.5);
  m.fastest = samples.front();
  m.spread = (Quantile(samples, 0.75) - Quantile(samples, 0.25)) / m.median;
}

struct Answer {
  std::string implementation;
  std::vector<Array> results;
  int64_t pairs = -1;
};

// Of the first CPU implementation that takes the problem.
Answer ExpectedAnswer(const Problem& problem) {
  for (const Target& target : TargetsOf(*problem.schema, "cpu", "")) {
    try {
      Execution execution(problem, target, /*threads=*/0);
      execution.Start();
      return {target.implementation, execution.Results(), execution.pairs()};
    } catch (const RunError&) {
      // Said when it is measured.
    }
  }
  return {};
}

void Verify(const std::vector<Array>& results, const Answer& expected, Measurement& m) {
  if (m.target.implementation == expected.implementation) return;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!SameBits(results[i], expected.results.at(i))) {
      throw std::runtime_error("its result has other bits than " + expected.implementation + "'s");
    }
  }
  m.verified = expected.implementation;
}

double SecondsOfOneCall(Execution& execution) {
  const auto start = Clock::now();
  execution.Start();
  execution.Wait();
  return SecondsSince(start);
}

double SecondsOfCallsOn(Execution& execution, int threads) {
  execution.SetThreads(threads);
  const double first = SecondsOfOneCall(execution);  // wakes the threads, fills the caches
  const auto calls = 1 + static_cast<int64_t>(kTurnSeconds / first);
  const auto start = Clock::now();
  for (int64_t i = 0; i < calls; ++i) execution.Start();
  return SecondsSince(start) / static_cast<double>(calls);
}

// What the memory can do at this moment for this case: its share of reading and writing.
double MemorySecondsNow(const Measurement& m, const Memory& memory, int threads) {
  return MemorySeconds(m.timing.tensors, memory.FillRate(threads, 1), memory.CopyRate(threads, 1));
}

Turn TakeTurn(Execution& execution, const Memory& memory, const Measurement& m) {
  Turn turn = {};
  if (!m.timing.in_cache) {
    turn.memory_scaling = MemorySecondsNow(m, memory, 1) / MemorySecondsNow(m, memory, m.threads);
  }
  turn.one_thread = SecondsOfCallsOn(execution, 1);
  turn.all_threads = SecondsOfCallsOn(execution, m.threads);
  return turn;
}

// What the documents count of the problem. Where they count pairs and the call does not, those of
// the implementation that it is compared with.
void CountWork(const Problem& problem, const Answer& expected, Measurement& m) {
  const int64_t pairs = m.pairs >= 0 || !m.target.simulated ? m.pairs : expected.pairs;
  m.timing.half = problem.type() == MLUOP_DTYPE_HALF;
  m.timing.tensors = problem.tensors();
  if (problem.schema->operations != nullptr) {
    m.timing.tensors.operations = problem.schema->operations(problem);
    m.timing.counts_operations = true;
  } else if (pairs >= 0) {
    m.timing.tensors.operations = problem.schema->operations_per_pair * static_cast<double>(pairs);
    m.timing.counts_operations = true;
  }
  if (problem.schema->floor != nullptr) m.timing.floor = problem.schema->floor(problem);
}

// One call says all about the device: the next would take as long. The host's time scatters.
void Simulate(const Problem& problem, const Answer& expected, Measurement& m) {
  Execution execution(problem, m.target, m.threads);
  m.workspace_bytes = execution.workspace_bytes();
  const auto start = Clock::now();
  const CallTime time = TimeCall(execution);
  Verify(execution.Results(), expected, m);
  std::vector<double> host = {time.host};
  while (std::ssize(host) < kLeastSamples && SecondsSince(start) < kRepeatSeconds) {
    host.push_back(TimeCall(execution).host);
  }
  if (time.device <= 0) {
    throw RunError(MLUOP_STATUS_NOT_SUPPORTED,
                   "the simulator's clock gave up: its launch is too long");
  }
  m.repeats = 1;
  m.device_seconds = m.median = m.fastest = m.timing.seconds = time.device;
  m.interface_seconds = Median(host);
  m.pairs = execution.pairs();
  m.candidates = execution.candidates();
  CountWork(problem, expected, m);
}

// Calls on the device, one behind the other.
double MedianOnDevice(Execution& execution, double seconds) {
  std::vector<double> samples;
  const auto start = Clock::now();
  while (static_cast<int64_t>(samples.size()) < kLeastSamples || SecondsSince(start) < seconds) {
    samples.push_back(TimeCall(execution).device);
  }
  return Median(samples);
}

void Measure(const Problem& problem, const MeasureOptions& options, const Memory& memory,
             const Answer& expected, Measurement& m) {
  if (m.target.simulated) return Simulate(problem, expected, m);
  const double bytes = problem.bytes();
  const int64_t sets =
      bytes < kRotateFromBytes ? 1 : 1 + static_cast<int64_t>(2 * CacheBytes() / bytes);
  Execution execution(problem, m.target, m.threads, sets);
  m.timing.in_cache = bytes * static_cast<double>(sets) <= CacheBytes();
  m.workspace_bytes = execution.workspace_bytes();
  execution.Start();
  Verify(execution.Results(), expected, m);
  Time(execution, options.seconds, m);
  m.device_seconds = SecondsInCudaGraph(execution, m.target.device, options.seconds);
  if (BackendOf(m.target.device) == "mlu") {
    m.device_seconds = MedianOnDevice(execution, options.seconds);
    m.interface_seconds = TimeCall(execution).host;
  }
  m.pairs = execution.pairs();
  m.candidates = execution.candidates();

  m.timing.seconds = m.device_seconds.value_or(m.median);
  CountWork(problem, expected, m);

  if (BackendOf(m.target.device) != "cpu") return;
  for (int i = 0; !m.timing.in_cache && i < (options.quick() ? 1 : kRounds); ++i) {
    const double fill = memory.FillRate(m.threads, 1), copy = memory.CopyRate(m.threads, 1);
    m.timing.rounds.push_back({fill, copy, SecondsOfOneCall(execution)});
  }
  const bool scales =
      options.scaling && m.threads > 1 && (m.median >= kScalingFromSeconds || options.quick());
  for (int i = 0; scales && i < (options.quick() ? 1 : kTurns); ++i) {
    m.turns.push_back(TakeTurn(execution, memory, m));
  }
}

}  // namespace

Peaks MeasurePeaks(const std::string& device, const Memory& memory, int threads, bool quick) {
  Peaks peaks;
  peaks.device = device;
  if (BackendOf(device) == "cpu") {
    const Rates rates = MeasureRates(memory, threads > 0 ? threads : DefaultThreads(), quick);
    peaks.fill = rates.fill, peaks.copy = rates.copy, peaks.operations = rates.operations;
    return peaks;
  }
  if (detopsSetDevice(device.c_str()) != MLUOP_STATUS_SUCCESS) return peaks;
  const schema::Handle handle(device);
  detopsDeviceProperties properties = {};
  schema::Require(detopsGetDeviceProperties(handle, &properties));
  peaks.simulated = properties.simulated;
  peaks.operations = properties.float_operations_per_second;
  peaks.half_operations = properties.half_operations_per_second;
  peaks.fill = peaks.copy = properties.bytes_per_second;
  if (peaks.copy > 0) return peaks;
  // Else by the runtime's own copies; there is no way to count operations through the API.
  // Filling waits each time, so it takes as long as a hundred waits.
  const size_t bytes = size_t{quick ? 4u : 1024u} << 20;
  const schema::Buffer from(handle, bytes, 1), to(handle, bytes, 1);
  const auto best = [&](const auto& action) {
    double fastest = INFINITY;
    for (int i = 0; i < 10; ++i) {
      const auto start = Clock::now();
      for (int repeat = 0; repeat < 10; ++repeat) action();
      cnrtQueueSync(nullptr);
      fastest = std::min(fastest, SecondsSince(start) / 10);
    }
    return fastest;
  };
  const auto size = static_cast<double>(bytes);
  peaks.fill = size / best([&] { cnrtMemset(to.at(0), 1, bytes); });
  peaks.copy = 2 * size / best([&] {
                 cnrtMemcpyAsync(to.at(0), from.at(0), bytes, nullptr, cnrtMemcpyDevToDev);
               });
  return peaks;
}

std::vector<Measurement> MeasureFile(const std::filesystem::path& file,
                                     const MeasureOptions& options, const Memory& memory) {
  Measurement about;
  about.name = file.string();
  about.command =
      "detops bench " + ArgumentOf(file) + (options.allow_outside ? " --allow-outside" : "");
  about.threads = options.threads > 0 ? options.threads : DefaultThreads();
  std::vector<Measurement> all;
  try {
    const Case what = ReadCase(file);
    about.name = what.name, about.group = what.group, about.op = what.spec.op_name();
    const Problem problem = MakeProblem(what, options.allow_outside);
    about.what = problem.schema->describe(problem);
    about.scene = problem.scene;
    about.size = static_cast<int64_t>(problem.schema->size(problem));
    about.size_unit = problem.schema->size_unit;
    about.item = problem.schema->item;
    about.shown_in = {what.spec.shown_in().begin(), what.spec.shown_in().end()};
    about.type = NameOf(problem.type());
    for (const Array& input : problem.inputs) {
      about.shapes += (about.shapes.empty() ? "" : " ") + TextOf(input.shape());
    }
    const Answer expected = ExpectedAnswer(problem);
    for (const Target& target :
         TargetsOf(*problem.schema, options.device, options.implementation)) {
      Measurement& m = all.emplace_back(about);
      m.target = target;
      m.command = fmt::format(
          "{} --device {} --impl {}{}", about.command, target.device, target.implementation,
          options.threads > 0 ? fmt::format(" --threads {}", options.threads) : "");
      if (IsReference(target.implementation)) {
        m.threads = 1;  // it has no more
        if (problem.schema->reference_steps(problem) > kMostReferenceSteps && !options.reference &&
            options.implementation.empty()) {
          m.skipped = "the reference is slow on this size; --impl or --reference times it";
          continue;
        }
      }
      if (what.spec.long_to_simulate() && target.simulated && !options.large &&
          options.implementation.empty()) {
        m.skipped = kLongToSimulate;
        continue;
      }
      try {
        Measure(problem, options, memory, expected, m);
        if (options.timelines && target.simulated) {
          m.timeline = TimelineOf(file, options.allow_outside, target);
        }
      } catch (const RunError& e) {
        m.skipped = e.what();
        m.failed = !e.refused();
      } catch (const std::bad_alloc&) {
        m.skipped = "out of memory";
        m.failed = true;
      } catch (const std::exception& e) {
        m.skipped = e.what();
        m.failed = true;
      }
    }
    for (Measurement& m : all) {
      for (const Measurement& r : all) {
        if (IsReference(r.target.implementation) && r.skipped.empty() && m.skipped.empty() &&
            !m.target.simulated) {
          m.ratio = r.median / m.median;
        }
      }
    }
  } catch (const NotHere& e) {
    about.skipped = e.what();
    all = {about};
  } catch (const std::bad_alloc&) {
    about.skipped = "out of memory";
    about.failed = true;
    all = {about};
  } catch (const std::exception& e) {
    about.skipped = e.what();
    about.failed = true;
    all = {about};
  }
  return all;
}

extern "C" [[gnu::noinline]] void detopsMeasuredCall(Execution& execution) {
  execution.Start();
  execution.Wait();
}

void CallOnce(const std::filesystem::path& file, const MeasureOptions& options) {
  const Problem problem = MakeProblem(ReadCase(file), options.allow_outside);
  const std::vector<Target> targets =
      TargetsOf(*problem.schema, options.device, options.implementation);
  if (targets.empty()) throw UserError(file.string() + ": no such implementation of its operator");
  Execution execution(problem, targets.front(), options.threads);
  execution.Start();  // what is done only once is not counted
  execution.Wait();
  detopsMeasuredCall(execution);
}

}  // namespace detops::cli

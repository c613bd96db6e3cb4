// SPDX-License-Identifier: Apache-2.0
#include "measuring/measure.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "bench/machine.h"
#include "cases/tensor_values.h"
#include "checking/check.h"

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
};

void Verify(const std::vector<Array>& results, std::optional<Answer>& first, Measurement& m) {
  if (!first) {
    first = Answer{m.target.implementation, results};
    return;
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (!SameBits(results[i], first->results[i])) {
      throw std::runtime_error("its result has other bits than " + first->implementation + "'s");
    }
  }
  m.verified = first->implementation;
}

void Measure(const Problem& problem, const MeasureOptions& options, std::optional<Answer>& first,
             Measurement& m) {
  m.bytes = problem.bytes();
  const int64_t sets =
      m.bytes < kRotateFromBytes ? 1 : 1 + static_cast<int64_t>(2 * CacheBytes() / m.bytes);
  Execution execution(problem, m.target, m.threads, sets);
  m.in_cache = execution.bytes_per_set() * static_cast<double>(sets) <= CacheBytes();
  m.workspace_bytes = execution.workspace_bytes();
  execution.Start();
  Verify(execution.Results(), first, m);
  Time(execution, options.seconds, m);
  m.pairs = execution.pairs();
  for (const Array& output : problem.MakeOutputs()) {
    m.written += static_cast<double>(output.bytes().size());
  }
  if (problem.schema->operations != nullptr) {
    m.operations = problem.schema->operations(problem);
  } else if (m.pairs >= 0) {
    m.operations = problem.schema->operations_per_pair * static_cast<double>(m.pairs);
  }
}

}  // namespace

Peaks MeasurePeaks(const std::string& device, int threads, bool quick) {
  Peaks peaks;
  peaks.device = device;
  if (BackendOf(device) == "cpu") {
    const bench::Rates rates = bench::MeasureRates(
        bench::Memory(quick), threads > 0 ? threads : bench::DefaultThreads(), quick);
    peaks.fill = rates.fill, peaks.copy = rates.copy, peaks.operations = rates.operations();
    return peaks;
  }
  // Elsewhere by the runtime's own copies; there is no way to count operations through the API.
  const size_t bytes = quick ? size_t{4} << 20 : size_t{256} << 20;
  if (detopsSetDevice(device.c_str()) != MLUOP_STATUS_SUCCESS) return peaks;
  const bench::Handle handle(device);
  const bench::Buffer from(handle, bytes, 1), to(handle, bytes, 1);
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

Efficiency EfficiencyOf(const Measurement& m, const Peaks& peaks) {
  Efficiency e;
  if (m.median <= 0) return e;
  // Results that are written while hardly anything is read go at the rate of filling.
  const double io_peak = m.written > 0.75 * m.bytes ? peaks.fill : peaks.copy;
  const auto share = [&](double amount, double peak) -> std::optional<double> {
    if (peak <= 0) return std::nullopt;
    return amount / m.median / peak;
  };
  e.io = share(m.bytes, io_peak);
  e.sheet_io = share(m.bytes, peaks.sheet_bytes);
  if (m.operations) {
    e.compute = share(*m.operations, peaks.operations);
    e.sheet_compute = share(*m.operations, peaks.sheet_operations);
  }
  if (!e.io && !e.compute) return e;
  e.side = e.compute.value_or(0) > e.io.value_or(0) ? "compute" : "io";
  e.bottleneck = std::max(e.compute.value_or(0), e.io.value_or(0));
  return e;
}

std::vector<Measurement> MeasureFile(const std::filesystem::path& file,
                                     const MeasureOptions& options) {
  Measurement about;
  about.name = file.string();
  about.command = "detops bench " + ArgumentOf(file);
  about.threads = options.threads > 0 ? options.threads : bench::DefaultThreads();
  std::vector<Measurement> all;
  try {
    const Case what = ReadCase(file);
    about.name = what.name, about.group = what.group, about.op = what.spec.op_name();
    const Problem problem = MakeProblem(what);
    about.what = problem.schema->describe(problem);
    about.size = static_cast<int64_t>(problem.schema->size(problem));
    std::optional<Answer> first;
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
      try {
        Measure(problem, options, first, m);
      } catch (const RunError& e) {
        m.skipped = e.what();
        m.failed = !e.refused();
      } catch (const std::exception& e) {
        m.skipped = e.what();
        m.failed = true;
      }
    }
    for (Measurement& m : all) {
      for (const Measurement& r : all) {
        if (IsReference(r.target.implementation) && r.skipped.empty() && m.skipped.empty()) {
          m.ratio = r.median / m.median;
        }
      }
    }
  } catch (const NotHere& e) {
    about.skipped = e.what();
    all = {about};
  } catch (const std::exception& e) {
    about.skipped = e.what();
    about.failed = true;
    all = {about};
  }
  return all;
}

nlohmann::ordered_json JsonOf(const Peaks& p) {
  const auto rate = [](double value) {
    return value > 0 ? nlohmann::ordered_json(value * 1e-9) : nlohmann::ordered_json(nullptr);
  };
  return {{"device", p.device},
          {"fill_gbps", rate(p.fill)},
          {"copy_gbps", rate(p.copy)},
          {"gflops", rate(p.operations)},
          {"datasheet_gbps", rate(p.sheet_bytes)},
          {"datasheet_gflops", rate(p.sheet_operations)}};
}

nlohmann::ordered_json JsonOf(const Measurement& m, const Efficiency& e) {
  using Json = nlohmann::ordered_json;
  const auto maybe = [](const std::optional<double>& v) { return v ? Json(*v) : Json(nullptr); };
  Json json = {{"case", m.name},
               {"op", m.op},
               {"group", m.group},
               {"what", m.what},
               {"size", m.size},
               {"device", m.target.device},
               {"implementation", m.target.implementation},
               {"threads", m.threads},
               {"command", m.command},
               {"skipped", m.skipped},
               {"failed", m.failed}};
  if (!m.skipped.empty()) return json;
  json["repeats"] = m.repeats;
  json["median_s"] = m.median;
  json["fastest_s"] = m.fastest;
  json["spread"] = m.spread;
  json["bytes"] = m.bytes;
  json["operations"] = maybe(m.operations);
  json["pairs"] = m.pairs < 0 ? Json(nullptr) : Json(m.pairs);
  json["gbps"] = m.bytes_a_second() * 1e-9;
  json["gflops"] = m.operations ? Json(*m.operations / m.median * 1e-9) : Json(nullptr);
  json["io_efficiency"] = maybe(e.io);
  json["compute_efficiency"] = maybe(e.compute);
  json["datasheet_io_efficiency"] = maybe(e.sheet_io);
  json["datasheet_compute_efficiency"] = maybe(e.sheet_compute);
  json["bottleneck"] = e.side;
  json["bottleneck_efficiency"] = maybe(e.bottleneck);
  json["in_cache"] = m.in_cache;
  json["workspace_bytes"] = m.workspace_bytes;
  json["ratio_to_reference"] = maybe(m.ratio);
  json["same_bits_as"] = m.verified;
  return json;
}

}  // namespace detops::cli

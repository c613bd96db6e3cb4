// SPDX-License-Identifier: Apache-2.0
//
// Times every row of the table on every case, and says how far from the machine's limits each is.
// docs/performance.md explains the figures.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "bench/json.h"
#include "bench/measurement.h"
#include "bench/report.h"

namespace detops::bench {
namespace {

struct Options {
  bool smoke = false;
  std::string json;
  std::vector<std::string> others;  // Google Benchmark's
};

void PrintHelp() {
  std::puts(
      "bench [--smoke] [--json FILE] [options of Google Benchmark]\n"
      "  --smoke      the smallest case of each operator, once; also DETOPS_BENCH_SMOKE=1\n"
      "  --json FILE  the results; bench.json beside this program unless --smoke\n"
      "  names are operator/case/row/threads=N, for --benchmark_filter; DETOPS_THREADS sets N\n");
  benchmark::PrintDefaultHelp();
}

Options Parse(int argc, char** argv) {
  Options options;
  const char* smoke = std::getenv("DETOPS_BENCH_SMOKE");
  options.smoke = smoke != nullptr && *smoke != '\0' && *smoke != '0';
  for (int i = 1; i < argc; ++i) {
    const std::string_view arg = argv[i];
    if (arg == "--smoke") {
      options.smoke = true;
    } else if (arg == "--json" && i + 1 < argc) {
      options.json = argv[++i];
    } else if (arg.starts_with("--json=")) {
      options.json = arg.substr(7);
    } else {
      options.others.emplace_back(arg);
    }
  }
  if (options.json.empty() && !options.smoke) {
    options.json = (std::filesystem::path(argv[0]).parent_path() / "bench.json").string();
  }
  return options;
}

int Run(int argc, char** argv) {
  Options options = Parse(argc, argv);
  // Before the caller's, which so overrule them.
  std::vector<std::string> args = {argv[0], "--benchmark_repetitions=7",
                                   "--benchmark_min_time=0.1"};
  args.insert(args.end(), options.others.begin(), options.others.end());
  std::vector<char*> pointers;
  pointers.reserve(args.size() + 1);
  for (std::string& arg : args) pointers.push_back(arg.data());
  pointers.push_back(nullptr);
  int count = static_cast<int>(args.size());
  benchmark::Initialize(&count, pointers.data(), PrintHelp);
  if (benchmark::ReportUnrecognizedArguments(count, pointers.data())) return EXIT_FAILURE;

  const std::vector<Case> cases = AllCases();
  std::deque<Measurement> measurements = PlanMeasurements(cases, options.smoke);
  const Memory memory(options.smoke);
  Runner runner(memory, options.smoke);
  for (Measurement& m : measurements) {
    auto* registered = benchmark::RegisterBenchmark(
        m.Name().c_str(), [&runner, &m](benchmark::State& state) { runner.Run(state, m); });
    registered->UseRealTime();
    if (options.smoke) registered->Iterations(1)->Repetitions(1);
  }

  Report report(measurements, memory, options.smoke);
  if (benchmark::RunSpecifiedBenchmarks(&report) == 0) return EXIT_FAILURE;
  benchmark::Shutdown();
  if (!options.json.empty() && report.ran()) {
    if (!WriteJson(options.json, measurements, report.rates(), options.smoke)) {
      throw std::runtime_error("can't write " + options.json);
    }
    std::printf("\n%s\n", options.json.c_str());
  }
  return report.failed() ? EXIT_FAILURE : EXIT_SUCCESS;
}

}  // namespace
}  // namespace detops::bench

int main(int argc, char** argv) {
  try {
    return detops::bench::Run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bench: %s\n", e.what());
    return EXIT_FAILURE;
  }
}

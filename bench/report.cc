// SPDX-License-Identifier: Apache-2.0
#include "bench/report.h"

#include <algorithm>
#include <cstdio>

namespace detops::bench {
namespace {

std::string Format(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof(text), format, value);
  return text;
}

std::string Time(double seconds) {
  if (seconds < 1e-6) return Format("%.1f ns", seconds * 1e9);
  if (seconds < 1e-3) return Format("%.2f us", seconds * 1e6);
  if (seconds < 1) return Format("%.2f ms", seconds * 1e3);
  return Format("%.3f s", seconds);
}

std::string OrDash(const char* format, const std::optional<double>& value, double scale = 1) {
  return value ? Format(format, *value * scale) : "-";
}

constexpr char kLine[] = "%-26s %-14s %3s %11s %6s %8s %9s %7s %8s %8s %8s %8s\n";

}  // namespace

Report::Report(std::deque<Measurement>& measurements, const Memory& memory, bool smoke)
    : measurements_(measurements), memory_(memory), smoke_(smoke) {
  for (Measurement& m : measurements_) by_name_[m.Name()] = &m;
}

void Report::MeasureMachine() {
  std::vector<int> counts = {DefaultThreads()};
  if (counts[0] > 1) counts.push_back(1);
  for (size_t i = 0; i < counts.size(); ++i) {
    const Rates r = MeasureRates(memory_, counts[i], smoke_);
    if (rates_.size() <= i) rates_.push_back(r);
    rates_[i] = BestOf(rates_[i], r);
    std::printf(
        "limits, %d thread%s: fill %.1f GB/s, copy %.1f GB/s (read and written), "
        "%.0f GFLOP/s fused, %.0f separate\n",
        r.threads, r.threads == 1 ? "" : "s", r.fill * 1e-9, r.copy * 1e-9, r.fused * 1e-9,
        r.separate * 1e-9);
  }
  std::fflush(stdout);
}

bool Report::ReportContext(const Context&) {
  std::printf("%s, %s\n", ProcessorName().c_str(), CompilerName().c_str());
  for (const Row& row : TableRows()) {
    if (!row.why_not.empty()) PrintSkipped(row.implementation, row.why_not);
  }
  MeasureMachine();
  return true;
}

void Report::Finalize() {
  std::printf("\n");
  MeasureMachine();
}

void Report::ReportRuns(const std::vector<Run>& runs) {
  // Google Benchmark comes again with statistics of its own.
  if (runs.empty() || runs[0].run_type != Run::RT_Iteration) return;
  const auto found = by_name_.find(runs[0].run_name.function_name);
  if (found == by_name_.end()) return;
  Measurement& m = *found->second;
  std::vector<double> seconds;
  for (const Run& run : runs) {
    if (run.iterations == 0) continue;
    seconds.push_back(run.real_accumulated_time / static_cast<double>(run.iterations));
  }
  if (m.trouble.empty() && !seconds.empty()) {
    m.timed = true;
    m.median = Median(seconds);
    const auto [min, max] = std::minmax_element(seconds.begin(), seconds.end());
    m.min = *min;
    m.spread = (*max - *min) / m.median;
  }
  failed_ = failed_ || (!m.trouble.empty() && !m.refused);
  if (m.what->op != last_op_) {
    std::printf("\n%s\n", m.what->op.c_str());
    std::printf(kLine, "case", "row", "thr", "time", "+-", "GB/s", "GFLOP/s", "limit", "x ref",
                "x 1 thr", "free mem", "mem x 1");
    last_op_ = m.what->op;
  }
  PrintLine(m);
  std::fflush(stdout);
}

// Once, not with every case.
void Report::PrintSkipped(const std::string& implementation, const std::string& why) {
  if (!skipped_.insert(implementation + why).second) return;
  std::printf("%s: skipped, %s\n", implementation.c_str(), why.c_str());
}

void Report::PrintLine(const Measurement& m) {
  if (m.refused) {
    PrintSkipped(m.implementation, m.trouble);
    return;
  }
  if (!m.timed) {
    std::printf("%-26s %-14s FAILED: %s\n", m.what->name.c_str(), m.implementation.c_str(),
                m.trouble.c_str());
    return;
  }
  const Figures f = FiguresOf(m, measurements_, rates_);
  std::printf(kLine, m.what->name.c_str(), m.implementation.c_str(),
              std::to_string(m.threads).c_str(), Time(m.median).c_str(),
              Format("%.0f%%", 100 * m.spread).c_str(), OrDash("%.2f", f.gbps).c_str(),
              OrDash("%.2f", f.gflops).c_str(), OrDash("%.1f%%", f.share, 100).c_str(),
              OrDash("%.2f", f.ratio).c_str(), OrDash("%.2f", f.scaling).c_str(),
              OrDash("%.2f", f.scaling_with_memory).c_str(),
              OrDash("%.2f", f.memory_scaling).c_str());
}

}  // namespace detops::bench

// SPDX-License-Identifier: Apache-2.0
//
// Measures the machine before the first case and after the last, takes the times from Google
// Benchmark, prints a line as soon as a measurement is done. The lines show shares of the
// arithmetic measured before; the file, which is written last, of the better one.
#pragma once

#include <benchmark/benchmark.h>

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "bench/machine.h"
#include "bench/measurement.h"

namespace detops::bench {

class Report : public benchmark::BenchmarkReporter {
 public:
  Report(std::deque<Measurement>& measurements, const Memory& memory, bool smoke);

  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;
  void Finalize() override;

  const std::vector<Rates>& rates() const { return rates_; }
  bool ran() const { return !rates_.empty(); }  // false when benchmarks were only listed
  bool failed() const { return failed_; }

 private:
  void MeasureMachine();
  void PrintLine(const Measurement& m);
  void PrintSkipped(const std::string& implementation, const std::string& why);

  std::deque<Measurement>& measurements_;
  const Memory& memory_;
  std::map<std::string, Measurement*> by_name_;
  std::vector<Rates> rates_;
  bool smoke_;
  bool failed_ = false;
  std::string last_op_;
  std::set<std::string> skipped_;  // what was said already
};

}  // namespace detops::bench

// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as the results of `detops check` or `detops bench` that a report is made of: a report
// or a UserError.
#include <nlohmann/json.hpp>

#include "checking/check_all.h"
#include "files/npy.h"
#include "fuzz/scratch_file.h"
#include "measuring/comparison.h"
#include "measuring/measure_all.h"
#include "reporting/report.h"

using namespace detops;
using Json = nlohmann::ordered_json;

namespace {

// The least that is accepted of the other kind.
Json Empty(const char* kind, const char* rows, const char* more, const char* more_value) {
  return Json::parse(std::string(R"({"kind": ")") + kind + R"(", "environment": {"detops": "",
    "time": "", "system": "", "compiler": "", "threads": 1, "devices": [], "unusable": []}, ")" +
                     rows + R"(": [], ")" + more + "\": " + more_value + "}");
}

void Report(const Json& check, const Json& bench) {
  const Json report = cli::MakeReport(check, bench);
  cli::ReportHtml(report);
  cli::ReportMarkdown(report);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const fuzz::ScratchFile file;
  static const Json no_bench = Empty("bench", "measurements", "peaks", "[]");
  static const Json no_check = Empty("check", "results", "summary", R"({"cases": 0, "passed": 0,
    "weak": 0, "failed": 0, "refused": 0, "skipped": 0, "errors": 0})");
  file.Write(data, size);
  try {
    Report(cli::ReadCheckJson(file.path()), no_bench);
  } catch (const cli::UserError&) {
  }
  try {
    const Json bench = cli::ReadBenchJson(file.path());
    Report(no_check, bench);
    cli::Compare(bench, bench, 0.1);
  } catch (const cli::UserError&) {
  }
  return 0;
}

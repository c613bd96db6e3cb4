// SPDX-License-Identifier: Apache-2.0
#include "reporting/report.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "checking/check_all.h"
#include "commands/commands.h"
#include "files/file.h"
#include "measuring/measure_all.h"
#include "reporting/environment.h"

namespace detops::cli {
namespace {

struct ReportRequest {
  std::string check, bench, out, format = "html";
  std::vector<std::string> cases;
  CheckOptions check_options;
  MeasureAllOptions bench_options;
  Output output;
};

int Report(const ReportRequest& request) {
  const bool text = !request.output.json && !request.output.quiet;
  if (!request.out.empty()) RequireWritable(request.out);
  // Whatever may be wrong with files is found out before anything is checked or measured.
  nlohmann::ordered_json check, bench;
  std::vector<std::filesystem::path> to_check, to_measure;
  if (request.check.empty()) {
    to_check = FindCases(request.cases, {"smoke", "edge", "network"});
  } else {
    check = ReadCheckJson(request.check);
  }
  if (request.bench.empty()) {
    to_measure = FindCases(request.cases, request.bench_options.groups);
  } else {
    bench = ReadBenchJson(request.bench);
  }
  if (request.check.empty()) check = CheckAll(to_check, request.check_options, text, nullptr);
  if (request.bench.empty()) bench = MeasureAll(to_measure, request.bench_options, text);
  const nlohmann::ordered_json report = MakeReport(check, bench);
  const std::string format = request.output.json ? "json" : request.format;
  const std::string content = format == "html" ? ReportHtml(report)
                              : format == "md" ? ReportMarkdown(report)
                                               : JsonText(report);
  if (request.out.empty()) {
    fmt::print("{}", content);
  } else {
    WriteFile(request.out, content);
    if (text) fmt::print("{}\n", Shown(request.out));
  }
  return report["correct"].get<bool>() ? 0 : kExitFailed;
}

}  // namespace

void AddReport(Command& program, int& exit_code) {
  Command report =
      program.AddCommand("report", "the acceptance report, as one self-contained file");
  auto request = std::make_shared<ReportRequest>();
  request->bench_options.groups = {"network", "scale"};
  request->bench_options.timelines = true;
  report.Add("cases", request->cases, "as for check; default: the whole collection");
  report.Add("--check", request->check, "results of `detops check --out`; default: checks now")
      .TypeName("FILE");
  report.Add("--bench", request->bench, "results of `detops bench --out`; default: measures now")
      .TypeName("FILE");
  report.Add("--group", request->bench_options.groups, "groups to measure")
      .OneOf(kGroups)
      .ShowDefault();
  AddMeasureOptions(report, request->bench_options);
  report.Add("--format", request->format, "of the report")
      .OneOf({"html", "md", "json"})
      .ShowDefault();
  report.Add("--out", request->out, "default: the screen").TypeName("FILE");
  AddOutputOptions(report, request->output);
  report.Footer("Example:\n  detops report --out report.html");
  report.OnCall([request, &exit_code] {
    request->check_options.device = request->bench_options.device;
    request->check_options.implementation = request->bench_options.implementation;
    request->check_options.allow_outside = request->bench_options.allow_outside;
    request->check_options.reference = request->bench_options.reference;
    request->check_options.large = request->bench_options.large;
    exit_code = Report(*request);
  });
}

}  // namespace detops::cli

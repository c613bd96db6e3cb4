// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands/commands.h"
#include "files/file.h"
#include "measuring/comparison.h"
#include "measuring/measure_all.h"
#include "reporting/environment.h"
#include "reporting/report_text.h"

namespace detops::cli {
namespace {

struct BenchRequest {
  std::vector<std::string> cases;
  MeasureAllOptions options;
  std::string out, csv, compare;
  double tolerance = 0.1;
  bool once = false;
  Output output;
};

// One line per reason: what this machine can't run at all, then what was left out of some cases,
// with their names.
void PrintSkipped(const nlohmann::ordered_json& json, const MeasureAllOptions& options) {
  std::vector<std::pair<std::string, std::vector<std::string>>> lines;
  for (const Unusable& u : UnusableAmong(options.device, options.implementation)) {
    lines.push_back({fmt::format("{}: skipped, {}", u.name, u.reason), {}});
  }
  for (const auto& m : json["measurements"]) {
    const auto why = m["skipped"].get<std::string>();
    if (why.empty() || m["failed"].get<bool>()) continue;
    const std::string line = fmt::format("{}: skipped, {}", RowName(m), why);
    auto found = std::ranges::find(lines, line, [](const auto& l) { return l.first; });
    if (found == lines.end()) found = lines.insert(found, {line, {}});
    found->second.push_back(m["case"]);
  }
  for (const auto& [line, cases] : lines) {
    const std::string which = cases.empty() ? "" : fmt::format(": {}", fmt::join(cases, ", "));
    fmt::print("{}\n", Coloured(Colour::kDim, line + which));
  }
}

void PrintFailed(std::FILE* out, const nlohmann::ordered_json& json) {
  for (const auto& m : json["measurements"]) {
    if (!m["failed"].get<bool>()) continue;
    const std::string line = fmt::format("{} {} FAILED: {}", m["case"].get<std::string>(),
                                         RowName(m), m["skipped"].get<std::string>());
    fmt::print(out, "{}\n", Shown(line));
  }
}

// "0.31 pairs", "12 M/s": what tells more than bytes and operations where the work is a search.
std::string PairsPerItem(const nlohmann::ordered_json& m) {
  if (!m["pairs"].is_number() || m["size"].get<double>() == 0) return "–";
  return Figures(m["pairs"].get<double>() / m["size"].get<double>());
}
std::string PairRate(const nlohmann::ordered_json& m) {
  if (!m["pairs"].is_number()) return "–";
  return Figures(m["pairs"].get<double>() / m["median_s"].get<double>() * 1e-6);
}

void PrintTable(const nlohmann::ordered_json& json) {
  for (const auto& peak : json["peaks"]) {
    fmt::print("{}: {}\n", peak["device"].get<std::string>(), PeaksText(peak));
  }
  fmt::print("\n");
  Table table({"case", "implementation", "time", "±", "ns/item", "GB/s", "GFLOP/s", "io", "compute",
               "of limit", "pairs/item", "M pairs/s", "workspace", "x reference", "x 1 thread"},
              "llrrrrrrrrrrrrr");
  for (const auto& m : json["measurements"]) {
    if (!m["skipped"].get<std::string>().empty()) continue;
    const auto& seconds = m["device_s"].is_number() ? m["device_s"] : m["median_s"];
    table.Add({m["case"], RowName(m), TimeText(seconds), SpreadText(m), Number(m["ns_per_item"]),
               Number(m["gbps"]), Number(m["gflops"]), Shares(m, "io"), Shares(m, "compute"),
               Share(m["share_of_limit"]), PairsPerItem(m), PairRate(m),
               BytesText(m["workspace_bytes"].get<double>()), Number(m["ratio_to_reference"]),
               Number(m["ratio_to_one_thread"])});
  }
  table.Print();
  fmt::print(
      "± is the middle half of the samples; an item is a box, a point, an element of the result.\n"
      "io, compute: share of the peaks measured in this run, in brackets of the datasheet's, by "
      "the\n"
      "operators' own counts. of limit: the shortest time that the machine allows, of the time.\n"
      "On a GPU the time is that of calls replayed from a graph; on a simulated device, "
      "simulated.\n"
      "Repeat a line: detops bench CASE --impl IMPLEMENTATION\n");
}

// Names of files may hold anything.
std::string CsvText(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string Csv(const nlohmann::ordered_json& json) {
  const std::vector<std::string> columns = {"case",
                                            "op",
                                            "group",
                                            "size",
                                            "device",
                                            "implementation",
                                            "threads",
                                            "median_s",
                                            "fastest_s",
                                            "spread",
                                            "device_s",
                                            "interface_s",
                                            "simulated",
                                            "ns_per_item",
                                            "pairs",
                                            "candidates",
                                            "gbps",
                                            "gflops",
                                            "io_efficiency",
                                            "compute_efficiency",
                                            "datasheet_io_efficiency",
                                            "datasheet_compute_efficiency",
                                            "bottleneck",
                                            "bottleneck_efficiency",
                                            "share_of_limit",
                                            "ratio_to_one_thread",
                                            "workspace_bytes",
                                            "ratio_to_reference"};
  std::string text = fmt::format("{}\n", fmt::join(columns, ","));
  for (const auto& m : json["measurements"]) {
    if (!m["skipped"].get<std::string>().empty()) continue;
    std::vector<std::string> cells;
    for (const std::string& column : columns) {
      const auto& value = m[column];
      cells.push_back(value.is_null() ? "" : value.is_string() ? CsvText(value) : value.dump());
    }
    text += fmt::format("{}\n", fmt::join(cells, ","));
  }
  return text;
}

int Bench(const BenchRequest& request) {
  if (request.once) {
    RequireKnown(request.options.device, request.options.implementation);
    for (const auto& file : FindCases(request.cases, request.options.groups)) {
      CallOnce(file, request.options);
    }
    return 0;
  }
  const bool text = !request.output.json && !request.output.quiet;
  // Before anything is measured: a wrong file should not cost minutes.
  for (const std::string& file : {request.out, request.csv}) {
    if (!file.empty()) RequireWritable(file);
  }
  nlohmann::ordered_json old;
  if (!request.compare.empty()) old = ReadBenchJson(request.compare);
  nlohmann::ordered_json json =
      MeasureAll(FindCases(request.cases, request.options.groups), request.options, text);
  bool regressed = false;
  if (!request.compare.empty()) {
    json["comparison"] = Compare(old, json, request.tolerance);
    regressed = json["comparison"]["slower"].get<int>() > 0;
  }
  if (!request.out.empty()) WriteFile(request.out, JsonText(json));
  if (!request.csv.empty()) WriteFile(request.csv, Csv(json));
  if (request.output.json) fmt::print("{}", JsonText(json));
  if (request.output.quiet) PrintFailed(stderr, json);
  if (text) {
    PrintTable(json);
    PrintSkipped(json, request.options);
    PrintFailed(stdout, json);
    if (!request.compare.empty()) PrintComparison(json["comparison"], request.compare);
  }
  bool failed = false;
  for (const auto& m : json["measurements"]) {
    if (!m["failed"].get<bool>()) continue;
    if (m["implementation"] == "") return kExitUsage;  // none was even tried: it is the file
    failed = true;
  }
  return failed || regressed ? kExitFailed : 0;
}

}  // namespace

void AddMeasureOptions(Command& command, MeasureAllOptions& options) {
  command.Add("--device", options.device, "this device alone");
  command.Add("--impl", options.implementation, "this implementation alone");
  command.Add("--threads", options.threads, "at most so many; default: DETOPS_THREADS, or all")
      .Within(1, 4096);
  command.Add("--seconds", options.seconds, "about how long to time each")
      .Within(0.001, 60.0)
      .ShowDefault();
  command.AddFlag("--reference", options.reference, "the reference also where it is slow");
  command.AddFlag("--large", options.large, "simulated devices also on cases that take them long");
  AddAllowOutside(command, options.allow_outside);
  command.Add("--datasheet", options.datasheet,
              "peaks as the maker gives them, DEVICE=GBPS,GFLOPS: cpu=80,400");
}

void AddBench(Command& program, int& exit_code) {
  Command bench = program.AddCommand("bench", "times, and how far from the machine's peaks");
  auto request = std::make_shared<BenchRequest>();
  request->options.groups = {"network"};
  bench.Add("cases", request->cases, "as for check; default: the whole collection");
  bench.Add("--group", request->options.groups, "groups of the collection")
      .OneOf(kGroups)
      .ShowDefault();
  AddMeasureOptions(bench, request->options);
  bench.AddFlag("--timelines", request->options.timelines,
                "also what each simulated call did when, for `detops report --bench`");
  bench.AddFlag("--scaling", request->options.scaling, "also one thread against all, in turns");
  bench.AddFlag("--once", request->once,
                "one call and nothing else, for counting instructions: scripts/count-instructions");
  bench.Add("--out", request->out, "write the results as JSON").TypeName("FILE");
  bench.Add("--csv", request->csv, "write the results as CSV").TypeName("FILE");
  bench
      .Add("--compare", request->compare,
           "an earlier --out: what became slower is shown, and is exit code 1")
      .TypeName("FILE");
  bench.Add("--tolerance", request->tolerance, "what slower means: by this share")
      .Within(0.0, 100.0)
      .ShowDefault();
  AddOutputOptions(bench, request->output);
  bench.Footer(
      "Exit code: 0 all right, 1 something failed or became slower, 2 a file is broken.\n"
      "Examples:\n"
      "  detops bench poly_nms --group network scale --out new.json\n"
      "  detops bench --compare old.json");
  bench.OnCall([request, &exit_code] { exit_code = Bench(*request); });
}

}  // namespace detops::cli

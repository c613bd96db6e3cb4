// SPDX-License-Identifier: Apache-2.0
#include "reporting/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "cases/problem.h"
#include "reporting/report_mlu.h"
#include "running/execution.h"
#include "terminal/terminal.h"

namespace detops::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string Field(const Json& object, const char* key) { return object.value(key, std::string()); }

bool Compared(const Json& row) {
  const std::string status = Field(row, "status");
  return status == "passed" || status == "weak" || status == "FAILED";
}

// diff values are numbers, or "inf".
double Number(const Json& value) {
  return value.is_number() ? value.get<double>() : std::numeric_limits<double>::infinity();
}

// One row a case and output: the worst of all implementations.
Json AccuracyRows(const Json& check, const std::string& op) {
  Json rows = Json::array();
  std::map<std::string, size_t> place;
  for (const Json& r : check["results"]) {
    if (Field(r, "op") != op || !Compared(r)) continue;
    for (const Json& output : r["outputs"]) {
      const std::string key = Field(r, "case") + " " + Field(output, "name");
      if (place.find(key) == place.end()) {
        place[key] = rows.size();
        rows.push_back({{"case", r["case"]},
                        {"group", r["group"]},
                        {"what", r["what"]},
                        {"output", output["name"]},
                        {"diff1", 0},
                        {"diff2", 0},
                        {"diff3", 0},
                        {"limits", output["limits"]},
                        {"implementations", 0},
                        {"same_bits", true},
                        {"status", "passed"},
                        {"reason", ""},
                        {"sample", r["sample"]},
                        {"command", ""}});
      }
      Json& row = rows[place[key]];
      for (const char* diff : {"diff1", "diff2", "diff3"}) {
        if (Number(output[diff]) > Number(row[diff])) row[diff] = output[diff];
      }
      row["implementations"] = row["implementations"].get<int>() + 1;
      row["same_bits"] = row["same_bits"].get<bool>() && r["same_bits"].get<bool>();
      const std::string status = Field(r, "status");
      if (status == "FAILED" || (status == "weak" && row["status"] == "passed")) {
        row["status"] = status;
        row["reason"] = r["reason"];
      }
      const std::string command = Field(r, "command");
      row["command"] = command.substr(0, command.find(" --device"));
    }
  }
  return rows;
}

Json AccuracyVerdict(const Json& rows, int errors) {
  int failed = errors, weak = 0, bits = 0;
  double worst[3] = {0, 0, 0};
  for (const Json& row : rows) {
    failed += row["status"] == "FAILED";
    weak += row["status"] == "weak";
    bits += !row["same_bits"].get<bool>();
    worst[0] = std::max(worst[0], Number(row["diff1"]));
    worst[1] = std::max(worst[1], Number(row["diff2"]));
    worst[2] = std::max(worst[2], Number(row["diff3"]));
  }
  return {{"compared", rows.size()},
          {"failed", failed},
          {"weak", weak},
          {"other_bits", bits},
          {"worst_diff1", worst[0]},
          {"worst_diff2", worst[1]},
          {"worst_diff3", worst[2]},
          {"accuracy", failed > 0     ? "failed"
                       : rows.empty() ? "not checked"
                                      : "met"},
          {"bits", rows.empty() ? "not checked"
                   : bits > 0   ? "failed"
                                : "met"}};
}

// The fastest implementation of each case on each device.
std::vector<Json> Fastest(const Json& bench, const std::string& op) {
  std::map<std::string, Json> best;
  std::vector<std::string> order;
  for (const Json& m : bench["measurements"]) {
    // Simulated devices have a verdict of their own.
    if (Field(m, "op") != op || !Field(m, "skipped").empty() || m.value("simulated", false))
      continue;
    const std::string key = Field(m, "case") + Field(m, "device");
    if (!best.contains(key)) order.push_back(key);
    if (!best.contains(key) || m["median_s"].get<double>() < best[key]["median_s"].get<double>()) {
      best[key] = m;
    }
  }
  std::vector<Json> rows;
  for (const std::string& key : order) rows.push_back(best[key]);
  return rows;
}

Json EfficiencyVerdict(const std::vector<Json>& fastest, bool network, double bar) {
  int cases = 0, met = 0;
  double lowest = 0;
  for (const Json& m : fastest) {
    if ((Field(m, "group") == "network") != network || m["bottleneck_efficiency"].is_null())
      continue;
    const double efficiency = m["bottleneck_efficiency"];
    lowest = cases == 0 ? efficiency : std::min(lowest, efficiency);
    ++cases;
    met += efficiency >= bar;
  }
  return {{"bar", bar},
          {"cases", cases},
          {"met", met},
          {"lowest", lowest},
          {"verdict", cases == 0     ? "not measured"
                      : met == cases ? "met"
                                     : "short"}};
}

std::string WhoOf(const Json& row) {
  return NameOf(Target{Field(row, "device"), Field(row, "implementation")});
}

Json Skipped(const Json& check, const Json& bench) {
  Json skipped = Json::array();
  const auto add = [&](const std::string& what, const std::string& why,
                       const std::string& command) {
    const Json row = {{"what", what}, {"why", why}, {"command", command}};
    if (std::ranges::find(skipped, row) == skipped.end()) skipped.push_back(row);
  };
  for (const Json& u : check["environment"]["unusable"]) {
    add(Field(u, "name"), Field(u, "reason"), "detops list");
  }
  for (const Json& r : check["results"]) {
    const std::string status = Field(r, "status");
    if (status == "passed" || status == "weak" || status == "FAILED") continue;
    add(fmt::format("check {} {} ({})", Field(r, "case"), WhoOf(r), status), Field(r, "reason"),
        Field(r, "command"));
  }
  for (const Json& m : bench["measurements"]) {
    if (Field(m, "skipped").empty()) continue;
    add(fmt::format("bench {} {}", Field(m, "case"), WhoOf(m)), Field(m, "skipped"),
        Field(m, "command"));
  }
  return skipped;
}

}  // namespace

Json MakeReport(const Json& check, const Json& bench) {
  Json report = {{"kind", "report"},
                 {"environment", check["environment"]},
                 {"check_summary", check["summary"]},
                 {"peaks", bench.value("peaks", Json::array())},
                 {"operators", Json::array()},
                 {"skipped", Skipped(check, bench)},
                 {"commands",
                  {"detops check --out check.json", "detops bench --out bench.json",
                   "detops report --check check.json --bench bench.json --out report.html"}}};
  report["bench_time"] = Field(bench["environment"], "time");
  report["quick"] = bench["environment"].value("quick", false);
  bool good = check["summary"]["errors"].get<int>() == 0;  // also in files of no operator
  for (const Schema* op : schema::All()) {
    const std::string name = op->name;
    int errors = 0;
    for (const Json& r : check["results"]) {
      errors += Field(r, "op") == name && Field(r, "status") == "ERROR";
    }
    Json accuracy = AccuracyRows(check, name);
    const std::vector<Json> fastest = Fastest(bench, name);
    Json verdict = AccuracyVerdict(accuracy, errors);
    verdict["network"] = EfficiencyVerdict(fastest, true, kNetworkBar);
    verdict["other"] = EfficiencyVerdict(fastest, false, kOtherBar);
    const bool is_short =
        verdict["network"]["verdict"] == "short" || verdict["other"]["verdict"] == "short";
    verdict["reason"] = is_short ? op->limited_by : "";
    good = good && verdict["accuracy"] != "failed" && verdict["bits"] != "failed";
    Json measurements = Json::array();
    for (const Json& m : bench["measurements"]) {
      if (Field(m, "op") == name && Field(m, "skipped").empty()) measurements.push_back(m);
    }
    report["operators"].push_back({{"name", name},
                                   {"summary", op->summary},
                                   {"size_unit", op->size_unit},
                                   {"verdict", std::move(verdict)},
                                   {"accuracy", std::move(accuracy)},
                                   {"measurements", std::move(measurements)}});
  }
  report["mlu"] = MluReport(check, bench);
  report["correct"] = good;
  return report;
}

}  // namespace detops::cli

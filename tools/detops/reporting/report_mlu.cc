// SPDX-License-Identifier: Apache-2.0
#include "reporting/report_mlu.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cases/problem.h"
#include "reporting/report.h"
#include "reporting/report_text.h"

namespace detops::cli {
namespace {

using Json = nlohmann::ordered_json;

Json RowOf(const Schema& op, const Json& m) {
  const bool network = Text(m["group"]) == "network";
  const double bar = op.efficiency_bar.value_or(network ? kNetworkBar : kOtherBar);
  const auto microseconds = [](const Json& seconds) {
    return seconds.is_number() ? Json(1e6 * seconds.get<double>()) : Json(nullptr);
  };
  const Json& bottleneck = m["bottleneck_efficiency"];
  return {{"op", m["op"]},
          {"case", m["case"]},
          {"group", m["group"]},
          {"hardware_us", microseconds(m["device_s"])},
          {"interface_us", microseconds(m["interface_s"])},
          {"io_efficiency", m["io_efficiency"]},
          {"compute_efficiency", m["compute_efficiency"]},
          {"workspace_bytes", m["workspace_bytes"]},
          {"type", m["type"]},
          {"shapes", m["shapes"]},
          {"what", m["what"]},
          {"bottleneck", m["bottleneck"]},
          {"bar", bar},
          {"verdict", bottleneck.is_null()              ? "not measured"
                      : bottleneck.get<double>() >= bar ? "met"
                                                        : "short"},
          {"command", m["command"]},
          {"timeline", m["timeline"]}};
}

Json BarsOf(const Json& rows, const std::string& op, bool network) {
  int cases = 0, met = 0;
  for (const Json& row : rows) {
    if (row["op"] != op || (row["group"] == "network") != network) continue;
    if (row["verdict"] == "not measured") continue;
    ++cases;
    met += row["verdict"] == "met";
  }
  return {{"cases", cases},
          {"met", met},
          {"verdict", cases == 0     ? "not measured"
                      : met == cases ? "met"
                                     : "short"}};
}

Json OperatorOf(const Json& check, const Json& rows, const std::string& device, const Schema& op) {
  int passed = 0, failed = 0, bits = 0;
  for (const Json& r : check["results"]) {
    if (r.value("device", "") != device || Text(r["op"]) != op.name) continue;
    const std::string status = Text(r["status"]);
    passed += status == "passed" || status == "weak";
    failed += status == "FAILED" || status == "ERROR";
    bits += !r["same_bits"].get<bool>();
  }
  const bool checked = passed + failed > 0;
  return {{"name", op.name},
          {"passed", passed},
          {"failed", failed},
          {"accuracy", !checked     ? "not checked"
                       : failed > 0 ? "failed"
                                    : "met"},
          {"bits", !checked   ? "not checked"
                   : bits > 0 ? "failed"
                              : "met"},
          {"network", BarsOf(rows, op.name, true)},
          {"other", BarsOf(rows, op.name, false)}};
}

}  // namespace

Json MluReport(const Json& check, const Json& bench) {
  Json cards = Json::array();
  for (const Json& peaks : bench.value("peaks", Json::array())) {
    const std::string device = Text(peaks["device"]);
    if (BackendOf(device) != "mlu") continue;
    Json rows = Json::array(), operators = Json::array();
    for (const Schema* op : schema::All()) {
      for (const Json& m : bench["measurements"]) {
        const bool here = Text(m["device"]) == device && Text(m["op"]) == op->name;
        if (here && Text(m["skipped"]).empty() && m.contains("simulated")) {
          rows.push_back(RowOf(*op, m));
        }
      }
      Json judged = OperatorOf(check, rows, device, *op);
      if (judged["accuracy"] != "not checked" || judged["network"]["cases"] != 0 ||
          judged["other"]["cases"] != 0) {
        operators.push_back(std::move(judged));
      }
    }
    if (operators.empty()) continue;
    cards.push_back({{"device", device},
                     {"simulated", IsSimulated(peaks)},
                     {"peaks", peaks},
                     {"operators", std::move(operators)},
                     {"rows", std::move(rows)}});
  }
  return cards;
}

}  // namespace detops::cli

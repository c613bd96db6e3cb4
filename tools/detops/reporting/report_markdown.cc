// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reporting/report.h"
#include "reporting/report_text.h"

namespace detops::cli {
namespace {

using Json = nlohmann::ordered_json;

// A | would end the cell.
std::string Cell(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

std::string Row(const std::vector<std::string>& cells) {
  std::string row = "|";
  for (const std::string& cell : cells) row += " " + Cell(cell) + " |";
  return row + "\n";
}
std::string Header(const std::vector<std::string>& cells) {
  std::string rule = "|";
  for (size_t i = 0; i < cells.size(); ++i) rule += "---|";
  return Row(cells) + rule + "\n";
}

}  // namespace

std::string ReportMarkdown(const Json& report) {
  const Json& summary = report["check_summary"];
  const Json& e = report["environment"];
  std::string md = "# detops acceptance report\n";
  md += fmt::format(
      "{}: {} cases, {} results passed, {} passed but weak, {} failed, {} refused, {} "
      "skipped, {} errors.\n\n",
      report["correct"].get<bool>() ? "**Every result is right**" : "**There are wrong results**",
      summary["cases"].get<int>(), summary["passed"].get<int>(), summary["weak"].get<int>(),
      summary["failed"].get<int>(), summary["refused"].get<int>(), summary["skipped"].get<int>(),
      summary["errors"].get<int>());
  if (report["quick"].get<bool>()) md += "**Quick run: its times mean nothing.**\n\n";
  md +=
      fmt::format("detops {}, {} threads, {}, {}, {}.\n", Text(e["detops"]),
                  e["threads"].get<int>(), Text(e["compiler"]), Text(e["system"]), Text(e["time"]));
  for (const Json& p : report["peaks"]) {
    md += fmt::format("{}: fill {} GB/s, copy {} GB/s, {} GFLOP/s, measured in the same run.\n",
                      Text(p["device"]), Number(p["fill_gbps"]), Number(p["copy_gbps"]),
                      Number(p["gflops"]));
  }
  md += fmt::format("\n## Verdict\n{}\n\n", kBarsText);
  md += Header(
      {"operator", "accuracy", "same bits", "network, bar 60 %", "other, bar 30 %", "why short"});
  for (const Json& op : report["operators"]) {
    const Json& v = op["verdict"];
    const auto with = [](const std::string& verdict, const std::string& figures) {
      return verdict + (figures.empty() ? "" : ": ") + figures;
    };
    const auto part = [&](const Json& p) { return with(Text(p["verdict"]), EfficiencyText(p)); };
    md += Row({Text(op["name"]), with(Text(v["accuracy"]), AccuracyText(v)), Text(v["bits"]),
               part(v["network"]), part(v["other"]), Text(v["reason"])});
  }
  md += fmt::format("\n## Accuracy\n{}\n\n", kAccuracyText);
  md += Header({"case", "output", "diff1", "diff2", "diff3", "limits", "bits", "status", "repeat"});
  for (const Json& op : report["operators"]) {
    for (const Json& row : op["accuracy"]) {
      const std::string reason = Text(row["reason"]), sample = Text(row["sample"]);
      md += Row({Text(row["case"]), Text(row["output"]), Diff(row["diff1"]), Diff(row["diff2"]),
                 Diff(row["diff3"]), LimitsText(row["limits"]),
                 row["same_bits"].get<bool>() ? "same" : "OTHER",
                 Text(row["status"]) + (reason.empty() ? "" : ": " + reason) +
                     (sample.empty() ? "" : " (" + sample + ")"),
                 "`" + Text(row["command"]) + "`"});
    }
  }
  md += fmt::format("\n## Performance\n{}\n\n", kPerformanceText);
  md += Header({"case", "implementation", "time", "±", "GB/s", "GFLOP/s", "io", "compute",
                "bottleneck", "workspace", "x reference", "repeat"});
  for (const Json& op : report["operators"]) {
    for (const Json& m : op["measurements"]) {
      md += Row({Text(m["case"]), RowName(m), TimeText(m["median_s"]), ShareText(m["spread"]),
                 Number(m["gbps"]), Number(m["gflops"]), Shares(m, "io"), Shares(m, "compute"),
                 Text(m["bottleneck"]), BytesText(m["workspace_bytes"].get<double>()),
                 Number(m["ratio_to_reference"]), "`" + Text(m["command"]) + "`"});
    }
  }
  md += "\n## What was left out\n";
  if (report["skipped"].empty()) md += "Nothing.\n";
  for (const Json& s : report["skipped"]) {
    md += fmt::format("- {}: {} (`{}`)\n", Text(s["what"]), Text(s["why"]), Text(s["command"]));
  }
  md += "\n## Repeat it\n```\n";
  for (const Json& command : report["commands"]) md += Text(command) + "\n";
  return md + "```\n";
}

}  // namespace detops::cli

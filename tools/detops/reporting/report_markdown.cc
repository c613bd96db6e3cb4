// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "reporting/markdown.h"
#include "reporting/report.h"
#include "reporting/report_mlu.h"
#include "reporting/report_text.h"
#include "terminal/errors.h"

namespace detops::cli {
namespace {

using Json = nlohmann::ordered_json;

using namespace markdown;

std::string PlainText(const Json& value) { return Plain(Text(value)); }

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
  md += fmt::format("detops {}, {} threads, {}, {}, {}.\n", PlainText(e["detops"]),
                    e["threads"].get<int>(), PlainText(e["compiler"]), PlainText(e["system"]),
                    PlainText(e["time"]));
  for (const Json& p : report["peaks"]) {
    md += fmt::format("{}: {}.\n", PlainText(p["device"]), PeaksText(p));
  }
  md += fmt::format("\n## Verdict\n{}\n\n", kBarsText);
  md += Header(
      {"operator", "accuracy", "same bits", "network, bar 60 %", "other, bar 30 %", "why short"});
  for (const Json& op : report["operators"]) {
    const Json& v = op["verdict"];
    const auto with = [](const std::string& verdict, const std::string& figures) {
      return verdict + (figures.empty() ? "" : ": ") + figures;
    };
    const auto part = [&](const Json& p) {
      return with(PlainText(p["verdict"]), EfficiencyText(p));
    };
    md += Row({PlainText(op["name"]), with(PlainText(v["accuracy"]), AccuracyText(v)),
               PlainText(v["bits"]), part(v["network"]), part(v["other"]), PlainText(v["reason"])});
  }
  md += fmt::format("\n## Accuracy\n{}\n\n", kAccuracyText);
  md += Header({"case", "output", "diff1", "diff2", "diff3", "limits", "bits", "status", "repeat"});
  for (const Json& op : report["operators"]) {
    for (const Json& row : op["accuracy"]) {
      const std::string reason = PlainText(row["reason"]), sample = PlainText(row["sample"]);
      md += Row({PlainText(row["case"]), PlainText(row["output"]), Diff(row["diff1"]),
                 Diff(row["diff2"]), Diff(row["diff3"]), LimitsText(row["limits"]),
                 row["same_bits"].get<bool>() ? "same" : "OTHER",
                 PlainText(row["status"]) + (reason.empty() ? "" : ": " + reason) +
                     (sample.empty() ? "" : " (" + sample + ")"),
                 Code(Text(row["command"]))});
    }
  }
  md += fmt::format("\n## Performance\n{}\n\n", kPerformanceText);
  md += Header({"case", "implementation", "time", "±", "GB/s", "GFLOP/s", "io", "compute",
                "bottleneck", "workspace", "x reference", "repeat"});
  for (const Json& op : report["operators"]) {
    for (const Json& m : op["measurements"]) {
      md += Row({PlainText(m["case"]), Plain(RowName(m)), TimeText(m["median_s"]), SpreadText(m),
                 Number(m["gbps"]), Number(m["gflops"]), Shares(m, "io"), Shares(m, "compute"),
                 PlainText(m["bottleneck"]), BytesText(m["workspace_bytes"].get<double>()),
                 Number(m["ratio_to_reference"]), Code(Text(m["command"]))});
    }
  }
  md += MluMarkdown(report["mlu"]);
  md += "\n## What was left out\n";
  if (report["skipped"].empty()) md += "Nothing.\n";
  for (const Json& s : report["skipped"]) {
    md += fmt::format("- {}: {} ({})\n", PlainText(s["what"]), PlainText(s["why"]),
                      Code(Text(s["command"])));
  }
  std::string commands;
  for (const Json& command : report["commands"]) commands += Shown(Text(command)) + "\n";
  const std::string fence = FenceOf(commands, 3);
  return md + "\n## Repeat it\n" + fence + "\n" + commands + fence + "\n";
}

}  // namespace detops::cli

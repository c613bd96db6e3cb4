// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "reporting/html.h"
#include "reporting/markdown.h"
#include "reporting/report_mlu.h"
#include "reporting/report_text.h"
#include "reporting/timeline_figure.h"

namespace detops::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kMluText[] =
    "The table that the design documents ask for. Hardware time is the device's, interface time "
    "the host's until the function has returned. IO efficiency = bytes of all tensors / (hardware "
    "time x bandwidth), compute efficiency = operations by the documents' count / (hardware time x "
    "peak of the vector units for the type); where the documents count pairs, those that the CPU's "
    "implementation evaluates. The larger of the two is asked to be 60 % at sizes of networks and "
    "30 % elsewhere; 50 % for border_align. What limits those that fall short is in the operator's "
    "EXPERIMENTS.md.";
constexpr char kSimulatedText[] =
    " The card is simulated: hardware times come from the simulator's model of it (bang/docs/"
    "clock.md) and are the same in each run; interface times are this machine's, without what the "
    "simulator took.";

std::string Microseconds(const Json& value) {
  if (!value.is_number()) return "–";
  const double us = value;
  return us < 100 ? fmt::format("{:.2f}", us) : fmt::format("{:.1f}", us);
}
std::string Bytes(const Json& value) { return fmt::format("{}", value.get<int64_t>()); }
std::string Percent(double share) { return fmt::format("{:.0f} %", 100 * share); }
std::string VerdictText(const Json& row) {
  return fmt::format("{} ({} {})", Text(row["verdict"]), Percent(row["bar"]),
                     row["bottleneck"].is_string() ? Text(row["bottleneck"]) : "");
}
std::string BarsText(const Json& bars) {
  const int cases = bars["cases"];
  return cases == 0 ? "" : fmt::format("{} of {} cases", bars["met"].get<int>(), cases);
}
std::string ChecksText(const Json& op) {
  if (op["accuracy"] == "not checked") return "";
  return fmt::format("{} cases passed, {} failed", op["passed"].get<int>(),
                     op["failed"].get<int>());
}
std::string TitleOf(const Json& card) {
  return Text(card["device"]) + (card["simulated"].get<bool>() ? ", simulated" : "");
}
std::string AboutText(const Json& card) {
  return std::string(kMluText) + (card["simulated"].get<bool>() ? kSimulatedText : "");
}

const std::vector<std::string> kVerdictColumns = {"operator", "accuracy", "same bits",
                                                  "network sizes", "other sizes"};
const std::vector<std::string> kRowColumns = {"operator",
                                              "hardware time (µs)",
                                              "interface time (µs)",
                                              "IO efficiency",
                                              "compute efficiency",
                                              "workspace (bytes)",
                                              "type",
                                              "shape",
                                              "verdict (bar)",
                                              "repeat"};

std::string WithNote(const std::string& verdict, const std::string& note) {
  return Badge(KindOfVerdict(verdict), verdict) +
         (note.empty() ? "" : "<br><span class=\"soft\">" + Escaped(note) + "</span>");
}

std::string CardHtml(const Json& card) {
  std::string html = "<h3>" + Escaped(TitleOf(card)) + "</h3>\n";
  HtmlTable verdicts(kVerdictColumns);
  for (const Json& op : card["operators"]) {
    verdicts.Add({"<b>" + Escaped(Text(op["name"])) + "</b>",
                  WithNote(Text(op["accuracy"]), ChecksText(op)), WithNote(Text(op["bits"]), ""),
                  WithNote(Text(op["network"]["verdict"]), BarsText(op["network"])),
                  WithNote(Text(op["other"]["verdict"]), BarsText(op["other"]))});
  }
  html += verdicts.str();
  if (card["rows"].empty()) return html;
  std::vector<std::string> header = kRowColumns;
  for (std::string& name : header) {
    const size_t space = name.find(' ');
    if (space != std::string::npos) name.replace(space, 1, "<br>");
  }
  HtmlTable rows(header, "lrrrrrllll");
  for (const Json& row : card["rows"]) {
    rows.Add({Escaped(Text(row["op"])) + "<br><span class=\"soft\">" +
                  Escaped(ShortName(Text(row["case"]))) + "</span>",
              Microseconds(row["hardware_us"]), Microseconds(row["interface_us"]),
              Share(row["io_efficiency"]), Share(row["compute_efficiency"]),
              Bytes(row["workspace_bytes"]), Escaped(Text(row["type"])),
              Escaped(Text(row["shapes"])),
              Badge(KindOfVerdict(Text(row["verdict"])), VerdictText(row)),
              "<code>" + Escaped(Text(row["command"])) + "</code>"});
  }
  html += rows.str();
  std::string timelines;
  for (const Json& row : card["rows"]) {
    if (row["timeline"].is_null()) continue;
    timelines += TimelineFigure(
        fmt::format("{}: {} µs", Text(row["case"]), Microseconds(row["hardware_us"])),
        row["timeline"]);
  }
  if (!timelines.empty()) {
    html +=
        "<h3>" + Escaped("Timelines, " + TitleOf(card)) + "</h3>\n" + TimelineLegend() + timelines;
  }
  return html;
}

}  // namespace

std::string MluHtml(const Json& cards) {
  if (cards.empty()) return "";
  std::string html = "<h2>MLU</h2>\n<p>" + Escaped(AboutText(cards.front())) + "</p>\n";
  for (const Json& card : cards) html += CardHtml(card);
  return html;
}

std::string MluMarkdown(const Json& cards) {
  if (cards.empty()) return "";
  std::string md = "\n## MLU\n" + AboutText(cards.front()) + "\n";
  const auto with = [](const std::string& verdict, const std::string& note) {
    return markdown::Plain(verdict + (note.empty() ? "" : ": " + note));
  };
  for (const Json& card : cards) {
    md += "\n### " + markdown::Plain(TitleOf(card)) + "\n" + markdown::Header(kVerdictColumns);
    for (const Json& op : card["operators"]) {
      md += markdown::Row({markdown::Plain(Text(op["name"])),
                           with(Text(op["accuracy"]), ChecksText(op)), Text(op["bits"]),
                           with(Text(op["network"]["verdict"]), BarsText(op["network"])),
                           with(Text(op["other"]["verdict"]), BarsText(op["other"]))});
    }
    if (card["rows"].empty()) continue;
    md += "\n" + markdown::Header(kRowColumns);
    for (const Json& row : card["rows"]) {
      md +=
          markdown::Row({markdown::Plain(Text(row["case"])), Microseconds(row["hardware_us"]),
                         Microseconds(row["interface_us"]), Share(row["io_efficiency"]),
                         Share(row["compute_efficiency"]), Bytes(row["workspace_bytes"]),
                         markdown::Plain(Text(row["type"])), markdown::Plain(Text(row["shapes"])),
                         markdown::Plain(VerdictText(row)), markdown::Code(Text(row["command"]))});
    }
  }
  return md;
}

}  // namespace detops::cli

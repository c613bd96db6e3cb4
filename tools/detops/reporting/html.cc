// SPDX-License-Identifier: Apache-2.0
#include "reporting/html.h"

#include <fmt/format.h>

#include <algorithm>

#include "terminal/errors.h"

namespace detops::cli {
namespace {

constexpr char kStyle[] = R"css(
:root { --ink: #1c2128; --soft: #59636e; --paper: #ffffff; --panel: #f4f6f8; --line: #d5dbe1;
  --good: #116329; --good-bg: #dafbe1; --weak: #7d4e00; --weak-bg: #fff1c9; --bad: #a40e26;
  --bad-bg: #ffe3e3; --none-bg: #eceff2; --link: #0550ae; --bar: #bcd7f5; color-scheme: light dark; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #a2adb9; --paper: #0d1117;
  --panel: #161b22; --line: #30363d; --good: #7ee787; --good-bg: #12361f; --weak: #f2cc60;
  --weak-bg: #3a2d06; --bad: #ffb1af; --bad-bg: #4c1418; --none-bg: #21262d; --link: #79c0ff;
  --bar: #1f4b7d; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1180px; padding: 24px 20px 64px; background: var(--paper);
  color: var(--ink); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
h1 { font-size: 28px; line-height: 1.2; margin: 8px 0 4px; }
h2 { font-size: 21px; margin: 40px 0 8px; padding-bottom: 6px; border-bottom: 1px solid var(--line); }
h3 { font-size: 16px; margin: 24px 0 6px; }
p { margin: 6px 0 12px; max-width: 78ch; }
.soft { color: var(--soft); }
code { font: 12.5px/1.4 ui-monospace, "DejaVu Sans Mono", monospace; background: var(--panel);
  padding: 1px 4px; border-radius: 4px; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; margin: 8px 0 16px; border: 1px solid var(--line); border-radius: 8px; }
table { border-collapse: collapse; width: 100%; font-size: 13.5px; font-variant-numeric: tabular-nums; }
th, td { padding: 6px 10px; min-width: 110px; text-align: left; vertical-align: top; border-top: 1px solid var(--line); }
tr:first-child > td { border-top: 0; }
thead th { border-top: 0; background: var(--panel); color: var(--soft); font-weight: 600;
  white-space: nowrap; }
td.r, th.r { text-align: right; white-space: nowrap; min-width: 64px; }
td code { white-space: nowrap; background: none; padding: 0; color: var(--soft); }
.badge { display: inline-block; padding: 0 8px; border-radius: 10px; font-size: 12.5px;
  font-weight: 600; white-space: nowrap; }
.good { color: var(--good); background: var(--good-bg); } .weak { color: var(--weak); background: var(--weak-bg); }
.bad { color: var(--bad); background: var(--bad-bg); } .none { color: var(--soft); background: var(--none-bg); }
.bar { display: block; min-width: 90px; padding: 0 4px; border-radius: 3px;
  background: linear-gradient(90deg, var(--bar) var(--share), transparent var(--share)); }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 480px), 1fr)); gap: 16px; }
figure { margin: 0; padding: 12px; border: 1px solid var(--line); border-radius: 8px; background: var(--panel);
  min-width: 0; }
figcaption { font-size: 13.5px; margin-bottom: 6px; }
svg { display: block; width: 100%; height: auto; }
svg text { fill: var(--ink); font: 14px system-ui, "DejaVu Sans", sans-serif; }
svg .tick { fill: var(--soft); font-size: 13px; }
svg .grid { stroke: var(--line); stroke-width: 1; fill: none; }
svg .axis { stroke: var(--soft); stroke-width: 1.2; fill: none; }
svg .roof { stroke: var(--ink); stroke-width: 1.6; fill: none; stroke-dasharray: 6 4; }
.legend { display: flex; flex-wrap: wrap; gap: 2px 14px; margin: 8px 0 0; padding: 0; list-style: none;
  font-size: 13px; }
.legend i { display: inline-block; width: 11px; height: 11px; border-radius: 2px; margin-right: 6px; }
)css";

}  // namespace

std::string Escaped(const std::string& text) {
  std::string out;
  for (const char c : Shown(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string Page(const std::string& title, const std::string& body, const std::string& style) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>{}{}</style>\n</head>\n<body>\n{}</body>\n</html>\n",
      Escaped(title), kStyle, style, body);
}

HtmlTable::HtmlTable(const std::vector<std::string>& header, const std::string& alignment)
    : alignment_(alignment) {
  alignment_.resize(header.size(), 'l');
  text_ = "<div class=\"scroll\"><table>\n";
  if (header[0].empty()) {  // a table of names and values
    text_ += "<tbody>\n";
    return;
  }
  text_ += "<thead><tr>";
  for (size_t i = 0; i < header.size(); ++i) {
    text_ += fmt::format("<th{}>{}</th>", alignment_[i] == 'r' ? " class=\"r\"" : "", header[i]);
  }
  text_ += "</tr></thead>\n<tbody>\n";
}

void HtmlTable::Add(const std::vector<std::string>& cells) {
  text_ += "<tr>";
  for (size_t i = 0; i < cells.size(); ++i) {
    text_ += fmt::format("<td{}>{}</td>", alignment_[i] == 'r' ? " class=\"r\"" : "", cells[i]);
  }
  text_ += "</tr>\n";
}

std::string HtmlTable::str() const { return text_ + "</tbody></table></div>\n"; }

std::string KindOfVerdict(const std::string& verdict) {
  if (verdict == "met" || verdict == "passed") return "good";
  if (verdict == "short" || verdict == "weak") return "weak";
  return verdict == "failed" || verdict == "FAILED" ? "bad" : "none";
}

std::string Badge(const std::string& kind, const std::string& text) {
  return fmt::format("<span class=\"badge {}\">{}</span>", kind, Escaped(text));
}

std::string Bar(double share, const std::string& text) {
  return fmt::format("<span class=\"bar\" style=\"--share:{:.1f}%\">{}</span>",
                     100 * std::clamp(share, 0.0, 1.0), Escaped(text));
}

const char* SeriesColour(size_t index) {
  static constexpr const char* kColours[] = {"#2f81f7", "#e07a1f", "#1a9e5c",
                                             "#a45ee5", "#d6409f", "#8a949e"};
  return kColours[std::min<size_t>(index, std::size(kColours) - 1)];
}

}  // namespace detops::cli

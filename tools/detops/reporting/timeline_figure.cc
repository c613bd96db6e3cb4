// SPDX-License-Identifier: Apache-2.0
#include "reporting/timeline_figure.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "measuring/timeline.h"
#include "reporting/html.h"
#include "terminal/terminal.h"

namespace detops::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kBar = 10, kGap = 2;  // of a pipe, in pixels

struct Kind {
  const char *name, *what;
};
constexpr Kind kKinds[] = {{"load", "loads (IO)"},    {"store", "stores (IO)"},
                           {"move", "Move"},          {"compute", "vector instructions (Compute)"},
                           {"scalar", "scalar code"}, {"wait", "waiting"}};
constexpr const char* kPipes[] = {"scalar", "IO", "Move", "Compute"};

int PlaceOf(const std::string& pipe) {
  int place = 0;
  while (place < 3 && pipe != kPipes[place]) ++place;
  return place;
}

// A line per run of equal levels: thick ones, so that each is a bar.
std::string Track(const std::string& kind, const std::string& levels, int y) {
  std::array<std::string, 5> paths;
  for (size_t i = 0; i < levels.size();) {
    const size_t end = std::min(levels.find_first_not_of(levels[i], i), levels.size());
    paths[static_cast<size_t>(levels[i] - '0')] += fmt::format("M{} {}h{}", i, y, end - i);
    i = end;
  }
  std::string svg;
  for (size_t level = 1; level < paths.size(); ++level) {
    if (paths[level].empty()) continue;
    svg += fmt::format("<path class=\"{}\" stroke-opacity=\"{}\" d=\"{}\"/>", Escaped(kind),
                       0.25 * static_cast<double>(level), paths[level]);
  }
  return svg;
}

}  // namespace

const char* TimelineStyle() {
  return R"css(
:root { --load: #1f77d0; --store: #8a4fd0; --move: #1a8f5a; --compute: #d9770f; --scalar: #6e7781;
  --wait: #c9d1d9; }
@media (prefers-color-scheme: dark) { :root { --load: #58a6ff; --store: #bc8cff; --move: #3fb950;
  --compute: #f0953c; --scalar: #9aa4ae; --wait: #3a424b; } }
details { margin: 6px 0; border: 1px solid var(--line); border-radius: 8px; padding: 6px 12px; }
summary { cursor: pointer; overflow-wrap: anywhere; }
.row { margin: 8px 0 2px; font-size: 13px; color: var(--soft); }
svg.timeline { height: var(--height); background: var(--panel); border-radius: 4px; }
svg.timeline path { fill: none; stroke-width: 10; }
.load { stroke: var(--load); } .store { stroke: var(--store); } .move { stroke: var(--move); }
.compute { stroke: var(--compute); } .scalar { stroke: var(--scalar); } .wait { stroke: var(--wait); }
svg.timeline path.launch { stroke: var(--ink); stroke-width: 1; vector-effect: non-scaling-stroke; }
.legend i.key { background: var(--key); }
)css";
}

std::string TimelineLegend() {
  std::string legend = "<ul class=\"legend\">";
  for (const Kind& kind : kKinds) {
    legend += fmt::format("<li><i class=\"key\" style=\"--key:var(--{})\"></i>{}</li>", kind.name,
                          kind.what);
  }
  return legend + "</ul>\n";
}

std::string TimelineFigure(const std::string& title, const Json& timeline) {
  const double total = timeline["microseconds"];
  std::string launches;  // where they begin, but the first
  for (const Json& launch : timeline["launches"]) {
    const double at = launch["begin"].get<double>() / total * kTimelineColumns;
    if (at > 0) launches += fmt::format("M{:.1f} 0V1000", at);
  }
  std::string body;
  for (const Json& row : timeline["rows"]) {
    std::array<bool, 4> used = {};
    for (const Json& track : row["tracks"])
      used[static_cast<size_t>(PlaceOf(track["pipe"]))] = true;
    std::array<int, 4> y = {};
    int height = kGap;
    std::string pipes;
    for (size_t i = 0; i < used.size(); ++i) {
      if (!used[i]) continue;
      y[i] = height + kBar / 2;
      height += kBar + kGap;
      pipes += (pipes.empty() ? "" : ", ") + std::string(kPipes[i]);
    }
    std::string tracks;
    for (const Json& track : row["tracks"]) {
      tracks +=
          Track(track["kind"], track["levels"], y[static_cast<size_t>(PlaceOf(track["pipe"]))]);
    }
    const std::string name = Escaped(row["name"].get<std::string>());
    body += fmt::format(
        "<div class=\"row\">{0}: {1}</div><svg class=\"timeline\" style=\"--height:{2}px\" "
        "viewBox=\"0 0 {3} {2}\" preserveAspectRatio=\"none\" role=\"img\" "
        "aria-label=\"{0}\">{4}<path class=\"launch\" d=\"{5}\"/></svg>\n",
        name, pipes, height, kTimelineColumns, tracks, launches);
  }
  HtmlTable table({"launch", "begins at", "takes", "of the call"}, "lrrr");
  for (const Json& launch : timeline["launches"]) {
    const double microseconds = launch["microseconds"];
    table.Add({"<code>" + Escaped(launch["kernel"].get<std::string>()) + "</code>",
               TimeText(1e-6 * launch["begin"].get<double>()), TimeText(1e-6 * microseconds),
               ShareText(microseconds / total)});
  }
  return fmt::format("<details><summary>{}</summary>\n{}{}</details>\n", Escaped(title), body,
                     table.str());
}

}  // namespace detops::cli

// SPDX-License-Identifier: Apache-2.0
#include "demo/demo.h"

#include <fmt/format.h>

#include <algorithm>

#include "detops/detops.h"
#include "files/file.h"
#include "reporting/html.h"
#include "terminal/errors.h"
#include "terminal/terminal.h"

namespace detops::cli {
namespace {

std::string DemoPage(const std::vector<Scene>& scenes, const std::string& device) {
  std::string body = fmt::format(
      "<h1>Detection operators</h1>\n<p>detops {} on {}. While this page was made, every result "
      "below was compared with an independent exact implementation.</p>\n",
      Escaped(detopsGetVersion()), Escaped(device));
  HtmlTable table({"scene", "operator", "size", "a call", "by", "against the oracle"}, "lllrll");
  for (const Scene& s : scenes) {
    table.Add({Escaped(s.title), "<b>" + Escaped(s.op) + "</b>", Escaped(s.size), Escaped(s.time),
               Escaped(s.implementation), Badge(s.right() ? "good" : "bad", s.VerdictText())});
  }
  body += table.str();
  for (const Scene& s : scenes) {
    body += fmt::format(
        "<h2>{} <span class=\"soft\">{}</span></h2>\n<p>{}</p>\n<div class=\"figures\">\n",
        Escaped(s.title), Escaped(s.op), Escaped(s.story));
    for (const Picture& p : s.pictures) {
      body += fmt::format("<figure><figcaption>{}</figcaption>\n{}</figure>\n", Escaped(p.caption),
                          p.svg);
    }
    body += "</div>\n";
  }
  body +=
      "<p class=\"soft\">Times are of this run, on data that stay in the cache. Repeat: <code>make "
      "demo</code></p>\n";
  return Page("detops: detection operators", body,
              "h2 .soft { font-weight: 400; font-size: 15px; } td, th { white-space: nowrap; }\n");
}

}  // namespace

std::vector<Scene> WriteDemo(const std::filesystem::path& file, const std::string& device,
                             bool progress) {
  using MakeScene = Scene (*)(const std::string&);
  const std::pair<const char*, MakeScene> makers[] = {{"poly_nms", ParkingLot},
                                                      {"points_in_boxes", LidarSweep},
                                                      {"generate_proposals_v2", StreetProposals},
                                                      {"border_align_forward", BorderPoints},
                                                      {"bbox_overlaps", IouMatrix}};
  std::error_code error;
  if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path(), error);
  RequireWritable(file);
  std::vector<Scene> scenes;
  {
    Progress steps(std::size(makers), progress);
    for (const auto& [name, make] : makers) {
      steps.Step(name);
      scenes.push_back(make(device));
    }
  }
  WriteFile(file, DemoPage(scenes, device));
  return scenes;
}

bool AllRight(const std::vector<Scene>& scenes) {
  return std::ranges::all_of(scenes, [](const Scene& s) { return s.right(); });
}

void PrintDemo(const std::vector<Scene>& scenes, const std::filesystem::path& file) {
  Table table({"operator", "scene", "size", "result", "a call", "by", "against the oracle"},
              "llllrll");
  for (const Scene& s : scenes) {
    table.Add({s.op, s.title, s.size, s.summary, s.time, s.implementation, s.VerdictText()},
              s.right() ? Colour::kNone : Colour::kRed);
  }
  table.Print();
  fmt::print("\n{}\nThe pictures: {}\n",
             AllRight(scenes) ? "All results are those of the oracle."
                              : Coloured(Colour::kRed, "A result DIFFERS from the oracle's."),
             Shown(std::filesystem::absolute(file).lexically_normal().string()));
}

}  // namespace detops::cli

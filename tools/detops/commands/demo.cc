// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands/commands.h"
#include "demo/scene.h"
#include "files/npy.h"
#include "reporting/environment.h"
#include "reporting/html.h"
#include "running/execution.h"

namespace detops::cli {
namespace {

struct DemoRequest {
  std::string out = "detops-demo.html", device;
  Output output;
};

std::string DemoPage(const std::vector<Scene>& scenes, const std::string& device) {
  std::string body = fmt::format(
      "<h1>Five detection operators</h1>\n<p>detops {} on {}. Every result below was held against "
      "an "
      "oracle of other code and wider arithmetic while this page was made.</p>\n",
      Escaped(detopsGetVersion()), Escaped(device));
  HtmlTable table({"scene", "operator", "size", "a call", "by", "against the oracle"}, "lllrll");
  for (const Scene& s : scenes) {
    table.Add({Escaped(s.title), "<b>" + Escaped(s.op) + "</b>", Escaped(s.size),
               TimeText(s.seconds), Escaped(s.implementation),
               Badge(s.right() ? "good" : "bad", s.VerdictText())});
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
  return Page("detops: five detection operators", body,
              "h2 .soft { font-weight: 400; font-size: 15px; } td, th { white-space: nowrap; }\n");
}

int Demo(const DemoRequest& request) {
  const bool text = !request.output.json && !request.output.quiet;
  std::string device = ChosenDevice(request.device);
  if (device.empty()) device = "cpu";
  using MakeScene = Scene (*)(const std::string&);
  const std::pair<const char*, MakeScene> makers[] = {{"poly_nms", ParkingLot},
                                                      {"points_in_boxes", LidarSweep},
                                                      {"generate_proposals_v2", StreetProposals},
                                                      {"border_align_forward", BorderPoints},
                                                      {"bbox_overlaps", IouMatrix}};
  std::vector<Scene> scenes;
  {
    Progress progress(std::size(makers), text);
    for (const auto& [name, make] : makers) {
      progress.Step(name);
      scenes.push_back(make(device));
    }
  }
  const std::filesystem::path file = request.out;
  std::error_code error;
  if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path(), error);
  WriteFile(file, DemoPage(scenes, device));

  bool right = true;
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  Table table({"operator", "scene", "size", "result", "a call", "by", "against the oracle"},
              "llllrll");
  for (const Scene& s : scenes) {
    right = right && s.right();
    table.Add(
        {s.op, s.title, s.size, s.summary, TimeText(s.seconds), s.implementation, s.VerdictText()},
        s.right() ? Colour::kNone : Colour::kRed);
    json.push_back({{"op", s.op},
                    {"scene", s.title},
                    {"size", s.size},
                    {"result", s.summary},
                    {"seconds", s.seconds},
                    {"implementation", s.implementation},
                    {"right", s.right()}});
  }
  if (request.output.json) fmt::print("{}", JsonText(json));
  if (text) {
    table.Print();
    fmt::print("\n{}\nThe pictures: {}\n",
               right ? "All five results are those of the oracle."
                     : Coloured(Colour::kRed, "A result DIFFERS from the oracle's."),
               std::filesystem::absolute(file).lexically_normal().string());
  }
  return right ? 0 : kExitFailed;
}

}  // namespace

void AddDemo(Command& program, int& exit_code) {
  Command demo = program.AddCommand("demo", "the five operators on scenes one can see, as a page");
  auto request = std::make_shared<DemoRequest>();
  demo.Add("--out", request->out, "the page").TypeName("FILE").ShowDefault();
  demo.Add("--device", request->device, "where to run; default: DETOPS_DEVICE, or cpu");
  AddOutputOptions(demo, request->output);
  demo.Footer("Example:\n  detops demo --out demo.html");
  demo.OnCall([request, &exit_code] { exit_code = Demo(*request); });
}

}  // namespace detops::cli

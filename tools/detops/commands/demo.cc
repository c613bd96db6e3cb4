// SPDX-License-Identifier: Apache-2.0
#include "demo/demo.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "commands/commands.h"
#include "reporting/environment.h"
#include "running/execution.h"

namespace detops::cli {
namespace {

struct DemoRequest {
  std::string out = "detops-demo.html", device;
  Output output;
};

int Demo(const DemoRequest& request) {
  const bool text = !request.output.json && !request.output.quiet;
  std::string device = ChosenDevice(request.device);
  if (device.empty()) device = "cpu";
  const std::vector<Scene> scenes = WriteDemo(request.out, device, text);
  if (text) PrintDemo(scenes, request.out);
  if (request.output.json) {
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    for (const Scene& s : scenes) {
      json.push_back({{"op", s.op},
                      {"scene", s.title},
                      {"size", s.size},
                      {"result", s.summary},
                      {"seconds", s.seconds},
                      {"implementation", s.implementation},
                      {"right", s.right()}});
    }
    fmt::print("{}", JsonText(json));
  }
  return AllRight(scenes) ? 0 : kExitFailed;
}

}  // namespace

void AddDemo(Command& program, int& exit_code) {
  Command demo = program.AddCommand("demo", "operators on scenes one can see, as a page");
  auto request = std::make_shared<DemoRequest>();
  demo.Add("--out", request->out, "the page").TypeName("FILE").ShowDefault();
  demo.Add("--device", request->device, "where to run; default: DETOPS_DEVICE, or cpu");
  AddOutputOptions(demo, request->output);
  demo.Footer("Example:\n  detops demo --out demo.html");
  demo.OnCall([request, &exit_code] { exit_code = Demo(*request); });
}

}  // namespace detops::cli

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <chrono>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands/commands.h"
#include "commands/inputs.h"
#include "files/npy.h"
#include "reporting/environment.h"
#include "running/call_time.h"
#include "running/execution.h"

namespace detops::cli {
namespace {

// What the options of one operator were set to.
struct RunRequest {
  explicit RunRequest(const Schema& op) : inputs(op) {}
  OperatorInputs inputs;
  std::map<std::string, std::string> outputs;  // files by tensor
  std::string device, implementation;
  Output output;
};

void RunOperator(const RunRequest& request) {
  for (const auto& [output, file] : request.outputs) {
    if (!file.empty()) RequireArrayOutput(file);
  }
  const Problem problem = ReadProblem(request.inputs);
  const std::string device = ChosenDevice(request.device);
  RequireKnown(device, request.implementation);
  const std::vector<Target> targets = TargetsOf(*problem.schema, device, request.implementation);
  if (targets.empty()) {
    throw UserError(fmt::format("{} has no such implementation on this device; see `detops list`",
                                problem.schema->name));
  }
  std::vector<Array> results;
  std::string implementation, ran_on;
  double seconds = 0;
  bool simulated = false;
  try {
    // Unless one is forced, the library chooses.
    const Target target = {targets[0].device, request.implementation};
    Execution execution(problem, target);
    ran_on = target.device;
    simulated = targets[0].simulated;
    if (simulated) {
      seconds = TimeCall(execution).device;
    } else {
      const auto start = std::chrono::steady_clock::now();
      execution.Start();
      execution.Wait();
      seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
    results = execution.Results();
    implementation = execution.implementation();
  } catch (const RunError& e) {
    throw UserError(e.what());
  }

  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  json["op"] = problem.schema->name;
  json["device"] = ran_on;
  json["implementation"] = implementation;
  json["seconds"] = seconds;
  json["simulated"] = simulated;
  json["summary"] = problem.schema->summarize(problem, results);
  json["outputs"] = nlohmann::ordered_json::array();
  std::string written;
  const auto infos = OutputsOf(problem);
  for (size_t i = 0; i < infos.size(); ++i) {
    const auto file = request.outputs.find(infos[i].name);
    const bool wanted = file != request.outputs.end() && !file->second.empty();
    if (wanted) {
      WriteArray(file->second, results[i]);
      written += fmt::format("  {} {} {} -> {}\n", infos[i].name, TextOf(results[i].shape()),
                             NameOf(results[i].dtype()), Shown(file->second));
    }
    json["outputs"].push_back({{"name", infos[i].name},
                               {"shape", results[i].shape()},
                               {"dtype", NameOf(results[i].dtype())},
                               {"file", wanted ? file->second : ""}});
  }
  if (request.output.json) {
    fmt::print("{}", JsonText(json));
  } else if (!request.output.quiet) {
    fmt::print("{}: {}\n{}  {} on {}, {}{}\n", problem.schema->name,
               json["summary"].get<std::string>(), written, implementation, ran_on,
               TimeText(seconds), simulated ? " simulated" : "");
  }
}

}  // namespace

void AddRun(Command& program, int&) {
  Command run = program.AddCommand("run", "run an operator on arrays in files");
  run.NeedsCommand();
  run.Footer("Example:\n  detops run poly_nms --boxes dets.npy --iou-threshold 0.1 --out keep.npy");
  for (const Schema* op : schema::All()) {
    Command sub = run.AddCommand(op->name, op->summary);
    auto request = std::make_shared<RunRequest>(*op);
    AddInputOptions(sub, request->inputs);
    for (const schema::Tensor& tensor : OutputsOf(request->inputs.problem)) {
      if (OptionOf(tensor).empty()) continue;
      sub.Add(OptionOf(tensor), request->outputs[tensor.name], HelpOf(*op, tensor))
          .TypeName("FILE");
    }
    sub.Add("--device", request->device,
            "as `detops list` names it; default: DETOPS_DEVICE, or the first");
    sub.Add("--impl", request->implementation,
            "force an implementation; default: the library's choice");
    AddOutputOptions(sub, request->output);
    sub.Footer(fmt::format("Files are .npy (half or float) or .csv.\nExample:\n  {}", op->example));
    sub.OnCall([request] { RunOperator(*request); });
  }
}

}  // namespace detops::cli

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <chrono>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands/commands.h"
#include "files/npy.h"
#include "reporting/environment.h"
#include "running/execution.h"

namespace detops::cli {
namespace {

// What the options of one operator were set to.
struct RunRequest {
  explicit RunRequest(const Schema& op) : problem(op) {}
  Problem problem;                                     // its scalars
  std::map<std::string, std::string> inputs, outputs;  // files by tensor
  std::string device, implementation;
  Output output;
};

Problem ReadProblem(const RunRequest& request) {
  Problem problem = request.problem;
  for (const schema::Tensor& tensor : InputsOf(problem)) {
    const std::string& file = request.inputs.at(tensor.name);
    Array array = ReadArray(file);
    if (array.shape().empty()) {
      throw UserError(fmt::format("{}: holds a single number; {} wants [{}] {}", file,
                                  OptionOf(tensor), tensor.shape, tensor.help));
    }
    if (array.dtype() == MLUOP_DTYPE_INT32) {
      throw UserError(fmt::format("{}: holds int32; {} wants float: save array.astype('<f4')", file,
                                  OptionOf(tensor)));
    }
    const size_t rank = schema::DimsOf(*problem.schema, tensor.shape).size();
    if (problem.schema->batch_is_optional && array.shape().size() + 1 == rank) {
      Shape shape = array.shape();
      shape.insert(shape.begin(), 1);
      array.Reshape(shape);
    }
    problem.inputs.push_back(std::move(array));
  }
  return problem;
}

void RunOperator(const RunRequest& request) {
  for (const auto& [output, file] : request.outputs) {
    if (!file.empty()) RequireArrayOutput(file);
  }
  const Problem problem = ReadProblem(request);
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
  try {
    // Unless one is forced, the library chooses.
    const Target target = {targets[0].device, request.implementation};
    Execution execution(problem, target);
    ran_on = target.device;
    const auto start = std::chrono::steady_clock::now();
    execution.Start();
    execution.Wait();
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
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
    fmt::print("{}: {}\n{}  {} on {}, {}\n", problem.schema->name,
               json["summary"].get<std::string>(), written, implementation, ran_on,
               TimeText(seconds));
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
    const auto help = [&](const schema::Tensor& tensor) {
      return fmt::format("[{}]{} {}", tensor.shape,
                         op->batch_is_optional ? ", the first may be left out:" : "", tensor.help);
    };
    for (const schema::Tensor& tensor : InputsOf(request->problem)) {
      sub.Add(OptionOf(tensor), request->inputs[tensor.name], help(tensor))
          .TypeName("FILE")
          .Required();
    }
    AddScalarOptions(sub, request->problem);
    for (const schema::Tensor& tensor : OutputsOf(request->problem)) {
      if (OptionOf(tensor).empty()) continue;
      sub.Add(OptionOf(tensor), request->outputs[tensor.name], help(tensor)).TypeName("FILE");
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

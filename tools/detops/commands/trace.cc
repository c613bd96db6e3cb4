// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "cases/case_file.h"
#include "commands/commands.h"
#include "commands/inputs.h"
#include "files/file.h"
#include "reporting/environment.h"
#include "running/call_time.h"

namespace detops::cli {
namespace {

struct TraceRequest {
  std::string device, implementation, out;
  bool allow_outside = false;  // of a case
  Output output;
};

// The device meant, or the first that has timelines.
std::string TracedDevice(const TraceRequest& request) {
  const std::string wanted = ChosenDevice(request.device);
  std::vector<std::string> with_timelines;
  for (const DeviceInfo& d : Devices()) {
    if (!d.usable || !d.simulated) continue;
    if (IsMeant(d, wanted)) return d.name;
    with_timelines.push_back(d.name);
  }
  if (!with_timelines.empty()) {
    throw UserError(fmt::format("{} has no timelines; simulated devices have: --device {}", wanted,
                                fmt::join(with_timelines, " or ")));
  }
  throw UserError(
      "there is no device with timelines here: simulated ones have them, which come with bang/ "
      "(see `detops list`)");
}

void RequireTimelineFile(const std::string& out) {
  const std::string extension = std::filesystem::path(out).extension();
  if (extension != ".html" && extension != ".json") {
    throw UserError(
        fmt::format("{}: a timeline is a page, .html, or a trace for Perfetto, .json", Shown(out)));
  }
  RequireWritable(out);
}

void Trace(const TraceRequest& request, const std::function<Problem()>& make_problem) {
  RequireTimelineFile(request.out);
  // Read when the first kernel is launched; the file is written when the program ends.
  setenv("BANG_TIMELINE", request.out.c_str(), /*overwrite=*/1);
  const std::string device = TracedDevice(request);
  RequireKnown(device, request.implementation);
  const Problem problem = make_problem();
  const std::vector<Target> targets = TargetsOf(*problem.schema, device, request.implementation);
  if (targets.empty()) {
    throw UserError(fmt::format("{} has no such implementation on {}; see `detops list`",
                                problem.schema->name, device));
  }
  CallTime time;
  std::string implementation;
  try {
    Execution execution(problem, targets.front());
    time = TimeCall(execution);
    implementation = execution.implementation();
  } catch (const RunError& e) {
    throw UserError(e.what());
  }
  if (time.device <= 0) {
    throw UserError(
        "nothing was launched, or more than the simulator's clock can hold: there is "
        "nothing to draw");
  }
  if (request.output.json) {
    fmt::print("{}", JsonText({{"op", problem.schema->name},
                               {"device", device},
                               {"implementation", implementation},
                               {"simulated_s", time.device},
                               {"file", request.out}}));
  } else if (!request.output.quiet) {
    fmt::print("{}: {} on {}, {} simulated -> {}\n", problem.schema->name, implementation, device,
               TimeText(time.device), Shown(request.out));
  }
}

void AddTraceOptions(Command& command, TraceRequest& request) {
  command.Add("--out", request.out, "a page, .html, or a trace for Perfetto, .json")
      .TypeName("FILE")
      .Required();
  command.Add("--device", request.device,
              "as `detops list` names it; default: DETOPS_DEVICE, or the first with timelines");
  command.Add("--impl", request.implementation,
              "force an implementation; default: the library's choice");
  AddOutputOptions(command, request.output);
}

void AddTraceOfCase(Command& trace) {
  struct CaseRequest : TraceRequest {
    std::string file;
  };
  auto request = std::make_shared<CaseRequest>();
  Command sub = trace.AddCommand("case", "a call that a case file describes");
  sub.Add("case", request->file, "a file, or one of the collection, as for check")
      .Required();
  AddAllowOutside(sub, request->allow_outside);
  AddTraceOptions(sub, *request);
  sub.Footer("Example:\n  detops trace case poly_nms/network/scattered_500 --out trace.html");
  sub.OnCall([request] {
    Trace(*request, [&] {
      const auto files = FindCases({request->file}, kGroups);
      if (files.size() != 1) {
        throw UserError(fmt::format("{} names {} cases; a timeline is that of one",
                                    Shown(request->file), files.size()));
      }
      return MakeProblem(ReadCase(files.front()), request->allow_outside);
    });
  });
}

}  // namespace

void AddTrace(Command& program, int&) {
  Command trace = program.AddCommand("trace", "the timeline of one call on a simulated device");
  trace.NeedsCommand();
  trace.Footer(
      "Examples:\n"
      "  detops trace poly_nms --boxes dets.npy --device mlu370 --out trace.html\n"
      "  detops trace case poly_nms/network/scattered_500 --out trace.json");
  AddTraceOfCase(trace);
  for (const Schema* op : schema::All()) {
    Command sub = trace.AddCommand(op->name, op->summary);
    auto request = std::make_shared<TraceRequest>();
    auto inputs = std::make_shared<OperatorInputs>(*op);
    AddInputOptions(sub, *inputs);
    AddTraceOptions(sub, *request);
    sub.OnCall([=] { Trace(*request, [&] { return ReadProblem(*inputs); }); });
  }
}

}  // namespace detops::cli

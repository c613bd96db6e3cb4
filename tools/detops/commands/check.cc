// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>

#include "checking/check_all.h"
#include "commands/commands.h"
#include "files/file.h"
#include "reporting/environment.h"

namespace detops::cli {
namespace {

struct CheckRequest {
  std::vector<std::string> cases, groups;
  CheckOptions options;
  std::string out;
  bool strict = false;
  Output output;
};

Colour ColourOf(Status status) {
  switch (status) {
    case Status::kPassed: return Colour::kGreen;
    case Status::kWeak: return Colour::kYellow;
    case Status::kRefused:
    case Status::kSkipped: return Colour::kDim;
    default: return Colour::kRed;
  }
}

// The worst of all outputs.
double Worst(const CheckRow& row, size_t diff) {
  double worst = 0;
  for (const Accuracy& a : row.outputs) worst = std::max(worst, a.diffs()[diff]);
  return worst;
}

void PrintRow(const CheckRow& row) {
  std::string figures = fmt::format("{:<18} ", NameOf(row.target));
  if (!row.outputs.empty()) {
    figures += fmt::format("diff1 {:<8} diff2 {:<8} diff3 {:<8} {:<10}", DiffText(Worst(row, 0)),
                           DiffText(Worst(row, 1)), DiffText(Worst(row, 2)),
                           row.same_bits_as.empty() ? ""
                           : row.same_bits          ? "same bits"
                                                    : "OTHER BITS");
  }
  std::string why = row.reason;
  if (row.status == Status::kWeak) why = "passed, but weak: " + why;
  if (!row.sample.empty()) why += (why.empty() ? "" : "; ") + row.sample;
  fmt::print("  {} {} {}{}\n",
             Coloured(ColourOf(row.status), fmt::format("{:<7}", NameOf(row.status))), figures,
             why.empty() ? "" : Shown(why) + "  ", Coloured(Colour::kDim, "# " + row.command));
  const auto print = [](const std::string& what, const Accuracy& a) {
    fmt::print("          {:<28} diff1 {} diff2 {} diff3 {}{}{}\n", what + a.output,
               DiffText(a.diff1), DiffText(a.diff2), DiffText(a.diff3),
               a.special_match ? "" : "  NaN or infinities elsewhere", a.passed ? "" : "  <-");
  };
  if (row.status == Status::kFailed) {
    for (const Accuracy& a : row.outputs) print("", a);
  }
  for (const Accuracy& a : row.expected) print("expected ", a);
}

void PrintCase(const std::vector<CheckRow>& rows) {
  fmt::print("{}  {}\n", Coloured(Colour::kBold, rows[0].name), Shown(rows[0].what));
  for (const std::string& note : rows[0].notes) fmt::print("  note: {}\n", Shown(note));
  for (const CheckRow& row : rows) PrintRow(row);
}

void PrintTrouble(const std::vector<CheckRow>& rows) {
  for (const CheckRow& row : rows) {
    if (row.status != Status::kFailed && row.status != Status::kError) continue;
    PrintError(
        row.name.c_str(),
        fmt::format("{} {}: {}", NameOf(row.target), NameOf(row.status), row.reason).c_str());
  }
}

int Check(const CheckRequest& request) {
  const bool text = !request.output.json && !request.output.quiet;
  if (!request.out.empty()) RequireWritable(request.out);
  setenv("BANG_CLOCK", "0", /*overwrite=*/0);  // of the simulator: nobody asks for times here
  bool wrong_file = false;
  const nlohmann::ordered_json json =
      CheckAll(FindCases(request.cases, request.groups), request.options, text,
               [&](const std::vector<CheckRow>& rows) {
                 if (text) PrintCase(rows);
                 if (request.output.quiet) PrintTrouble(rows);
                 // No implementation was even tried: it is the file.
                 wrong_file = wrong_file ||
                              (rows[0].status == Status::kError && rows[0].target.device.empty());
               });
  if (!request.out.empty()) WriteFile(request.out, JsonText(json));
  if (request.output.json) fmt::print("{}", JsonText(json));
  const auto count = [&](const char* what) { return json["summary"][what].get<int>(); };
  if (text) {
    for (const Unusable& u :
         UnusableAmong(request.options.device, request.options.implementation)) {
      fmt::print("{}\n", Coloured(Colour::kDim, fmt::format("{}: left out, {}", u.name, u.reason)));
    }
    fmt::print(
        "\n{} case{}: {} passed, {} passed but weak, {} failed, {} refused, {} skipped, {} "
        "errors\n",
        count("cases"), count("cases") == 1 ? "" : "s", count("passed"), count("weak"),
        count("failed"), count("refused"), count("skipped"), count("errors"));
  }
  if (wrong_file) return kExitUsage;
  const bool good = count("failed") == 0 && count("errors") == 0;
  return good && !(request.strict && count("weak") > 0) ? 0 : kExitFailed;
}

}  // namespace

void AddAllowOutside(Command& command, bool& allow_outside) {
  command.AddFlag("--allow-outside", allow_outside,
                  "read files that a case names outside of its own folder");
}

void AddCheck(Command& program, int& exit_code) {
  Command check =
      program.AddCommand("check", "case files on every implementation, against the oracle");
  auto request = std::make_shared<CheckRequest>();
  request->groups = {"smoke", "edge", "network"};
  check.Add("cases", request->cases,
            "files, folders, or parts of the collection like poly_nms or poly_nms/edge; "
            "default: the whole collection");
  check.Add("--group", request->groups, "groups of the collection").OneOf(kGroups).ShowDefault();
  check.Add("--device", request->options.device, "this device alone");
  check.Add("--impl", request->options.implementation, "this implementation alone");
  check.AddFlag("--reference", request->options.reference, "the reference also where it is slow");
  check.AddFlag("--large", request->options.large,
                "simulated devices also on cases that take them long");
  AddAllowOutside(check, request->options.allow_outside);
  check.AddFlag("--strict", request->strict, "weak comparisons fail");
  check.Add("--out", request->out, "write the results as JSON").TypeName("FILE");
  AddOutputOptions(check, request->output);
  check.Footer(
      "diff1 = sum|a-b|/sum|b|, diff2 = sqrt(sum(a-b)²/sum b²), diff3 = max|a-b|/|b|, the worst "
      "output of each.\n"
      "Exit code: 0 all passed, 1 something failed, 2 a file is broken.\n"
      "Examples:\n"
      "  detops check\n"
      "  detops check poly_nms/edge --impl cpu:avx2\n"
      "  detops check my_case.prototxt --json");
  check.OnCall([request, &exit_code] { exit_code = Check(*request); });
}

}  // namespace detops::cli

// SPDX-License-Identifier: Apache-2.0
//
// detops: the operators without writing code, and the system that accepts them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "commands/commands.h"
#include "core/array.h"
#include "detops/detops.h"

namespace detops::cli {

void AddOutputOptions(CLI::App& app, Output& output) {
  app.add_flag("-q,--quiet", output.quiet, "print nothing but errors");
  app.add_flag("--json", output.json, "print one JSON document instead of text");
}

namespace {

// The command that the arguments got to, and how it is called: "detops run poly_nms".
std::pair<const CLI::App*, std::string> Reached(const CLI::App& app) {
  std::pair<const CLI::App*, std::string> reached = {&app, app.get_name()};
  while (!reached.first->get_subcommands().empty()) {
    reached.first = reached.first->get_subcommands().back();
    reached.second += " " + reached.first->get_name();
  }
  return reached;
}

// The library's own words, but where they don't say what to do.
std::string TextOf(const CLI::ParseError& error, const CLI::App& app) {
  const auto [command, name] = Reached(app);
  std::vector<std::string> commands;
  for (const CLI::App* sub : command->get_subcommands([](const CLI::App*) { return true; })) {
    commands.push_back(sub->get_name());
  }
  const std::vector<std::string> unknown = app.remaining(true);
  std::string text = error.what();
  if (!unknown.empty() && !commands.empty()) {
    text = fmt::format("there is no '{}'; {} has {}", unknown[0], name, fmt::join(commands, ", "));
  } else if (!commands.empty() && dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    text = fmt::format("{} needs a command: {}", name, fmt::join(commands, ", "));
  } else if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !unknown.empty()) {
    text = fmt::format("{} has no '{}'", name, unknown[0]);
  }
  return fmt::format("{}\n`{} --help` says more.", text, name);
}

int Main(int argc, char** argv) {
  CLI::App app("Detection operators: run, check, measure and show them.", "detops");
  app.set_version_flag("--version", detopsGetVersion());
  app.require_subcommand(1);
  app.footer(
      "Exit code: 0 all right, 1 a check failed, 2 wrong arguments or files.\n"
      "Examples:\n"
      "  detops list\n"
      "  detops run poly_nms --boxes dets.npy --iou-threshold 0.1 --out keep.npy\n"
      "  detops check poly_nms");
  int exit_code = 0;
  AddList(app, exit_code);
  AddRun(app, exit_code);
  AddCheck(app, exit_code);
  AddGen(app, exit_code);
  AddBench(app, exit_code);
  AddReport(app, exit_code);
  AddDemo(app, exit_code);
  AddCompletion(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return 0;
  } catch (const CLI::CallForVersion&) {
    fmt::print("detops {}\n", detopsGetVersion());
    return 0;
  } catch (const CLI::ParseError& e) {
    fmt::print(stderr, "detops: {}\n", TextOf(e, app));
    return kExitUsage;
  } catch (const UserError& e) {
    fmt::print(stderr, "detops: {}\n", e.what());
    return kExitUsage;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "detops: out of memory; try a smaller size\n");
    return kExitUsage;
  } catch (const std::exception& e) {
    fmt::print(stderr, "detops: {}\n", e.what());
    return kExitUsage;
  }
  return exit_code;
}

}  // namespace
}  // namespace detops::cli

int main(int argc, char** argv) {
  const int exit_code = detops::cli::Main(argc, argv);
  // A full disk shows only here, where the last of the output leaves the program.
  if (std::fflush(stdout) == 0) return exit_code;
  fmt::print(stderr, "detops: the output can't be written\n");
  return detops::cli::kExitUsage;
}

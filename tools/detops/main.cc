// SPDX-License-Identifier: Apache-2.0
//
// detops: the operators without writing code, and the system that accepts them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "commands/commands.h"
#include "core/array.h"
#include "detops/detops.h"

namespace detops::cli {

void AddOutputOptions(CLI::App& app, Output& output) {
  app.add_flag("-q,--quiet", output.quiet, "print nothing but errors");
  app.add_flag("--json", output.json, "print one JSON document instead of text");
}

namespace {

int Main(int argc, char** argv) {
  CLI::App app("Detection operators: run, check, measure and show them.", "detops");
  app.set_version_flag("--version", detopsGetVersion());
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::help);
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
    fmt::print(stderr, "detops: {}\nRun with --help for more information.\n", e.what());
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

int main(int argc, char** argv) { return detops::cli::Main(argc, argv); }

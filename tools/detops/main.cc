// SPDX-License-Identifier: Apache-2.0
//
// detops: the operators without writing code, and the system that accepts them.
#include "commands/commands.h"
#include "detops/detops.h"
#include "terminal/errors.h"

namespace detops::cli {

void AddOutputOptions(Command& command, Output& output) {
  command.AddFlag("-q,--quiet", output.quiet, "print nothing but errors");
  command.AddFlag("--json", output.json, "print one JSON document instead of text");
}

namespace {

int Main(int argc, char** argv) {
  Program program("detops", "Detection operators: run, check, measure and show them.",
                  detopsGetVersion());
  program.NeedsCommand();
  program.Footer(
      "Exit code: 0 all right, 1 a check failed, 2 wrong arguments or files.\n"
      "Examples:\n"
      "  detops list\n"
      "  detops run poly_nms --boxes dets.npy --iou-threshold 0.1 --out keep.npy\n"
      "  detops check poly_nms");
  int exit_code = 0;
  AddList(program, exit_code);
  AddRun(program, exit_code);
  AddCheck(program, exit_code);
  AddGen(program, exit_code);
  AddBench(program, exit_code);
  AddTrace(program, exit_code);
  AddReport(program, exit_code);
  AddDemo(program, exit_code);
  AddCompletion(program, exit_code);
  program.Run(argc, argv);
  return exit_code;
}

}  // namespace
}  // namespace detops::cli

int main(int argc, char** argv) {
  return detops::cli::ExitCodeOf("detops", [&] { return detops::cli::Main(argc, argv); });
}

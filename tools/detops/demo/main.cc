// SPDX-License-Identifier: Apache-2.0
//
// The program of `make demo`: what `detops demo` does, without the other commands, which take most
// of the time to compile.
#include "demo/demo.h"
#include "terminal/errors.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    detops::cli::PrintError("usage", "detops_demo PAGE.html");
    return detops::cli::kExitUsage;
  }
  return detops::cli::ExitCodeOf("detops_demo", [&] {
    const auto scenes = detops::cli::WriteDemo(argv[1], "cpu", /*progress=*/true);
    detops::cli::PrintDemo(scenes, argv[1]);
    return detops::cli::AllRight(scenes) ? 0 : detops::cli::kExitFailed;
  });
}

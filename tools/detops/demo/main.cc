// SPDX-License-Identifier: Apache-2.0
//
// The program of `make demo`: what `detops demo` does, without the other commands, which take most
// of the time to compile.
#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "demo/demo.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: detops_demo PAGE.html\n");
    return 2;
  }
  try {
    const auto scenes = detops::cli::WriteDemo(argv[1], "cpu", /*progress=*/true);
    detops::cli::PrintDemo(scenes, argv[1]);
    return detops::cli::AllRight(scenes) ? 0 : 1;
  } catch (const std::exception& e) {
    fmt::print(stderr, "detops_demo: {}\n", e.what());
    return 2;
  }
}

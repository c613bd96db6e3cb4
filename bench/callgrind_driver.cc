// SPDX-License-Identifier: Apache-2.0
//
// One call of an operator for callgrind, which counts the instructions between entering and leaving
// detopsBenchMeasuredCall; docs/performance.md has the command lines. The call before it warms up:
// what is done only once (dispatch, the handle's memory) is not counted.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>

#include "bench/case.h"

using detops::bench::Case;
using detops::bench::Problem;
using detops::bench::Require;

extern "C" [[gnu::noinline]] mluOpStatus_t detopsBenchMeasuredCall(Problem& problem,
                                                                   mluOpHandle_t handle) {
  return problem.Run(handle, 0);
}

namespace {

void Measure(const std::string& op, const std::string& name, const std::string& implementation) {
  for (const Case& what : detops::bench::AllCases()) {
    if (what.op != op || what.name != name) continue;
    const std::string device = detops::bench::DeviceOf(implementation);
    const std::unique_ptr<Problem> problem = what.make({device, 1});
    const detops::bench::Handle handle(device);
    Require(detopsSetImplementation(handle, implementation.c_str()));
    Require(detopsSetThreads(handle, 1));
    Require(problem->Run(handle, 0));
    Require(detopsBenchMeasuredCall(*problem, handle));
    return;
  }
  throw std::runtime_error("there is no case " + op + "/" + name);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "callgrind_driver OPERATOR CASE IMPLEMENTATION\n");
    return EXIT_FAILURE;
  }
  try {
    Measure(argv[1], argv[2], argv[3]);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "callgrind_driver: %s\n", e.what());
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}

// SPDX-License-Identifier: Apache-2.0
#include "demo/scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "running/call_time.h"
#include "running/execution.h"
#include "terminal/terminal.h"

namespace detops::cli {

bool Scene::right() const {
  return !verdict.outputs.empty() &&
         std::ranges::all_of(verdict.outputs, [](const oracle::Accuracy& a) { return a.passed; });
}

std::string Scene::VerdictText() const {
  if (!right()) return "DIFFERS";
  double diff1 = 0, diff2 = 0;
  for (const oracle::Accuracy& a : verdict.outputs) {
    diff1 = std::max(diff1, a.diff1), diff2 = std::max(diff2, a.diff2);
  }
  if (diff1 == 0 && diff2 == 0) return "equal";
  return fmt::format("diff1 {}, diff2 {}", DiffText(diff1), DiffText(diff2));
}

std::vector<Array> RunScene(const schema::Problem& problem, const std::string& device,
                            Scene& scene) {
  Execution execution(problem, {device, ""});
  execution.Start();  // the first call starts threads
  std::vector<Array> results = execution.Results();
  if (IsSimulated(device)) {
    scene.seconds = TimeCall(execution).device;
    scene.time = TimeText(scene.seconds) + " simulated";
  } else {
    constexpr int kCalls = 20;
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kCalls; ++i) execution.Start();
    execution.Wait();
    scene.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / kCalls;
    scene.time = TimeText(scene.seconds);
  }
  scene.op = problem.schema->name;
  scene.size = problem.schema->describe(problem);
  scene.summary = problem.schema->summarize(problem, results);
  scene.implementation = execution.implementation();
  scene.verdict = oracle::MakeJudge(problem)->Compare(results);
  return results;
}

schema::Problem ProblemOf(const char* op, std::vector<Array> inputs) {
  schema::Problem problem(schema::Named(op));
  problem.inputs = std::move(inputs);
  return problem;
}

Array FloatArray(Shape shape, const std::vector<float>& values) {
  return Array::FromFloats(MLUOP_DTYPE_FLOAT, std::move(shape), values);
}

}  // namespace detops::cli

// SPDX-License-Identifier: Apache-2.0
//
// Short names for what programs are made of.
#ifndef BANG_TESTS_CLOCK_PROGRAMS_H_
#define BANG_TESTS_CLOCK_PROGRAMS_H_

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "bang/task.h"
#include "clock/clock.h"

namespace bang {

inline Card ReadCard(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  Card card;
  std::string error;
  if (!ParseCard(text.str(), path, &card, &error)) throw std::runtime_error(error);
  return card;
}

constexpr uint8_t kIoPipe = PipeBit(Pipe::kIo), kMovePipe = PipeBit(Pipe::kMove),
                  kComputePipe = PipeBit(Pipe::kCompute);

inline Operation Copy(Space from, Space to, int64_t bytes) {
  const bool off_chip =
      from == Space::kGdram || to == Space::kGdram || from == Space::kLdram || to == Space::kLdram;
  return {.kind = Kind::kCopy,
          .pipe = off_chip ? Pipe::kIo : Pipe::kMove,
          .from = from,
          .to = to,
          .bytes = bytes};
}
inline Operation Load(int64_t bytes) { return Copy(Space::kGdram, Space::kNram, bytes); }
inline Operation Store(int64_t bytes) { return Copy(Space::kNram, Space::kGdram, bytes); }
inline Operation Vector(int64_t bytes) {
  return {.kind = Kind::kCompute, .pipe = Pipe::kCompute, .bytes = bytes, .amount = bytes / 4};
}
inline Operation Scalar(int64_t operators) { return {.kind = Kind::kScalar, .amount = operators}; }
inline Operation Access(Space space, int64_t count) {
  return {.kind = Kind::kAccess, .from = space, .amount = count};
}
inline Operation WaitOf(uint8_t pipes) { return {.kind = Kind::kWait, .pipes = pipes}; }
inline Operation PipeWait(uint8_t producers, uint8_t consumers) {
  return {.kind = Kind::kPipeWait, .pipes = producers, .consumers = consumers};
}
inline Operation BarrierOf(BarrierKind kind) { return {.kind = Kind::kBarrier, .barrier = kind}; }
inline Operation Blocking(Operation operation, uint8_t after = 0) {
  operation.blocking = true;
  operation.pipes = after;
  return operation;
}

using Operations = std::vector<Operation>;

inline LaunchRecord Block(const std::vector<Operations>& tasks) {
  LaunchRecord launch = {.kernel = "kernel",
                         .file = "kernel.mlu",
                         .line = 1,
                         .tasks = static_cast<int64_t>(tasks.size()),
                         .union_clusters = 0,
                         .programs_per_unit = 1,
                         .programs = {},
                         .sites = {{}},
                         .costs = {""}};
  for (size_t i = 0; i < tasks.size(); ++i) {
    launch.programs.push_back({static_cast<int>(i), 0, 0, tasks[i]});
  }
  return launch;
}

// Of `clusters` clusters each; the cores' programs, then the MPU's, cluster by cluster.
inline LaunchRecord Union(int clusters, const std::vector<Operations>& programs) {
  LaunchRecord launch = Block({});
  launch.union_clusters = clusters;
  launch.programs_per_unit = clusters * kUnitsPerCluster;
  for (size_t i = 0; i < programs.size(); ++i) {
    const int cluster = static_cast<int>(i) / kUnitsPerCluster;
    const int core = static_cast<int>(i) % kUnitsPerCluster;
    const int task = cluster * kCoresPerCluster + core % kCoresPerCluster;
    launch.programs.push_back(
        {task, cluster % clusters, core == kCoresPerCluster ? kMpuCoreId : core, programs[i]});
  }
  launch.tasks = static_cast<int64_t>(programs.size()) / kUnitsPerCluster * kCoresPerCluster;
  return launch;
}

}  // namespace bang

#endif  // BANG_TESTS_CLOCK_PROGRAMS_H_

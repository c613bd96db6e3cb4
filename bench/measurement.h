// SPDX-License-Identifier: Apache-2.0
//
// One figure to be measured: a case on one row of the table with a number of threads. The runner
// verifies the row's result first, then lends Google Benchmark the call to repeat.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/case.h"
#include "bench/machine.h"

namespace detops::bench {

// A call beside the memory at work, one right after the other.
struct Round {
  double memory_rate;  // of the case's traffic, bytes a second
  double seconds;      // of the call
};

// Calls on one thread and on all, one right after the other, in seconds a call. Beside them, unless
// in_cache, how much faster all threads can write or copy memory than one can.
struct Turn {
  double one_thread, all_threads;
  double memory_scaling;
};

struct Measurement {
  const Case* what = nullptr;
  std::string implementation;
  int threads = 1;

  // Set by the runner.
  bool refused = false;          // this machine or case is not for this row; `trouble` says why
  std::string trouble;           // why there is no figure; "" where there is
  std::string verified_against;  // the row whose result this one's equals, bit by bit
  int64_t pairs = -1;            // as the run counted them; -1 where it does not
  bool in_cache = false;         // the data stay in the last-level cache from call to call
  std::vector<Round> rounds;     // after each repetition, unless in_cache
  std::vector<Turn> turns;       // after each, where the case is timed on one thread too

  // Set by the report, in seconds a call; over the repetitions.
  bool timed = false;
  double median = 0, min = 0, spread = 0;  // spread: (max - min) / median

  std::string Name() const;
  bool IsReference() const;
};

// Every affordable one, case by case, the reference first.
std::deque<Measurement> PlanMeasurements(const std::vector<Case>& cases, bool smoke);

struct Figures {
  std::optional<double> operations, gbps, gflops;
  std::optional<double> memory_gbps;  // of the rounds
  std::optional<double> limit;        // seconds that the machine needs at least
  std::optional<double> share;        // of the limit: limit / median, or the median of the rounds'
  std::optional<double> ratio;        // to the reference: its median / median
  std::optional<double> scaling;      // to one thread: the median of the turns'
  // Where the memory matters: its own, and the call's in those turns in which it was no reason not
  // to scale.
  std::optional<double> memory_scaling, scaling_with_memory;
};
double Median(std::vector<double> values);

Figures FiguresOf(const Measurement& m, const std::deque<Measurement>& all,
                  const std::vector<Rates>& rates);

class Runner {
 public:
  Runner(const Memory& memory, bool smoke) : memory_(memory), smoke_(smoke) {}
  void Run(benchmark::State& state, Measurement& m);

 private:
  void Prepare(Measurement& m);
  void Verify(Measurement& m);
  mluOpStatus_t Call(mluOpHandle_t handle);
  double SecondsOfCalls(mluOpHandle_t handle, int64_t calls);
  Round BesideMemory(const Measurement& m);
  double MemoryRate(const Measurement& m, int threads);
  Turn BesideOneThread(const Measurement& m);
  void FindAnswer(const Measurement& m, const std::vector<std::byte>& result);

  const Memory& memory_;
  bool smoke_;
  // Those of the last measurement: Google Benchmark calls for each repetition anew, and the
  // measurements of a case follow each other.
  const Measurement* ready_ = nullptr;
  const Case* case_ = nullptr;
  std::string device_;
  std::unique_ptr<Problem> problem_;
  std::unique_ptr<Handle> handle_, one_thread_;  // the second where the measurement has turns
  std::vector<std::byte> answer_;
  std::string answered_by_;
  int64_t next_set_ = 0;
};

}  // namespace detops::bench

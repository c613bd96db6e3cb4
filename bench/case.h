// SPDX-License-Identifier: Apache-2.0
//
// What is measured: cases, which each operator registers in src/ops/<op>/bench.cc, smallest first.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/problem.h"

namespace detops::bench {

struct Work {
  double bytes = 0;
  double operations = 0;  // of floats
};

// Which of the machine's rates bounds the bytes: results that are written and hardly anything
// read, or reading and writing.
enum class Traffic { kFill, kCopy };

struct Case {
  std::string op;    // as the table names it
  std::string name;  // "10000x10000_float": for filters and tables
  std::string dims;  // the shapes, for people
  int64_t size = 0;  // the N of plots

  Work report;  // as the operator's README counts: for GB/s and GFLOP/s
  Work floor;   // what no method can do without: for the limit
  // Where positive, both counts of operations are this often the pairs that the run counted
  // (detopsGetLastPairCount).
  double operations_a_pair = 0;
  Traffic traffic = Traffic::kCopy;

  bool reference = true;    // whether the reference is fast enough to be timed and compared with
  bool one_thread = false;  // also timed on one thread, to show how threads scale

  std::function<std::unique_ptr<Problem>(const Place&)> make;
};

struct Registrar {
  explicit Registrar(std::vector<Case> (*cases)());
};

// Of all operators, in the order of the table of implementations. Throws when an operator there has
// none.
std::vector<Case> AllCases();

struct Row {
  std::string op, implementation;
  std::string why_not;  // why no device for it can be used; "" where one can
};
std::vector<Row> TableRows();

}  // namespace detops::bench

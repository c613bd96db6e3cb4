// SPDX-License-Identifier: Apache-2.0
//
// Compares results with the oracle: how far an output is from the exact answer, and whether that is
// within the contract. Each operator's judge is in <operator>_judge.cc.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "schema/schema.h"

namespace detops::oracle {

using schema::Array;
using schema::Problem;

// How one output compares with the oracle.
struct Accuracy {
  std::string output;
  bool exact_wanted = false;  // integers, and whatever the contract requires to be equal
  double diff1 = 0, diff2 = 0, diff3 = 0;
  bool special_match = true;  // NaN and infinities at the same positions
  // Limits of diff1, diff2 and diff3 (see oracle.h), where there are any.
  std::array<std::optional<double>, 3> limits;
  bool passed = true;

  std::array<double, 3> diffs() const { return {diff1, diff2, diff3}; }
  void Judge();  // sets passed
};

struct Verdict {
  std::vector<Accuracy> outputs;
  std::string sample;  // "" where everything was compared; else what was
  std::string weak;    // "" where the comparison is meaningful; else why it is not
};

// The oracle's answer to a problem, computed once and compared with every implementation.
class Judge {
 public:
  virtual ~Judge() = default;
  virtual Verdict Compare(const std::vector<Array>& results) const = 0;
};

// Computes the answer. The problem must be one that the library accepts.
std::unique_ptr<Judge> MakeJudge(const Problem& problem);

// Each <operator>_judge.cc specialises it.
template <class Op>
std::unique_ptr<Judge> MakeJudgeOf(const Problem& problem);

// ---- parts of judges ------------------------------------------------------------------------

// `threshold` is the limit of diff1 and diff2; 0 requires all three to be 0.
Accuracy CompareFloats(const char* output, const Array& got, const std::vector<double>& expected,
                       double threshold);
Accuracy CompareIntegers(const char* output, const Array& got,
                         const std::vector<int32_t>& expected);
// Below this magnitude, diff3 is the difference itself, not its ratio.
double TinyOf(mluOpDataType_t dtype);
// Why the values as a whole are no meaningful test: all 0, all NaN, or none at all. Otherwise "".
std::string WeakValues(const Array& values);

// Which rows of a large result are compared: evenly spaced, including the first and the last.
class Sample {
 public:
  Sample() = default;
  Sample(int64_t rows, int64_t most) : all_(rows <= most) {
    const int64_t count = all_ ? rows : std::max<int64_t>(2, most);
    for (int64_t i = 0; i < count; ++i) {
      // In floating point, as a product of two counts may overflow.
      rows_.push_back(
          all_ ? i
               : std::min(rows - 1, static_cast<int64_t>(static_cast<double>(i) /
                                                         static_cast<double>(count - 1) *
                                                         static_cast<double>(rows - 1))));
    }
  }

  bool all() const { return all_; }
  int64_t count() const { return static_cast<int64_t>(rows_.size()); }
  const std::vector<int64_t>& rows() const { return rows_; }

  template <class T>
  std::vector<T> Pick(std::span<const T> values, int64_t row_elements) const {
    if (all_) return {values.begin(), values.end()};
    std::vector<T> picked;
    for (const int64_t row : rows_) {
      const auto part = values.subspan(static_cast<size_t>(row * row_elements),
                                       static_cast<size_t>(row_elements));
      picked.insert(picked.end(), part.begin(), part.end());
    }
    return picked;
  }
  // The same of an array, as a flat one.
  Array PickRows(const Array& array, int64_t row_elements) const {
    if (all_) return array;
    Array picked(array.dtype(), {count() * row_elements});
    const size_t bytes = static_cast<size_t>(row_elements) * schema::SizeOf(array.dtype());
    for (size_t i = 0; i < rows_.size(); ++i) {
      std::memcpy(picked.bytes().data() + i * bytes,
                  array.bytes().data() + static_cast<size_t>(rows_[i]) * bytes, bytes);
    }
    return picked;
  }

 private:
  bool all_ = true;
  std::vector<int64_t> rows_;
};

}  // namespace detops::oracle

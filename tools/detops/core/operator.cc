// SPDX-License-Identifier: Apache-2.0
#include "core/operator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/all.h"
#include "oracle/oracle.h"

namespace detops::cli {

const std::vector<const Operator*>& Operators() {
  static const std::vector<const Operator*> all = {
      &BboxOverlaps(), &PolyNms(), &BorderAlignForward(), &GenerateProposalsV2(), &PointsInBoxes()};
  return all;
}

const Operator& OperatorNamed(const std::string& name) {
  std::string names;
  for (const Operator* op : Operators()) {
    if (name == op->name()) return *op;
    names += std::string(names.empty() ? "" : ", ") + op->name();
  }
  throw UserError(fmt::format("there is no operator '{}'; there are {}", name, names));
}

double TinyOf(mluOpDataType_t dtype) { return dtype == MLUOP_DTYPE_HALF ? 1e-4 : 1e-6; }

Accuracy CompareFloats(const char* output, const Array& got, const std::vector<double>& expected,
                       double threshold) {
  const oracle::Diffs d = oracle::Compare(got.Floats(), expected, TinyOf(got.dtype()));
  Accuracy a;
  a.output = output;
  a.diff1 = d.diff1, a.diff2 = d.diff2, a.diff3 = d.diff3;
  a.special_match = d.special_match;
  a.exact_wanted = threshold == 0;
  a.limits = {threshold, threshold, std::nullopt};
  if (a.exact_wanted) a.limits[2] = 0;
  a.Judge();
  return a;
}

void Accuracy::Judge() {
  passed = special_match;
  for (size_t i = 0; i < limits.size(); ++i) {
    // A NaN would be no pass.
    if (limits[i]) passed = passed && diffs()[i] <= *limits[i];
  }
}

Accuracy CompareIntegers(const char* output, const Array& got,
                         const std::vector<int32_t>& expected) {
  const auto values = got.As<int32_t>();
  // Not through float: indices beyond 2^24 would lose their last digits.
  Accuracy a;
  a.output = output;
  a.exact_wanted = true;
  a.limits = {0, 0, 0};
  a.passed = std::equal(values.begin(), values.end(), expected.begin(), expected.end());
  if (a.passed) return a;
  if (values.size() != expected.size()) {
    a.diff1 = a.diff2 = a.diff3 = std::numeric_limits<double>::infinity();
    return a;
  }
  double error = 0, size = 0, error2 = 0, size2 = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double e = std::fabs(double(values[i]) - expected[i]), s = std::fabs(double(expected[i]));
    error += e, size += s, error2 += e * e, size2 += s * s;
    a.diff3 = std::max(a.diff3, s == 0 ? e : e / s);
  }
  a.diff1 = size == 0 ? std::numeric_limits<double>::infinity() : error / size;
  a.diff2 = size2 == 0 ? std::numeric_limits<double>::infinity() : std::sqrt(error2 / size2);
  return a;
}

std::string WeakValues(const Array& values) {
  const std::vector<float> floats = values.Floats();
  if (floats.empty()) return "there is no element to compare";
  if (std::ranges::all_of(floats, [](float v) { return v == 0; })) return "every value is 0";
  if (std::ranges::all_of(floats, [](float v) { return std::isnan(v); }))
    return "every value is NaN";
  return "";
}

}  // namespace detops::cli

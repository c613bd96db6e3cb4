// SPDX-License-Identifier: Apache-2.0
#include "oracle/judge.h"

#include <cmath>
#include <limits>
#include <string_view>

#include "ops/names.h"
#include "oracle/oracle.h"

namespace detops::oracle {
namespace {

template <class... Ops>
std::unique_ptr<Judge> MakeOneOf(core::OperatorList<Ops...>, const Problem& problem) {
  std::unique_ptr<Judge> judge;
  const auto make = [&]<class Op>() {
    if (problem.schema == &schema::SchemaOf<Op>()) judge = MakeJudgeOf<Op>(problem);
  };
  (make.template operator()<Ops>(), ...);
  return judge;
}

}  // namespace

std::unique_ptr<Judge> MakeJudge(const Problem& problem) {
  return MakeOneOf(ops::AllOperators(), problem);
}

double TinyOf(mluOpDataType_t dtype) { return dtype == MLUOP_DTYPE_HALF ? 1e-4 : 1e-6; }

Accuracy CompareFloats(const char* output, const Array& got, const std::vector<double>& expected,
                       double threshold) {
  const Diffs d = Compare(got.Floats(), expected, TinyOf(got.dtype()));
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
    // Written so that NaN fails.
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

}  // namespace detops::oracle

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "oracle.h"

namespace detops::oracle {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool SameSpecial(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b;
}

double Ratio(long double numerator, long double denominator) {
  if (numerator == 0) return 0;
  return denominator == 0 ? kInfinity : static_cast<double>(numerator / denominator);
}

}  // namespace

Diffs Compare(std::span<const float> got, std::span<const double> expected, double tiny) {
  if (got.size() != expected.size()) return {kInfinity, kInfinity, kInfinity, false};
  Diffs diffs = {0, 0, 0, true};
  // In long double, squares of large floats neither overflow nor absorb the small terms.
  long double sum_abs_error = 0, sum_abs = 0, sum_square_error = 0, sum_square = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const double a = got[i];
    const double b = expected[i];
    if (!std::isfinite(a) || !std::isfinite(b)) {
      diffs.special_match = diffs.special_match && SameSpecial(a, b);
      continue;
    }
    const long double error = std::fabs(static_cast<long double>(a) - b);
    const long double size = std::fabs(static_cast<long double>(b));
    sum_abs_error += error;
    sum_abs += size;
    sum_square_error += error * error;
    sum_square += size * size;
    const long double relative = size < tiny ? error : error / size;
    diffs.diff3 = std::max(diffs.diff3, static_cast<double>(relative));
  }
  diffs.diff1 = Ratio(sum_abs_error, sum_abs);
  diffs.diff2 = std::sqrt(Ratio(sum_square_error, sum_square));
  return diffs;
}

}  // namespace detops::oracle

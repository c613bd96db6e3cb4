// SPDX-License-Identifier: Apache-2.0
//
// Shared by the oracles of several operators: the emulated float and the order of scores.

#ifndef DETOPS_TESTS_ORACLE_INTERNAL_H_
#define DETOPS_TESTS_ORACLE_INTERNAL_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace detops::oracle {

// A float32 held in a double. Each operation is done in double and then rounded to float.
//
// Why two roundings give the correctly rounded float result: for +, -, * and / of p-bit operands an
// intermediate format of at least 2p+2 bits makes the second rounding innocuous, and 53 >= 2*24+2.
// It holds for subnormal results too: sums of that size are exact, products have 48 bits and are
// always exact in double, and a quotient of two 24-bit numbers that is not itself a midpoint of two
// floats stays 2^-49 (relative) away from it, farther than the 2^-53 of the first rounding.
class Rounded {
 public:
  Rounded() = default;
  // Implicit, so that formulas can mix in float constants; a float needs no rounding.
  Rounded(float value) : value_(value) {}  // NOLINT(google-explicit-constructor)

  float Float() const { return static_cast<float>(value_); }
  double Double() const { return value_; }
  bool IsNan() const { return std::isnan(value_); }

  Rounded operator-() const { return Rounded(-value_, Tag()); }
  friend Rounded operator+(Rounded a, Rounded b) { return Round(a.value_ + b.value_); }
  friend Rounded operator-(Rounded a, Rounded b) { return Round(a.value_ - b.value_); }
  friend Rounded operator*(Rounded a, Rounded b) { return Round(a.value_ * b.value_); }
  friend Rounded operator/(Rounded a, Rounded b) { return Round(a.value_ / b.value_); }
  friend bool operator<(Rounded a, Rounded b) { return a.value_ < b.value_; }
  friend bool operator>(Rounded a, Rounded b) { return a.value_ > b.value_; }
  friend bool operator<=(Rounded a, Rounded b) { return a.value_ <= b.value_; }
  friend bool operator>=(Rounded a, Rounded b) { return a.value_ >= b.value_; }

 private:
  struct Tag {};
  Rounded(double value, Tag) : value_(value) {}
  static Rounded Round(double exact_enough) {
    // Compilers know the theorem above and would otherwise optimize this to plain float operations,
    // which are what is being tested.
    const volatile double wide = exact_enough;
    return Rounded(static_cast<double>(static_cast<float>(wide)), Tag());
  }

  double value_ = 0;
};

// Indices by descending score: NaN before +inf, equal scores (and -0 with +0) by lower index.
inline std::vector<int64_t> OrderByScore(std::span<const float> scores) {
  std::vector<int64_t> order(scores.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
    if (std::isnan(scores[j])) return false;
    return std::isnan(scores[i]) || scores[i] > scores[j];
  });
  return order;
}

}  // namespace detops::oracle

#endif  // DETOPS_TESTS_ORACLE_INTERNAL_H_

// SPDX-License-Identifier: Apache-2.0
//
// Which rows of a large result are compared: evenly spread, the first and the last among them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "core/array.h"

namespace detops::cli {

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
    const size_t bytes = static_cast<size_t>(row_elements) * cli::SizeOf(array.dtype());
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

}  // namespace detops::cli

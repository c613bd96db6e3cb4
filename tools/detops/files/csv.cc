// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

#include "files/npy.h"

namespace detops::cli {
namespace {

constexpr int64_t kMostCsvBytes = int64_t{1} << 31;

bool IsSeparator(char c) { return c == ',' || c == ';' || c == ' ' || c == '\t' || c == '\r'; }

std::vector<std::string_view> Words(std::string_view line) {
  std::vector<std::string_view> words;
  size_t at = 0;
  while (at < line.size()) {
    while (at < line.size() && IsSeparator(line[at])) ++at;
    const size_t begin = at;
    while (at < line.size() && !IsSeparator(line[at])) ++at;
    if (at > begin) words.push_back(line.substr(begin, at - begin));
  }
  return words;
}

// "nan" and "inf" are numbers too; too large for a float is infinite, as in NumPy.
std::optional<float> Number(std::string_view word) {
  if (word.starts_with('+')) word.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (end != word.data() + word.size() || error != std::errc()) return std::nullopt;
  return static_cast<float>(value);
}

}  // namespace

Array ReadCsv(const std::filesystem::path& file) {
  const std::string text = ReadFile(file, kMostCsvBytes);
  std::vector<float> values;
  size_t columns = 0, rows = 0, line_number = 0;
  bool first = true;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    ++line_number;
    const std::vector<std::string_view> words = Words(line);
    if (words.empty() || words[0].starts_with('#')) continue;
    const bool names =
        first && std::ranges::none_of(words, [](auto w) { return Number(w).has_value(); });
    first = false;
    if (names) continue;
    if (rows == 0) columns = words.size();
    if (words.size() != columns) {
      throw UserError(fmt::format("{}:{}: has {} numbers, the lines before have {}", file.string(),
                                  line_number, words.size(), columns));
    }
    for (const std::string_view word : words) {
      const std::optional<float> number = Number(word);
      if (!number) {
        throw UserError(fmt::format("{}:{}: '{}' is no number", file.string(), line_number,
                                    word.substr(0, 40)));
      }
      values.push_back(*number);
    }
    ++rows;
  }
  if (rows == 0) throw UserError(file.string() + ": holds no numbers");
  return Array::FromFloats(MLUOP_DTYPE_FLOAT,
                           {static_cast<int64_t>(rows), static_cast<int64_t>(columns)}, values);
}

void WriteCsv(const std::filesystem::path& file, const Array& array) {
  // A row is the last dim; a vector has one number a line.
  const int64_t columns = array.shape().size() > 1 ? array.shape().back() : 1;
  std::string text;
  for (int64_t i = 0; i < array.count(); ++i) {
    const auto at = static_cast<size_t>(i);
    switch (array.dtype()) {
      case MLUOP_DTYPE_INT32: text += fmt::format("{}", array.As<int32_t>()[at]); break;
      case MLUOP_DTYPE_FLOAT: text += fmt::format("{}", array.As<float>()[at]); break;
      default: {
        Array one(array.dtype(), {1});
        one.As<uint16_t>()[0] = array.As<uint16_t>()[at];
        text += fmt::format("{}", one.Floats()[0]);
      }
    }
    text += (i + 1) % columns == 0 ? '\n' : ',';
  }
  WriteFile(file, text);
}

}  // namespace detops::cli

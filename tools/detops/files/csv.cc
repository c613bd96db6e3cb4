// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <vector>

#include "files/npy.h"

namespace detops::cli {
namespace {

constexpr int64_t kMostCsvBytes = int64_t{1} << 31;

// Spreadsheets begin a file with it.
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool IsDelimiter(char c) { return c == ',' || c == ';'; }

// Blanks separate fields too, but only a delimiter has a field on either side. One that is empty
// stays in its place, or the columns behind it would take another meaning.
std::vector<std::string_view> Fields(std::string_view line) {
  std::vector<std::string_view> fields;
  bool open = false;  // a delimiter came, and its field has not
  size_t at = 0;
  while (true) {
    while (at < line.size() && IsBlank(line[at])) ++at;
    if (at == line.size()) break;
    const size_t begin = at;
    if (IsDelimiter(line[at])) {
      if (open || fields.empty()) fields.emplace_back();
      open = true;
      ++at;
      continue;
    }
    while (at < line.size() && !IsBlank(line[at]) && !IsDelimiter(line[at])) ++at;
    fields.push_back(line.substr(begin, at - begin));
    open = false;
  }
  if (open) fields.emplace_back();
  return fields;
}

// "nan" and "inf" are numbers too; what is too large for a float is infinite, and what is too small
// is zero, as in NumPy.
std::optional<float> Number(std::string_view word) {
  if (word.starts_with('+')) word.remove_prefix(1);
  float value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (word.empty() || end != word.data() + word.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    // It is a number; only strtof tells which side it is out of range on.
    return std::strtof(std::string(word).c_str(), nullptr);
  }
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

// A first line without a single number.
bool IsHeader(const std::vector<std::string_view>& fields) {
  return std::ranges::none_of(fields, [](auto f) { return Number(f).has_value(); }) &&
         std::ranges::any_of(fields, [](auto f) { return !f.empty(); });
}

}  // namespace

Array ReadCsv(const std::filesystem::path& file) {
  const std::string text = ReadFile(file, kMostCsvBytes);
  std::vector<float> values;
  size_t columns = 0, rows = 0, line_number = 0;
  bool first = true;
  for (size_t begin = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
       begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    ++line_number;
    const std::vector<std::string_view> fields = Fields(line);
    if (fields.empty() || fields[0].starts_with('#')) continue;
    const bool header = first && IsHeader(fields);
    first = false;
    if (header) continue;
    const auto fail = [&](const std::string& why) {
      throw UserError(fmt::format("{}:{}: {}", file.string(), line_number, why));
    };
    // "1,5;2,5" is how spreadsheets write 1.5 and 2.5 in many countries, and would be four numbers.
    if (line.find(',') != line.npos && line.find(';') != line.npos) {
      fail("has both , and ; between its numbers; write 1.5 for 1,5, and separate by one of them");
    }
    for (size_t column = 0; column < fields.size(); ++column) {
      const std::optional<float> number = Number(fields[column]);
      if (fields[column].empty()) {
        fail(fmt::format("column {} is empty; write a number there, or nan", column + 1));
      }
      if (!number) {
        fail(fmt::format("column {}: '{}' is no number", column + 1, fields[column].substr(0, 40)));
      }
      values.push_back(*number);
    }
    if (rows == 0) columns = fields.size();
    if (fields.size() != columns) {
      fail(fmt::format("has {} numbers, the lines before have {}", fields.size(), columns));
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

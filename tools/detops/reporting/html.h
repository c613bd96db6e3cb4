// SPDX-License-Identifier: Apache-2.0
//
// Pages that are one file: no script, no network, light and dark, wide and narrow.
#pragma once

#include <string>
#include <vector>

namespace detops::cli {

std::string Escaped(const std::string& text);

// The whole page around a body; `style` is added to what all pages share.
std::string Page(const std::string& title, const std::string& body, const std::string& style = "");

// Cells are HTML already. Scrolls sideways by itself where it is too wide.
class HtmlTable {
 public:
  // 'r' in `alignment` is a column of numbers. An empty first name: no header at all.
  HtmlTable(const std::vector<std::string>& header, const std::string& alignment = "");
  void Add(const std::vector<std::string>& cells);
  std::string str() const;

 private:
  std::string alignment_, text_;
};

// Of "met", "passed", "short", "weak", "failed", "FAILED", anything else.
std::string KindOfVerdict(const std::string& verdict);
std::string Badge(const std::string& kind, const std::string& text);  // good, weak, bad, none
// A number with a bar of that share behind it.
std::string Bar(double share, const std::string& text);

// The same colours on every page, by place; they read on white and on black.
const char* SeriesColour(size_t index);

}  // namespace detops::cli

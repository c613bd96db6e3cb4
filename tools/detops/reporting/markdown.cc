// SPDX-License-Identifier: Apache-2.0
#include "reporting/markdown.h"

#include <algorithm>

#include "terminal/errors.h"

namespace detops::cli::markdown {

std::string Plain(const std::string& text) {
  std::string out;
  for (const char c : Shown(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '|':
      case '`':
      case '*':
      case '~':
      case '[':
      case '\\': out += '\\', out += c; break;
      default: out += c;
    }
  }
  return out;
}

std::string FenceOf(const std::string& text, size_t least) {
  size_t run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    least = std::max(least, run + 1);
  }
  return std::string(least, '`');
}

std::string Code(const std::string& text) {
  const std::string fence = FenceOf(text, 1), space = fence.size() > 1 ? " " : "";
  std::string inside;
  for (const char c : Shown(text)) inside += c == '|' ? std::string("\\|") : std::string(1, c);
  return fence + space + inside + space + fence;
}

std::string Row(const std::vector<std::string>& cells) {
  std::string row = "|";
  for (const std::string& cell : cells) row += " " + cell + " |";
  return row + "\n";
}
std::string Header(const std::vector<std::string>& cells) {
  std::string rule = "|";
  for (size_t i = 0; i < cells.size(); ++i) rule += "---|";
  return Row(cells) + rule + "\n";
}

}  // namespace detops::cli::markdown

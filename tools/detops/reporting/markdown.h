// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace detops::cli::markdown {

// Text that stays text: what means something in Markdown or HTML is escaped.
std::string Plain(const std::string& text);
// More backticks than the text has in a row, and than `least`: nothing in it ends the code.
std::string FenceOf(const std::string& text, size_t least);
// HTML means nothing in code, but a | ends the cell of a table even there.
std::string Code(const std::string& text);
std::string Row(const std::vector<std::string>& cells);
std::string Header(const std::vector<std::string>& cells);

}  // namespace detops::cli::markdown

// SPDX-License-Identifier: Apache-2.0
//
// The timeline of a call (measuring/timeline.h) as a picture for the pages of html.h.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace detops::cli {

// What a page with timelines needs beside its own style.
const char* TimelineStyle();
// What the colours mean; once per page.
std::string TimelineLegend();
// Closed, under a line that names it: a page has dozens of them.
std::string TimelineFigure(const std::string& title, const nlohmann::ordered_json& timeline);

}  // namespace detops::cli

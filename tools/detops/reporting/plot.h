// SPDX-License-Identifier: Apache-2.0
//
// Plots on log axes, as SVG for the pages of html.h.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace detops::cli {

struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;  // positive
  bool line = true;                               // joins the points
};

struct Plot {
  std::string title, x_label, y_label;
  std::vector<Series> series;
  // Straight lines on log axes, from point to point: the roofs.
  std::vector<std::vector<std::pair<double, double>>> roofs;
  std::string (*y_text)(double) = nullptr;  // of the ticks; default: powers of ten
};

// A <figure> with its legend; "" where there is nothing to show.
std::string Figure(const Plot& plot);

}  // namespace detops::cli

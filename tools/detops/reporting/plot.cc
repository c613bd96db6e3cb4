// SPDX-License-Identifier: Apache-2.0
#include "reporting/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "reporting/html.h"

namespace detops::cli {
namespace {

constexpr double kWidth = 520, kHeight = 340, kLeft = 66, kRight = 26, kTop = 14, kBottom = 48;

std::string PowerText(double value) {
  const int e = static_cast<int>(std::lround(std::log10(value)));
  if (e >= -3 && e < 3) return fmt::format("{:g}", value);
  static constexpr const char* kUnits[] = {"", "k", "M", "G", "T"};
  if (e >= 3 && e < 15) return fmt::format("{:.0f}{}", std::pow(10, e % 3), kUnits[e / 3]);
  return fmt::format("1e{}", e);
}

// Powers of ten around the values.
struct Axis {
  int low = 0, high = 1;
  double from, to;  // pixels

  void Fit(double smallest, double largest) {
    low = static_cast<int>(std::floor(std::log10(smallest) + 1e-9));
    high = std::max(low + 1, static_cast<int>(std::ceil(std::log10(largest) - 1e-9)));
  }
  double At(double value) const {
    return from + (std::log10(value) - low) / (high - low) * (to - from);
  }
  // Not more labels than fit.
  int Step() const { return 1 + (high - low) / 8; }
};

}  // namespace

std::string Figure(const Plot& plot) {
  constexpr double kMost = std::numeric_limits<double>::max();
  double x_low = kMost, x_high = 0, y_low = kMost, y_high = 0;
  const auto include = [&](const std::pair<double, double>& p) {
    x_low = std::min(x_low, p.first), x_high = std::max(x_high, p.first);
    y_low = std::min(y_low, p.second), y_high = std::max(y_high, p.second);
  };
  for (const Series& s : plot.series) std::ranges::for_each(s.points, include);
  if (x_high == 0) return "";
  // Of a roof only its height counts: it begins and ends at the plot's edges.
  for (const auto& roof : plot.roofs) {
    for (const auto& p : roof) y_high = std::max(y_high, p.second);
  }
  Axis x = {0, 1, kLeft, kWidth - kRight}, y = {0, 1, kHeight - kBottom, kTop};
  x.Fit(x_low, x_high);
  y.Fit(y_low, y_high);

  std::string svg = fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n",
                                kWidth, kHeight, Escaped(plot.title));
  for (int e = x.low; e <= x.high; e += x.Step()) {
    const double at = x.At(std::pow(10, e));
    svg += fmt::format("<path class=\"grid\" d=\"M{:.1f} {}V{}\"/>", at, kTop, kHeight - kBottom);
    svg +=
        fmt::format("<text class=\"tick\" x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                    at, kHeight - kBottom + 18, PowerText(std::pow(10, e)));
  }
  for (int e = y.low; e <= y.high; e += y.Step()) {
    const double value = std::pow(10, e), at = y.At(value);
    svg += fmt::format("<path class=\"grid\" d=\"M{} {:.1f}H{}\"/>", kLeft, at, kWidth - kRight);
    svg += fmt::format("<text class=\"tick\" x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
                       kLeft - 7, at + 4.5,
                       plot.y_text != nullptr ? plot.y_text(value) : PowerText(value));
  }
  svg += fmt::format("<path class=\"axis\" d=\"M{} {}V{}H{}\"/>\n", kLeft, kTop, kHeight - kBottom,
                     kWidth - kRight);
  svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                     (kLeft + kWidth - kRight) / 2, kHeight - 8, Escaped(plot.x_label));
  svg += fmt::format(
      "<clipPath id=\"c\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/></clipPath>", kLeft,
      kTop, kWidth - kLeft - kRight, kHeight - kTop - kBottom);
  for (const auto& roof : plot.roofs) {
    std::string path;
    for (const auto& [px, py] : roof) {
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x.At(px), y.At(py));
    }
    svg += fmt::format("<path class=\"roof\" clip-path=\"url(#c)\" d=\"{}\"/>\n", path);
  }
  std::string legend;
  for (size_t i = 0; i < plot.series.size(); ++i) {
    const Series& s = plot.series[i];
    const bool reference = s.name.ends_with(":reference");
    const char* colour = SeriesColour(reference ? 99 : i);
    std::string path;
    for (const auto& [px, py] : s.points) {
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x.At(px), y.At(py));
    }
    if (s.line) {
      svg += fmt::format("<path fill=\"none\" stroke=\"{}\" stroke-width=\"2\" d=\"{}\"/>", colour,
                         path);
    }
    for (const auto& [px, py] : s.points) {
      svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\"/>", x.At(px),
                         y.At(py), colour);
    }
    svg += "\n";
    legend += fmt::format("<li><i style=\"background:{}\"></i>{}</li>", colour, Escaped(s.name));
  }
  return fmt::format(
      "<figure><figcaption><b>{}</b> <span class=\"soft\">{}</span></figcaption>\n{}</svg>\n"
      "<ul class=\"legend\">{}</ul></figure>\n",
      Escaped(plot.title), Escaped(plot.y_label), svg, legend);
}

}  // namespace detops::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace detops::cli {

class Svg {
 public:
  Svg(double width, double height, const std::string& label)
      : text_(fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n", width,
                          height, label)) {}
  void Add(const std::string& element) { text_ += element + "\n"; }
  // Attributes are written as they come: "fill='#fff'".
  void Rect(double x, double y, double w, double h, const std::string& attributes) {
    Add(fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" {}/>", x, y,
                    w, h, attributes));
  }
  void Path(const std::string& d, const std::string& attributes) {
    if (!d.empty()) Add(fmt::format("<path d=\"{}\" {}/>", d, attributes));
  }
  void Circle(double x, double y, double r, const std::string& attributes) {
    Add(fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" {}/>", x, y, r, attributes));
  }
  void Text(double x, double y, const std::string& text, const std::string& attributes) {
    Add(fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>", x, y, attributes, text));
  }
  std::string str() const { return text_ + "</svg>"; }

 private:
  std::string text_;
};

// x1 y1 ... x4 y4, scaled.
inline std::string QuadPath(const float* quad, double scale) {
  std::string d;
  for (int i = 0; i < 4; ++i) {
    d += fmt::format("{}{:.1f} {:.1f}", i == 0 ? "M" : "L", quad[2 * i] * scale,
                     quad[2 * i + 1] * scale);
  }
  return d + "Z";
}

// From dark blue over green to yellow, as light as the value is large: also read without colours.
inline std::string Shade(double value) {
  static constexpr std::array<std::array<double, 3>, 5> kStops = {
      {{38, 20, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}}};
  const double at = std::clamp(std::isnan(value) ? 0.0 : value, 0.0, 1.0) * 4;
  const auto i = std::min<size_t>(3, static_cast<size_t>(at));
  const double t = at - static_cast<double>(i);
  const auto mix = [&](size_t c) {
    return static_cast<int>(kStops[i][c] + t * (kStops[i + 1][c] - kStops[i][c]));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2));
}

}  // namespace detops::cli

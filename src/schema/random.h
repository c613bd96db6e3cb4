// SPDX-License-Identifier: Apache-2.0
//
// Random inputs, for scenes, fuzzing and tests. Every generator takes the seed's engine, so that a
// failure repeats.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

namespace detops::random {

using Rng = std::mt19937_64;

inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInf = std::numeric_limits<float>::infinity();

inline float Uniform(Rng& rng, float low, float high) {
  return std::uniform_real_distribution<float>(low, high)(rng);
}

inline std::vector<float> UniformFloats(Rng& rng, int64_t count, float low, float high) {
  std::vector<float> values(static_cast<size_t>(count));
  for (float& v : values) v = Uniform(rng, low, high);
  return values;
}

// Replaces about one value in `one_in` by NaN, an infinity, a zero of either sign or a huge number.
inline void Spoil(Rng& rng, std::vector<float>& values, int one_in) {
  static constexpr std::array<float, 7> kSpecial = {
      kNan, kInf, -kInf, 0.0f, -0.0f, 3.0e38f, std::numeric_limits<float>::denorm_min()};
  for (float& v : values) {
    if (rng() % static_cast<uint64_t>(one_in) == 0) v = kSpecial[rng() % kSpecial.size()];
  }
}

// [count,4] x1 y1 x2 y2 in a square of the given side, some degenerate.
inline std::vector<float> RandomBoxes(Rng& rng, int64_t count, float side, float origin = 0.0f) {
  std::vector<float> boxes;
  for (int64_t i = 0; i < count; ++i) {
    const float x = origin + Uniform(rng, 0, side), y = origin + Uniform(rng, 0, side);
    const float w = rng() % 16 == 0 ? 0.0f : Uniform(rng, 0, side / 4);
    const float h = rng() % 16 == 0 ? 0.0f : Uniform(rng, 0, side / 4);
    boxes.insert(boxes.end(), {x, y, x + w, y + h});
  }
  return boxes;
}

using Quad = std::array<float, 8>;

// A turned rectangle of 10–50 by 5–25, in either orientation.
inline Quad RandomRectangle(Rng& rng, float centre_x, float centre_y) {
  const float w = Uniform(rng, 5, 25), h = Uniform(rng, 2.5f, 12.5f);
  const float angle = Uniform(rng, 0, std::numbers::pi_v<float>);
  const float c = std::cos(angle), s = std::sin(angle);
  const float local[4][2] = {{-w, -h}, {w, -h}, {w, h}, {-w, h}};
  const bool flip = rng() % 2 == 0;
  Quad quad;
  for (size_t i = 0; i < 4; ++i) {
    const auto& p = local[flip ? 3 - i : i];
    quad[2 * i] = centre_x + c * p[0] - s * p[1];
    quad[2 * i + 1] = centre_y + s * p[0] + c * p[1];
  }
  return quad;
}

// Four points at growing angles about the centre: simple and often concave.
inline Quad RandomStar(Rng& rng, float centre_x, float centre_y) {
  std::array<float, 4> angles;
  for (float& a : angles) a = Uniform(rng, 0, 2 * std::numbers::pi_v<float>);
  std::sort(angles.begin(), angles.end());
  const bool flip = rng() % 2 == 0;
  Quad quad;
  for (size_t i = 0; i < 4; ++i) {
    const float angle = angles[flip ? 3 - i : i], radius = Uniform(rng, 4, 30);
    quad[2 * i] = centre_x + radius * std::cos(angle);
    quad[2 * i + 1] = centre_y + radius * std::sin(angle);
  }
  return quad;
}

inline Quad RandomQuad(Rng& rng, float centre_x, float centre_y) {
  return rng() % 2 == 0 ? RandomRectangle(rng, centre_x, centre_y)
                        : RandomStar(rng, centre_x, centre_y);
}

// A strip of this length that begins at (x, y), in the direction of the angle.
inline Quad Strip(float x, float y, float length, float width, float angle) {
  const float along_x = length * std::cos(angle), along_y = length * std::sin(angle);
  const float across_x = -width * std::sin(angle), across_y = width * std::cos(angle);
  return {x,
          y,
          x + along_x,
          y + along_y,
          x + along_x + across_x,
          y + along_y + across_y,
          x + across_x,
          y + across_y};
}

// One 1000 long and about 1 wide, whose middle is near (middle, middle).
inline Quad RandomStrip(Rng& rng, float middle, float angle) {
  constexpr float kLength = 1000;
  const float c = std::cos(angle), s = std::sin(angle), across = Uniform(rng, -300, 300);
  return Strip(middle - across * s - kLength / 2 * c, middle + across * c - kLength / 2 * s,
               kLength, Uniform(rng, 0.1f, 2), angle);
}

// The same outline, listed from any of its corners in either direction: eight listings.
inline Quad Listed(const Quad& quad, uint64_t listing) {
  Quad listed;
  for (uint64_t i = 0; i < 4; ++i) {
    const size_t corner = (listing % 8 < 4 ? listing + i : listing - i) % 4;
    listed[2 * i] = quad[2 * corner];
    listed[2 * i + 1] = quad[2 * corner + 1];
  }
  return listed;
}

// A rectangle with whole coordinates: the IoU of two is a fraction of small numbers.
struct WholeRectangle {
  int64_t x, y, w, h;

  int64_t Area() const { return w * h; }
  int64_t SharedArea(const WholeRectangle& b) const {
    const int64_t across = std::min(x + w, b.x + b.w) - std::max(x, b.x);
    const int64_t down = std::min(y + h, b.y + b.h) - std::max(y, b.y);
    return across > 0 && down > 0 ? across * down : 0;
  }
  // Upright, or rotated by an angle of the 3-4-5 triangle and five times larger: still whole.
  Quad Outline(int64_t origin_x, int64_t origin_y, bool rotated) const {
    const int64_t corners[4][2] = {{x, y}, {x + w, y}, {x + w, y + h}, {x, y + h}};
    Quad quad;
    for (size_t i = 0; i < 4; ++i) {
      const int64_t u = corners[i][0], v = corners[i][1];
      quad[2 * i] = static_cast<float>(origin_x + (rotated ? 4 * u - 3 * v : u));
      quad[2 * i + 1] = static_cast<float>(origin_y + (rotated ? 3 * u + 4 * v : v));
    }
    return quad;
  }
};

inline WholeRectangle RandomWholeRectangle(Rng& rng) {
  const auto below = [&](uint64_t end) { return static_cast<int64_t>(rng() % end); };
  return {below(6), below(6), 1 + below(6), 1 + below(6)};
}

// [count,9], centres uniform in a square of side 25*sqrt(count) from `origin`, scores in [0,1).
inline std::vector<float> RandomQuads(Rng& rng, int64_t count, float origin = 0.0f,
                                      bool rectangles = false) {
  const float side = 25.0f * std::sqrt(static_cast<float>(count));
  std::vector<float> boxes;
  for (int64_t i = 0; i < count; ++i) {
    const float x = origin + Uniform(rng, 0, side), y = origin + Uniform(rng, 0, side);
    const Quad quad = rectangles ? RandomRectangle(rng, x, y) : RandomQuad(rng, x, y);
    boxes.insert(boxes.end(), quad.begin(), quad.end());
    boxes.push_back(Uniform(rng, 0, 1));
  }
  return boxes;
}

// [count,3] in 150 x 150 x 6 m.
inline std::vector<float> RandomPoints(Rng& rng, int64_t count) {
  std::vector<float> points;
  for (int64_t i = 0; i < count; ++i) {
    points.insert(points.end(),
                  {Uniform(rng, -75, 75), Uniform(rng, -75, 75), Uniform(rng, -3, 3)});
  }
  return points;
}

// [count,7], 1–5 by 1–2 by 1–2 m, any heading.
inline std::vector<float> RandomBoxes3d(Rng& rng, int64_t count) {
  std::vector<float> boxes;
  for (int64_t i = 0; i < count; ++i) {
    boxes.insert(boxes.end(),
                 {Uniform(rng, -75, 75), Uniform(rng, -75, 75), Uniform(rng, -2, 2),
                  Uniform(rng, 1, 5), Uniform(rng, 1, 2), Uniform(rng, 1, 2), Uniform(rng, -7, 7)});
  }
  return boxes;
}

// ---- for fuzzing -------------------------------------------------------------------------------

inline int64_t Between(Rng& rng, int64_t low, int64_t high) {
  return low + static_cast<int64_t>(rng() % static_cast<uint64_t>(high - low + 1));
}

// Small sizes mostly; around powers of two, where vectors end; now and then a large one.
inline int64_t RandomSize(Rng& rng, int64_t most) {
  switch (rng() % 4) {
    case 0: return Between(rng, 1, std::min<int64_t>(most, 9));
    case 1: return std::min<int64_t>(most, (int64_t{1} << (rng() % 11)) + Between(rng, 0, 2));
    case 2: return Between(rng, 1, std::min<int64_t>(most, 700));
    default: return Between(rng, 1, most);
  }
}

// Coordinates as users have them, or over many decades, or few distinct ones (ties, touching).
inline std::vector<float> Coordinates(Rng& rng, int64_t count, float side) {
  std::vector<float> values = UniformFloats(rng, count, -side, side);
  const uint64_t kind = rng() % 5;
  for (float& v : values) {
    if (kind == 0) v = std::floor(v);
    if (kind == 1) v *= std::pow(10.0f, Uniform(rng, -6, 6));
    if (kind == 2) v += 1e6f;
  }
  if (rng() % 4 == 0) Spoil(rng, values, 30);
  return values;
}

inline std::vector<float> Scores(Rng& rng, int64_t count) {
  std::vector<float> scores = UniformFloats(rng, count, -1, 1);
  const uint64_t kind = rng() % 4;
  for (float& s : scores) {
    if (kind == 0) s = 0.5f;
    if (kind == 1) s = std::floor(4 * s);
  }
  if (rng() % 4 == 0) Spoil(rng, scores, 10);
  return scores;
}

}  // namespace detops::random

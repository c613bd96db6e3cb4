// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <cstddef>
#include <optional>

#include "internal.h"
#include "oracle.h"

namespace detops::oracle {
namespace {

struct Position {
  Rounded x, y;
};

// One axis of a bilinear sample that lies inside: two cells and the weight of the upper one.
struct Axis {
  int64_t low, high;
  Rounded upper;  // ly or lx of the contract; the other weight is 1 - upper
};

std::optional<Axis> Locate(Rounded at, int64_t size) {
  if (at < Rounded(-1.0f) || at > Rounded(static_cast<float>(size))) return std::nullopt;
  const float clamped = at <= Rounded(0.0f) ? 0.0f : at.Float();
  const auto low = static_cast<int64_t>(clamped);
  // The position becomes the last cell itself, so the weight of the upper one is zero.
  if (low >= size - 1) return Axis{size - 1, size - 1, 0.0f};
  return Axis{low, low + 1, Rounded(clamped) - Rounded(static_cast<float>(low))};
}

struct Sample {
  Axis x, y;
};

// nullopt is a sample outside of the feature map, whose value is 0.
using Samples = std::vector<std::optional<Sample>>;

Samples BorderSamples(std::span<const float, 4> box, int border, int64_t h, int64_t w, int pool) {
  // A single coordinate that is not finite puts all samples of all four borders outside.
  for (float coordinate : box) {
    if (!std::isfinite(coordinate)) return Samples(pool + 1);
  }
  const Rounded count = static_cast<float>(pool);
  const Rounded step_x = (Rounded(box[2]) - box[0]) / count;
  const Rounded step_y = (Rounded(box[3]) - box[1]) / count;
  const Position strides[] = {{step_x, 0.0f}, {0.0f, step_y}, {-step_x, 0.0f}, {0.0f, -step_y}};
  Position at = border < 2 ? Position{box[0], box[1]} : Position{box[2], box[3]};
  Samples samples;
  for (int i = 0; i <= pool; ++i) {
    const std::optional<Axis> x = Locate(at.x, w);
    const std::optional<Axis> y = Locate(at.y, h);
    samples.push_back(x && y ? std::optional<Sample>({*x, *y}) : std::nullopt);
    // Repeated addition is the definition; multiplying by i would give other floats.
    at.x = at.x + strides[border].x;
    at.y = at.y + strides[border].y;
  }
  return samples;
}

// `feature(y, x)` reads the map of the channel. Real is Rounded for the exact bits, long double for
// the wide value; the weights are exact in both except for 1 - upper and the products.
template <typename Real, typename Feature>
Real Interpolate(const Sample& sample, Feature feature) {
  const Real one = 1.0f;
  const Real ly = sample.y.upper.Float();
  const Real lx = sample.x.upper.Float();
  const Real hy = one - ly;
  const Real hx = one - lx;
  const Real v1 = feature(sample.y.low, sample.x.low);
  const Real v2 = feature(sample.y.low, sample.x.high);
  const Real v3 = feature(sample.y.high, sample.x.low);
  const Real v4 = feature(sample.y.high, sample.x.high);
  return ((hy * hx * v1 + hy * lx * v2) + ly * hx * v3) + ly * lx * v4;
}

struct Shape {
  int64_t n, h, w, c, k;
  int pool;
  bool nchw;
};

// Calls store(output index, value, argmax) for every element of the output, in no particular order.
template <typename Real, typename Store>
void ForEachOutput(std::span<const float> input, std::span<const float> boxes, const Shape& shape,
                   Store store) {
  const auto [n, h, w, c, k, pool, nchw] = shape;
  for (int64_t row = 0; row < n * k * 4; ++row) {
    const int64_t image = row / (k * 4);
    const int64_t box = row / 4 % k;
    const int64_t border = row % 4;
    const Samples samples =
        BorderSamples(boxes.subspan(row / 4 * 4).first<4>(), static_cast<int>(border), h, w, pool);
    for (int64_t channel = 0; channel < c; ++channel) {
      const int64_t plane = border * c + channel;
      const auto feature = [&, h = h, w = w, c = c, nchw = nchw](int64_t y, int64_t x) {
        return input[nchw ? ((image * 4 * c + plane) * h + y) * w + x
                          : ((image * h + y) * w + x) * 4 * c + plane];
      };
      Real best = 0.0f;
      int32_t argmax = 0;
      for (int i = 0; i <= pool; ++i) {
        const Real value = samples[i] ? Interpolate<Real>(*samples[i], feature) : Real(0.0f);
        // Strictly greater, so a NaN at i = 0 stays and a later NaN never replaces a value.
        if (i == 0 || value > best) {
          best = value;
          argmax = i;
        }
      }
      store(nchw ? ((image * c + channel) * k + box) * 4 + border : row * c + channel, best,
            argmax);
    }
  }
}

}  // namespace

BorderAlignResult BorderAlign(std::span<const float> input, std::span<const float> boxes, int64_t n,
                              int64_t h, int64_t w, int64_t c, int64_t k, int pool_size,
                              bool nchw) {
  BorderAlignResult result;
  result.output.resize(n * k * 4 * c);
  result.argmax.resize(n * k * 4 * c);
  ForEachOutput<Rounded>(input, boxes, {n, h, w, c, k, pool_size, nchw},
                         [&](int64_t index, Rounded value, int32_t argmax) {
                           result.output[index] = value.Float();
                           result.argmax[index] = argmax;
                         });
  return result;
}

std::vector<double> BorderAlignWide(std::span<const float> input, std::span<const float> boxes,
                                    int64_t n, int64_t h, int64_t w, int64_t c, int64_t k,
                                    int pool_size, bool nchw) {
  std::vector<double> output(n * k * 4 * c);
  ForEachOutput<long double>(input, boxes, {n, h, w, c, k, pool_size, nchw},
                             [&](int64_t index, long double value, int32_t) {
                               output[index] = static_cast<double>(value);
                             });
  return output;
}

}  // namespace detops::oracle

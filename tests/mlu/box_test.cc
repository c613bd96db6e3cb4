// SPDX-License-Identifier: Apache-2.0
//
// Rotations and sizes of boxes as points_in_boxes computes them without double, on each card.
#include "mlu/box.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "math/box3d.h"
#include "support/environment.h"
#include "support/random_data.h"

namespace detops::test {
namespace {

struct Answers {
  std::vector<float> cos, sin, doubtful, reach, half;
};

Answers OnDevice(int device, const std::vector<float>& headings, const std::vector<float>& sizes) {
  EXPECT_EQ(cnrtSetDevice(device), cnrtSuccess);
  int isa = 0;
  EXPECT_EQ(cnrtDeviceGetAttribute(&isa, cnrtAttrISAVersion, device), cnrtSuccess);
  const size_t count = headings.size(), bytes = count * sizeof(float);
  float* memory[7] = {};
  for (float*& m : memory) EXPECT_EQ(cnrtMalloc(reinterpret_cast<void**>(&m), bytes), cnrtSuccess);
  const auto host = [](const std::vector<float>& v) { return const_cast<float*>(v.data()); };
  EXPECT_EQ(cnrtMemcpy(memory[0], host(headings), bytes, cnrtMemcpyHostToDev), cnrtSuccess);
  EXPECT_EQ(cnrtMemcpy(memory[1], host(sizes), bytes, cnrtMemcpyHostToDev), cnrtSuccess);
  cnrtQueue_t queue = nullptr;
  EXPECT_EQ(cnrtQueueCreate(&queue), cnrtSuccess);
  (isa / 100 == 5 ? LaunchBoxes<592>
                  : LaunchBoxes<372>)(queue, {memory[0], memory[1], memory[2], memory[3], memory[4],
                                              memory[5], memory[6], static_cast<int64_t>(count)});
  EXPECT_EQ(cnrtQueueSync(queue), cnrtSuccess);
  Answers answers;
  int next = 2;
  for (auto* v : {&answers.cos, &answers.sin, &answers.doubtful, &answers.reach, &answers.half}) {
    v->resize(count);
    EXPECT_EQ(cnrtMemcpy(v->data(), memory[next++], bytes, cnrtMemcpyDevToHost), cnrtSuccess);
  }
  EXPECT_EQ(cnrtQueueDestroy(queue), cnrtSuccess);
  for (float* m : memory) EXPECT_EQ(cnrtFree(m), cnrtSuccess);
  return answers;
}

// All floats around the values where something changes, and their neighbours.
std::vector<float> Neighbours(const std::vector<double>& values) {
  std::vector<float> all;
  for (const double value : values) {
    for (const double sign : {1.0, -1.0}) {
      auto v = static_cast<float>(sign * value);
      for (int i = 0; i < 6; ++i) v = std::nextafterf(v, -kInf);
      for (int i = 0; i < 12; ++i) {
        all.push_back(v);
        v = std::nextafterf(v, kInf);
      }
    }
  }
  return all;
}

class BoxTest : public testing::Test {
 protected:
  // Compares on each device. Headings in usual use have to be certain.
  void Compare(std::vector<float> headings, std::vector<float> sizes) {
    const size_t count = std::max(headings.size(), sizes.size());
    headings.resize(count, 0.0f);
    sizes.resize(count, 1.0f);
    unsigned devices = 0;
    ASSERT_EQ(cnrtGetDeviceCount(&devices), cnrtSuccess);
    for (int device = 0; device < static_cast<int>(devices); ++device) {
      const Answers got = OnDevice(device, headings, sizes);
      size_t doubtful = 0, usual = 0;
      for (size_t i = 0; i < count; ++i) {
        const float h = headings[i], size = sizes[i];
        if (std::fabs(h) <= 100.0f) {
          ++usual;
          doubtful += got.doubtful[i] != 0.0f ? 1 : 0;
        } else {
          ASSERT_NE(got.doubtful[i], 0.0f) << h;
        }
        if (got.doubtful[i] == 0.0f) {
          const math::SinCosResult expected = math::SinCos(-h);
          ASSERT_EQ(got.cos[i], expected.cos) << h;
          ASSERT_EQ(got.sin[i], expected.sin) << h;
        }
        // Others are never asked for.
        const double bound = size / 2.0 + static_cast<double>(1e-5f);
        if (bound > 0) {
          ASSERT_EQ(got.reach[i], math::FloatBelow(bound)) << size;
        }
        if (size >= 0) {
          ASSERT_EQ(got.half[i], math::FloatAtMost(size / 2.0)) << size;
        }
      }
      EXPECT_LE(doubtful, 3 + usual / 20000);
    }
  }
};

TEST_F(BoxTest, RandomHeadingsAndSizes) {
  Rng rng(61);
  std::vector<float> headings, sizes;
  for (int i = 0; i < 200000; ++i) {
    const float scale = i % 3 == 0 ? 1.0f : std::pow(10.0f, Uniform(rng, -44, 1));
    headings.push_back(scale * Uniform(rng, -10, 10));
    sizes.push_back(i % 2 == 0 ? std::bit_cast<float>(static_cast<uint32_t>(rng()) & 0x7fffffffu)
                               : Uniform(rng, 0, 100));
  }
  Compare(headings, sizes);
}

TEST_F(BoxTest, HeadingsNearAxesAndSpecialOnes) {
  std::vector<double> values = {0, 1e-45, 1e-38, 1e-20, 1e-4, 99.9999, 100, 1e10, 3e38};
  for (int k = 1; k <= 2030; ++k) values.push_back(k * M_PI / 64);
  for (int k = 1; k <= 2030; ++k) values.push_back((k + 0.5) * M_PI / 64);
  std::vector<float> headings = Neighbours(values);
  headings.insert(headings.end(), {kNan, kInf, -kInf, 0.0f, -0.0f});
  Compare(headings, {});
}

// Where size / 2 + 1e-5f, as a double, changes from one float's side to the other's: half sizes
// near powers of two, in particular 2^-70 and 2^37, beyond which one of the two summands drops out
// of a double; and those that are no floats.
TEST_F(BoxTest, SizesWhereRoundingsMatter) {
  std::vector<double> values = {0, 2 * static_cast<double>(1e-5f), 4e-5, 3e38, 3.4028234e38};
  for (int e = -149; e < 128; ++e) {
    values.insert(values.end(), {std::ldexp(1.0, e), std::ldexp(1.5, e), std::ldexp(1.9999, e)});
  }
  for (int i = 1; i < 64; ++i) values.push_back(std::ldexp(i, -149));
  std::vector<float> sizes = Neighbours(values);
  sizes.insert(sizes.end(), {kInf, 0.0f, -0.0f});
  Compare({}, sizes);
}

}  // namespace
}  // namespace detops::test

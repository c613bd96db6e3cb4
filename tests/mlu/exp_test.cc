// SPDX-License-Identifier: Apache-2.0
//
// mlu/exp.h against math/exp.h on this machine, bit by bit, on each card.
#include "math/exp.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "mlu/devices.h"
#include "mlu/exp_launch.h"
#include "support/environment.h"

namespace detops::test {
namespace {

std::vector<float> ExpOnCard(int device, const std::vector<float>& x) {
  const size_t bytes = x.size() * sizeof(float);
  void *in = nullptr, *out = nullptr;
  int isa = 0;
  EXPECT_EQ(cnrtSetDevice(device), cnrtSuccess);
  EXPECT_EQ(cnrtDeviceGetAttribute(&isa, cnrtAttrISAVersion, device), cnrtSuccess);
  EXPECT_EQ(cnrtMalloc(&in, bytes), cnrtSuccess);
  EXPECT_EQ(cnrtMalloc(&out, bytes), cnrtSuccess);
  EXPECT_EQ(cnrtMemcpy(in, const_cast<float*>(x.data()), bytes, cnrtMemcpyHostToDev), cnrtSuccess);
  cnrtQueue_t queue = nullptr;
  EXPECT_EQ(cnrtQueueCreate(&queue), cnrtSuccess);
  (isa / 100 == 5 ? LaunchExp<592> : LaunchExp<372>)(queue, static_cast<float*>(in),
                                                     static_cast<float*>(out),
                                                     static_cast<int64_t>(x.size()));
  EXPECT_EQ(cnrtQueueSync(queue), cnrtSuccess);
  std::vector<float> results(x.size());
  EXPECT_EQ(cnrtMemcpy(results.data(), out, bytes, cnrtMemcpyDevToHost), cnrtSuccess);
  EXPECT_EQ(cnrtQueueDestroy(queue), cnrtSuccess);
  EXPECT_EQ(cnrtFree(in), cnrtSuccess);
  EXPECT_EQ(cnrtFree(out), cnrtSuccess);
  return results;
}

class VectorExpTest : public testing::TestWithParam<int> {
 protected:
  void ExpectExact(const std::vector<float>& x) {
    const std::vector<float> got = ExpOnCard(GetParam(), x);
    for (size_t i = 0; i < x.size(); ++i) {
      const float expected = math::Exp(x[i]);
      if (std::isnan(expected) && std::isnan(got[i])) continue;
      ASSERT_EQ(std::bit_cast<uint32_t>(got[i]), std::bit_cast<uint32_t>(expected))
          << std::hexfloat << "exp(" << x[i] << ") is " << expected << ", not " << got[i];
    }
  }
};

TEST_P(VectorExpTest, AllMagnitudes) {
  std::vector<float> x;
  const uint32_t step = Exhaustive() ? 61 : 2003;
  for (uint32_t bits = 0; bits <= std::bit_cast<uint32_t>(88.0f); bits += step) {
    x.push_back(std::bit_cast<float>(bits));
    x.push_back(-x.back());
  }
  ExpectExact(x);
}

// What vectors leave to scalar code: a few of those whose results lie between two floats, nearly in
// the middle.
TEST_P(VectorExpTest, Doubtful) {
  ExpectExact({0x1.fffc1p-25f, 0x1.bfffe8p-22f, 0x1.65ff86p-17f, 0x1.8cbb32p-14f, 0x1.6a699ep-9f,
               0x1.3fb50ap-4f, 0x1.28835cp+1f, -0x1.fffa1p-26f, -0x1.200052p-22f, -0x1.73810ep-16f,
               -0x1.0f7dfep-11f, -0x1.88848ep-2f, -0x1.03d5bep+0f, -0x1.a14b9cp+1f, -0x1.2c582ep+3f,
               -0x1.aea64p+4f, -0x1.4199e4p+6f});
}

// Results that are subnormal, 0 or NaN, beside others.
TEST_P(VectorExpTest, Outermost) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  std::vector<float> x = {0.0f, -0.0f, -kInf, std::numeric_limits<float>::quiet_NaN(), 88.0f};
  for (float limit : {-86.6f, -87.0f, -87.4f, -103.97f, -104.0f, -110.0f, -1e30f}) {
    for (float value : {limit, std::nextafterf(limit, 0.0f), std::nextafterf(limit, -kInf)}) {
      x.push_back(value);
    }
  }
  for (int i = 0; i < 40; ++i) x.push_back(-87.0f - 0.43f * static_cast<float>(i));
  ExpectExact(x);
}

TEST_P(VectorExpTest, Counts) {
  for (const size_t count : {1, 31, 32, 33, 1023, 1024, 1025}) {
    std::vector<float> x;
    for (size_t i = 0; i < count; ++i) x.push_back(std::sin(static_cast<float>(i)) * 4.0f);
    ExpectExact(x);
  }
}

INSTANTIATE_TEST_SUITE_P(Cards, VectorExpTest, testing::ValuesIn(Devices()));

}  // namespace
}  // namespace detops::test

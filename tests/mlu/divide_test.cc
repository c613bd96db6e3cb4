// SPDX-License-Identifier: Apache-2.0
//
// Quotients of mlu/divide.h against the processor's, bit by bit, on each card.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "mlu/devices.h"
#include "mlu/divide_launch.h"

namespace detops::test {
namespace {

using Rng = std::mt19937_64;
using Operands = std::pair<std::vector<float>, std::vector<float>>;

constexpr int kTile = 1024;  // of divide.mlu
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<float> Quotients(int device, Divider divider, const Operands& operands) {
  const auto& [a, b] = operands;
  const size_t bytes = a.size() * sizeof(float);
  void* memory[3] = {};
  int isa = 0;
  EXPECT_EQ(cnrtSetDevice(device), cnrtSuccess);
  EXPECT_EQ(cnrtDeviceGetAttribute(&isa, cnrtAttrISAVersion, device), cnrtSuccess);
  for (void*& m : memory) EXPECT_EQ(cnrtMalloc(&m, bytes), cnrtSuccess);
  const auto host = [](const std::vector<float>& v) { return const_cast<float*>(v.data()); };
  EXPECT_EQ(cnrtMemcpy(memory[0], host(a), bytes, cnrtMemcpyHostToDev), cnrtSuccess);
  EXPECT_EQ(cnrtMemcpy(memory[1], host(b), bytes, cnrtMemcpyHostToDev), cnrtSuccess);
  cnrtQueue_t queue = nullptr;
  EXPECT_EQ(cnrtQueueCreate(&queue), cnrtSuccess);
  (isa / 100 == 5 ? LaunchDivide<592> : LaunchDivide<372>)(queue, divider,
                                                           static_cast<float*>(memory[0]),
                                                           static_cast<float*>(memory[1]),
                                                           static_cast<float*>(memory[2]),
                                                           static_cast<int64_t>(a.size()));
  EXPECT_EQ(cnrtQueueSync(queue), cnrtSuccess);
  std::vector<float> quotients(a.size());
  EXPECT_EQ(cnrtMemcpy(quotients.data(), memory[2], bytes, cnrtMemcpyDevToHost), cnrtSuccess);
  EXPECT_EQ(cnrtQueueDestroy(queue), cnrtSuccess);
  for (void* m : memory) EXPECT_EQ(cnrtFree(m), cnrtSuccess);
  return quotients;
}

// Numbers in [1,2), times powers of two, whose quotient is next to the middle of two floats: a
// times 2^bits is b times that middle, and 1 or 3 more or less. 24 bits where a > b, 25 where a <
// b.
Operands HardestOperands(Rng& rng, size_t count, int least_exponent, int most_exponent) {
  const auto scale = [&] {
    return least_exponent + static_cast<int>(rng() % (most_exponent - least_exponent + 1));
  };
  Operands operands;
  while (operands.first.size() < count) {
    const int bits = 24 + static_cast<int>(rng() % 2);
    const uint64_t b = 1 << 23 | (rng() % (1 << 23)) | 1;
    uint64_t inverse = b;  // modulo 2^25: 3 bits are right, and each step doubles them
    for (int i = 0; i < 4; ++i) inverse *= 2 - b * inverse;
    // b * middle is this number less modulo 2^bits.
    const uint64_t more = (rng() % 2 == 0 ? 1 : 3) * (rng() % 2 == 0 ? 1 : ~uint64_t{0});
    const uint64_t mask = (uint64_t{1} << bits) - 1;
    const uint64_t middle = ((0 - inverse * more) & mask) | (bits == 24 ? 1 << 24 : 0);
    if (middle >> 24 != 1) continue;
    const uint64_t a = (b * middle + more) >> bits;
    if (a >> 23 != 1) continue;
    operands.first.push_back(std::ldexp(static_cast<float>(a), scale() - 23));
    operands.second.push_back(std::ldexp(static_cast<float>(b), scale() - 23));
  }
  return operands;
}

// All pairs of floats next to 1 and 2.
Operands NextToPowers() {
  Operands operands;
  std::vector<float> floats;
  for (const float power : {1.0f, 2.0f}) {
    float below = power, above = power;
    for (int i = 0; i < 64; ++i) {
      floats.push_back(below = std::nextafter(below, 0.0f));
      floats.push_back(above = std::nextafter(above, kInf));
    }
    floats.push_back(power);
  }
  for (const float a : floats) {
    for (const float b : floats) {
      operands.first.push_back(a);
      operands.second.push_back(b);
    }
  }
  return operands;
}

Operands RandomOperands(Rng& rng, size_t count, int least_exponent, int most_exponent) {
  const auto number = [&] {
    const int exponent =
        least_exponent + static_cast<int>(rng() % (most_exponent - least_exponent + 1));
    // Few bits now and then, so that quotients are floats or nearly so; and many ones.
    uint32_t bits = static_cast<uint32_t>(rng() >> 41);
    if (rng() % 4 == 0) bits &= ~0u << (rng() % 23);
    if (rng() % 16 == 0) bits |= ~0u >> (9 + rng() % 23);
    bits &= 0x7fffff;
    return std::ldexp(static_cast<float>(1 << 23 | bits), exponent - 23);
  };
  Operands operands;
  for (size_t i = 0; i < count; ++i) {
    operands.first.push_back(rng() % 16 == 0 ? 0.0f : number());
    operands.second.push_back(number());
  }
  return operands;
}

class DivideTest : public testing::TestWithParam<int> {
 protected:
  void ExpectExact(Divider divider, Operands operands) {
    auto& [a, b] = operands;
    if (divider == Divider::kOneDivisor) {
      for (size_t i = 0; i < b.size(); ++i) b[i] = b[i / kTile * kTile];
    }
    const std::vector<float> got = Quotients(GetParam(), divider, operands);
    for (size_t i = 0; i < a.size(); ++i) {
      const float expected = a[i] / b[i];
      if (std::isnan(expected) && std::isnan(got[i])) continue;
      ASSERT_EQ(std::bit_cast<uint32_t>(got[i]), std::bit_cast<uint32_t>(expected))
          << a[i] << " / " << b[i] << " is " << expected << ", not " << got[i];
    }
  }
};

TEST_P(DivideTest, OperandsInRange) {
  Rng rng(1);
  for (const Divider divider : {Divider::kInRange, Divider::kSigned, Divider::kOneDivisor}) {
    ExpectExact(divider, RandomOperands(rng, 6'000'001, -62, 62));
    ExpectExact(divider, NextToPowers());
    ExpectExact(divider, RandomOperands(rng, 500'000, -99, -80));
    ExpectExact(divider, RandomOperands(rng, 500'000, 100, 125));
    if (divider == Divider::kOneDivisor) continue;
    ExpectExact(divider, HardestOperands(rng, 2'000'000, 0, 0));
    ExpectExact(divider, HardestOperands(rng, 2'000'000, -61, 61));
  }
}

TEST_P(DivideTest, ZeroAndNanInRange) {
  for (const Divider divider : {Divider::kInRange, Divider::kSigned}) {
    ExpectExact(divider, {{0, 0, kNan, 1, kNan, 0}, {1, 0, 1, kNan, kNan, kNan}});
  }
}

TEST_P(DivideTest, AnyOperands) {
  Rng rng(2);
  Operands operands = RandomOperands(rng, 1'000'000, -149, 127);
  const float special[] = {0.0f,    -0.0f,          1.0f,           -1.0f,          kInf,
                           -kInf,   kNan,           0x1p-149f,      -0x1p-126f,     0x1p-62f,
                           0x1p62f, 0x1.fffffep61f, 0x1.000002p62f, 0x1.fffffep127f};
  for (std::vector<float>* values : {&operands.first, &operands.second}) {
    for (float& v : *values) {
      if (rng() % 2 == 0) v = -v;
      if (rng() % 8 == 0) v = special[rng() % std::size(special)];
    }
  }
  ExpectExact(Divider::kAny, operands);
  operands = RandomOperands(rng, 1'000'000, -30, 30);
  for (float& v : operands.first) {
    if (rng() % 2 == 0) v = -v;
  }
  for (float& v : operands.second) {
    if (rng() % 2 == 0) v = -v;
  }
  ExpectExact(Divider::kAny, operands);
  ExpectExact(Divider::kAny, HardestOperands(rng, 500'000, -61, 61));
}

INSTANTIATE_TEST_SUITE_P(Cards, DivideTest, testing::ValuesIn(Devices()));

}  // namespace
}  // namespace detops::test

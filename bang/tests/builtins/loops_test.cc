// SPDX-License-Identifier: Apache-2.0
//
// The loops give the same bits with every instruction set that this host has, NaNs included.
#include "builtins/loops.h"

#include <gtest/gtest.h>

#include <vector>

#include "values.h"

namespace {

constexpr int kCount = 4099;

std::vector<const bang::Loops*> Others() {
  std::vector<const bang::Loops*> others;
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2")) others.push_back(&bang::kLoopsAvx2);
  if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl")) {
    others.push_back(&bang::kLoopsAvx512);
  }
#endif
  return others;
}

std::vector<char> RandomBytes(Random& random, bang::Type type) {
  std::vector<char> bytes(kCount * 8);
  for (int i = 0; i < kCount; ++i) {
    if (type == bang::Type::kF32) {
      const float value = RandomValue<float>(random);
      memcpy(&bytes[i * 4], &value, 4);
    } else {
      const uint64_t value = random();
      memcpy(&bytes[i * bang::SizeOf(type)], &value, bang::SizeOf(type));
    }
  }
  return bytes;
}

TEST(Loops, SameBitsOnEveryInstructionSet) {
  Random random(15);
  int compared = 0;
  for (const bang::Loops* other : Others()) {
    for (int o = 0; o <= static_cast<int>(bang::Operation::kSequence); ++o) {
      const auto operation = static_cast<bang::Operation>(o);
      for (int t = 0; t < bang::kTypeCount; ++t) {
        const auto type = static_cast<bang::Type>(t);
        const std::vector<char> a = RandomBytes(random, type), b = RandomBytes(random, type);
        std::vector<char> want(kCount * 8), got(kCount * 8);
        if (const bang::Loop1 loop = bang::kLoopsBaseline.unary(operation, type)) {
          loop(want.data(), a.data(), kCount);
          other->unary(operation, type)(got.data(), a.data(), kCount);
          ++compared;
        } else if (const bang::Loop2 binary = bang::kLoopsBaseline.binary(operation, type)) {
          binary(want.data(), a.data(), b.data(), kCount);
          other->binary(operation, type)(got.data(), a.data(), b.data(), kCount);
          ++compared;
        }
        ASSERT_EQ(0, memcmp(want.data(), got.data(), want.size()))
            << "operation " << o << ", type " << t;
      }
    }
    const std::vector<char> a = RandomBytes(random, bang::Type::kF32);
    const std::vector<char> b = RandomBytes(random, bang::Type::kF32);
    const std::vector<char> c = RandomBytes(random, bang::Type::kF32);
    const float* const x = reinterpret_cast<const float*>(a.data());
    const float* const y = reinterpret_cast<const float*>(b.data());
    const float* const z = reinterpret_cast<const float*>(c.data());
    for (const bool narrow : {false, true}) {
      std::vector<float> want(kCount), got(kCount);
      bang::kLoopsBaseline.multiply_add(want.data(), x, y, z, kCount, narrow);
      other->multiply_add(got.data(), x, y, z, kCount, narrow);
      ASSERT_EQ(0, memcmp(want.data(), got.data(), kCount * 4));
    }
    std::vector<uint16_t> narrow_want(kCount), narrow_got(kCount);
    bang::kLoopsBaseline.float_to_half(narrow_want.data(), x, kCount);
    other->float_to_half(narrow_got.data(), x, kCount);
    ASSERT_EQ(narrow_want, narrow_got);
    bang::kLoopsBaseline.float_to_bfloat16(narrow_want.data(), x, kCount);
    other->float_to_bfloat16(narrow_got.data(), x, kCount);
    ASSERT_EQ(narrow_want, narrow_got);
  }
  if (!Others().empty()) {
    EXPECT_GT(compared, 200);
  }
}

}  // namespace

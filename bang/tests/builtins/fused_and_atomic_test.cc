// SPDX-License-Identifier: Apache-2.0
//
// __bang_fusion in all its forms, atomics, printing.
#include <fenv.h>

#include <vector>

#include "bang/half.h"
#include "builtins/assumptions.h"
#include "on_core.h"
#include "plain.h"
#include "values.h"

namespace {

// a op b, rounded to T.
template <typename T>
T Step(char op, T a, T b) {
  const float x = a, y = b;
  return static_cast<T>(op == '*' ? x * y : op == '+' ? x + y : x - y);
}

// a * b + c with one rounding: the sum and what it cut off, both exact.
template <typename T>
T Fused(T a, T b, T c) {
  if constexpr (std::is_same<T, float>::value) return fmaf(a, b, c);
  using Wide = __float128;
  const Wide product = static_cast<Wide>(static_cast<float>(a)) * static_cast<float>(b);
  const Wide addend = static_cast<float>(c), sum = product + addend, part = sum - product;
  const Wide cut_off = (product - (sum - part)) + (addend - part);
  // Toward zero, then odd if something was cut off: rounding again can't be wrong.
  double rounded = static_cast<double>(sum);
  if (rounded - rounded == 0) {
    const Wide rest = (sum - static_cast<Wide>(rounded)) + cut_off;
    if (rest != 0) {
      uint64_t bits = BitPattern(rounded);
      if ((rest < 0) != (rounded < 0)) --bits;
      rounded = FromBitPattern<double>(bits | 1);
    }
  }
  if constexpr (std::is_same<T, half>::value) return FromBitPattern<T>(bang::HalfBits(rounded));
  if constexpr (!std::is_same<T, half>::value)
    return FromBitPattern<T>(bang::BFloat16Bits(rounded));
}

template <typename T>
T PlainFusion(mluFusionOp_t operation, T a, T b, T c, bool twice) {
  constexpr const char* kSteps[] = {"*+", "*-", "+*", "-*", "++", "+-", "--", "-+"};
  const char* const steps = kSteps[operation];
  if (steps[0] == '*' && !twice) return Fused<T>(a, b, steps[1] == '-' ? static_cast<T>(-c) : c);
  return Step(steps[1], Step(steps[0], a, b), c);
}

template <typename T>
void CheckFusion(Random& random, char* nram, bool twice) {
  const int period = static_cast<int>(Pick(random, 1, 60));
  const int n = period * static_cast<int>(Pick(random, 1, 40));
  T* const a = reinterpret_cast<T*>(nram) + Pick(random, 0, 9);
  T* const b = reinterpret_cast<T*>(nram + 16384);
  T* const c = reinterpret_cast<T*>(nram + 32768);
  T* const dst = Pick(random, 0, 1) == 0 ? a : reinterpret_cast<T*>(nram + 49152);
  for (int i = 0; i < n; ++i) a[i] = RandomValue<T>(random);
  for (int i = 0; i < period; ++i) b[i] = RandomValue<T>(random), c[i] = RandomValue<T>(random);
  const std::vector<T> old(a, a + n);
  const mluFusionOp_t operation = static_cast<mluFusionOp_t>(Pick(random, 0, 7));
  const bool b_is_scalar = Pick(random, 0, 1) == 0, c_is_scalar = Pick(random, 0, 1) == 0;
  if (b_is_scalar && c_is_scalar) {
    __bang_fusion(operation, dst, a, b[0], c[0], n);
  } else if (b_is_scalar) {
    __bang_fusion(operation, dst, a, b[0], c, n, period);
  } else if (c_is_scalar) {
    __bang_fusion(operation, dst, a, b, c[0], n, period);
  } else {
    __bang_fusion(operation, dst, a, b, c, n, period);
  }
  for (int i = 0; i < n; ++i) {
    const T x = b[b_is_scalar ? 0 : i % period], y = c[c_is_scalar ? 0 : i % period];
    const T want = PlainFusion(operation, old[i], x, y, twice);
    ASSERT_TRUE(IsSame(want, dst[i]))
        << "operation " << operation << " of " << ToText(old[i]) << ", " << ToText(x) << ", "
        << ToText(y) << " is " << ToText(dst[i]) << ", should be " << ToText(want);
  }
}

void CheckFusions(bool twice) {
  Random random(13);
  EXPECT_EQ("", OnCore([&](char* nram) {
              for (int time = 0; time < 100; ++time) {
                CheckFusion<float>(random, nram, twice);
                CheckFusion<half>(random, nram, twice);
                CheckFusion<bfloat16_t>(random, nram, twice);
              }
            }));
}

TEST(Fusion, RoundsOnce) { CheckFusions(false); }

TEST(Fusion, RoundsTwiceIfTold) {
  ASSERT_TRUE(bang::SetAssumptions("fusion=twice"));
  CheckFusions(true);
  bang::SetAssumptions("");
}

TEST(Fusion, PeriodsDivideTheCount) {
  const std::string error = OnCore([](char* nram) {
    float* const a = reinterpret_cast<float*>(nram);
    __bang_fusion(FUSION_FMA, a, a, a + 100, a + 200, 10, 3);
  });
  EXPECT_NE(std::string::npos, error.find("count is 10, no multiple of seg_count, 3")) << error;
}

template <typename T>
void CheckAtomics() {
  T* gdram;
  ASSERT_EQ(cnrtSuccess, cnrtMalloc(reinterpret_cast<void**>(&gdram), 64 * sizeof(T)));
  Random random(14);
  const std::string error = OnCore([&](char* nram) {
    T* const src = reinterpret_cast<T*>(nram);
    T* const dst = src + 64;
    std::vector<T> old(64);
    const auto check = [&](const char* name, auto call, auto plain) {
      for (int i = 0; i < 64; ++i) {
        gdram[i] = old[i] = RandomValue<T>(random);
        src[i] = RandomValue<T>(random);
      }
      call();
      for (int i = 0; i < 64; ++i) {
        ASSERT_TRUE(IsSame(old[i], dst[i])) << name;
        ASSERT_TRUE(IsSame(plain(old[i], src[i]), gdram[i]))
            << name << " of " << ToText(old[i]) << " and " << ToText(src[i]) << " gives "
            << ToText(gdram[i]);
      }
    };
    using enum bang::Operation;
    check(
        "add", [&] { __bang_atomic_add(dst, gdram, src, 64); },
        [](T a, T b) { return PlainBinary(kAdd, a, b); });
    check(
        "max", [&] { __bang_atomic_max(dst, gdram, src, 64); },
        [](T a, T b) { return PlainBinary(kMaxEqual, a, b); });
    check(
        "exch", [&] { __bang_atomic_exch(dst, gdram, src, 64); }, [](T, T b) { return b; });
    check(
        "xor", [&] { __bang_atomic_xor(dst, gdram, src, 64); },
        [](T a, T b) { return FromBitPattern<T>(BitPattern(a) ^ BitPattern(b)); });
    check(
        "inc", [&] { __bang_atomic_inc(dst, gdram, src, 64); },
        [](T a, T b) { return a >= b ? T(0) : PlainBinary(kAdd, a, T(1)); });
    check(
        "dec", [&] { __bang_atomic_dec(dst, gdram, src, 64); },
        [](T a, T b) { return a == T(0) || a > b ? b : PlainBinary(kSub, a, T(1)); });
    check(
        "min, one by one",
        [&] {
          for (int i = 0; i < 64; ++i) __bang_atomic_min(dst + i, gdram + i, src[i]);
        },
        [](T a, T b) { return PlainBinary(kMinEqual, a, b); });
    for (int i = 0; i < 64; ++i) src[i] = T(1), gdram[i] = static_cast<T>(static_cast<float>(i));
    __bang_atomic_reduce_add(gdram, src, 64);
    for (int i = 0; i < 64; ++i) ASSERT_EQ(static_cast<float>(i + 1), static_cast<float>(gdram[i]));
    T seen;
    __bang_atomic_cas(&seen, gdram, T(1), T(9));
    ASSERT_TRUE(IsSame(T(1), seen));
    ASSERT_TRUE(IsSame(T(9), gdram[0]));
    __bang_atomic_cas(&seen, gdram, T(1), T(5));
    ASSERT_TRUE(IsSame(T(9), seen));
    ASSERT_TRUE(IsSame(T(9), gdram[0]));
  });
  EXPECT_EQ("", error);
  cnrtFree(gdram);
}

TEST(Atomics, ChangeGdramAndGiveTheOldValues) {
  ForEachType<bang::types::kAtomic>([](auto type) { CheckAtomics<decltype(type)>(); });
}

TEST(Printing, AsPrintfAndHalf) {
  testing::internal::CaptureStdout();
  EXPECT_EQ("", OnCore([](char*) {
              __bang_printf("%d|%5.2f|%hf|%s|%c|%x|%u|%%|%ld|%-4d|%p\n", -3, 1.5f, half(0.25),
                            "text", 'c', -1, 4000000000u, 1L << 40, 7, nullptr);
            }));
  EXPECT_EQ("-3| 1.50|0.250000|text|c|ffffffff|4000000000|%|1099511627776|7   |(nil)\n",
            testing::internal::GetCapturedStdout());
}

TEST(Assumptions, AreCheckedWords) {
  EXPECT_FALSE(bang::SetAssumptions("fusion=thrice"));
  EXPECT_TRUE(bang::SetAssumptions("fusion=once,pool=narrow,range=wrap"));
  EXPECT_EQ("", OnCore([](char* nram) {
              float* const x = reinterpret_cast<float*>(nram);
              int8_t* const y = reinterpret_cast<int8_t*>(nram + 256);
              x[0] = 300;
              __bang_float2int8_rn(y, x, 1, 0);
              EXPECT_EQ(300 - 256, y[0]);
            }));
  EXPECT_TRUE(bang::SetAssumptions(""));
}

}  // namespace

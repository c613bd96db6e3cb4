// SPDX-License-Identifier: Apache-2.0
//
// Every elementwise row of the table of built-ins against a plain loop, over all its types, counts
// from 1 to 300, places of its operands and special values.
#include "on_core.h"
#include "plain.h"
#include "values.h"

namespace {

using bang::Operation;

// Operands in NRAM: distinct ones at any byte, and some that begin where another does.
template <typename T>
struct Operands {
  T *dst, *src0, *src1;
  std::vector<T> old0, old1;
  int count;
};

template <typename T>
Operands<T> Place(Random& random, char* nram, int count, int period) {
  constexpr int64_t kPart = 8 * 1024;
  const auto at = [&](int part) {
    return reinterpret_cast<T*>(nram + part * kPart + Pick(random, 0, 40) * sizeof(T));
  };
  Operands<T> operands{at(0), at(1), at(2), {}, {}, count};
  const int64_t alias = Pick(random, 0, 4);
  if (alias == 0) operands.dst = operands.src0;
  if (alias == 1 && period == count) operands.dst = operands.src1;
  if (alias == 2 && period == count) operands.src1 = operands.src0;
  for (int i = 0; i < count; ++i) operands.src0[i] = RandomValue<T>(random);
  for (int i = 0; i < period; ++i) operands.src1[i] = RandomValue<T>(random);
  operands.old0.assign(operands.src0, operands.src0 + count);
  operands.old1.assign(operands.src1, operands.src1 + period);
  return operands;
}

int Times(int i) { return i < 8 ? i + 1 : 8 + (i - 8) * 7; }  // counts 1 to 300
constexpr int kTimes = 50;

template <typename T>
void CheckUnary(const char* name, Operation operation,
                const std::function<void(T* dst, const T* src, int count)>& call) {
  Random random(1);
  const std::string error = OnCore([&](char* nram) {
    for (int time = 0; time < kTimes; ++time) {
      const int n = Times(time);
      const auto [dst, src0, src1, old0, old1, count] = Place<T>(random, nram, n, n);
      call(dst, src0, n);
      for (int i = 0; i < n; ++i) {
        const T want = PlainUnary(operation, old0[i]);
        bool right = IsSame(want, dst[i]);
        if constexpr (kIsReal<T>) {
          if (!IsExact(operation)) right = IsWithinOneUlp(want, dst[i]);
        }
        ASSERT_TRUE(right) << name << "(" << ToText(old0[i]) << ") is " << ToText(dst[i])
                           << ", should be " << ToText(want) << "; element " << i << " of " << n;
      }
    }
  });
  EXPECT_EQ("", error) << name;
}

// The second operand repeats; for scalars it is its first element.
template <typename T>
using Binary = std::function<void(T* dst, const T* src0, const T* src1, int count, int period)>;

template <typename T>
void CheckBinary(const char* name, Operation operation, int max_period, const Binary<T>& call) {
  Random random(2);
  const std::string error = OnCore([&](char* nram) {
    for (int time = 0; time < kTimes; ++time) {
      const int period =
          max_period == 0 ? Times(time) : static_cast<int>(Pick(random, 1, max_period));
      const int n = max_period == 0 ? period : std::max(1, Times(time) / period) * period;
      const auto [dst, src0, src1, old0, old1, count] = Place<T>(random, nram, n, period);
      call(dst, src0, src1, n, period);
      for (int i = 0; i < n; ++i) {
        const T want = PlainBinary(operation, old0[i], old1[i % period]);
        bool right = IsSame(want, dst[i]);
        if constexpr (kIsReal<T>) {
          if (operation == Operation::kPow) right = IsWithinOneUlp(want, dst[i]);
        }
        ASSERT_TRUE(right) << name << "(" << ToText(old0[i]) << ", " << ToText(old1[i % period])
                           << ") is " << ToText(dst[i]) << ", should be " << ToText(want)
                           << "; element " << i << " of " << n;
      }
    }
  });
  EXPECT_EQ("", error) << name;
}

template <typename T>
void CheckBits(const char* name, Operation operation,
               const std::function<void(void* dst, const T* src0, const T* src1, int)>& call) {
  Random random(3);
  const std::string error = OnCore([&](char* nram) {
    for (int time = 0; time < kTimes; ++time) {
      const int n = Times(time);
      const auto [dst, src0, src1, old0, old1, count] = Place<T>(random, nram, n, n);
      uint8_t* const bits = reinterpret_cast<uint8_t*>(nram) + 3 * 8 * 1024 + 1;
      call(bits, src0, src1, n);
      for (int i = 0; i < n; ++i) {
        ASSERT_EQ(IsTrue(PlainBinary(operation, old0[i], old1[i])), (bits[i / 8] >> i % 8 & 1) != 0)
            << name << ", element " << i << " of " << n;
      }
    }
  });
  EXPECT_EQ("", error) << name;
}

#define CHECK_Unary(name, operation, types_)                               \
  ForEachType<bang::types::types_>([](auto type) {                         \
    using T = decltype(type);                                              \
    CheckUnary<T>(#name, Operation::operation,                             \
                  [](T* dst, const T* src, int n) { name(dst, src, n); }); \
  });
#define CHECK_VectorFunction(name, operation, types_)                      \
  ForEachType<bang::types::types_>([](auto type) {                         \
    using T = decltype(type);                                              \
    CheckUnary<T>(#name, Operation::operation,                             \
                  [](T* dst, const T* src, int n) { name(n, dst, src); }); \
  });
#define CHECK_Binary(name, operation, types_)                                               \
  ForEachType<bang::types::types_>([](auto type) {                                          \
    using T = decltype(type);                                                               \
    CheckBinary<T>(#name, Operation::operation, 0,                                          \
                   [](T* dst, const T* a, const T* b, int n, int) { name(dst, a, b, n); }); \
  });
#define CHECK_VectorFunction2(name, operation, types_)                                      \
  ForEachType<bang::types::types_>([](auto type) {                                          \
    using T = decltype(type);                                                               \
    CheckBinary<T>(#name, Operation::operation, 0,                                          \
                   [](T* dst, const T* a, const T* b, int n, int) { name(n, dst, a, b); }); \
  });
#define CHECK_UnaryScratch(name, operation, types_)                                          \
  ForEachType<bang::types::types_>([](auto type) {                                           \
    using T = decltype(type);                                                                \
    CheckUnary<T>(#name, Operation::operation,                                               \
                  [](T* dst, const T* src, int n) { name(dst, src, nullptr, nullptr, n); }); \
  });
#define CHECK_BinaryScratch(name, operation, types_)                                      \
  ForEachType<bang::types::types_>([](auto type) {                                        \
    using T = decltype(type);                                                             \
    CheckBinary<T>(                                                                       \
        #name, Operation::operation, 0,                                                   \
        [](T* dst, const T* a, const T* b, int n, int) { name(dst, a, b, nullptr, n); }); \
  });
#define CHECK_Scalar(name, operation, types_)                                                  \
  ForEachType<bang::types::types_>([](auto type) {                                             \
    using T = decltype(type);                                                                  \
    CheckBinary<T>(#name, Operation::operation, 1,                                             \
                   [](T* dst, const T* a, const T* b, int n, int) { name(dst, a, b[0], n); }); \
  });
#define CHECK_ScalarLast(name, operation, types_)                              \
  ForEachType<bang::types::types_>([](auto type) {                             \
    using T = decltype(type);                                                  \
    CheckBinary<T>(#name, Operation::operation, 1,                             \
                   [](T* dst, const T* a, const T* b, int n, int) { name(dst, a, n, b[0]); }); \
  });
#define CHECK_VectorFunctionScalar(name, operation, types_)                    \
  ForEachType<bang::types::types_>([](auto type) {                             \
    using T = decltype(type);                                                  \
    CheckBinary<T>(#name, Operation::operation, 1,                             \
                   [](T* dst, const T* a, const T* b, int n, int) { name(n, dst, a, b[0]); }); \
  });
#define CHECK_Cycle(name, operation, types_)                                                    \
  ForEachType<bang::types::types_>([](auto type) {                                              \
    using T = decltype(type);                                                                   \
    CheckBinary<T>(                                                                             \
        #name, Operation::operation, 40,                                                        \
        [](T* dst, const T* a, const T* b, int n, int period) { name(dst, a, b, n, period); }); \
  });
#define CHECK_BitCompare(name, operation, types_)                                       \
  ForEachType<bang::types::types_>([](auto type) {                                      \
    using T = decltype(type);                                                           \
    CheckBits<T>(#name, Operation::operation,                                           \
                 [](void* dst, const T* a, const T* b, int n) { name(dst, a, b, n); }); \
  });
#define CHECK_Function(name, operation, types_)                                  \
  ForEachType<bang::types::types_>([](auto type) {                               \
    using T = decltype(type);                                                    \
    CheckUnary<T>(#name, Operation::operation, [](T* dst, const T* src, int n) { \
      for (int i = 0; i < n; ++i) dst[i] = name(src[i]);                         \
    });                                                                          \
  });
#define CHECK_Function2(name, operation, types_)                            \
  ForEachType<bang::types::types_>([](auto type) {                          \
    using T = decltype(type);                                               \
    CheckBinary<T>(#name, Operation::operation, 0,                          \
                   [](T* dst, const T* a, const T* b, int n, int) {         \
                     for (int i = 0; i < n; ++i) dst[i] = name(a[i], b[i]); \
                   });                                                      \
  });
#define CHECK_Whole(...)
#define CHECK_Count(...)
#define CHECK_CountTo(...)
#define CHECK_Pack(...)
#define CHECK_PackBits(...)
#define CHECK_PackCount(...)
#define CHECK_PackBitsCount(...)
#define CHECK_Plane(...)
#define CHECK_Pad(...)
#define CHECK_PadSides(...)
#define CHECK_Reshape(...)
#define CHECK_Pool(...)
#define CHECK_PoolStride(...)
#define CHECK_PoolIndex(...)
#define CHECK_PoolIndexStride(...)
#define CHECK_Lookup(...)
#define CHECK_Sequence(...)
#define CHECK_Fill(...)
#define CHECK_FillZero(...)
#define CHECK_Convert(...)
#define CHECK_ConvertFixed(...)
#define CHECK_ConvertIntegers(...)
#define CHECK_ConvertScalar(...)
#define CHECK_AtomicOne(...)
#define CHECK_AtomicMany(...)
#define CHECK_AtomicReduce(...)
#define CHECK_Declared(...)

TEST(Elementwise, EveryRowOfTheTable){
#define BUILTIN(name, shape, operation, types, since, passes, kind, result) \
  CHECK_##shape(name, operation, types)
#include "bang/builtins.inc"
}

// Both sides of a block's end, and a vector of several blocks.
TEST(Elementwise, LongVectors) {
  const std::string error = OnCore([](char* nram) {
    for (const int n : {1020, 1023, 1024, 1025, 2048, 5000}) {
      float* const a = reinterpret_cast<float*>(nram);
      float* const b = a + n;
      half* const h = reinterpret_cast<half*>(b + n);
      half* const seg = h + n;
      const int period = n % 5 == 0 ? 5 : n;
      for (int i = 0; i < n; ++i) {
        a[i] = static_cast<float>(i);
        h[i] = static_cast<half>(i % 1000);
        seg[i] = static_cast<half>(i % 100);
      }
      __bang_mul_scalar(b, a, 3.0f, n);
      __bang_cycle_add(h, h, seg, n, period);
      for (int i = 0; i < n; ++i) {
        ASSERT_EQ(3.0f * static_cast<float>(i), b[i]);
        ASSERT_EQ(static_cast<float>(i % 1000 + i % period % 100), static_cast<float>(h[i]));
      }
    }
  });
  EXPECT_EQ("", error);
}

TEST(Elementwise, AnglesOfAnySize) {
  const std::string error = OnCore([](char* nram) {
    float* const x = reinterpret_cast<float*>(nram);
    float *const s = x + 1000, *const c = s + 1000;
    Random random(4);
    for (int i = 0; i < 1000; ++i) {
      x[i] = FromBitPattern<float>(static_cast<uint64_t>(Pick(random, 0x40000000, 0x7F7FFFFF)));
    }
    x[0] = 0x1.921fb6p+21f;
    x[1] = 16367173.0f * 0x1p72f;  // the float nearest to a multiple of pi/2
    x[2] = 1e6f;
    __bang_sin(s, x, 1000);
    __bang_cos(c, x, 1000);
    for (int i = 0; i < 1000; ++i) {
      ASSERT_TRUE(IsWithinOneUlp(static_cast<float>(sinl(x[i])), s[i])) << ToText(x[i]);
      ASSERT_TRUE(IsWithinOneUlp(static_cast<float>(cosl(x[i])), c[i])) << ToText(x[i]);
    }
  });
  EXPECT_EQ("", error);
}

}  // namespace

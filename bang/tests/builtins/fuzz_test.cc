// SPDX-License-Identifier: Apache-2.0
//
// Random programs of built-ins against a second, plain interpreter: both work on a memory of their
// own, which has to be the same after every instruction.
#include <stdlib.h>

#include <vector>

#include "on_core.h"
#include "plain.h"
#include "values.h"

namespace {

using bang::Operation;

constexpr int kRegions = 8, kRegionBytes = 4096, kMemory = kRegions * kRegionBytes;

// An operand: the same place in both memories.
template <typename T>
struct Operand {
  T* core;
  T* plain;
};

class Program {
 public:
  Program(uint64_t seed, char* nram) : random_(seed), nram_(nram), plain_(kMemory) {
    for (int i = 0; i < kMemory; i += 4) {
      const float value = RandomValue<float>(random_);
      memcpy(nram_ + i, &value, 4);
    }
    memcpy(plain_.data(), nram_, kMemory);
  }

  // False: the memories differ.
  bool Step() {
    switch (Pick(random_, 0, 2)) {
      case 0: return StepOf<float>();
      case 1: return StepOf<half>();
      default: return StepOf<int32_t>();
    }
  }

  const char* last() const { return last_; }

 private:
  template <typename T>
  Operand<T> At(int region, int64_t byte) {
    return {reinterpret_cast<T*>(nram_ + region * kRegionBytes + byte),
            reinterpret_cast<T*>(plain_.data() + region * kRegionBytes + byte)};
  }

  int Region() { return static_cast<int>(Pick(random_, 0, kRegions - 1)); }

  // Regions that differ from each other.
  template <typename T>
  void Place(Operand<T>* a, Operand<T>* b, Operand<T>* c) {
    const int first = Region();
    *a = At<T>(first, Pick(random_, 0, 7) * sizeof(T));
    *b = At<T>((first + 1) % kRegions, Pick(random_, 0, 7) * sizeof(T));
    *c = At<T>((first + 2) % kRegions, Pick(random_, 0, 7) * sizeof(T));
    if (Pick(random_, 0, 3) == 0) *c = *a;  // in place
  }

  // NaNs may differ in their bits; the plain one becomes the core's.
  template <typename T>
  bool Agree(Operand<T> result, int count) {
    for (int i = 0; i < count; ++i) {
      if (!IsSame(result.core[i], result.plain[i])) {
        ADD_FAILURE() << last_ << ": element " << i << " of " << count << " is "
                      << ToText(result.core[i]) << ", should be " << ToText(result.plain[i]);
        return false;
      }
      result.plain[i] = result.core[i];
    }
    return memcmp(nram_, plain_.data(), kMemory) == 0;
  }

  template <typename T>
  bool StepOf();
  template <typename T>
  bool StepOfReals(Operand<T> a, Operand<T> b, Operand<T> c, int n);

  Random random_;
  char* nram_;
  std::vector<char> plain_;
  const char* last_ = "";
};

// name(dst, src0, src1, n), with a scalar, and with a period.
#define FUZZ_BINARY(op, operation)                                                  \
  {                                                                                 \
#op,                                                                              \
   Operation::operation,                                                             \
   [](T* d, const T* x, const T* y, int count) { __bang_##op(d, x, y, count); },     \
   [](T* d, const T* x, const T* y, int count) { __bang_##op##_scalar(d, x, *y, count); }, \
   [](T* d, const T* x, const T* y, int count, int period) {                         \
     __bang_cycle_##op(d, x, y, count, period);                                      \
   } \
  }

template <typename T>
bool Program::StepOf() {
  Operand<T> a, b, c;
  Place(&a, &b, &c);
  const int n = static_cast<int>(Pick(random_, 1, 300));
  struct BinaryCase {
    const char* name;
    Operation operation;
    void (*vector)(T*, const T*, const T*, int);
    void (*scalar)(T*, const T*, const T*, int);
    void (*cycle)(T*, const T*, const T*, int, int);
  };
  static const BinaryCase kBinary[] = {FUZZ_BINARY(add, kAdd),
                                       FUZZ_BINARY(sub, kSub),
                                       FUZZ_BINARY(mul, kMul),
                                       FUZZ_BINARY(eq, kEq),
                                       FUZZ_BINARY(ne, kNe),
                                       FUZZ_BINARY(gt, kGt),
                                       FUZZ_BINARY(ge, kGe),
                                       FUZZ_BINARY(lt, kLt),
                                       FUZZ_BINARY(le, kLe),
                                       FUZZ_BINARY(and, kAnd),
                                       FUZZ_BINARY(or, kOr),
                                       FUZZ_BINARY(xor, kXor),
                                       FUZZ_BINARY(maxequal, kMaxEqual),
                                       FUZZ_BINARY(minequal, kMinEqual)};
  switch (Pick(random_, 0, 9)) {
    case 0:
    case 1:
    case 2: {
      const BinaryCase& chosen = kBinary[Pick(random_, 0, std::size(kBinary) - 1)];
      last_ = chosen.name;
      const int form = static_cast<int>(Pick(random_, 0, 2));
      const int period = form == 0 ? n : form == 1 ? 1 : static_cast<int>(Pick(random_, 1, 20));
      const int count = std::max(1, n / period) * period;
      if (form == 0) chosen.vector(c.core, a.core, b.core, count);
      if (form == 1) chosen.scalar(c.core, a.core, b.core, count);
      if (form == 2) chosen.cycle(c.core, a.core, b.core, count, period);
      for (int i = 0; i < count; ++i) {
        c.plain[i] = PlainBinary(chosen.operation, a.plain[i], b.plain[i % period]);
      }
      return Agree(c, count);
    }
    case 3: {
      last_ = "filter";
      const unsigned number = __bang_filter(c.core, a.core, b.core, n);
      int packed = 0;
      for (int i = 0; i < n; ++i) {
        if (IsTrue(b.plain[i])) c.plain[packed++] = a.plain[i];
      }
      EXPECT_EQ(static_cast<unsigned>(packed), number);
      return Agree(c, packed);
    }
    case 4: {
      last_ = "maskmove";
      __bang_maskmove(c.core, a.core, b.core, n);
      for (int i = 0; i < n; ++i) {
        if (IsTrue(b.plain[i])) c.plain[i] = a.plain[i];
      }
      return Agree(c, n);
    }
    case 5: {
      last_ = "transpose";
      const int h = static_cast<int>(Pick(random_, 1, 17)),
                w = static_cast<int>(Pick(random_, 1, 17));
      __bang_transpose(b.core, a.core, h, w);
      for (int y = 0; y < h; ++y) {
        for (int x = 0; x < w; ++x) b.plain[x * h + y] = a.plain[y * w + x];
      }
      return Agree(b, h * w);
    }
    case 6: {
      last_ = "write_value";
      const T value = RandomValue<T>(random_);
      __bang_write_value(c.core, n, value);
      for (int i = 0; i < n; ++i) c.plain[i] = value;
      return Agree(c, n);
    }
    case 7: {
      last_ = "count";
      unsigned number = 0;
      for (int i = 0; i < n; ++i) number += IsTrue(a.plain[i]);
      EXPECT_EQ(number, __bang_count(a.core, n));
      return true;
    }
    case 8: {
      last_ = "not";
      __bang_not(c.core, a.core, n);
      for (int i = 0; i < n; ++i) c.plain[i] = PlainUnary(Operation::kNot, a.plain[i]);
      return Agree(c, n);
    }
    default:
      if constexpr (kIsReal<T>) return StepOfReals(a, b, c, n);
      return true;
  }
}
#undef FUZZ_BINARY

template <typename T>
bool Program::StepOfReals(Operand<T> a, Operand<T> b, Operand<T> c, int n) {
  struct UnaryCase {
    const char* name;
    Operation operation;
    void (*call)(T*, const T*, int);
  };
#define FUZZ_UNARY(op, operation)                                                             \
  {                                                                                           \
#op, Operation::operation, [](T * d, const T* x, int count) { __bang_##op(d, x, count); } \
  }
  static const UnaryCase kUnary[] = {FUZZ_UNARY(abs, kAbs),     FUZZ_UNARY(square, kSquare),
                                     FUZZ_UNARY(floor, kFloor), FUZZ_UNARY(ceil, kCeil),
                                     FUZZ_UNARY(recip, kRecip), FUZZ_UNARY(sqrt, kSqrt),
                                     FUZZ_UNARY(relu, kRelu),   FUZZ_UNARY(sign, kSign)};
#undef FUZZ_UNARY
  switch (Pick(random_, 0, 3)) {
    case 0: {
      const UnaryCase& chosen = kUnary[Pick(random_, 0, std::size(kUnary) - 1)];
      last_ = chosen.name;
      chosen.call(c.core, a.core, n);
      for (int i = 0; i < n; ++i) c.plain[i] = PlainUnary(chosen.operation, a.plain[i]);
      return Agree(c, n);
    }
    case 1: {
      last_ = "sumpool";
      const int channels = static_cast<int>(Pick(random_, 1, 20));
      const int width = std::max(1, n / channels),
                kernel = static_cast<int>(Pick(random_, 1, width));
      __bang_sumpool(c.core, a.core, channels, 1, width, 1, kernel, 1, 1);
      const std::vector<T> old(a.plain, a.plain + width * channels);
      const int results = (width - kernel + 1) * channels;
      for (int i = 0; i < results; ++i) {
        float sum = old[i];
        for (int k = 1; k < kernel; ++k) sum += static_cast<float>(old[i + k * channels]);
        c.plain[i] = static_cast<T>(sum);
      }
      return Agree(c, results);
    }
    case 2: {
      last_ = "fusion";
      __bang_fusion(FUSION_FAM, c.core, a.core, b.core, T(2), n, n);
      for (int i = 0; i < n; ++i) {
        c.plain[i] = PlainBinary(Operation::kMul,
                                 PlainBinary(Operation::kAdd, a.plain[i], b.plain[i]), T(2));
      }
      return Agree(c, n);
    }
    default: {
      last_ = "float2int32 and back";
      const int region = Region();
      const Operand<float> x = At<float>(region, 0);
      const Operand<int32_t> y = At<int32_t>((region + 1) % kRegions, 4);
      __bang_float2int32_tz(y.core, x.core, n, 0);
      __bang_int322float_rn(x.core, y.core, n, 0);
      for (int i = 0; i < n; ++i) {
        const float value = x.plain[i];
        y.plain[i] = isnan(value)        ? 0
                     : value >= 0x1p31f  ? INT32_MAX
                     : value <= -0x1p31f ? INT32_MIN
                                         : static_cast<int32_t>(value);
        x.plain[i] = static_cast<float>(y.plain[i]);
      }
      return Agree(y, n) && Agree(x, n);
    }
  }
}

TEST(Fuzz, RandomProgramsAgreeWithAPlainInterpreter) {
  const char* const programs = getenv("BANG_FUZZ_PROGRAMS");
  const uint64_t count = programs == nullptr ? 200 : strtoull(programs, nullptr, 10);
  for (uint64_t seed = 1; seed <= count; ++seed) {
    const std::string error = OnCore([seed](char* nram) {
      Program program(seed, nram);
      for (int step = 0; step < 100; ++step) {
        if (program.Step()) continue;
        ADD_FAILURE() << "program " << seed << " differs after step " << step << ", "
                      << program.last();
        return;
      }
    });
    ASSERT_EQ("", error) << "program " << seed;
    if (HasFailure()) return;
  }
}

}  // namespace

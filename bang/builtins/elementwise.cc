// SPDX-License-Identifier: Apache-2.0
//
// Built-ins whose element i depends on elements i of their sources: of one, of two, with a scalar,
// with a vector that repeats, and fused ones.
#include "builtins/elementwise.h"

#include <math.h>
#include <string.h>

#include "bang/vector_unit.h"
#include "builtins/assumptions.h"
#include "builtins/blocks.h"
#include "builtins/loops.h"
#include "builtins/rows.h"
#include "builtins/truth.h"
#include "machine/vector_call.h"

namespace bang {

void RunUnary(Operation operation, Type type, void* dst, const void* src, int64_t count) {
  if (!IsNarrowFloat(type)) {
    HostLoops().unary(operation, type)(dst, src, count);
    return;
  }
  const Loop1 loop = HostLoops().unary(operation, Type::kF32);
  ForEachBlock(count, kBlock, [&](int64_t begin, int64_t n) {
    float block[kBlock];
    Widen(type, block, At(src, type, begin), n);
    loop(block, block, n);
    Narrow(type, At(dst, type, begin), block, n);
  });
}

namespace {

void FlushSubnormals(float* data, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if (fabsf(data[i]) < 0x1p-126f) data[i] = copysignf(0, data[i]);
  }
}

// A card that knows no subnormal floats: operands and result.
void RunFlushed(Operation operation, float* dst, const float* src0, const float* src1,
                int64_t count) {
  ForEachBlock(count, kBlock, [&](int64_t begin, int64_t n) {
    float a[kBlock], b[kBlock];
    memcpy(a, src0 + begin, n * sizeof(float));
    memcpy(b, src1 + begin, n * sizeof(float));
    FlushSubnormals(a, n);
    FlushSubnormals(b, n);
    HostLoops().binary(operation, Type::kF32)(a, a, b, n);
    FlushSubnormals(a, n);
    memcpy(dst + begin, a, n * sizeof(float));
  });
}

// A second operand that repeats, as often as it fits into a block: its elements then begin again
// where a block does.
class Repeated {
 public:
  Repeated(Type type, const void* data, int64_t period, int64_t count)
      : block_(std::min(kBlock / period * period, count)) {
    const int64_t size = SizeOf(type), total = block_ * size;
    memcpy(bytes_, data, period * size);
    // What is there is copied behind itself, twice as much each time.
    for (int64_t done = period * size; done < total; done *= 2) {
      memcpy(bytes_ + done, bytes_, std::min(done, total - done));
    }
  }
  int64_t block() const { return block_; }
  const void* data() const { return bytes_; }

 private:
  int64_t block_;
  alignas(64) char bytes_[kBlock * 8];
};

}  // namespace

void RunBlocks(Operation operation, Type type, void* dst, const void* src0, const void* src1,
               int64_t count, int64_t block) {
  using enum Operation;
  if (type == Type::kF32 && Assumed().flush &&
      (operation == kAdd || operation == kSub || operation == kMul)) {
    ForEachBlock(count, block, [&](int64_t begin, int64_t n) {
      RunFlushed(operation, static_cast<float*>(At(dst, type, begin)),
                 static_cast<const float*>(At(src0, type, begin)), static_cast<const float*>(src1),
                 n);
    });
    return;
  }
  if (!IsNarrowFloat(type)) {
    const Loop2 loop = HostLoops().binary(operation, type);
    ForEachBlock(count, block, [&](int64_t begin, int64_t n) {
      loop(At(dst, type, begin), At(src0, type, begin), src1, n);
    });
    return;
  }
  const Loop2 loop = HostLoops().binary(operation, Type::kF32);
  ForEachBlock(count, block, [&](int64_t part, int64_t of_part) {
    ForEachBlock(of_part, kBlock, [&](int64_t begin, int64_t n) {
      float a[kBlock], b[kBlock];
      Widen(type, a, At(src0, type, part + begin), n);
      Widen(type, b, At(src1, type, begin), n);
      loop(a, a, b, n);
      Narrow(type, At(dst, type, part + begin), a, n);
    });
  });
}

namespace {

void RunPeriodic(Operation operation, Type type, void* dst, const void* src0, const void* src1,
                 int64_t count, int64_t period) {
  if (period < count && period < kBlock) {
    const Repeated repeated(type, src1, period, count);
    RunBlocks(operation, type, dst, src0, repeated.data(), count, repeated.block());
  } else {
    RunBlocks(operation, type, dst, src0, src1, count, period);
  }
}

void CheckPeriod(VectorCall& call, int64_t count, int64_t period) {
  call.Count(count);
  call.Count(period, "seg_count");
  if (count % period != 0) {
    call.Fail("count is %lld, no multiple of seg_count, %lld", static_cast<long long>(count),
              static_cast<long long>(period));
  }
}

}  // namespace

void Unary(BuiltIn id, Type type, void* dst, const void* src, int64_t count, Where where) {
  const Row& row = RowOf(id);
  const int64_t bytes = count * SizeOf(type);
  VectorCall call(row.name, where);
  call.Count(count);
  call.Read("src", src, bytes);
  call.Write("dst", dst, bytes);
  call.Begin(row.Cost(bytes, count));
  RunUnary(row.operation, type, dst, src, count);
  call.EndElementwise();
}

void Binary(BuiltIn id, Type type, void* dst, const void* src0, const void* src1, int64_t count,
            Where where) {
  const Row& row = RowOf(id);
  const int64_t bytes = count * SizeOf(type);
  VectorCall call(row.name, where);
  call.Count(count);
  call.Read("src0", src0, bytes);
  call.Read("src1", src1, bytes);
  call.Write("dst", dst, bytes);
  call.Begin(row.Cost(bytes, count));
  RunBlocks(row.operation, type, dst, src0, src1, count, count);
  call.EndElementwise();
}

void Scalar(BuiltIn id, Type type, void* dst, const void* src, uint64_t value, int64_t count,
            Where where) {
  const Row& row = RowOf(id);
  const int64_t bytes = count * SizeOf(type);
  VectorCall call(row.name, where);
  call.Count(count);
  call.Read("src", src, bytes);
  call.Write("dst", dst, bytes);
  call.Begin(row.Cost(bytes, count));
  RunPeriodic(row.operation, type, dst, src, &value, count, 1);
  call.EndElementwise();
}

void Cycle(BuiltIn id, Type type, void* dst, const void* src, const void* seg, int64_t count,
           int64_t seg_count, Where where) {
  const Row& row = RowOf(id);
  const int64_t bytes = count * SizeOf(type);
  VectorCall call(row.name, where);
  CheckPeriod(call, count, seg_count);
  call.Read("src", src, bytes);
  call.Read("seg", seg, seg_count * SizeOf(type));
  call.Write("dst", dst, bytes);
  call.Begin(row.Cost(bytes, count));
  RunPeriodic(row.operation, type, dst, src, seg, count, seg_count);
  call.EndElementwise();
}

void BitCompare(BuiltIn id, Type type, void* dst, const void* src0, const void* src1, int64_t count,
                Where where) {
  const Row& row = RowOf(id);
  const int64_t bytes = count * SizeOf(type);
  VectorCall call(row.name, where);
  call.Count(count);
  call.Read("src0", src0, bytes);
  call.Read("src1", src1, bytes);
  call.Write("dst", dst, (count + 7) / 8);
  call.Begin(row.Cost(bytes, count));
  uint8_t* const to = static_cast<uint8_t*>(dst);
  ForEachBlock(count, kBlock, [&](int64_t begin, int64_t n) {
    alignas(64) char truth[kBlock * 8];
    RunBlocks(row.operation, type, truth, At(src0, type, begin), At(src1, type, begin), n, n);
    const int size = SizeOf(type);
    for (int64_t i = 0; i < n; i += 8) {
      unsigned bits = 0;
      for (int64_t j = i; j < std::min(i + 8, n); ++j) {
        // The highest byte of a 1 of a floating type isn't 0, the lowest of an integer's isn't.
        if ((truth[j * size] | truth[j * size + size - 1]) != 0) bits |= BitMask(j);
      }
      to[(begin + i) / 8] = static_cast<uint8_t>(bits);
    }
  });
  call.EndElementwise();
}

void Fusion(mluFusionOp_t operation, Type type, void* dst, const void* a, const void* b,
            uint64_t b_value, const void* c, uint64_t c_value, int64_t count, int64_t period,
            Where where) {
  using enum Operation;
  struct Steps {
    Operation first, second;
  };
  // In the order of the enum: FMA, FMS, FAM, FSM, FAA, FAS, FSS, FSA.
  constexpr Steps kSteps[] = {{kMul, kAdd}, {kMul, kSub}, {kAdd, kMul}, {kSub, kMul},
                              {kAdd, kAdd}, {kAdd, kSub}, {kSub, kSub}, {kSub, kAdd}};
  const int size = SizeOf(type);
  const int64_t bytes = count * size;
  VectorCall call("__bang_fusion", where);
  CheckPeriod(call, count, period);
  call.Read("src0", a, bytes);
  if (b != nullptr) call.Read("src1", b, period * size);
  if (c != nullptr) call.Read("src2", c, period * size);
  call.Write("dst", dst, bytes);
  if (operation < FUSION_FMA || operation > FUSION_FSA) {
    call.Fail("the operation %d is none of FUSION_FMA to FUSION_FSA", static_cast<int>(operation));
  }
  call.Begin({.bytes = bytes, .operations = 2 * count});
  const Steps steps = kSteps[operation];
  const bool fused = steps.first == kMul && !Assumed().fusion_twice;
  // n elements of a vector that repeats, or n times a scalar, from element `begin`.
  const auto operand = [&](const void* data, uint64_t value, int64_t begin, int64_t n,
                           float* space) {
    if (data == nullptr) {
      const float scalar = *AsFloat(type, &value, 1, space);
      std::fill_n(space, n, scalar);
      return;
    }
    for (int64_t done = 0; done < n;) {
      const int64_t from = (begin + done) % period;
      const int64_t length = std::min(period - from, n - done);
      const float* const part = AsFloat(type, At(data, type, from), length, space + done);
      if (part != space + done) memcpy(space + done, part, length * sizeof(float));
      done += length;
    }
  };
  ForEachBlock(count, kBlock, [&](int64_t begin, int64_t n) {
    float x[kBlock], y[kBlock], z[kBlock];
    const float* const first = AsFloat(type, At(a, type, begin), n, x);
    operand(b, b_value, begin, n, y);
    operand(c, c_value, begin, n, z);
    if (fused) {
      if (steps.second == kSub) {
        for (int64_t i = 0; i < n; ++i) z[i] = -z[i];
      }
      HostLoops().multiply_add(x, first, y, z, n, IsNarrowFloat(type));
    } else {
      HostLoops().binary(steps.first, Type::kF32)(x, first, y, n);
      if (IsNarrowFloat(type)) {
        uint16_t rounded[kBlock];
        Narrow(type, rounded, x, n);
        Widen(type, x, rounded, n);
      }
      HostLoops().binary(steps.second, Type::kF32)(x, x, z, n);
    }
    if (type == Type::kF32) {
      memcpy(At(dst, type, begin), x, n * size);
    } else {
      Narrow(type, At(dst, type, begin), x, n);
    }
  });
  call.EndElementwise();
}

}  // namespace bang

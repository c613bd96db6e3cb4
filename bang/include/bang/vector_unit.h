// SPDX-License-Identifier: Apache-2.0
//
// What the built-ins of the vector unit call, one function per shape: the type is a value here, so
// that the library has one of each.
#ifndef BANG_VECTOR_UNIT_H_
#define BANG_VECTOR_UNIT_H_

#include <stdint.h>

#include "bang/types.h"
#include "bang/where.h"

// The operations of __bang_fusion, in the order of the compiler's enum.
typedef enum {
  FUSION_FMA,
  FUSION_FMS,
  FUSION_FAM,
  FUSION_FSM,
  FUSION_FAA,
  FUSION_FAS,
  FUSION_FSS,
  FUSION_FSA
} mluFusionOp_t;

namespace bang {

enum class Operation : uint8_t {
  kNone,
  // of two operands
  kAdd,
  kSub,
  kMul,
  kDiv,
  kRem,
  kPow,
  kMaxEqual,
  kMinEqual,
  kMaximum,
  kMinimum,
  kNanMaximum,
  kNanMinimum,
  kEq,
  kNe,
  kGt,
  kGe,
  kLt,
  kLe,
  kAnd,
  kOr,
  kXor,
  kBand,
  kBor,
  kBxor,
  kRelun,
  kAverage,
  kExchange,
  kIncrement,
  kDecrement,
  // of one
  kAbs,
  kSquare,
  kSign,
  kFloor,
  kCeil,
  kRound,
  kTrunc,
  kRecip,
  kSqrt,
  kRsqrt,
  kPow2,
  kExp,
  kLog2,
  kLog,
  kLog10,
  kLog1p,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kTanh,
  kErf,
  kSigmoid,
  kSoftplus,
  kRelu,
  kGelu,
  kNot,
  kBnot,
  // of all elements, and those that move them
  kCount,
  kFindFirst,
  kFindLast,
  kCountBits,
  kPack,
  kSelect,
  kMaskMove,
  kTranspose,
  kMirror,
  kRotate90,
  kRotate180,
  kRotate270,
  kPad,
  kToPlanes,
  kFromPlanes,
  kLookup,
  kSequence
};

// One per row of the table: name_shape.
enum class BuiltIn : uint16_t {
#define BUILTIN(name, shape, operation, types, since, passes, kind, result) name##_##shape,
#include "bang/builtins.inc"
  kNumber
};

// The result and its source, of a conversion.
template <typename ToType, typename FromType>
struct Conversion {
  using To = ToType;
  using From = FromType;
};
namespace conversions {
using half_of_float = Conversion<half, float>;
using bfloat16_t_of_float = Conversion<bfloat16_t, float>;
using bfloat16_t_of_half = Conversion<bfloat16_t, half>;
using half_of_bfloat16_t = Conversion<half, bfloat16_t>;
using float_of_half = Conversion<float, half>;
using float_of_bfloat16_t = Conversion<float, bfloat16_t>;
using int8_t_of_float = Conversion<int8_t, float>;
using int16_t_of_float = Conversion<int16_t, float>;
using int32_t_of_float = Conversion<int32_t, float>;
using uint8_t_of_float = Conversion<uint8_t, float>;
using int8_t_of_half = Conversion<int8_t, half>;
using int16_t_of_half = Conversion<int16_t, half>;
using int32_t_of_half = Conversion<int32_t, half>;
using uint8_t_of_half = Conversion<uint8_t, half>;
using int32_t_of_bfloat16_t = Conversion<int32_t, bfloat16_t>;
using float_of_int8_t = Conversion<float, int8_t>;
using float_of_int16_t = Conversion<float, int16_t>;
using float_of_int32_t = Conversion<float, int32_t>;
using float_of_uint8_t = Conversion<float, uint8_t>;
using half_of_int8_t = Conversion<half, int8_t>;
using half_of_int16_t = Conversion<half, int16_t>;
using half_of_int32_t = Conversion<half, int32_t>;
using half_of_uint8_t = Conversion<half, uint8_t>;
using bfloat16_t_of_int32_t = Conversion<bfloat16_t, int32_t>;
using int16_t_of_int8_t = Conversion<int16_t, int8_t>;
using int32_t_of_int8_t = Conversion<int32_t, int8_t>;
using int8_t_of_int16_t = Conversion<int8_t, int16_t>;
using int32_t_of_int16_t = Conversion<int32_t, int16_t>;
using int8_t_of_int32_t = Conversion<int8_t, int32_t>;
using int16_t_of_int32_t = Conversion<int16_t, int32_t>;
}  // namespace conversions

// Height, width and channels of a plane and of the window that goes over it.
struct Window {
  int channels, height, width, kernel_height, kernel_width, stride_x, stride_y;
};

void Unary(BuiltIn id, Type type, void* dst, const void* src, int64_t count, Where where);
void Binary(BuiltIn id, Type type, void* dst, const void* src0, const void* src1, int64_t count,
            Where where);
void Scalar(BuiltIn id, Type type, void* dst, const void* src, uint64_t value, int64_t count,
            Where where);
void Cycle(BuiltIn id, Type type, void* dst, const void* src, const void* seg, int64_t count,
           int64_t seg_count, Where where);
void BitCompare(BuiltIn id, Type type, void* dst, const void* src0, const void* src1, int64_t count,
                Where where);
// b and c are vectors of `period` elements, or null: then the scalars with these bits.
void Fusion(mluFusionOp_t operation, Type type, void* dst, const void* a, const void* b,
            uint64_t b_value, const void* c, uint64_t c_value, int64_t count, int64_t period,
            Where where);
void Whole(BuiltIn id, Type type, void* dst, const void* src, int64_t count, Where where);
unsigned Count(BuiltIn id, Type type, const void* src, int64_t count, Where where);
void CountTo(BuiltIn id, Type type, void* dst, const void* src, int64_t count, Where where);
unsigned Pack(BuiltIn id, Type type, void* dst, const void* src, const void* mask, bool bits,
              int64_t count, Where where);
void Plane(BuiltIn id, Type type, void* dst, const void* src, int height, int width, Where where);
void Pad(BuiltIn id, Type type, void* dst, const void* src, int channels, int height, int width,
         int top, int bottom, int left, int right, Where where);
void Reshape(BuiltIn id, Type type, void* dst, const void* src, int n, int height, int width,
             int channels, Where where);
void Pool(BuiltIn id, Type type, void* dst, const void* src, Window window, Where where);
void PoolIndex(BuiltIn id, Type type, void* dst, const void* src, Window window, Where where);
void Lookup(BuiltIn id, Type type, void* dst, const void* src, const void* table, int64_t count,
            int64_t table_count, Where where);
void Sequence(BuiltIn id, Type type, void* dst, int64_t count, Where where);
void Convert(BuiltIn id, Type to, Type from, Rounding rounding, void* dst, const void* src,
             int64_t count, int dst_position, int src_position, Where where);
// The bits of the result; without a check: scalar code.
uint64_t ConvertValue(Type to, Type from, Rounding rounding, uint64_t value);
uint64_t FunctionValue(Operation operation, Type type, uint64_t x, uint64_t y);
// `dst` gets the old values; AtomicMany's may be null.
void AtomicOne(BuiltIn id, Type type, void* dst, void* gdram, uint64_t value, Where where);
void AtomicMany(BuiltIn id, Type type, void* dst, void* gdram, const void* src, int64_t count,
                Where where);
void CompareAndSwap(Type type, void* dst, void* gdram, uint64_t expected, uint64_t value,
                    Where where);
void CompareAndSwapMany(Type type, void* dst, void* gdram, const void* expected, const void* src,
                        int64_t count, Where where);

}  // namespace bang

#endif  // BANG_VECTOR_UNIT_H_

// SPDX-License-Identifier: Apache-2.0
//
// The built-ins of BANG C. Most are made from the table in builtins.inc: per shape, a template
// whose types are the row's; a call that no row allows names the built-in and the user's line.
#ifndef BANG_BUILTINS_H_
#define BANG_BUILTINS_H_

#include <stddef.h>
#include <stdint.h>

#include <type_traits>

#include "bang/half.h"
#include "bang/machine.h"
#include "bang/types.h"
#include "bang/vector_unit.h"
#include "bang/where.h"

// The host's pass declares all of them.
#ifdef __BANG_ARCH__
#define BANG_HAS(since) (__BANG_ARCH__ >= since)
#else
#define BANG_HAS(since) true
#endif

#define BANG_INLINE inline __attribute__((always_inline))
#define BANG_TEMPLATE(types_, since)                                                              \
  template <typename T,                                                                           \
            std::enable_if_t<::bang::IsOneOf<T>(::bang::types::types_) && BANG_HAS(since), int> = \
                0>                                                                                \
  BANG_INLINE
#define BANG_WHERE ::bang::Where where = ::bang::Here()
#define BANG_ID(name, shape) ::bang::BuiltIn::name##_##shape, ::bang::kTypeOf<T>
#define BANG_SAME ::bang::Same<T>

#define BANG_DECLARE_Unary(name, operation, types, since)          \
  BANG_TEMPLATE(types, since)                                      \
  void name(T* dst, const BANG_SAME* src, int count, BANG_WHERE) { \
    ::bang::Unary(BANG_ID(name, Unary), dst, src, count, where);   \
  }
#define BANG_DECLARE_Binary(name, operation, types, since)                                 \
  BANG_TEMPLATE(types, since)                                                              \
  void name(T* dst, const BANG_SAME* src0, const BANG_SAME* src1, int count, BANG_WHERE) { \
    ::bang::Binary(BANG_ID(name, Binary), dst, src0, src1, count, where);                  \
  }
#define BANG_DECLARE_Scalar(name, operation, types, since)                                \
  BANG_TEMPLATE(types, since)                                                             \
  void name(T* dst, const BANG_SAME* src, BANG_SAME value, int count, BANG_WHERE) {       \
    ::bang::Scalar(BANG_ID(name, Scalar), dst, src, ::bang::BitsOf(value), count, where); \
  }
#define BANG_DECLARE_ScalarLast(name, operation, types, since)                          \
  BANG_TEMPLATE(types, since)                                                           \
  void name(T* dst, const BANG_SAME* src, int count, BANG_SAME value, BANG_WHERE) {     \
    ::bang::Scalar(BANG_ID(name, ScalarLast), dst, src, ::bang::BitsOf(value), count, where); \
  }
#define BANG_DECLARE_UnaryScratch(name, operation, types, since)                        \
  BANG_TEMPLATE(types, since)                                                           \
  void name(T* dst, const BANG_SAME* src, BANG_SAME*, BANG_SAME*, int count, BANG_WHERE) { \
    ::bang::Unary(BANG_ID(name, UnaryScratch), dst, src, count, where);                    \
  }
#define BANG_DECLARE_BinaryScratch(name, operation, types, since)                        \
  BANG_TEMPLATE(types, since)                                                            \
  void name(T* dst, const BANG_SAME* src0, const BANG_SAME* src1, BANG_SAME*, int count, \
            BANG_WHERE) {                                                                \
    ::bang::Binary(BANG_ID(name, BinaryScratch), dst, src0, src1, count, where);         \
  }
#define BANG_DECLARE_Cycle(name, operation, types, since)                                 \
  BANG_TEMPLATE(types, since)                                                             \
  void name(T* dst, const BANG_SAME* src, const BANG_SAME* seg, int count, int seg_count, \
            BANG_WHERE) {                                                                 \
    ::bang::Cycle(BANG_ID(name, Cycle), dst, src, seg, count, seg_count, where);          \
  }
#define BANG_DECLARE_BitCompare(name, operation, types_, since)                                   \
  template <typename T, typename D,                                                               \
            std::enable_if_t<::bang::IsOneOf<T>(::bang::types::types_) && BANG_HAS(since), int> = \
                0>                                                                                \
  BANG_INLINE void name(D* dst, const T* src0, const BANG_SAME* src1, int count, BANG_WHERE) {    \
    ::bang::BitCompare(BANG_ID(name, BitCompare), dst, src0, src1, count, where);                 \
  }
#define BANG_DECLARE_Whole(name, operation, types, since)          \
  BANG_TEMPLATE(types, since)                                      \
  void name(T* dst, const BANG_SAME* src, int count, BANG_WHERE) { \
    ::bang::Whole(BANG_ID(name, Whole), dst, src, count, where);   \
  }
#define BANG_DECLARE_Count(name, operation, types, since)          \
  BANG_TEMPLATE(types, since)                                      \
  unsigned name(const T* src, int count, BANG_WHERE) {             \
    return ::bang::Count(BANG_ID(name, Count), src, count, where); \
  }
#define BANG_DECLARE_CountTo(name, operation, types, since)          \
  BANG_TEMPLATE(types, since)                                        \
  void name(unsigned* dst, const T* src, int count, BANG_WHERE) {    \
    ::bang::CountTo(BANG_ID(name, CountTo), dst, src, count, where); \
  }
#define BANG_DECLARE_Pack(name, operation, types, since)                                  \
  BANG_TEMPLATE(types, since)                                                             \
  void name(T* dst, const BANG_SAME* src, const BANG_SAME* mask, int count, BANG_WHERE) { \
    ::bang::Pack(BANG_ID(name, Pack), dst, src, mask, false, count, where);               \
  }
#define BANG_DECLARE_PackBits(name, operation, types, since)                         \
  BANG_TEMPLATE(types, since)                                                        \
  void name(T* dst, const BANG_SAME* src, const void* bits, int count, BANG_WHERE) { \
    ::bang::Pack(BANG_ID(name, PackBits), dst, src, bits, true, count, where);       \
  }
#define BANG_DECLARE_PackCount(name, operation, types, since)                                 \
  BANG_TEMPLATE(types, since)                                                                 \
  unsigned name(T* dst, const BANG_SAME* src, const BANG_SAME* mask, int count, BANG_WHERE) { \
    return ::bang::Pack(BANG_ID(name, PackCount), dst, src, mask, false, count, where);       \
  }
#define BANG_DECLARE_PackBitsCount(name, operation, types, since)                          \
  BANG_TEMPLATE(types, since)                                                              \
  unsigned name(T* dst, const BANG_SAME* src, const void* bits, int count, BANG_WHERE) {   \
    return ::bang::Pack(BANG_ID(name, PackBitsCount), dst, src, bits, true, count, where); \
  }
#define BANG_DECLARE_Plane(name, operation, types, since)                      \
  BANG_TEMPLATE(types, since)                                                  \
  void name(T* dst, const BANG_SAME* src, int height, int width, BANG_WHERE) { \
    ::bang::Plane(BANG_ID(name, Plane), dst, src, height, width, where);       \
  }
#define BANG_DECLARE_Pad(name, operation, types, since)                                        \
  BANG_TEMPLATE(types, since)                                                                  \
  void name(T* dst, const BANG_SAME* src, int channels, int height, int width, int pad_height, \
            int pad_width, BANG_WHERE) {                                                       \
    ::bang::Pad(BANG_ID(name, Pad), dst, src, channels, height, width, pad_height, pad_height, \
                pad_width, pad_width, where);                                                  \
  }
#define BANG_DECLARE_PadSides(name, operation, types, since)                                   \
  BANG_TEMPLATE(types, since)                                                                  \
  void name(T* dst, const BANG_SAME* src, int channels, int height, int width, int top,        \
            int bottom, int left, int right, BANG_WHERE) {                                     \
    ::bang::Pad(BANG_ID(name, PadSides), dst, src, channels, height, width, top, bottom, left, \
                right, where);                                                                 \
  }
#define BANG_DECLARE_Reshape(name, operation, types, since)                               \
  BANG_TEMPLATE(types, since)                                                             \
  void name(T* dst, const BANG_SAME* src, int n, int height, int width, int channels,     \
            BANG_WHERE) {                                                                 \
    ::bang::Reshape(BANG_ID(name, Reshape), dst, src, n, height, width, channels, where); \
  }
#define BANG_DECLARE_Pool(name, operation, types, since)                                          \
  BANG_TEMPLATE(types, since)                                                                     \
  void name(T* dst, const BANG_SAME* src, int channels, int height, int width, int kernel_height, \
            int kernel_width, BANG_WHERE) {                                                       \
    ::bang::Pool(                                                                                 \
        BANG_ID(name, Pool), dst, src,                                                            \
        {channels, height, width, kernel_height, kernel_width, kernel_width, kernel_height},      \
        where);                                                                                   \
  }
#define BANG_DECLARE_PoolStride(name, operation, types, since)                                    \
  BANG_TEMPLATE(types, since)                                                                     \
  void name(T* dst, const BANG_SAME* src, int channels, int height, int width, int kernel_height, \
            int kernel_width, int stride_x, int stride_y, BANG_WHERE) {                           \
    ::bang::Pool(BANG_ID(name, PoolStride), dst, src,                                             \
                 {channels, height, width, kernel_height, kernel_width, stride_x, stride_y},      \
                 where);                                                                          \
  }
// The index has the size of the elements.
#define BANG_DECLARE_PoolIndex(name, operation, types_, since)                               \
  template <typename I, typename T,                                                          \
            std::enable_if_t<::bang::IsOneOf<T>(::bang::types::types_) && BANG_HAS(since) && \
                                 std::is_integral<I>::value && sizeof(I) == sizeof(T),       \
                             int> = 0>                                                       \
  BANG_INLINE void name(I* dst, const T* src, int channels, int height, int width,           \
                        int kernel_height, int kernel_width, BANG_WHERE) {                   \
    ::bang::PoolIndex(                                                                       \
        BANG_ID(name, PoolIndex), dst, src,                                                  \
        {channels, height, width, kernel_height, kernel_width, kernel_width, kernel_height}, \
        where);                                                                              \
  }
#define BANG_DECLARE_PoolIndexStride(name, operation, types_, since)                              \
  template <typename I, typename T,                                                               \
            std::enable_if_t<::bang::IsOneOf<T>(::bang::types::types_) && BANG_HAS(since) &&      \
                                 std::is_integral<I>::value && sizeof(I) == sizeof(T),            \
                             int> = 0>                                                            \
  BANG_INLINE void name(I* dst, const T* src, int channels, int height, int width,                \
                        int kernel_height, int kernel_width, int stride_x, int stride_y,          \
                        BANG_WHERE) {                                                             \
    ::bang::PoolIndex(BANG_ID(name, PoolIndexStride), dst, src,                                   \
                      {channels, height, width, kernel_height, kernel_width, stride_x, stride_y}, \
                      where);                                                                     \
  }
#define BANG_DECLARE_Lookup(name, operation, types, since)                                    \
  BANG_TEMPLATE(types, since)                                                                 \
  void name(T* dst, const BANG_SAME* src, const BANG_SAME* table, int count, int table_count, \
            BANG_WHERE) {                                                                     \
    ::bang::Lookup(BANG_ID(name, Lookup), dst, src, table, count, table_count, where);        \
  }
#define BANG_DECLARE_Sequence(name, operation, types, since)      \
  BANG_TEMPLATE(types, since)                                     \
  void name(T* dst, int count, BANG_WHERE) {                      \
    ::bang::Sequence(BANG_ID(name, Sequence), dst, count, where); \
  }
#define BANG_DECLARE_Fill(name, operation, types, since)                           \
  template <typename D, typename T>                                                \
  BANG_INLINE void name(D* dst, int count, T value, BANG_WHERE) {                  \
    ::bang::FillWith(#name, ::bang::SpaceOfFill(#name), dst, count, value, where); \
  }
#define BANG_DECLARE_FillZero(name, operation, types, since)                    \
  BANG_TEMPLATE(types, since)                                                   \
  void name(T* dst, int count, BANG_WHERE) {                                    \
    ::bang::Fill(#name, dst, count, sizeof(T), 0, ::bang::Space::kNram, where); \
  }
#define BANG_CONVERSION(types, since)                        \
  template <typename C = ::bang::conversions::types,         \
            std::enable_if_t<BANG_HAS(since), C>* = nullptr> \
  BANG_INLINE
#define BANG_CONVERT(name, shape, rounding)                                         \
  ::bang::Convert(::bang::BuiltIn::name##_##shape, ::bang::kTypeOf<typename C::To>,     \
                  ::bang::kTypeOf<typename C::From>, ::bang::Rounding::rounding, dst, src, count
#define BANG_DECLARE_Convert(name, rounding, types, since)                             \
  BANG_CONVERSION(types, since)                                                        \
  void name(typename C::To* dst, const typename C::From* src, int count, BANG_WHERE) { \
    BANG_CONVERT(name, Convert, rounding), 0, 0, where);                               \
  }
#define BANG_DECLARE_ConvertFixed(name, rounding, types, since)                           \
  BANG_CONVERSION(types, since)                                                           \
  void name(::bang::Bytes<typename C::To> dst, ::bang::Bytes<const typename C::From> src, \
            int count, int position = 0, BANG_WHERE) {                                    \
    BANG_CONVERT(name, ConvertFixed, rounding), position, position, where);               \
  }
#define BANG_DECLARE_ConvertIntegers(name, rounding, types, since)                        \
  BANG_CONVERSION(types, since)                                                           \
  void name(::bang::Bytes<typename C::To> dst, ::bang::Bytes<const typename C::From> src, \
            int count, int dst_position, int src_position, BANG_WHERE) {                  \
    BANG_CONVERT(name, ConvertIntegers, rounding), dst_position, src_position, where);    \
  }
#define BANG_DECLARE_ConvertScalar(name, rounding, types, since)                                 \
  BANG_CONVERSION(types, since)                                                                  \
  typename C::To name(typename C::From value) {                                                  \
    return ::bang::FromBits<typename C::To>(                                                     \
        ::bang::ConvertValue(::bang::kTypeOf<typename C::To>, ::bang::kTypeOf<typename C::From>, \
                             ::bang::Rounding::rounding, ::bang::BitsOf(value)));                \
  }
#define BANG_DECLARE_AtomicOne(name, operation, types, since)                              \
  BANG_TEMPLATE(types, since)                                                              \
  void name(T* dst, BANG_SAME* gdram, BANG_SAME value, BANG_WHERE) {                       \
    ::bang::AtomicOne(BANG_ID(name, AtomicOne), dst, gdram, ::bang::BitsOf(value), where); \
  }
#define BANG_DECLARE_AtomicMany(name, operation, types, since)                       \
  BANG_TEMPLATE(types, since)                                                        \
  void name(T* dst, BANG_SAME* gdram, const BANG_SAME* src, int count, BANG_WHERE) { \
    ::bang::AtomicMany(BANG_ID(name, AtomicMany), dst, gdram, src, count, where);    \
  }
#define BANG_DECLARE_AtomicReduce(name, operation, types, since)                        \
  BANG_TEMPLATE(types, since)                                                           \
  void name(T* gdram, const BANG_SAME* src, int count, BANG_WHERE) {                    \
    ::bang::AtomicMany(BANG_ID(name, AtomicReduce), nullptr, gdram, src, count, where); \
  }
#define BANG_DECLARE_Function(name, operation, types_, since)      \
  BANG_INLINE ::bang::OnlyType<::bang::types::types_> name(        \
      ::bang::OnlyType<::bang::types::types_> x) {                 \
    return ::bang::FunctionOf(::bang::Operation::operation, x, x); \
  }
#define BANG_DECLARE_Function2(name, operation, types_, since)                                \
  BANG_INLINE ::bang::OnlyType<::bang::types::types_> name(                                   \
      ::bang::OnlyType<::bang::types::types_> x, ::bang::OnlyType<::bang::types::types_> y) { \
    return ::bang::FunctionOf(::bang::Operation::operation, x, y);                            \
  }
#define BANG_DECLARE_VectorFunction(name, operation, types, since)        \
  BANG_TEMPLATE(types, since)                                             \
  void name(int count, T* dst, const BANG_SAME* src, BANG_WHERE) {        \
    ::bang::Unary(BANG_ID(name, VectorFunction), dst, src, count, where); \
  }
#define BANG_DECLARE_VectorFunction2(name, operation, types, since)                        \
  BANG_TEMPLATE(types, since)                                                              \
  void name(int count, T* dst, const BANG_SAME* src0, const BANG_SAME* src1, BANG_WHERE) { \
    ::bang::Binary(BANG_ID(name, VectorFunction2), dst, src0, src1, count, where);         \
  }
#define BANG_DECLARE_VectorFunctionScalar(name, operation, types, since)                        \
  BANG_TEMPLATE(types, since)                                                                   \
  void name(int count, T* dst, const BANG_SAME* src, BANG_SAME value, BANG_WHERE) {             \
    ::bang::Scalar(BANG_ID(name, VectorFunctionScalar), dst, src, ::bang::BitsOf(value), count, \
                   where);                                                                      \
  }
#define BANG_DECLARE_Declared(name, operation, types, since)

namespace bang {

template <typename T>
inline T FromBits(uint64_t bits) {
  T value;
  memcpy(static_cast<void*>(&value), &bits, sizeof value);
  return value;
}

template <typename T>
BANG_INLINE T FunctionOf(Operation operation, T x, T y) {
  return FromBits<T>(FunctionValue(operation, kTypeOf<T>, BitsOf(x), BitsOf(y)));
}

// The type of a set that has only one.
template <TypeSet kSet>
using OnlyType = std::conditional_t<
    kSet == types::kFloat, float,
    std::conditional_t<
        kSet == types::kHalf, half,
        std::conditional_t<
            kSet == types::kInt32, int32_t,
            std::conditional_t<kSet == types::kUint32, uint32_t,
                               std::conditional_t<kSet == types::kInt64, int64_t, uint64_t>>>>>;

// A pointer to T, or, as T is one byte, to any character type: char* is what most kernels pass.
template <typename T, bool kByte = sizeof(T) == 1>
class BytePointer {
 public:
  template <typename U, typename = std::enable_if_t<sizeof(U) == 1 &&
                                                    std::is_integral<std::remove_cv_t<U>>::value>>
  BANG_INLINE BytePointer(U* data)  // NOLINT(google-explicit-constructor)
      : data_(reinterpret_cast<T*>(data)) {}
  BANG_INLINE operator T*() const { return data_; }  // NOLINT(google-explicit-constructor)

 private:
  T* data_;
};
template <typename T>
using Bytes = std::conditional_t<sizeof(T) == 1, BytePointer<T>, T*>;

// A fill's value chooses the width; a double, which is no type of the device, becomes what dst has.
template <typename D, typename T>
using FillType = std::conditional_t<
    !std::is_same<T, double>::value, T,
    std::conditional_t<ElementType<D>::kIsElement && SizeOf(kTypeOf<D>) != 1, D, float>>;

template <typename D, typename T>
BANG_INLINE void FillWith(const char* name, Space space, D* dst, int count, T value, Where where) {
  static_assert(std::is_same<T, double>::value || ElementType<T>::kIsElement,
                "the value of a fill is half, bfloat16_t, float or an integer");
  Fill(name, dst, count, sizeof(FillType<D, T>), BitsOf(static_cast<FillType<D, T>>(value)), space,
       where);
}

constexpr Space SpaceOfFill(const char* name) {
  return name[2] == 's'   ? Space::kSram
         : name[2] == 'l' ? Space::kLdram
         : name[2] == 'g' ? Space::kGdram
                          : Space::kNram;
}

}  // namespace bang

#define BUILTIN(name, shape, operation, types, since, passes, kind, result) \
  BANG_DECLARE_##shape(name, operation, types, since)
#include "bang/builtins.inc"
#include "bang/builtins_declared.h"

#endif  // BANG_BUILTINS_H_

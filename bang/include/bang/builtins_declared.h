// SPDX-License-Identifier: Apache-2.0
//
// The built-ins whose parameters fit no shape of the table: copies, syncs, barriers, printing.
#ifndef BANG_BUILTINS_DECLARED_H_
#define BANG_BUILTINS_DECLARED_H_

#include <initializer_list>

// --- Copies --------------------------------------------------------------------------------------
#define BANG_DECLARE_COPY(name, async)                                                             \
  BANG_INLINE void name(void* dst, const void* src, int64_t bytes, mluMemcpyDirection_t direction, \
                        BANG_WHERE) {                                                              \
    ::bang::Copy(#name, async, dst, src, {bytes, {}, {}}, direction, where);                       \
  }                                                                                                \
  BANG_INLINE void name(void* dst, const void* src, int64_t bytes, mluMemcpyDirection_t direction, \
                        int64_t cluster, BANG_WHERE) {                                            \
    ::bang::CopyToCluster(#name, async, dst, src, bytes, direction, cluster, where);              \
  }                                                                                               \
  BANG_INLINE void name(void* dst, const void* src, int64_t bytes, mluMemcpyDirection_t direction, \
                        int64_t dst_stride, int64_t src_stride, int64_t segnum, BANG_WHERE) {     \
    ::bang::Copy(#name, async, dst, src,                                                          \
                 {bytes, {dst_stride, segnum, 0, 0}, {src_stride, segnum, 0, 0}}, direction, where); \
  }                                                                                               \
  BANG_INLINE void name(void* dst, const void* src, int64_t bytes, mluMemcpyDirection_t direction, \
                        int64_t dst_stride0, int64_t dst_segnum1, int64_t dst_stride1,             \
                        int64_t dst_segnum2, int64_t src_stride0, int64_t src_segnum1,             \
                        int64_t src_stride1, int64_t src_segnum2, BANG_WHERE) {                    \
    ::bang::Copy(#name, async, dst, src,                                                           \
                 {bytes,                                                                           \
                  {dst_stride0, dst_segnum1, dst_stride1, dst_segnum2},                            \
                  {src_stride0, src_segnum1, src_stride1, src_segnum2}},                           \
                 direction, where);                                                                \
  }
BANG_DECLARE_COPY(__memcpy, false)
BANG_DECLARE_COPY(__memcpy_async, true)

#define BANG_DECLARE_MOVE(name)                                                              \
  BANG_INLINE void name(void* dst, const void* src, int64_t bytes, BANG_WHERE) {             \
    ::bang::Copy(#name, false, dst, src, {bytes, {}, {}}, NRAM2NRAM, where);                 \
  }                                                                                          \
  BANG_INLINE void name(void* dst, const void* src, int64_t bytes, int64_t dst_stride,       \
                        int64_t src_stride, int64_t segnum, BANG_WHERE) {                    \
    ::bang::Copy(#name, false, dst, src,                                                     \
                 {bytes, {dst_stride, segnum, 0, 0}, {src_stride, segnum, 0, 0}}, NRAM2NRAM, \
                 where);                                                                     \
  }
BANG_DECLARE_MOVE(__bang_move)
BANG_DECLARE_MOVE(__memcpy_nram_to_nram)

namespace bang {
BANG_INLINE void GatherTo(const char* name, void* dst, const void* src, const unsigned* offsets,
                          const void* mask, int64_t bytes, mluMemcpyDirection_t direction,
                          int64_t stride, int64_t count, Where where) {
  if (direction != GDRAM2NRAM) Stop("__gather takes GDRAM2NRAM alone", where);
  Gather(name, dst, src, {offsets, mask, bytes, stride, count}, where);
}
BANG_INLINE void ScatterTo(const char* name, void* dst, const void* src, const unsigned* offsets,
                           const void* mask, int64_t bytes, mluMemcpyDirection_t direction,
                           int64_t stride, int64_t count, Where where) {
  if (direction != NRAM2GDRAM) Stop("__scatter takes NRAM2GDRAM alone", where);
  Scatter(name, dst, src, {offsets, mask, bytes, stride, count}, where);
}
}  // namespace bang

#define BANG_DECLARE_GATHER(name, function)                                                      \
  BANG_INLINE void name(void* dst, const void* src, const unsigned* offsets, int64_t bytes,      \
                        mluMemcpyDirection_t direction, int64_t stride, int64_t count,           \
                        BANG_WHERE) {                                                            \
    ::bang::function(#name, dst, src, offsets, nullptr, bytes, direction, stride, count, where); \
  }                                                                                              \
  BANG_INLINE void name(void* dst, const void* src, const unsigned* offsets, const void* mask,   \
                        int64_t bytes, mluMemcpyDirection_t direction, int64_t stride,           \
                        int64_t count, BANG_WHERE) {                                             \
    ::bang::function(#name, dst, src, offsets, mask, bytes, direction, stride, count, where);    \
  }
BANG_DECLARE_GATHER(__gather, GatherTo)
BANG_DECLARE_GATHER(__gather_async, GatherTo)
BANG_DECLARE_GATHER(__scatter, ScatterTo)
BANG_DECLARE_GATHER(__scatter_async, ScatterTo)

#define BANG_DECLARE_NRAMSET(name, type)                                     \
  BANG_INLINE void name(type* dst, int count, type value, BANG_WHERE) {      \
    ::bang::FillWith(#name, ::bang::Space::kNram, dst, count, value, where); \
  }
BANG_DECLARE_NRAMSET(__nramset_half, half)
BANG_DECLARE_NRAMSET(__nramset_float, float)
BANG_DECLARE_NRAMSET(__nramset_short, short)
BANG_DECLARE_NRAMSET(__nramset_int, int)

// --- Fusion: the second and third operand are vectors or scalars
// ----------------------------------
#define BANG_FUSION_TEMPLATE BANG_TEMPLATE(kFloating, 372)
BANG_FUSION_TEMPLATE
void __bang_fusion(mluFusionOp_t operation, T* dst, const BANG_SAME* a, const BANG_SAME* b,
                   const BANG_SAME* c, int count, int period, BANG_WHERE) {
  ::bang::Fusion(operation, ::bang::kTypeOf<T>, dst, a, b, 0, c, 0, count, period, where);
}
BANG_FUSION_TEMPLATE
void __bang_fusion(mluFusionOp_t operation, T* dst, const BANG_SAME* a, const BANG_SAME* b,
                   const BANG_SAME* c, int count, BANG_WHERE) {
  ::bang::Fusion(operation, ::bang::kTypeOf<T>, dst, a, b, 0, c, 0, count, count, where);
}
BANG_FUSION_TEMPLATE
void __bang_fusion(mluFusionOp_t operation, T* dst, const BANG_SAME* a, const BANG_SAME* b,
                   BANG_SAME c, int count, int period, BANG_WHERE) {
  ::bang::Fusion(operation, ::bang::kTypeOf<T>, dst, a, b, 0, nullptr, ::bang::BitsOf(c), count,
                 period, where);
}
BANG_FUSION_TEMPLATE
void __bang_fusion(mluFusionOp_t operation, T* dst, const BANG_SAME* a, const BANG_SAME* b,
                   BANG_SAME c, int count, BANG_WHERE) {
  ::bang::Fusion(operation, ::bang::kTypeOf<T>, dst, a, b, 0, nullptr, ::bang::BitsOf(c), count,
                 count, where);
}
BANG_FUSION_TEMPLATE
void __bang_fusion(mluFusionOp_t operation, T* dst, const BANG_SAME* a, BANG_SAME b,
                   const BANG_SAME* c, int count, int period, BANG_WHERE) {
  ::bang::Fusion(operation, ::bang::kTypeOf<T>, dst, a, nullptr, ::bang::BitsOf(b), c, 0, count,
                 period, where);
}
BANG_FUSION_TEMPLATE
void __bang_fusion(mluFusionOp_t operation, T* dst, const BANG_SAME* a, BANG_SAME b,
                   const BANG_SAME* c, int count, BANG_WHERE) {
  ::bang::Fusion(operation, ::bang::kTypeOf<T>, dst, a, nullptr, ::bang::BitsOf(b), c, 0, count,
                 count, where);
}
BANG_FUSION_TEMPLATE
void __bang_fusion(mluFusionOp_t operation, T* dst, const BANG_SAME* a, BANG_SAME b, BANG_SAME c,
                   int count, BANG_WHERE) {
  ::bang::Fusion(operation, ::bang::kTypeOf<T>, dst, a, nullptr, ::bang::BitsOf(b), nullptr,
                 ::bang::BitsOf(c), count, count, where);
}
BANG_FUSION_TEMPLATE
void __bang_fusion(mluFusionOp_t operation, T* dst, const BANG_SAME* a, BANG_SAME b, BANG_SAME c,
                   int count, int, BANG_WHERE) {
  ::bang::Fusion(operation, ::bang::kTypeOf<T>, dst, a, nullptr, ::bang::BitsOf(b), nullptr,
                 ::bang::BitsOf(c), count, count, where);
}
#undef BANG_FUSION_TEMPLATE

// --- Syncs and barriers --------------------------------------------------------------------------
#define BANG_DECLARE_SYNC(name, pipes) \
  BANG_INLINE void name(BANG_WHERE) { ::bang::Sync(#name, pipes, where); }
BANG_DECLARE_SYNC(__sync, ::bang::kIoBit | ::bang::kMoveBit | ::bang::kComputeBit)
BANG_DECLARE_SYNC(__sync_io, ::bang::kIoBit)
BANG_DECLARE_SYNC(__sync_move, ::bang::kMoveBit)
BANG_DECLARE_SYNC(__sync_compute, ::bang::kComputeBit)
BANG_DECLARE_SYNC(__sync_io_move_compute, ::bang::kIoBit | ::bang::kMoveBit | ::bang::kComputeBit)
BANG_DECLARE_SYNC(__sync_copy_nram_to_nram, ::bang::kComputeBit)
BANG_DECLARE_SYNC(__sync_copy_nram_to_dram, ::bang::kIoBit)
BANG_DECLARE_SYNC(__sync_copy_dram_to_nram, ::bang::kIoBit)
BANG_DECLARE_SYNC(__sync_copy_wram_to_dram, ::bang::kIoBit)
BANG_DECLARE_SYNC(__sync_copy_dram_to_wram, ::bang::kIoBit)
BANG_DECLARE_SYNC(__sync_copy_sram_to_dram, ::bang::kIoBit)
BANG_DECLARE_SYNC(__sync_copy_dram_to_sram, ::bang::kIoBit)
BANG_DECLARE_SYNC(__sync_copy_nram_to_sram, ::bang::kMoveBit)
BANG_DECLARE_SYNC(__sync_copy_sram_to_nram, ::bang::kMoveBit)
BANG_DECLARE_SYNC(__sync_copy_wram_to_sram, ::bang::kMoveBit)
BANG_DECLARE_SYNC(__sync_copy_sram_to_wram, ::bang::kMoveBit)

BANG_INLINE void __sync_io_move_compute(bool io, bool move, bool compute, bool io_waits,
                                        bool move_waits, bool compute_waits, BANG_WHERE) {
  ::bang::SyncPipes("__sync_io_move_compute",
                    io * ::bang::kIoBit | move * ::bang::kMoveBit | compute * ::bang::kComputeBit,
                    io_waits * ::bang::kIoBit | move_waits * ::bang::kMoveBit |
                        compute_waits * ::bang::kComputeBit,
                    where);
}

#define BANG_DECLARE_BARRIER(name, kind) \
  BANG_INLINE void name(BANG_WHERE) { ::bang::Barrier(#name, ::bang::BarrierKind::kind, where); }
BANG_DECLARE_BARRIER(__sync_all_ipu, kIpus)
BANG_DECLARE_BARRIER(__sync_all_mpu, kMpus)
BANG_DECLARE_BARRIER(__sync_cluster, kCluster)
BANG_DECLARE_BARRIER(__sync_all, kAll)

BANG_INLINE void __bang_lock(int id, int, BANG_WHERE) { ::bang::Lock(id, where); }
BANG_INLINE void __bang_unlock(int id, int, BANG_WHERE) { ::bang::Unlock(id, where); }

BANG_TEMPLATE(kAtomic, 372)
void __bang_atomic_cas(T* dst, BANG_SAME* gdram, BANG_SAME expected, BANG_SAME value, BANG_WHERE) {
  ::bang::CompareAndSwap(::bang::kTypeOf<T>, dst, gdram, ::bang::BitsOf(expected),
                         ::bang::BitsOf(value), where);
}
BANG_TEMPLATE(kAtomic, 372)
void __bang_atomic_cas(T* dst, BANG_SAME* gdram, const BANG_SAME* expected, const BANG_SAME* src,
                       int count, BANG_WHERE) {
  ::bang::CompareAndSwapMany(::bang::kTypeOf<T>, dst, gdram, expected, src, count, where);
}

// --- Pointers, printing, stopping
// -----------------------------------------------------------------
inline bool __is_nram(const void* data) { return ::bang::IsIn(data, ::bang::Space::kNram); }
inline bool __is_wram(const void* data) { return ::bang::IsIn(data, ::bang::Space::kWram); }
inline bool __is_sram(const void* data) { return ::bang::IsIn(data, ::bang::Space::kSram); }

namespace bang {

// An argument of __bang_printf.
class PrintArgument {
 public:
  enum class Kind : uint8_t { kInteger, kDouble, kPointer };
  template <typename T>
  PrintArgument(T value) {  // NOLINT(google-explicit-constructor)
    if constexpr (std::is_same<T, half>::value || std::is_same<T, bfloat16_t>::value ||
                  std::is_floating_point<T>::value) {
      kind_ = Kind::kDouble;
      double_ = static_cast<double>(static_cast<float>(value));
      if constexpr (std::is_same<T, double>::value) double_ = value;
    } else if constexpr (std::is_pointer<T>::value || std::is_null_pointer<T>::value) {
      kind_ = Kind::kPointer;
      pointer_ = value;
    } else {
      kind_ = Kind::kInteger;
      integer_ = static_cast<long long>(value);
    }
  }

  Kind kind() const { return kind_; }
  long long integer() const { return integer_; }
  double floating() const { return double_; }
  const void* pointer() const { return pointer_; }

 private:
  Kind kind_ = Kind::kInteger;
  long long integer_ = 0;
  double double_ = 0;
  const void* pointer_ = nullptr;
};

void PrintFormatted(const char* format, std::initializer_list<PrintArgument> arguments);

}  // namespace bang

template <typename... Arguments>
inline void __bang_printf(const char* format, Arguments... arguments) {
  ::bang::PrintFormatted(format, {::bang::PrintArgument(arguments)...});
}

inline void __abort(BANG_WHERE) { ::bang::Stop("__abort", where); }
inline void __assert(const char* condition, const char* file, int line) {
  ::bang::Stop(condition, ::bang::Where{file, line});
}

inline int __cn_scalar_isnan_f32(float x) { return x != x; }
inline int __cn_scalar_isinf_f32(float x) { return x == x && x - x != 0; }

#endif  // BANG_BUILTINS_DECLARED_H_

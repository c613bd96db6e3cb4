// SPDX-License-Identifier: Apache-2.0
//
// Pooling: a window goes over a plane of pixels whose channels lie together.
#include <string.h>

#include <vector>

#include "bang/vector_unit.h"
#include "builtins/assumptions.h"
#include "builtins/blocks.h"
#include "builtins/rows.h"
#include "machine/vector_call.h"

namespace bang {
namespace {

struct Sizes {
  int64_t out_height, out_width, src_count, dst_count;
};

Sizes Check(VectorCall& call, const Window& window) {
  call.Count(window.channels, "channels");
  call.Count(window.height, "height");
  call.Count(window.width, "width");
  call.Count(window.kernel_height, "kernel_height");
  call.Count(window.kernel_width, "kernel_width");
  call.Count(window.stride_x, "stride_x");
  call.Count(window.stride_y, "stride_y");
  if (window.kernel_height > window.height || window.kernel_width > window.width) {
    call.Fail("the kernel is %d x %d, larger than the plane of %d x %d", window.kernel_height,
              window.kernel_width, window.height, window.width);
  }
  const int64_t out_height = (window.height - window.kernel_height) / window.stride_y + 1;
  const int64_t out_width = (window.width - window.kernel_width) / window.stride_x + 1;
  return {out_height, out_width, int64_t{window.height} * window.width * window.channels,
          out_height * out_width * window.channels};
}

// Calls f(first pixel of the window, result) for each window; both count in elements.
template <typename F>
void ForEachWindow(const Window& window, const Sizes& sizes, F f) {
  for (int64_t y = 0; y < sizes.out_height; ++y) {
    for (int64_t x = 0; x < sizes.out_width; ++x) {
      f((y * window.stride_y * window.width + x * window.stride_x) * window.channels,
        (y * sizes.out_width + x) * window.channels);
    }
  }
}

// Joins the window's pixels, row by row, into result[channels].
template <typename Join>
void JoinWindow(const Window& window, const float* first, float* result, Join join) {
  memcpy(result, first, window.channels * sizeof(float));
  for (int64_t y = 0; y < window.kernel_height; ++y) {
    const float* const row = first + y * window.width * window.channels;
    for (int64_t x = y == 0 ? 1 : 0; x < window.kernel_width; ++x) {
      const float* const pixel = row + x * window.channels;
      for (int64_t c = 0; c < window.channels; ++c) result[c] = join(result[c], pixel[c]);
    }
  }
}

float RoundTo(Type type, float x) {
  uint16_t narrow;
  Narrow(type, &narrow, &x, 1);
  Widen(type, &x, &narrow, 1);
  return x;
}

void PoolWindow(Operation operation, Type type, const Window& window, const float* first,
                float* result) {
  switch (operation) {
    case Operation::kMaximum:
      JoinWindow(window, first, result, [](float a, float b) { return a != a || a < b ? b : a; });
      return;
    case Operation::kMinimum:
      JoinWindow(window, first, result, [](float a, float b) { return a != a || b < a ? b : a; });
      return;
    default: break;
  }
  if (IsNarrowFloat(type) && Assumed().pool_narrow) {
    JoinWindow(window, first, result, [type](float a, float b) { return RoundTo(type, a + b); });
  } else {
    JoinWindow(window, first, result, [](float a, float b) { return a + b; });
  }
  const float factor = operation == Operation::kAverage
                           ? 1.0f / static_cast<float>(window.kernel_height * window.kernel_width)
                           : 1.0f;
  for (int64_t c = 0; c < window.channels; ++c) {
    result[c] *= factor;
    if (result[c] != result[c]) result[c] = __builtin_nanf("");
  }
}

const float* WholeAsFloat(Type type, const void* src, int64_t count, std::vector<float>& space) {
  if (type != Type::kF32) space.resize(count);
  return AsFloat(type, src, count, space.data());
}

}  // namespace

void Pool(BuiltIn id, Type type, void* dst, const void* src, Window window, Where where) {
  const Row& row = RowOf(id);
  VectorCall call(row.name, where);
  const Sizes sizes = Check(call, window);
  call.Read("src", src, sizes.src_count * SizeOf(type));
  call.Write("dst", dst, sizes.dst_count * SizeOf(type));
  call.Trailing();  // kernels reduce in place, part after part
  const int64_t joined = sizes.dst_count * window.kernel_height * window.kernel_width;
  call.Begin(row.Cost(joined * SizeOf(type), joined));
  std::vector<float> space, results(sizes.dst_count);
  const float* const data = WholeAsFloat(type, src, sizes.src_count, space);
  ForEachWindow(window, sizes, [&](int64_t first, int64_t result) {
    PoolWindow(row.operation, type, window, data + first, results.data() + result);
  });
  if (type == Type::kF32) {
    memcpy(dst, results.data(), sizes.dst_count * sizeof(float));
  } else {
    Narrow(type, dst, results.data(), sizes.dst_count);
  }
  call.EndWhole();
}

void PoolIndex(BuiltIn id, Type type, void* dst, const void* src, Window window, Where where) {
  const Row& row = RowOf(id);
  VectorCall call(row.name, where);
  const Sizes sizes = Check(call, window);
  call.Read("src", src, sizes.src_count * SizeOf(type));
  call.Write("dst", dst, sizes.dst_count * SizeOf(type));
  const int64_t joined = sizes.dst_count * window.kernel_height * window.kernel_width;
  call.Begin(row.Cost(joined * SizeOf(type), joined));
  std::vector<float> space;
  std::vector<uint32_t> indices(sizes.dst_count);
  const float* const data = WholeAsFloat(type, src, sizes.src_count, space);
  const float sign = row.operation == Operation::kMaximum ? 1 : -1;
  ForEachWindow(window, sizes, [&](int64_t first, int64_t result) {
    for (int64_t c = 0; c < window.channels; ++c) {
      uint32_t best = 0;
      float extreme = __builtin_nanf("");
      for (int64_t i = 0; i < int64_t{window.kernel_height} * window.kernel_width; ++i) {
        const int64_t y = i / window.kernel_width, x = i % window.kernel_width;
        const float value = sign * data[first + (y * window.width + x) * window.channels + c];
        if (value > extreme || (extreme != extreme && value == value)) {
          extreme = value;
          best = static_cast<uint32_t>(i);
        }
      }
      indices[result + c] = best;
    }
  });
  for (int64_t i = 0; i < sizes.dst_count; ++i) memcpy(At(dst, type, i), &indices[i], SizeOf(type));
  call.EndWhole();
}

}  // namespace bang

// SPDX-License-Identifier: Apache-2.0
//
// Built-ins that move elements of a plane: transposing, mirroring, rotating, padding.
#include <string.h>

#include <algorithm>

#include "bang/vector_unit.h"
#include "builtins/rows.h"
#include "builtins/truth.h"
#include "machine/vector_call.h"

namespace bang {
namespace {

// dst[column][row] = src[row][column], by tiles that stay in the host's cache.
template <typename U>
void Transpose(void* dst, const void* src, int64_t height, int64_t width) {
  constexpr int64_t kTile = 16;
  for (int64_t row = 0; row < height; row += kTile) {
    const int64_t row_end = std::min(row + kTile, height);
    for (int64_t column = 0; column < width; column += kTile) {
      const int64_t column_end = std::min(column + kTile, width);
      for (int64_t x = column; x < column_end; ++x) {
        for (int64_t y = row; y < row_end; ++y) {
          StoreBits<U>(dst, x * height + y, LoadBits<U>(src, y * width + x));
        }
      }
    }
  }
}

template <typename U>
void MovePlane(Operation operation, void* dst, const void* src, int64_t height, int64_t width) {
  if (operation == Operation::kTranspose) {
    Transpose<U>(dst, src, height, width);
    return;
  }
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      const int64_t from_right = width - 1 - x, from_below = height - 1 - y;
      const int64_t to = operation == Operation::kMirror      ? y * width + from_right
                         : operation == Operation::kRotate90  ? x * height + from_below
                         : operation == Operation::kRotate180 ? from_below * width + from_right
                                                              : from_right * height + y;
      StoreBits<U>(dst, to, LoadBits<U>(src, y * width + x));
    }
  }
}

void CheckSize(VectorCall& call, int64_t value, const char* name) { call.Count(value, name); }

}  // namespace

void Plane(BuiltIn id, Type type, void* dst, const void* src, int height, int width, Where where) {
  const Row& row = RowOf(id);
  const int64_t bytes = int64_t{height} * width * SizeOf(type);
  VectorCall call(row.name, where);
  CheckSize(call, height, "height");
  CheckSize(call, width, "width");
  call.Read("src", src, bytes);
  call.Write("dst", dst, bytes);
  call.Distinct();
  call.Begin(row.Cost(bytes, 0));
  const auto move = [&](void* to, const void* from) {
    WithBits(type,
             [&](auto bits) { MovePlane<decltype(bits)>(row.operation, to, from, height, width); });
  };
  move(dst, src);
  call.EndMoved(move);
}

void Pad(BuiltIn id, Type type, void* dst, const void* src, int channels, int height, int width,
         int top, int bottom, int left, int right, Where where) {
  const Row& row = RowOf(id);
  const int64_t pixel = int64_t{channels} * SizeOf(type);
  const int64_t line = width * pixel;
  const int64_t dst_line = (int64_t{left} + width + right) * pixel;
  const int64_t dst_bytes = (int64_t{top} + height + bottom) * dst_line;
  VectorCall call(row.name, where);
  CheckSize(call, channels, "channels");
  CheckSize(call, height, "height");
  CheckSize(call, width, "width");
  if (top < 0 || bottom < 0 || left < 0 || right < 0) call.Fail("a padding is negative");
  call.Read("src", src, height * line);
  call.Write("dst", dst, dst_bytes);
  call.Distinct();
  call.Begin(row.Cost(dst_bytes, 0));
  const auto move = [&](void* to, const void* from) {
    memset(to, 0, dst_bytes);
    char* const first = static_cast<char*>(to) + top * dst_line + left * pixel;
    for (int64_t y = 0; y < height; ++y) {
      memcpy(first + y * dst_line, static_cast<const char*>(from) + y * line, line);
    }
  };
  move(dst, src);
  call.EndMoved(move);
}

void Reshape(BuiltIn id, Type type, void* dst, const void* src, int n, int height, int width,
             int channels, Where where) {
  const Row& row = RowOf(id);
  const int64_t pixels = int64_t{height} * width;
  const int64_t image = pixels * channels * SizeOf(type);
  VectorCall call(row.name, where);
  CheckSize(call, n, "n");
  CheckSize(call, height, "height");
  CheckSize(call, width, "width");
  CheckSize(call, channels, "channels");
  call.Read("src", src, n * image);
  call.Write("dst", dst, n * image);
  call.Distinct();
  call.Begin(row.Cost(n * image, 0));
  const bool to_planes = row.operation == Operation::kToPlanes;
  const auto move = [&](void* to, const void* from) {
    for (int64_t i = 0; i < n; ++i) {
      WithBits(type, [&](auto bits) {
        Transpose<decltype(bits)>(static_cast<char*>(to) + i * image,
                                  static_cast<const char*>(from) + i * image,
                                  to_planes ? pixels : channels, to_planes ? channels : pixels);
      });
    }
  };
  move(dst, src);
  call.EndMoved(move);
}

void Lookup(BuiltIn id, Type type, void* dst, const void* src, const void* table, int64_t count,
            int64_t table_count, Where where) {
  const Row& row = RowOf(id);
  const int64_t bytes = count * SizeOf(type);
  VectorCall call(row.name, where);
  call.Count(count);
  call.Count(table_count, "table_count");
  call.Read("src", src, bytes);
  call.Read("table", table, table_count * SizeOf(type));
  call.Write("dst", dst, bytes);
  call.Begin(row.Cost(bytes, count));
  WithBits(type, [&](auto bits) {
    using U = decltype(bits);
    for (int64_t i = 0; i < count; ++i) {
      const U index = LoadBits<U>(src, i);
      if (static_cast<int64_t>(index) >= table_count) {
        call.Fail("src[%lld] is %lld; the table has %lld elements", static_cast<long long>(i),
                  static_cast<long long>(static_cast<std::make_signed_t<U>>(index)),
                  static_cast<long long>(table_count));
      }
      StoreBits<U>(dst, i, LoadBits<U>(table, index));
    }
  });
  call.EndInitialised();
}

}  // namespace bang

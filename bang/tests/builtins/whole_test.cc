// SPDX-License-Identifier: Apache-2.0
//
// Built-ins that look at all elements or move them, against plain loops.
#include <vector>

#include "on_core.h"
#include "plain.h"
#include "values.h"

namespace {

constexpr int64_t kPart = 32 * 1024;

template <typename T>
T* At(char* nram, int part, Random& random) {
  return reinterpret_cast<T*>(nram + part * kPart + Pick(random, 0, 20) * sizeof(T));
}

template <typename T>
std::vector<T> Fill(T* data, int count, Random& random) {
  for (int i = 0; i < count; ++i) data[i] = RandomValue<T>(random);
  return std::vector<T>(data, data + count);
}

template <typename T>
void CheckExtremes(Random& random, char* nram, int n) {
  using Call = void (*)(T*, const T*, int);
  struct Case {
    Call call;
    bool greatest;
  };
  const Case cases[] = {
      {[](T* dst, const T* src, int count) { __bang_argmax(dst, src, count); }, true},
      {[](T* dst, const T* src, int count) { __bang_max(dst, src, count); }, true},
      {[](T* dst, const T* src, int count) { __bang_argmin(dst, src, count); }, false},
      {[](T* dst, const T* src, int count) { __bang_min(dst, src, count); }, false}};
  for (const Case& c : cases) {
    T* const src = At<T>(nram, 0, random);
    T* const dst = Pick(random, 0, 3) == 0 ? src : At<T>(nram, 1, random);
    const std::vector<T> old = Fill(src, n, random);
    uint32_t want = 0;
    bool any = false;
    for (int i = 0; i < n; ++i) {
      const float value = old[i], best = old[want];
      if (isnan(value)) continue;
      if (!any || (c.greatest ? value > best : value < best)) want = static_cast<uint32_t>(i);
      any = true;
    }
    c.call(dst, src, n);
    uint32_t index;
    memcpy(&index, reinterpret_cast<char*>(dst) + sizeof(T), sizeof index);
    ASSERT_EQ(want, index) << n;
    ASSERT_TRUE(IsSame(old[want], dst[0]));
  }
}

TEST(Whole, ExtremesAndTheirIndices) {
  Random random(5);
  EXPECT_EQ("", OnCore([&](char* nram) {
              for (int n = 1; n <= 300; ++n) {
                CheckExtremes<float>(random, nram, n);
                CheckExtremes<half>(random, nram, n);
              }
              CheckExtremes<float>(random, nram, 5000);
              CheckExtremes<half>(random, nram, 5000);
            }));
}

template <typename T>
void CheckCounts(Random& random, char* nram, int n) {
  T* const src = At<T>(nram, 0, random);
  unsigned* const dst = At<unsigned>(nram, 1, random);
  std::vector<T> old = Fill(src, n, random);
  if (Pick(random, 0, 2) == 0) {
    for (int i = 0; i < n; ++i) src[i] = old[i] = static_cast<T>(-0.0f);
  }
  unsigned count = 0, first = 0xFFFFFFFF, last = 0xFFFFFFFF, bits = 0;
  for (int i = 0; i < n; ++i) {
    if (!IsTrue(old[i])) continue;
    ++count;
    if (first == 0xFFFFFFFF) first = static_cast<unsigned>(i);
    last = static_cast<unsigned>(i);
  }
  const uint8_t* const bytes = reinterpret_cast<const uint8_t*>(src);
  for (int i = 0; i < n; ++i) bits += bytes[i / 8] >> i % 8 & 1;
  ASSERT_EQ(count, __bang_count(src, n));
  ASSERT_EQ(first, __bang_findfirst1(src, n));
  ASSERT_EQ(last, __bang_findlast1(src, n));
  ASSERT_EQ(bits, __bang_count_bitindex(src, n));
  __bang_count(dst, src, n);
  ASSERT_EQ(count, *dst);
  __bang_findfirst1(dst, src, n);
  ASSERT_EQ(first, *dst);
  __bang_findlast1(dst, src, n);
  ASSERT_EQ(last, *dst);
  __bang_count_bitindex(dst, src, n);
  ASSERT_EQ(bits, *dst);
}

TEST(Whole, CountsAndPlaces) {
  Random random(6);
  EXPECT_EQ("", OnCore([&](char* nram) {
              for (int n = 1; n <= 300; ++n) {
                ForEachType<bang::types::kArithmetic>(
                    [&](auto type) { CheckCounts<decltype(type)>(random, nram, n); });
              }
            }));
}

template <typename T>
void CheckSums(Random& random, char* nram, int n) {
  T* const src = At<T>(nram, 0, random);
  T* const dst = Pick(random, 0, 1) == 0 ? src : At<T>(nram, 1, random);
  const std::vector<T> old = Fill(src, n, random);
  constexpr int kPerSum = 128 / sizeof(T);
  __bang_reduce_sum(dst, src, n);
  for (int begin = 0; begin < n; begin += kPerSum) {
    float sum = 0;
    for (int i = begin; i < std::min(begin + kPerSum, n); ++i) sum += old[i];
    ASSERT_TRUE(IsSame(static_cast<T>(sum), dst[begin])) << begin << " of " << n;
    for (int i = begin + 1; i < std::min(begin + kPerSum, n); ++i)
      ASSERT_TRUE(IsSame(T(0), dst[i]));
  }
}

TEST(Whole, SumsOf128Bytes) {
  Random random(7);
  EXPECT_EQ("", OnCore([&](char* nram) {
              for (int n = 1; n <= 300; ++n) {
                CheckSums<float>(random, nram, n);
                CheckSums<half>(random, nram, n);
              }
            }));
}

template <typename T>
void CheckPacking(Random& random, char* nram, int n) {
  T* const src = At<T>(nram, 0, random);
  T* const mask = At<T>(nram, 1, random);
  T* const dst = Pick(random, 0, 2) == 0 ? src : At<T>(nram, 2, random);
  uint8_t* const bits = At<uint8_t>(nram, 3, random);
  char* const selected = nram + 4 * kPart;
  for (const bool of_bits : {false, true}) {
    const std::vector<T> old = Fill(src, n, random);
    const std::vector<T> truth = Fill(mask, n, random);
    const std::vector<uint8_t> truth_bits = Fill(bits, (n + 7) / 8, random);
    std::vector<T> want;
    for (int i = 0; i < n; ++i) {
      if (of_bits ? truth_bits[i / 8] >> i % 8 & 1 : IsTrue(truth[i])) want.push_back(old[i]);
    }
    T* const target = reinterpret_cast<T*>(selected + 128);
    if (of_bits) {
      __bang_select_bitindex(reinterpret_cast<T*>(selected), src, bits, n);
    } else {
      __bang_select(reinterpret_cast<T*>(selected), src, mask, n);
    }
    uint32_t number;
    memcpy(&number, selected, sizeof number);
    ASSERT_EQ(want.size(), number);
    for (int i = 4; i < 128; ++i) ASSERT_EQ(0, selected[i]);
    for (size_t i = 0; i < want.size(); ++i) ASSERT_TRUE(IsSame(want[i], target[i]));

    T* const moved = reinterpret_cast<T*>(nram + 5 * kPart);
    const std::vector<T> there = Fill(moved, n, random);
    if (of_bits) {
      __bang_maskmove_bitindex(moved, src, bits, n);
    } else {
      __bang_maskmove(moved, src, mask, n);
    }
    for (int i = 0; i < n; ++i) {
      const bool chosen = of_bits ? truth_bits[i / 8] >> i % 8 & 1 : IsTrue(truth[i]);
      ASSERT_TRUE(IsSame(chosen ? old[i] : there[i], moved[i]));
    }

    T* const collected = reinterpret_cast<T*>(nram + 6 * kPart);
    if (of_bits) {
      __bang_collect_bitindex(collected, src, bits, n);
      ASSERT_EQ(want.size(), __bang_filter_bitindex(dst, src, bits, n));
    } else {
      __bang_collect(collected, src, mask, n);
      ASSERT_EQ(want.size(), __bang_filter(dst, src, mask, n));
    }
    for (size_t i = 0; i < want.size(); ++i) {
      ASSERT_TRUE(IsSame(want[i], dst[i]));
      ASSERT_TRUE(IsSame(want[i], collected[i]));
    }
  }
}

TEST(Whole, Packing) {
  Random random(8);
  EXPECT_EQ("", OnCore([&](char* nram) {
              for (int n = 1; n <= 300; n += n < 20 ? 1 : 13) {
                ForEachType<bang::types::kWords>(
                    [&](auto type) { CheckPacking<decltype(type)>(random, nram, n); });
              }
            }));
}

template <typename T>
void CheckPlanes(Random& random, char* nram) {
  const int h = static_cast<int>(Pick(random, 1, 40)), w = static_cast<int>(Pick(random, 1, 40));
  T* const src = At<T>(nram, 0, random);
  T* const dst = At<T>(nram, 2, random);
  const std::vector<T> old = Fill(src, h * w, random);
  const auto check = [&](const char* name, auto place) {
    for (int y = 0; y < h; ++y) {
      for (int x = 0; x < w; ++x) {
        ASSERT_TRUE(IsSame(old[y * w + x], dst[place(y, x)])) << name << " " << h << " x " << w;
      }
    }
  };
  __bang_transpose(dst, src, h, w);
  check("transpose", [&](int y, int x) { return x * h + y; });
  __bang_mirror(dst, src, h, w);
  check("mirror", [&](int y, int x) { return y * w + w - 1 - x; });
  __bang_rotate90(dst, src, h, w);
  check("rotate90", [&](int y, int x) { return x * h + h - 1 - y; });
  __bang_rotate180(dst, src, h, w);
  check("rotate180", [&](int y, int x) { return h * w - 1 - (y * w + x); });
  __bang_rotate270(dst, src, h, w);
  check("rotate270", [&](int y, int x) { return (w - 1 - x) * h + y; });
  // As one image of `h` pixels and `w` channels.
  __bang_reshape_nhwc2nchw(dst, src, 1, h, 1, w);
  check("nhwc2nchw", [&](int y, int x) { return x * h + y; });
  __bang_reshape_nchw2nhwc(dst, src, 1, 1, w, h);
  check("nchw2nhwc", [&](int y, int x) { return x * h + y; });
  const int top = static_cast<int>(Pick(random, 0, 3)),
            bottom = static_cast<int>(Pick(random, 0, 3));
  const int left = static_cast<int>(Pick(random, 0, 3)),
            right = static_cast<int>(Pick(random, 0, 3));
  Fill(dst, (h + 6) * (w + 6), random);
  __bang_pad(dst, src, 1, h, w, top, bottom, left, right);
  const int row = left + w + right;
  check("pad", [&](int y, int x) { return (top + y) * row + left + x; });
  for (int y = 0; y < top + h + bottom; ++y) {
    for (int x = 0; x < row; ++x) {
      if (y >= top && y < top + h && x >= left && x < left + w) continue;
      ASSERT_TRUE(IsSame(T(0), dst[y * row + x])) << "pad";
    }
  }
  __bang_pad(dst, src, 1, h, w, top, left);
  check("pad", [&](int y, int x) { return (top + y) * (w + 2 * left) + left + x; });
}

TEST(Whole, Planes) {
  Random random(9);
  EXPECT_EQ("", OnCore([&](char* nram) {
              for (int time = 0; time < 60; ++time) {
                ForEachType<bang::types::kAny>(
                    [&](auto type) { CheckPlanes<decltype(type)>(random, nram); });
              }
            }));
}

enum class Pooling { kSum, kAverage, kMax, kMin };

template <typename T>
T PlainPool(Pooling pooling, const std::vector<T>& src, const bang::Window& w, int oy, int ox,
            int c, uint32_t* index) {
  float result = 0, extreme = NAN;
  *index = 0;
  for (int ky = 0; ky < w.kernel_height; ++ky) {
    for (int kx = 0; kx < w.kernel_width; ++kx) {
      const int y = oy * w.stride_y + ky, x = ox * w.stride_x + kx;
      const float value = src[(y * w.width + x) * w.channels + c];
      result = ky + kx == 0 ? value : result + value;
      if (isnan(value)) continue;
      if (isnan(extreme) || (pooling == Pooling::kMax ? value > extreme : value < extreme)) {
        extreme = value;
        *index = static_cast<uint32_t>(ky * w.kernel_width + kx);
      }
    }
  }
  if (pooling == Pooling::kSum) return static_cast<T>(result);
  if (pooling == Pooling::kAverage) {
    return static_cast<T>(result * (1.0f / static_cast<float>(w.kernel_height * w.kernel_width)));
  }
  return static_cast<T>(extreme);
}

template <typename T>
void CheckPools(Random& random, char* nram, Pooling pooling) {
  const auto pick = [&](int low, int high) { return static_cast<int>(Pick(random, low, high)); };
  bang::Window w{pick(1, 20), pick(1, 9), pick(1, 9), 0, 0, pick(1, 3), pick(1, 3)};
  w.kernel_height = pick(1, w.height);
  w.kernel_width = pick(1, w.width);
  const bool short_form = pick(0, 2) == 0;
  if (short_form) w.stride_x = w.kernel_width, w.stride_y = w.kernel_height;
  T* const src = At<T>(nram, 0, random);
  T* const dst = pick(0, 2) == 0 ? src : At<T>(nram, 1, random);
  using Index = std::conditional_t<sizeof(T) == 2, unsigned short, unsigned>;
  Index* const indices = At<Index>(nram, 2, random);
  const std::vector<T> old = Fill(src, w.height * w.width * w.channels, random);
  const auto call = [&](auto with_strides, auto without, auto* to) {
    if (short_form) {
      without(to, src, w.channels, w.height, w.width, w.kernel_height, w.kernel_width);
    } else {
      with_strides(to, src, w.channels, w.height, w.width, w.kernel_height, w.kernel_width,
                   w.stride_x, w.stride_y);
    }
  };
#define CALL(name, to) call([](auto... a) { name(a...); }, [](auto... a) { name(a...); }, to)
  if (pooling == Pooling::kMax) CALL(__bang_maxpool_index, indices);
  if (pooling == Pooling::kMin) CALL(__bang_minpool_index, indices);
  if (pooling == Pooling::kSum) CALL(__bang_sumpool, dst);
  if (pooling == Pooling::kAverage) CALL(__bang_avgpool, dst);
  if (pooling == Pooling::kMax) CALL(__bang_maxpool, dst);
  if (pooling == Pooling::kMin) CALL(__bang_minpool, dst);
#undef CALL
  const int oh = (w.height - w.kernel_height) / w.stride_y + 1;
  const int ow = (w.width - w.kernel_width) / w.stride_x + 1;
  for (int i = 0; i < oh * ow * w.channels; ++i) {
    uint32_t index;
    const int pixel = i / w.channels;
    const T want = PlainPool(pooling, old, w, pixel / ow, pixel % ow, i % w.channels, &index);
    ASSERT_TRUE(IsSame(want, dst[i])) << ToText(want) << " " << ToText(dst[i]);
    if (pooling == Pooling::kMax || pooling == Pooling::kMin) {
      ASSERT_EQ(index, indices[i]);
    }
  }
}

TEST(Whole, Pools) {
  Random random(10);
  EXPECT_EQ("", OnCore([&](char* nram) {
              for (int time = 0; time < 300; ++time) {
                for (const Pooling pooling :
                     {Pooling::kSum, Pooling::kAverage, Pooling::kMax, Pooling::kMin}) {
                  CheckPools<float>(random, nram, pooling);
                  CheckPools<half>(random, nram, pooling);
                }
              }
            }));
}

// As kernels reduce: the result's place trails that of what is still to be read.
TEST(Whole, PoolsBehindTheirSource) {
  EXPECT_EQ("", OnCore([](char* nram) {
              float* const data = reinterpret_cast<float*>(nram);
              for (int i = 0; i < 64 * 100; ++i) data[i] = static_cast<float>(i / 64);
              __bang_sumpool(data, data, 64, 1, 4, 1, 4, 1, 1);
              __bang_sumpool(data + 64, data + 4 * 64, 64, 96, 1, 32, 1, 1, 32);
              __bang_sumpool(data, data, 64, 1, 4, 1, 4, 1, 1);
              for (int c = 0; c < 64; ++c) ASSERT_EQ(4950.0f, data[c]);
            }));
  EXPECT_NE("", OnCore([](char* nram) {
              float* const data = reinterpret_cast<float*>(nram);
              __bang_sumpool(data + 64, data, 64, 1, 4, 1, 4, 1, 1);
            }));
}

// Garbage that is moved is garbage where it comes to lie, and nowhere else.
TEST(Whole, MovedGarbage) {
  testing::internal::CaptureStderr();
  const bang::KernelRecord kernel = {"kernel", "kernel.mlu", 1, 1, nullptr, 0, false, 592};
  bang::Configure(bang::Here(), cnrtDim3_t{1, 1, 1}, cnrtFuncTypeBlock, nullptr);
  bang::Launch(kernel, [] {
    alignas(128) float data[1024];
    const bang::LocalArray guard("data", bang::Space::kNram, data, sizeof data);
    __bang_write_zero(data, 7);  // of the eight of [2][4] the last is garbage
    __bang_transpose(data + 512, data, 2, 4);
    (void)__bang_count(data + 512, 7);
  });
  EXPECT_EQ("", testing::internal::GetCapturedStderr());
  EXPECT_EQ(cnrtSuccess, cnrtGetLastError());
}

TEST(Whole, TablesSequencesAndFills) {
  Random random(11);
  EXPECT_EQ("", OnCore([&](char* nram) {
              for (int n = 1; n <= 300; n += 23) {
                int32_t* const src = At<int32_t>(nram, 0, random);
                int32_t* const table = At<int32_t>(nram, 1, random);
                for (int i = 0; i < n; ++i) src[i] = static_cast<int32_t>(Pick(random, 0, 63));
                Fill(table, 64, random);
                const std::vector<int32_t> old(src, src + n);
                __bang_lut_s32(src, src, table, n, 64);
                for (int i = 0; i < n; ++i) ASSERT_EQ(table[old[i]], src[i]);
                ForEachType<bang::types::kArithmetic>([&](auto type) {
                  using T = decltype(type);
                  T* const dst = At<T>(nram, 2, random);
                  __bang_incseq(dst, n);
                  for (int i = 0; i < n; ++i) ASSERT_TRUE(IsSame(static_cast<T>(i), dst[i]));
                  const T value = RandomValue<T>(random);
                  const T behind = dst[n] = RandomValue<T>(random);
                  __bang_write_value(dst, n, value);
                  for (int i = 0; i < n; ++i) ASSERT_EQ(BitPattern(value), BitPattern(dst[i]));
                  __nramset(dst, n, T(3));
                  for (int i = 0; i < n; ++i) ASSERT_TRUE(IsSame(T(3), dst[i]));
                  __bang_write_zero(dst, n);
                  for (int i = 0; i < n; ++i) ASSERT_TRUE(IsSame(T(0), dst[i]));
                  ASSERT_EQ(BitPattern(behind), BitPattern(dst[n]));
                });
                half* const dst = At<half>(nram, 3, random);
                __bang_write_value(dst, n, 0.5);  // a double: the type of dst
                for (int i = 0; i < n; ++i) ASSERT_EQ(0.5f, static_cast<float>(dst[i]));
              }
            }));
  const std::string error = OnCore([](char* nram) {
    int32_t* const data = reinterpret_cast<int32_t*>(nram);
    data[1] = 64;
    __bang_lut_s32(data + 100, data, data + 200, 3, 64);
  });
  EXPECT_NE(std::string::npos, error.find("src[1] is 64; the table has 64 elements")) << error;
}

}  // namespace

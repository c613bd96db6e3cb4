// SPDX-License-Identifier: Apache-2.0
//
// Copies, gather and scatter by the names that kernels call.
#include <vector>

#include "on_core.h"
#include "values.h"

namespace {

class Moves : public testing::Test {
 protected:
  static constexpr int kBytes = 8192;
  void SetUp() override {
    ASSERT_EQ(cnrtSuccess, cnrtMalloc(reinterpret_cast<void**>(&gdram), kBytes));
    for (int i = 0; i < kBytes; ++i) gdram[i] = static_cast<char>(i * 7 + i / 256);
    old.assign(gdram, gdram + kBytes);
  }
  void TearDown() override { cnrtFree(gdram); }

  char* gdram;
  std::vector<char> old;
};

TEST_F(Moves, CopiesInOneTwoAndThreeDimensions) {
  EXPECT_EQ("", OnCore([&](char* nram) {
              __memcpy(nram, gdram, 100, GDRAM2NRAM);
              for (int i = 0; i < 100; ++i) ASSERT_EQ(old[i], nram[i]);
              __memcpy_async(nram, gdram, 10, GDRAM2NRAM, 16, 32, 3);
              __sync_io();
              for (int i = 0; i < 40; ++i)
                ASSERT_EQ(old[i / 10 * 32 + i % 10], nram[i / 10 * 16 + i % 10]);
              __memcpy(nram, gdram, 4, GDRAM2NRAM, 4, 1, 16, 2, 8, 1, 100, 2);
              for (int i = 0; i < 24; ++i) {
                ASSERT_EQ(old[i / 8 * 100 + i / 4 % 2 * 8 + i % 4],
                          nram[i / 8 * 16 + i / 4 % 2 * 4 + i % 4]);
              }
              __bang_move(nram + 1000, nram, 50);
              __memcpy_nram_to_nram(nram + 2000, nram, 4, 4, 8, 4);
              for (int i = 0; i < 50; ++i) ASSERT_EQ(nram[i], nram[1000 + i]);
              for (int i = 0; i < 20; ++i) ASSERT_EQ(nram[i / 4 * 8 + i % 4], nram[2000 + i]);
            }));
}

TEST_F(Moves, GatherAndScatter) {
  EXPECT_EQ("", OnCore([&](char* nram) {
              constexpr int kPieces = 21;
              unsigned* const offsets = reinterpret_cast<unsigned*>(nram + 4096);
              uint8_t* const mask = reinterpret_cast<uint8_t*>(nram + 8192);
              for (int i = 0; i < kPieces; ++i)
                offsets[i] = static_cast<unsigned>((i * 37 % 21) * 64);
              for (int i = 0; i < 3; ++i) mask[i] = 0x5A;
              __gather(nram, gdram, offsets, 12, GDRAM2NRAM, 16, kPieces);
              for (int i = 0; i < kPieces * 12; ++i) {
                ASSERT_EQ(old[offsets[i / 12] + i % 12], nram[i / 12 * 16 + i % 12]);
              }
              __bang_write_zero(nram, kPieces * 16);
              __gather_async(nram, gdram, offsets, mask, 12, GDRAM2NRAM, 16, kPieces);
              __sync();
              for (int i = 0; i < kPieces * 12; ++i) {
                const int piece = i / 12;
                const bool moved = 0x5A >> piece % 8 & 1;
                ASSERT_EQ(moved ? old[offsets[piece] + i % 12] : 0, nram[piece * 16 + i % 12]);
              }
              __bang_write_value(nram, 1024, static_cast<char>(3));
              __scatter(gdram, nram, offsets, mask, 4, NRAM2GDRAM, 8, kPieces);
              for (int piece = 0; piece < kPieces; ++piece) {
                const bool moved = 0x5A >> piece % 8 & 1;
                ASSERT_EQ(moved ? 3 : old[offsets[piece]], gdram[offsets[piece]]);
              }
            }));
}

}  // namespace

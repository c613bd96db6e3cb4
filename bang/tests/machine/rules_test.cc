// SPDX-License-Identifier: Apache-2.0
//
// Each rule has a kernel that breaks it, and a twin that does not.
#include "kernels.h"

namespace {

class RulesTest : public MachineTest {
 protected:
  void Breaks(const std::function<void()>& body, const std::string& expected, int cores = 4) {
    std::string text;
    EXPECT_EQ(cnrtErrorKernelTrap, RunKernel(cores, cnrtFuncTypeUnion1, Guarded(body), &text));
    EXPECT_EQ(0u, text.find("kernel.mlu:50: error: ")) << text;
    EXPECT_NE(std::string::npos, text.find(expected)) << text;
    EXPECT_NE(std::string::npos, text.find("in kernel kernel (kernel.mlu:10), task ")) << text;
    cnrtDeviceReset();
    SetUp();
  }
  void Keeps(const std::function<void()>& body) {
    std::string text;
    EXPECT_EQ(cnrtSuccess, RunKernel(4, cnrtFuncTypeUnion1, Guarded(body), &text)) << text;
    EXPECT_EQ("", text);
  }
  static std::function<void()> Guarded(const std::function<void()>& body) {
    return [&body] {
      if (!IsMpu()) body();
    };
  }
  float* own_in() { return in + TaskId() * 1024; }
  float* own_out() { return out + TaskId() * 1024; }
};

void SyncIo() { bang::Sync("__sync_io", bang::kIoBit, Line()); }
void SyncCompute() { bang::Sync("__sync_compute", bang::kComputeBit, Line()); }

TEST_F(RulesTest, AResultIsUsedAfterItsLoad) {
  Breaks(
      [&] {
        LoadAsync(nram_a, own_in(), 1024, 44);
        Add(nram_a, nram_a, nram_a, 1024, 50);
      },
      "__bang_add: src0 (in a) is used while it is still being written by __memcpy_async at "
      "kernel.mlu:44; put __sync_io()");
  Keeps([&] {
    LoadAsync(nram_a, own_in(), 1024, 44);
    SyncIo();
    Add(nram_a, nram_a, nram_a, 1024, 50);
  });
  // Not what is loaded.
  Keeps([&] {
    Load(nram_a, own_in(), 1024);
    LoadAsync(nram_b, own_in(), 1024, 44);
    Add(nram_a, nram_a, nram_a, 1024, 50);
  });
}

TEST_F(RulesTest, WhatIsBeingStoredIsNotOverwritten) {
  Breaks(
      [&] {
        Load(nram_a, own_in(), 1024);
        StoreAsync(own_out(), nram_a, 1024, 44);
        Add(nram_a, nram_a, nram_a, 1024, 50);
      },
      "dst (in a) is overwritten while it is still being read by __memcpy_async at kernel.mlu:44");
  Keeps([&] {
    Load(nram_a, own_in(), 1024);
    StoreAsync(own_out(), nram_a, 1024, 44);
    Add(nram_b, nram_a, nram_a, 1024, 50);
  });
}

TEST_F(RulesTest, AnAsyncStoreWaitsForCompute) {
  Breaks(
      [&] {
        Load(nram_a, own_in(), 1024);
        Add(nram_b, nram_a, nram_a, 1024, 45);
        StoreAsync(own_out(), nram_b, 1024, 50);
      },
      "src (in b) is used while it may still be being computed by __bang_add at kernel.mlu:45; put "
      "__sync_compute()");
  Keeps([&] {
    Load(nram_a, own_in(), 1024);
    Add(nram_b, nram_a, nram_a, 1024, 45);
    SyncCompute();
    StoreAsync(own_out(), nram_b, 1024, 50);
  });
  Keeps([&] {
    Load(nram_a, own_in(), 1024);
    Add(nram_b, nram_a, nram_a, 1024, 45);
    Store(own_out(), nram_b, 1024, 50);
  });
}

TEST_F(RulesTest, AnAsyncLoadWaitsForComputeThatReads) {
  Breaks(
      [&] {
        Load(nram_a, own_in(), 1024);
        Add(nram_b, nram_a, nram_a, 1024, 45);
        LoadAsync(nram_a, own_in(), 1024, 50);
      },
      "dst (in a) is overwritten while it may still be being read by __bang_add at kernel.mlu:45");
}

TEST_F(RulesTest, OperandsLieInTheirSpaceAndArray) {
  Breaks([&] { Load(SharedFloats(), own_in(), 16, 50); },
         "__memcpy: dst (64 bytes) has to be in NRAM, but lies in s (SRAM, 16384 bytes, "
         "kernel.mlu:3)");
  Breaks([&] { Add(nram_a + 1000, nram_b, nram_b, 100, 50); },
         "dst (400 bytes) begins at byte 4000 of a (NRAM, 4096 bytes, kernel.mlu:1) and ends 304 "
         "bytes beyond it");
  Breaks([&] { Load(nram_a, in + kCount - 8, 16, 50); },
         "src (64 bytes) begins at byte 262112 of allocation");
  Breaks([&] { Load(nram_a, nullptr, 16, 50); }, "src (64 bytes) is a null pointer");
  Breaks(
      [&] {
        float x[4];
        Add(x, nram_a, nram_b, 4, 50);
      },
      "dst (16 bytes) has to be in NRAM, but is a variable of the function");
  Breaks(
      [&] {
        static std::vector<float> host(16);
        Load(nram_a, host.data(), 16, 50);
      },
      "src (64 bytes) has to be in GDRAM, but lies in none of its allocations");
}

TEST_F(RulesTest, OperandsDontOverlapInPart) {
  Breaks(
      [&] {
        Load(nram_a, own_in(), 1024);
        Add(nram_a + 16, nram_a, nram_a, 512, 50);
      },
      "__bang_add: dst and src0 overlap by 1984 bytes in a");
  Keeps([&] {
    Load(nram_a, own_in(), 1024);
    Add(nram_a, nram_a, nram_a + 512, 512, 50);
  });
}

TEST_F(RulesTest, CountsAndStrides) {
  Breaks([&] { Add(nram_a, nram_b, nram_b, -3, 50); }, "__bang_add: count is -3");
  const auto copy = [&](bang::CopyShape shape) {
    bang::Copy("__memcpy", false, nram_a, own_in(), shape, GDRAM2NRAM, Line(50));
  };
  Breaks([&] { copy({0, {}, {}}); }, "size is 0");
  Breaks([&] { copy({8, {4, 3, 0, 0}, {8, 3, 0, 0}}); },
         "dst_stride is 4, less than the 8 bytes of a segment");
  Breaks([&] { copy({1, {1, 70000, 0, 0}, {1, 70000, 0, 0}}); }, "segnum of dst is 70000");
  Breaks([&] { copy({8, {8, 3, 0, 0}, {8, 4, 0, 0}}); }, "dst has 4 segments, src 5");
  Keeps([&] { copy({8, {8, 3, 0, 0}, {16, 3, 0, 0}}); });
}

TEST_F(RulesTest, CoresDontRace) {
  const auto swap = [&](bool barrier) {
    float* const s = SharedFloats();
    Load(nram_a, own_in(), 16);
    bang::Copy("__memcpy", false, s + CoreId() * 16, nram_a, {64, {}, {}}, NRAM2SRAM, Line(48));
    if (barrier) bang::Barrier("__sync_all_ipu", bang::BarrierKind::kIpus, Line());
    bang::Copy("__memcpy", false, nram_b, s + (CoreId() ^ 1) * 16, {64, {}, {}}, SRAM2NRAM, Line(50));
  };
  std::string text;
  EXPECT_EQ(cnrtErrorKernelTrap, RunKernel(4, cnrtFuncTypeUnion1, Guarded([&] { swap(false); }), &text));
  EXPECT_NE(std::string::npos, text.find("kernel.mlu:50: error: race: ")) << text;
  EXPECT_NE(std::string::npos, text.find("by __memcpy at kernel.mlu:48 without a barrier in between")) << text;
  cnrtDeviceReset();
  SetUp();
  Keeps([&] { swap(true); });
  // On GDRAM.
  EXPECT_EQ(cnrtErrorKernelTrap, RunKernel(4, cnrtFuncTypeUnion1, Guarded([&] {
                                       Load(nram_a, own_in(), 16);
                                       Store(out, nram_a, 16, 50);
                                     }),
                                     &text));
  EXPECT_NE(std::string::npos, text.find("race: __memcpy of core 1 of cluster 0 writes byte 0 of allocation")) << text;
}

TEST_F(RulesTest, LocalArraysHaveAnEndAndALimit) {
  Breaks(
      [&] {
        static thread_local float large[150 * 1024];
        bang::LocalArray guard("large", bang::Space::kNram, large, sizeof large, Line(50));
      },
      "large (614400 bytes) does not fit: the arrays in use would take 622592 bytes of NRAM");
  const auto load_in_scopes = [&](int scopes, bool sync) {
    for (int i = 0; i < scopes; ++i) {
      alignas(128) float x[64];
      bang::LocalArray guard("x", bang::Space::kNram, x, sizeof x, Line(40));
      LoadAsync(x, own_in(), 64, 50);
      if (sync) bang::Sync("__sync_io", bang::kIoBit, Line());
    }
  };
  Keeps([&] { load_in_scopes(3, true); });
  Keeps([&] { load_in_scopes(1, false); });  // the task's end waits
  Breaks([&] { load_in_scopes(2, false); }, "x is still in flight when its scope ends");
  Breaks(
      [&] {
        alignas(128) float x[64];
        { bang::LocalArray guard("x", bang::Space::kNram, x, sizeof x, Line(40)); }
        Add(x, nram_a, nram_b, 64, 50);
      },
      "dst (256 bytes) has to be in NRAM, but is a variable of the function");
}

}  // namespace

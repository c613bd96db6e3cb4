// SPDX-License-Identifier: Apache-2.0
//
// The faults themselves: what is asked for fails, and nothing else does.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>
#include <system_error>
#include <thread>

#include "faults/faults.h"

namespace detops::test {
namespace {

// The compiler may not know that what it allocates is not needed.
bool CanAllocate() {
  void* volatile memory = std::malloc(8);
  std::free(memory);
  return memory != nullptr;
}

TEST(Machine, FailTheAllocationThatWasAskedFor) {
  detopsFaultsFailAllocation(2, 0);
  const bool first = CanAllocate(), second = CanAllocate(), third = CanAllocate();
  detopsFaultsFailAllocation(0, 0);
  EXPECT_TRUE(first && !second && third);
  detopsFaultsFailAllocation(2, 1);
  const bool before = CanAllocate(), at = CanAllocate(), after = CanAllocate();
  EXPECT_EQ(detopsFaultsFailedAllocations(), 2);
  detopsFaultsFailAllocation(0, 0);
  EXPECT_TRUE(before && !at && !after && CanAllocate());
}

TEST(Machine, FailTheOperatorNew) {
  bool thrown = false;
  detopsFaultsFailAllocation(1, 0);
  try {
    ::operator delete(::operator new(8));
  } catch (const std::bad_alloc&) {
    thrown = true;
  }
  detopsFaultsFailAllocation(0, 0);
  EXPECT_TRUE(thrown);
}

TEST(Machine, CountWhatIsNotFreed) {
  const long before = detopsFaultsLiveAllocations();
  void* volatile memory = std::aligned_alloc(64, 64);
  EXPECT_EQ(detopsFaultsLiveAllocations(), before + 1);
  memory = std::realloc(memory, 1000);
  EXPECT_EQ(detopsFaultsLiveAllocations(), before + 1);
  std::free(memory);
  EXPECT_EQ(detopsFaultsLiveAllocations(), before);
}

TEST(Machine, FailThreadsFromOneOn) {
  detopsFaultsFailThreads(2);
  std::thread([] {}).join();
  EXPECT_THROW(std::thread([] {}), std::system_error);
  EXPECT_THROW(std::thread([] {}), std::system_error);
  EXPECT_EQ(detopsFaultsFailedThreads(), 2);
  detopsFaultsFailThreads(0);
  std::thread([] {}).join();
}

TEST(Machine, FillTheDiskFromOneWriteOn) {
  const auto file = std::filesystem::temp_directory_path() / "detops_faults_test";
  std::ofstream stream(file);
  std::FILE* const c_stream = std::fopen(file.c_str(), "w");
  detopsFaultsFailWrites(2);
  EXPECT_TRUE(stream << "fits" << std::flush);
  EXPECT_FALSE(stream << "does not" << std::flush);
  std::fputs("is buffered", c_stream);
  EXPECT_NE(std::fflush(c_stream), 0);
  EXPECT_GE(detopsFaultsFailedWrites(), 2);
  detopsFaultsFailWrites(0);
  std::fputs("the disk of that file stays full", c_stream);
  EXPECT_NE(std::fclose(c_stream), 0);
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace detops::test

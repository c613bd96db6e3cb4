// SPDX-License-Identifier: Apache-2.0
//
// What a case file that someone sent can not do: read other files, wait for ever, take all memory.
#include <fmt/format.h>
#include <sys/stat.h>

#include <chrono>
#include <limits>

#include "cli/program.h"
#include "schema/host_memory.h"

namespace detops::cli::test {
namespace {

class CaseBoundsTest : public Program {
 protected:
  std::string CaseWithPath(const std::string& path) const {
    return "op_name: 'poly_nms' input { shape { dims: [1, 9] } path: '" + path + "' }";
  }
  void ExpectError(const std::string& arguments, const std::string& words) const {
    const Outcome o = Run("check " + arguments);
    EXPECT_EQ(o.code, 2) << arguments << o.out;
    EXPECT_NE(o.out.find(words), std::string::npos) << o.out;
  }
};

TEST_F(CaseBoundsTest, FilesStayInTheFolderOfTheCase) {
  fs::create_directories(File("case/data"));
  fs::create_directories(File("case2"));
  for (const char* name : {"outside.txt", "case/data/inside.txt", "case2/outside.txt"}) {
    Write(name, "1 2 3 4 5 6 7 8 9\n");
  }
  fs::create_symlink("../outside.txt", File("case/link.txt"));
  fs::create_symlink("../case2", File("case/linked"));
  fs::create_symlink("data/inside.txt", File("case/good.txt"));
  for (const char* path :
       {"data/inside.txt", "good.txt", "../case/data/inside.txt", "data/../../case/good.txt"}) {
    Write("case/c.prototxt", CaseWithPath(path));
    EXPECT_EQ(Run("check case/c.prototxt").code, 0) << path;
  }
  for (const std::string& path :
       {std::string("../outside.txt"), std::string("link.txt"), std::string("linked/outside.txt"),
        std::string("../case2/outside.txt"), std::string("data/../../outside.txt"),
        File("outside.txt").string(), std::string("../not_there.txt")}) {
    Write("case/c.prototxt", CaseWithPath(path));
    ExpectError("case/c.prototxt", "path '" + path + "' leads out of the folder of the case");
    EXPECT_EQ(Run("bench --seconds 0.001 -q case/c.prototxt").code, 2);
    if (path == "../not_there.txt") continue;
    const Outcome allowed = Run("check case/c.prototxt --allow-outside");
    EXPECT_EQ(allowed.code, 0) << allowed.out;
    EXPECT_NE(allowed.out.find("c.prototxt --allow-outside --device cpu"), std::string::npos)
        << allowed.out;
    EXPECT_EQ(Run("bench --seconds 0.001 -q case/c.prototxt --allow-outside").code, 0);
  }
  // What a case expects comes from files too.
  Write(
      "case/c.prototxt",
      "op_name: 'bbox_overlaps' input { shape { dims: [1, 4] } value_f: [0,0,2,2] } input { shape "
      "{ dims: [1, 4] } value_f: [0,0,2,1] } output { shape { dims: 1 } path: '../outside.txt' }");
  ExpectError("case/c.prototxt", "leads out of the folder");
}

TEST_F(CaseBoundsTest, PipesAndDevicesAreRefused) {
  for (const char* name : {"pipe", "pipe.txt"}) {
    ASSERT_EQ(mkfifo(File(name).c_str(), 0600), 0);
    Write("c.prototxt", CaseWithPath(name));
    ExpectError("c.prototxt --allow-outside", "is a pipe or a device, not a file");
  }
  Write("c.prototxt", CaseWithPath("/dev/zero"));
  ExpectError("c.prototxt --allow-outside", "/dev/zero: is a pipe or a device");
  Write("c.prototxt", CaseWithPath("."));
  ExpectError("c.prototxt", "is a folder, not a file");
}

// Said at once, with both figures, and nothing is filled. The limit of the process is one of those
// that count; beyond the machine's own memory, a failure of this test would be one of the machine.
TEST_F(CaseBoundsTest, MoreMemoryThanThereIsIsRefusedAtOnce) {
#ifdef DETOPS_SANITIZED
  GTEST_SKIP() << "a sanitizer needs more address space than any limit allows";
#endif
  constexpr char kFourGigabytes[] = "bash -c 'ulimit -v 4000000; exec \"$@\"' bash";
  const auto expect = [&](const std::string& text, const std::string& words) {
    Write("c.prototxt", text);
    const auto start = std::chrono::steady_clock::now();
    const Outcome o = Run("check c.prototxt", kFourGigabytes);
    EXPECT_EQ(o.code, 2) << o.out << o.err;
    EXPECT_NE(o.out.find(words), std::string::npos) << words << "\n" << o.out << o.err;
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(3));
  };
  const auto points = [](const std::string& count) {
    return "op_name: 'points_in_boxes' input { shape { dims: [3, " + count +
           ", 3] } random_data { } } input { shape { dims: [3, 1, 7] } random_data { } }";
  };
  expect(points("100000000"),
         "input 1 (points): shape [3,100000000,3] of float: 3.6 GB on the host and as much on the "
         "device are more than this machine's memory of 4.1 GB");
  // Each tensor fits, all together don't.
  expect(points("50000000"),
         "c.prototxt: inputs and outputs: 2.4 GB on the host and as much on the device");
  expect(
      "op_name: 'bbox_overlaps' input { shape { dims: [100000, 4] } random_data { } } "
      "input { shape { dims: [100000, 4] } random_data { } }",
      "c.prototxt: inputs and outputs: 40 GB on the host");
  EXPECT_NE(Run("gen poly_nms --values --n 100000000", kFourGigabytes).err.find("3.6 GB"),
            std::string::npos);
}

TEST_F(CaseBoundsTest, ContainersHaveTheirOwnLimit) {
  const auto make = [&](const std::string& file, const std::string& text) {
    fs::create_directories(File(file).parent_path());
    Write(file, text);
  };
  constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  const auto limit = [&] { return schema::ControlGroupMemory(File("")); };
  EXPECT_EQ(limit(), kNone);
  // Version 2: the least of the groups around this one.
  make("proc/self/cgroup", "0::/outer/inner\n");
  make("sys/fs/cgroup/outer/inner/memory.max", "max\n");
  EXPECT_EQ(limit(), kNone);
  make("sys/fs/cgroup/outer/memory.max", "3000\n");
  EXPECT_EQ(limit(), 3000);
  make("sys/fs/cgroup/outer/inner/memory.max", "2000\n");
  EXPECT_EQ(limit(), 2000);
  make("sys/fs/cgroup/memory.max", "1000\n");
  EXPECT_EQ(limit(), 1000);
  // Version 1, in a container that doesn't see its name.
  make("proc/self/cgroup", "9:cpu,cpuacct:/\n4:hugetlb,memory:/docker/17\n0::/elsewhere\n");
  fs::remove_all(File("sys"));
  make("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_GT(limit(), int64_t{1} << 60);
  make("sys/fs/cgroup/memory/memory.limit_in_bytes", "500\n");
  EXPECT_EQ(limit(), 500);
}

}  // namespace
}  // namespace detops::cli::test

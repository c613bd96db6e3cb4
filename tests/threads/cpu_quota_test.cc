// SPDX-License-Identifier: Apache-2.0
//
// Quotas of control groups, in folders that have the files of Linux.
#include "runtime/cpu/cpu_quota.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <limits>
#include <utility>

namespace detops::runtime {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();

struct File {
  const char *path, *text;
};

double QuotaWith(std::initializer_list<File> files) {
  const std::filesystem::path root = std::filesystem::path(testing::TempDir()) / "cpu_quota_test";
  std::filesystem::remove_all(root);
  for (const File& file : files) {
    const std::filesystem::path path = root / file.path;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << file.text;
  }
  const double quota = CpuQuota(root);
  std::filesystem::remove_all(root);
  return quota;
}

constexpr const char* kGroups = "proc/self/cgroup";

TEST(CpuQuota, OfVersion2) {
  EXPECT_EQ(QuotaWith({{kGroups, "0::/\n"}, {"sys/fs/cgroup/cpu.max", "150000 100000\n"}}), 1.5);
  EXPECT_EQ(QuotaWith({{kGroups, "0::/\n"}, {"sys/fs/cgroup/cpu.max", "max 100000\n"}}), kNone);
}

TEST(CpuQuota, OfVersion1) {
  constexpr const char* kQuota = "sys/fs/cgroup/cpu/job/cpu.cfs_quota_us";
  constexpr const char* kPeriod = "sys/fs/cgroup/cpu/job/cpu.cfs_period_us";
  for (const char* groups : {"4:cpu,cpuacct:/job\n", "5:memory:/\n4:cpuacct,cpu:/job\n0::/\n"}) {
    EXPECT_EQ(QuotaWith({{kGroups, groups}, {kQuota, "300000\n"}, {kPeriod, "50000\n"}}), 6);
    EXPECT_EQ(QuotaWith({{kGroups, groups}, {kQuota, "-1\n"}, {kPeriod, "50000\n"}}), kNone);
  }
  // That of cpusets is another controller.
  EXPECT_EQ(QuotaWith({{kGroups, "4:cpuset:/job\n"}, {kQuota, "300000\n"}, {kPeriod, "50000\n"}}),
            kNone);
}

TEST(CpuQuota, IsTheLeastOfTheGroupsAround) {
  EXPECT_EQ(QuotaWith({{kGroups, "0::/slice/job\n"},
                       {"sys/fs/cgroup/slice/job/cpu.max", "800000 100000\n"},
                       {"sys/fs/cgroup/slice/cpu.max", "200000 100000\n"}}),
            2);
  // A container sees the path of the host and the files of its own.
  EXPECT_EQ(QuotaWith({{kGroups, "4:cpu:/docker/1f\n"},
                       {"sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n"},
                       {"sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"}}),
            0.5);
}

TEST(CpuQuota, IsNoneWhereNothingSaysOne) {
  EXPECT_EQ(QuotaWith({}), kNone);
  for (const char* groups : {"", "0::", "::", "nonsense\n", "0::/gone\n"}) {
    EXPECT_EQ(QuotaWith({{kGroups, groups}}), kNone);
  }
  for (const char* text : {"", "max", "100000", "-5 100000", "0 0", "100000 0", "a b"}) {
    EXPECT_EQ(QuotaWith({{kGroups, "0::/\n"}, {"sys/fs/cgroup/cpu.max", text}}), kNone) << text;
  }
}

}  // namespace
}  // namespace detops::runtime

// SPDX-License-Identifier: Apache-2.0
#include "schema/host_memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace detops::schema {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

// "max" is no number, and no limit.
int64_t LimitIn(const fs::path& file) {
  int64_t limit = kNoLimit;
  std::ifstream in(file);
  return in >> limit && limit > 0 ? limit : kNoLimit;
}

// A group may have what all groups around it may have. Inside a container the group may be named as
// it is outside, where there is no such folder; the container's own limit is then at the top.
int64_t LeastLimit(const fs::path& mount, const fs::path& group, const char* file) {
  int64_t least = LimitIn(mount / file);
  for (fs::path g = group.relative_path(); !g.empty(); g = g.parent_path()) {
    least = std::min(least, LimitIn(mount / g / file));
  }
  return least;
}

}  // namespace

int64_t ControlGroupMemory(const fs::path& root) {
  const fs::path mounts = root / "sys/fs/cgroup";
  int64_t least = kNoLimit;
  std::ifstream groups(root / "proc/self/cgroup");
  // "4:memory,pids:/group" of version 1, "0::/group" of version 2.
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string group = line.substr(second + 1);
    if (controllers == ",,") {
      least = std::min(least, LeastLimit(mounts, group, "memory.max"));
    } else if (controllers.find(",memory,") != std::string::npos) {
      least = std::min(least, LeastLimit(mounts / "memory", group, "memory.limit_in_bytes"));
    }
  }
  return least;
}

int64_t HostMemory() {
  static const int64_t memory = [] {
    const int64_t machine = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
    rlimit own = {};
    const bool limited = getrlimit(RLIMIT_AS, &own) == 0 && own.rlim_cur != RLIM_INFINITY;
    return std::min({machine, ControlGroupMemory("/"),
                     limited ? static_cast<int64_t>(own.rlim_cur) : kNoLimit});
  }();
  return memory;
}

}  // namespace detops::schema

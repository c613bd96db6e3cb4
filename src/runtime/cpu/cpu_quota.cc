// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/cpu_quota.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string_view>

namespace detops::runtime {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

// Microseconds of processor time per period of so many microseconds; -1 and "max", which is no
// number, are no quota.
double Quota(std::istream& quota_file, std::istream& period_file) {
  double quota = 0, period = 0;
  const bool read = quota_file >> quota && period_file >> period;
  return read && quota > 0 && period > 0 ? quota / period : kUnbounded;
}

double QuotaOfV1(const std::string& folder) {
  std::ifstream quota(folder + "/cpu.cfs_quota_us"), period(folder + "/cpu.cfs_period_us");
  return Quota(quota, period);
}

double QuotaOfV2(const std::string& folder) {
  std::ifstream both(folder + "/cpu.max");
  return Quota(both, both);
}

// Of the group and of all around it. In a container the path may be the host's: the groups that are
// not there have no file, and the container's own is the outermost that can be seen.
template <class QuotaOf>
double LeastQuota(const std::string& hierarchy, std::string group, const QuotaOf& quota_of) {
  double least = kUnbounded;
  while (true) {
    least = std::min(least, quota_of(hierarchy + group));
    const size_t slash = group.rfind('/');
    if (slash == group.npos) return least;
    group.resize(slash);
  }
}

bool HasCpu(const std::string& controllers) {
  return ("," + controllers + ",").find(",cpu,") != std::string::npos;
}

}  // namespace

double CpuQuota(const std::string& root) {
  double least = kUnbounded;
  std::ifstream groups(root + "/proc/self/cgroup");
  // "4:cpu,cpuacct:/docker/1f" of version 1, "0::/user.slice" of version 2.
  std::string id, controllers, group;
  while (std::getline(groups, id, ':') && std::getline(groups, controllers, ':') &&
         std::getline(groups, group)) {
    const std::string mounted = root + "/sys/fs/cgroup";
    if (controllers.empty()) {
      least = std::min(least, LeastQuota(mounted, group, QuotaOfV2));
    } else if (HasCpu(controllers)) {
      least = std::min(least, LeastQuota(mounted + "/cpu", group, QuotaOfV1));
    }
  }
  return least;
}

}  // namespace detops::runtime

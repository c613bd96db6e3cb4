// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/threads.h"

#include <sched.h>

#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>

#include "core/status.h"
#include "runtime/cpu/cpu_quota.h"

namespace detops::runtime {
namespace {

// A variable of the environment that says how many threads.
struct Variable {
  const char* name;
  long least;
  char separator;  // of a list, whose first number counts; else 0
  const char* means;
  const char* or_else;
};

// The first that is set counts.
constexpr Variable kVariables[] = {
    {"DETOPS_THREADS", 0, '\0', "the largest number of threads per handle",
     ", or 0 for what the machine runs at once"},
    // OpenMP's, whose list has a number for each level of nested loops.
    {"OMP_NUM_THREADS", 1, ',', "a number of threads", ""},
};

std::optional<long> ValueOf(const Variable& variable) {
  const char* const text = std::getenv(variable.name);
  if (text == nullptr || *text == '\0') return std::nullopt;
  char* end = nullptr;
  const long count = std::strtol(text, &end, 10);
  const char* const after = end + std::strspn(end, " \t");
  const bool is_number = end != text && (*after == '\0' || *after == variable.separator);
  if (!is_number || count < variable.least || count > kMostThreads) {
    core::BadParam(variable.name, ": is \"", text, "\", expected ", variable.means, ", 1 to ",
                   kMostThreads, variable.or_else);
  }
  return count;
}

// The processors that this thread may run on, as many as it may use the time of.
int AtOnce() {
  cpu_set_t allowed[8];  // of 8192 processors
  const bool known = sched_getaffinity(0, sizeof(allowed), allowed) == 0;
  const auto processors = known ? CPU_COUNT_S(sizeof(allowed), allowed)
                                : static_cast<int>(std::thread::hardware_concurrency());
  // Read once: creating a handle opens no files.
  static const double quota = CpuQuota();
  // More threads than the quota would use it up early, and then all wait for the next period.
  return static_cast<int>(
      std::clamp(std::min<double>(processors, quota), 1.0, double{kMostThreads}));
}

}  // namespace

int DefaultThreads() {
  for (const Variable& variable : kVariables) {
    if (const auto count = ValueOf(variable))
      return *count > 0 ? static_cast<int>(*count) : AtOnce();
  }
  return AtOnce();
}

}  // namespace detops::runtime

// SPDX-License-Identifier: Apache-2.0
#include "machine/options.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>

namespace bang {
namespace {

// A value that says nothing is no reason to run something else than was asked for.
[[noreturn]] void Refuse(const char* variable, const char* value, const char* expected) {
  fprintf(stderr, "bang: %s is \"%s\"; expected %s\n", variable, value, expected);
  exit(2);
}

bool Flag(const char* variable, bool otherwise, const char* expected = "0 or 1") {
  const char* value = getenv(variable);
  if (value == nullptr || *value == '\0') return otherwise;
  if (strcmp(value, "0") == 0) return false;
  if (strcmp(value, "1") == 0) return true;
  Refuse(variable, value, expected);
}

double Number(const char* variable, double otherwise, double low, double high, const char* expected) {
  const char* value = getenv(variable);
  if (value == nullptr || *value == '\0') return otherwise;
  char* end;
  errno = 0;
  const double number = strtod(value, &end);
  if (*end != '\0' || errno != 0 || !(number >= low && number <= high)) {
    Refuse(variable, value, expected);
  }
  return number;
}

int Processors() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? std::max(1, CPU_COUNT(&set)) : 1;
}

Options Read() {
  Options options;
  const char* check = getenv("BANG_CHECK");
  options.strict = check != nullptr && strcmp(check, "strict") == 0;
  options.check = options.strict || Flag("BANG_CHECK", true, "0, 1 or strict");
  options.clock = Flag("BANG_CLOCK", true);
  options.summary = Flag("BANG_SUMMARY", false);
  if (const char* when = getenv("BANG_ASYNC"); when != nullptr && *when != '\0') {
    options.early = strcmp(when, "early") == 0;
    if (!options.early && strcmp(when, "late") != 0) Refuse("BANG_ASYNC", when, "late or early");
  }
  if (const char* path = getenv("BANG_TIMELINE")) options.timeline = path;
  options.time_limit = Number("BANG_TIME_LIMIT", options.time_limit, 0, 1e9, "seconds, 0 for no limit");
  options.threads = static_cast<int>(
      Number("BANG_THREADS", Processors(), 1, 256, "a number of threads from 1 to 256"));
  return options;
}

}  // namespace

const Options& GetOptions() {
  static const Options options = Read();
  return options;
}

}  // namespace bang

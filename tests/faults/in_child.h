// SPDX-License-Identifier: Apache-2.0
//
// Attempts in processes of their own: each begins where the library was never called before, and
// one that crashes or waits for ever is a failure like any other.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <stdexcept>
#include <string>

#include "faults/faults.h"

namespace detops::test {

// What body() returns in a child of this process. Throws where the child ends otherwise.
inline std::string InChild(const std::function<std::string()>& body) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    const std::string said = body();
    for (size_t done = 0; done < said.size();) {
      const ssize_t written = write(ends[1], said.data() + done, said.size() - done);
      if (written <= 0) _exit(1);
      done += static_cast<size_t>(written);
    }
    _exit(0);
  }
  close(ends[1]);
  std::string said;
  char part[4096];
  for (ssize_t got; (got = read(ends[0], part, sizeof(part))) > 0;) {
    said.append(part, static_cast<size_t>(got));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    throw std::runtime_error(signal == SIGALRM ? "it waits for ever"
                                               : std::string("it ends by ") + strsignal(signal));
  }
  if (status != 0) throw std::runtime_error("it exits");
  return said;
}

// Lets the n-th allocation fail, for n = 1, 2, ... until none did. attempt(n) runs in a child; it
// returns kDone where it had no n-th allocation, "" where it met the fault as it should, and else
// what is wrong.
inline constexpr char kDone[] = "done";
inline void FailEachAllocation(const std::function<std::string(long n)>& attempt) {
  for (long n = 1;; ++n) {
    std::string said;
    try {
      said = InChild([&] { return attempt(n); });
    } catch (const std::exception& error) {
      said = error.what();
    }
    if (said == kDone) {
      EXPECT_GT(n, 1) << "nothing was allocated: there is nothing to test";
      return;
    }
    ASSERT_EQ(said, "") << "where allocation " << n << " fails";
    ASSERT_LT(n, 10000);
  }
}

}  // namespace detops::test

// SPDX-License-Identifier: Apache-2.0
//
// Every operator where memory or threads run out: each allocation fails once, each thread once.
#include <cstring>
#include <deque>
#include <utility>

#include "faults/client.h"
#include "faults/in_child.h"

namespace detops::test {
namespace {

constexpr int kThreads = 4;

// Each form of each operator. Making them calls nothing of the library.
struct Case {
  std::string name;
  schema::Problem problem;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

std::deque<Case> Cases() {
  std::deque<Case> cases;
  for (const schema::Schema* schema : schema::All()) {
    for (size_t form = 0; form < schema->forms.size(); ++form) {
      cases.push_back(
          {schema->name + ("_" + std::to_string(form)), ProblemForThreads(*schema, form)});
    }
  }
  return cases;
}

class Faults : public ::testing::TestWithParam<Case> {
 protected:
  // By the reference.
  std::string Expected() const {
    return InChild([&] {
      Client client(problem(), 1);
      return client.Run("cpu:reference") == MLUOP_STATUS_SUCCESS ? client.Answer()
                                                                 : detopsGetLastErrorMessage();
    });
  }
  const schema::Problem& problem() const { return GetParam().problem; }
};

// "" where the client met what was to fail as it should.
std::string WhatIsWrong(const Client& client, mluOpStatus_t status, const std::string& expected) {
  if (status != MLUOP_STATUS_SUCCESS && status != MLUOP_STATUS_ALLOC_FAILED) {
    return std::string("the status is ") + mluOpGetErrorString(status) + ": " +
           detopsGetLastErrorMessage();
  }
  if (status == MLUOP_STATUS_ALLOC_FAILED && *detopsGetLastErrorMessage() == '\0') {
    return "there is no error text";
  }
  if (client.called()) return client.Answer() == expected ? "" : "the results are wrong";
  if (status == MLUOP_STATUS_SUCCESS) return "nothing failed, and nothing was called";
  return client.OutputsUntouched() ? "" : "outputs were written";
}

TEST_P(Faults, AFailedAllocationIsAStatusAndTheNextCallWorks) {
  const std::string expected = Expected();
  FailEachAllocation([&](long n) -> std::string {
    Client client(problem(), kThreads);
    bool reached = false;
    // At first the library has never been called; later it has all that it keeps.
    for (const bool first : {true, false}) {
      for (const bool and_later : {false, true}) {
        const long live = detopsFaultsLiveAllocations();
        detopsFaultsFailAllocation(n, and_later);
        const mluOpStatus_t status = client.Run();
        reached = reached || detopsFaultsFailedAllocations() > 0;
        detopsFaultsFailAllocation(0, 0);
        if (!first && detopsFaultsLiveAllocations() != live) return "memory is leaked";
        if (std::string wrong = WhatIsWrong(client, status, expected); !wrong.empty()) return wrong;
        if (first && !and_later) continue;  // the next call fails too
        if (client.Run() != MLUOP_STATUS_SUCCESS) return "the next call fails";
        if (client.Answer() != expected) return "the next call's results are wrong";
      }
    }
    return reached ? "" : kDone;
  });
}

TEST_P(Faults, CallsGoOnWithTheThreadsThereAre) {
  const std::string expected = Expected();
  for (long k = 1; k <= kThreads; ++k) {
    const auto attempt = [&]() -> std::string {
      Client client(problem(), kThreads);
      detopsFaultsFailThreads(k);
      if (client.Run() != MLUOP_STATUS_SUCCESS) return detopsGetLastErrorMessage();
      if (client.Answer() != expected) return "the results are wrong";
      // One is the caller; others are asked for until one can't be had.
      if (detopsFaultsFailedThreads() != (k < kThreads ? 1 : 0))
        return "too few loops have threads";
      detopsFaultsFailThreads(0);
      if (client.Run() != MLUOP_STATUS_SUCCESS) return "the next call fails";
      return client.Answer() == expected ? "" : "the next call's results are wrong";
    };
    EXPECT_EQ(InChild(attempt), "") << "where thread " << k << " can't be started";
  }
}

INSTANTIATE_TEST_SUITE_P(, Faults, ::testing::ValuesIn(Cases()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace detops::test

// SPDX-License-Identifier: Apache-2.0
//
// Every call with one wrong argument is refused with the right status and a text that names it,
// and nothing is written. The names of the tests say what is wrong.
#include "api/wrong_calls.h"

namespace detops::test {
namespace {

struct Case {
  OperatorCall op;
  ChangedCall change;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.change.name; }

template <class ChangesOf>
std::vector<Case> Cases(const ChangesOf& changes_of) {
  std::vector<Case> cases;
  for (const OperatorCall& op : AllCalls()) {
    for (const ChangedCall& change : changes_of(op)) cases.push_back({op, change});
  }
  return cases;
}

std::string NameOf(const ::testing::TestParamInfo<Case>& info) {
  return info.param.op.name + "_" + info.param.change.name;
}

class BadArguments : public ::testing::TestWithParam<Case> {};

TEST_P(BadArguments, AreRefused) {
  const auto& [op, wrong] = GetParam();
  CallSetup setup(op);
  wrong.apply(setup);
  const Outcome outcome = MakeCall(op, setup);
  EXPECT_EQ(outcome.status, wrong.Expected()) << outcome.text;
  EXPECT_TRUE(TextNames(op, wrong, outcome.text)) << "the text is \"" << outcome.text << '"';
  EXPECT_TRUE(outcome.outputs_untouched);
}

INSTANTIATE_TEST_SUITE_P(, BadArguments, ::testing::ValuesIn(Cases(WrongCallsOf)), NameOf);

// The changes above are wrong because of what the description says, not because the call was wrong
// from the start: changes that leave the call legal go through.
class LegalArguments : public ::testing::TestWithParam<Case> {};

TEST_P(LegalArguments, AreTaken) {
  const auto& [op, legal] = GetParam();
  CallSetup setup(op);
  legal.apply(setup);
  const Outcome outcome = MakeCall(op, setup);
  EXPECT_EQ(outcome.status, MLUOP_STATUS_SUCCESS) << outcome.text;
  EXPECT_TRUE(outcome.outputs_written);
}

INSTANTIATE_TEST_SUITE_P(, LegalArguments, ::testing::ValuesIn(Cases(LegalCallsOf)), NameOf);

bool SaysTheShapeOf(const OperatorCall& op, const std::string& scalar, const std::string& tensor) {
  return std::any_of(op.tensors.begin(), op.tensors.end(), [&](const TensorSpec& t) {
    return t.name == tensor && std::any_of(t.dims.begin(), t.dims.end(),
                                           [&](const Dim& d) { return d.scalar == scalar; });
  });
}

class EveryCall : public ::testing::TestWithParam<OperatorCall> {};

TEST_P(EveryCall, SucceedsAndWritesWhenValid) {
  const OperatorCall& op = GetParam();
  const Outcome outcome = MakeCall(op, CallSetup(op));
  EXPECT_EQ(outcome.status, MLUOP_STATUS_SUCCESS) << outcome.text;
  EXPECT_TRUE(outcome.outputs_written);
}

// Where two things are wrong, the earlier check speaks: the text is word for word the one of a call
// where only that is wrong.
TEST_P(EveryCall, MakesItsChecksInOrder) {
  const OperatorCall& op = GetParam();
  const std::vector<ChangedCall> wrong = WrongCallsOf(op);
  std::vector<ChangedCall> later_ones;  // one for each check and argument is enough
  for (const ChangedCall& change : wrong) {
    const auto same = [&](const ChangedCall& other) {
      return other.check == change.check && other.argument == change.argument;
    };
    if (std::none_of(later_ones.begin(), later_ones.end(), same)) later_ones.push_back(change);
  }
  for (const ChangedCall& first : wrong) {
    CallSetup alone(op);
    first.apply(alone);
    const std::string expected = MakeCall(op, alone).text;
    for (const ChangedCall& second : later_ones) {
      if (first.check >= second.check) continue;
      // Without the scalar that says how large a tensor is, its shape can't be told wrong.
      if (SaysTheShapeOf(op, second.argument, first.argument)) continue;
      CallSetup both = alone;
      second.apply(both);
      const Outcome outcome = MakeCall(op, both);
      EXPECT_EQ(outcome.status, first.Expected()) << first.name << " and " << second.name;
      EXPECT_EQ(outcome.text, expected) << first.name << " and " << second.name;
      EXPECT_TRUE(outcome.outputs_untouched) << first.name << " and " << second.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, EveryCall, ::testing::ValuesIn(AllCalls()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace detops::test

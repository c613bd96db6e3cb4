// SPDX-License-Identifier: Apache-2.0
//
// Every call with one wrong argument is refused with the right status and a text that names it,
// and nothing is written. The names of the tests say what is wrong.
#include "api/operator_calls.h"
#include "api/wrong_calls.h"

namespace detops::test {
namespace {

struct Case {
  OperatorCall op;
  ChangedCall change;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.change.name; }

std::vector<Case> Cases(const OperatorCall& op, const std::vector<ChangedCall>& changes) {
  std::vector<Case> cases;
  for (const ChangedCall& change : changes) cases.push_back({op, change});
  return cases;
}
auto Wrong(const OperatorCall& op) { return ::testing::ValuesIn(Cases(op, WrongCallsOf(op))); }
auto Legal(const OperatorCall& op) { return ::testing::ValuesIn(Cases(op, LegalCallsOf(op))); }

std::string NameOf(const ::testing::TestParamInfo<Case>& info) { return info.param.change.name; }

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

INSTANTIATE_TEST_SUITE_P(BboxOverlaps, BadArguments, Wrong(BboxOverlapsCall()), NameOf);
INSTANTIATE_TEST_SUITE_P(BboxOverlapsAligned, BadArguments, Wrong(BboxOverlapsAlignedCall()),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(PolyNms, BadArguments, Wrong(PolyNmsCall()), NameOf);
INSTANTIATE_TEST_SUITE_P(BorderAlignForward, BadArguments, Wrong(BorderAlignForwardCall()), NameOf);
INSTANTIATE_TEST_SUITE_P(BorderAlignForwardNchw, BadArguments, Wrong(BorderAlignForwardNchwCall()),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(GenerateProposalsV2, BadArguments, Wrong(GenerateProposalsV2Call()),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(PointsInBoxes, BadArguments, Wrong(PointsInBoxesCall()), NameOf);
INSTANTIATE_TEST_SUITE_P(PolyNmsWorkspace, BadArguments, Wrong(PolyNmsWorkspaceCall()), NameOf);
INSTANTIATE_TEST_SUITE_P(GenerateProposalsV2Workspace, BadArguments,
                         Wrong(GenerateProposalsV2WorkspaceCall()), NameOf);
INSTANTIATE_TEST_SUITE_P(GenerateProposalsV2WorkspaceV2, BadArguments,
                         Wrong(GenerateProposalsV2WorkspaceV2Call()), NameOf);

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

INSTANTIATE_TEST_SUITE_P(BboxOverlaps, LegalArguments, Legal(BboxOverlapsCall()), NameOf);
INSTANTIATE_TEST_SUITE_P(BboxOverlapsAligned, LegalArguments, Legal(BboxOverlapsAlignedCall()),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(PolyNms, LegalArguments, Legal(PolyNmsCall()), NameOf);
INSTANTIATE_TEST_SUITE_P(BorderAlignForward, LegalArguments, Legal(BorderAlignForwardCall()),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(BorderAlignForwardNchw, LegalArguments,
                         Legal(BorderAlignForwardNchwCall()), NameOf);
INSTANTIATE_TEST_SUITE_P(PointsInBoxes, LegalArguments, Legal(PointsInBoxesCall()), NameOf);
INSTANTIATE_TEST_SUITE_P(PolyNmsWorkspace, LegalArguments, Legal(PolyNmsWorkspaceCall()), NameOf);
INSTANTIATE_TEST_SUITE_P(GenerateProposalsV2Workspace, LegalArguments,
                         Legal(GenerateProposalsV2WorkspaceCall()), NameOf);
INSTANTIATE_TEST_SUITE_P(GenerateProposalsV2WorkspaceV2, LegalArguments,
                         Legal(GenerateProposalsV2WorkspaceV2Call()), NameOf);

struct NamedCall {
  const char* name;
  OperatorCall op;
};

void PrintTo(const NamedCall& c, std::ostream* out) { *out << c.name; }

std::vector<NamedCall> AllCalls() {
  return {{"BboxOverlaps", BboxOverlapsCall()},
          {"BboxOverlapsAligned", BboxOverlapsAlignedCall()},
          {"PolyNms", PolyNmsCall()},
          {"BorderAlignForward", BorderAlignForwardCall()},
          {"BorderAlignForwardNchw", BorderAlignForwardNchwCall()},
          {"GenerateProposalsV2", GenerateProposalsV2Call()},
          {"PointsInBoxes", PointsInBoxesCall()},
          {"PolyNmsWorkspace", PolyNmsWorkspaceCall()},
          {"GenerateProposalsV2Workspace", GenerateProposalsV2WorkspaceCall()},
          {"GenerateProposalsV2WorkspaceV2", GenerateProposalsV2WorkspaceV2Call()}};
}

class EveryCall : public ::testing::TestWithParam<NamedCall> {};

TEST_P(EveryCall, SucceedsAndWritesWhenValid) {
  const OperatorCall& op = GetParam().op;
  const Outcome outcome = MakeCall(op, CallSetup(op));
  EXPECT_EQ(outcome.status, MLUOP_STATUS_SUCCESS) << outcome.text;
  EXPECT_TRUE(outcome.outputs_written);
}

// Where two things are wrong, the earlier check speaks: the text is word for word the one of a call
// where only that is wrong.
TEST_P(EveryCall, MakesItsChecksInOrder) {
  const OperatorCall& op = GetParam().op;
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
      // How many rois there may be is what this scalar says: without it no shape can be told wrong.
      if (second.argument == "post_nms_top_n" && first.argument.rfind("rpn_roi", 0) == 0) continue;
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
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace detops::test

// SPDX-License-Identifier: Apache-2.0
//
// What the library writes down of a program's calls: lines on stderr, and case files that repeat
// them.
#include "cases/case_file.h"
#include "cli/program.h"

namespace detops::cli::test {
namespace {

class RecordTest : public Program {};

int CountOf(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST_F(RecordTest, CallsAreLinesOnStderr) {
  Write("dets.csv", "0,0,1,0,1,1,0,1,.7\n.1,0,1.1,0,1.1,1,.1,1,.8\n");
  const std::string run = "run poly_nms --boxes dets.csv --iou-threshold 0.25 --impl cpu:reference";
  const Outcome o = Run(run, "DETOPS_LOG=calls");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(CountOf(o.err, "\n"), 1) << o.err;
  EXPECT_NE(o.err.find("detops: mluOpPolyNms boxes=[2,9]:float output=[2]:int32 iou_threshold=0.25 "
                       "device=cpu implementation=cpu:reference workspace="),
            std::string::npos)
      << o.err;
  EXPECT_NE(o.err.find(" time="), std::string::npos) << o.err;
  EXPECT_EQ(Run(run).err, "");
  // With what dispatch says, in either order.
  EXPECT_EQ(CountOf(Run(run, "DETOPS_LOG=calls,dispatch").err, "\n"), 2);
  EXPECT_EQ(CountOf(Run(run, "DETOPS_LOG=dispatch,calls").err, "\n"), 2);
  EXPECT_EQ(CountOf(Run(run, "DETOPS_LOG=dispatch").err, "\n"), 1);
}

TEST_F(RecordTest, RefusedAndEmptyCallsSayWhy) {
  Write("eight.csv", "0,0,1,0,1,1,0,1\n");
  const Outcome refused =
      Run("run bbox_overlaps --bboxes1 eight.csv --bboxes2 eight.csv", "DETOPS_LOG=calls");
  EXPECT_NE(refused.err.find("detops: mluOpBboxOverlaps bbox1=[1,8]:float"), std::string::npos)
      << refused.err;
  EXPECT_NE(refused.err.find(" refused: mluOpBboxOverlaps: bbox1: dim 1 is 8, expected 4"),
            std::string::npos)
      << refused.err;
  Write("none.prototxt", "op_name: 'poly_nms' input { shape { dims: [0, 9] } } scene { }");
  const Outcome empty = Run("check none.prototxt --impl cpu:reference", "DETOPS_LOG=calls");
  EXPECT_NE(empty.err.find(" implementation=none, there is nothing to do"), std::string::npos)
      << empty.err;
}

// Every operator, by the smoke cases: the inputs that come back are those that went in.
TEST_F(RecordTest, RecordedCallsRepeat) {
  for (const schema::Schema* op : schema::All()) {
    const std::string part = std::string(op->name) + "/smoke",
                      folder = std::string("of_") + op->name;
    const Outcome first =
        Run("check " + part + " --impl cpu:reference --json", "DETOPS_RECORD=" + folder);
    ASSERT_EQ(first.code, 0) << first.err;
    const Outcome second = Run("check " + folder + " --impl cpu:reference --json");
    ASSERT_EQ(second.code, 0) << second.err << second.out;
    EXPECT_EQ(second.Json()["results"].size(), first.Json()["results"].size()) << op->name;
    int cases = 0;
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(DETOPS_CASES_FOLDER) / part)) {
      if (entry.path().extension() != ".prototxt") continue;
      const Problem original = MakeProblem(ReadCase(entry.path()));
      ++cases;
      bool found = false;
      for (const auto& recorded : fs::directory_iterator(File(folder))) {
        if (recorded.path().extension() != ".prototxt") continue;
        const Problem repeated = MakeProblem(ReadCase(recorded.path()));
        bool same = repeated.scalars.size() == original.scalars.size();
        for (size_t i = 0; same && i < original.scalars.size(); ++i) {
          same = static_cast<float>(repeated.scalars[i]) == static_cast<float>(original.scalars[i]);
        }
        for (size_t i = 0; same && i < original.inputs.size(); ++i) {
          same = SameBits(repeated.inputs[i], original.inputs[i]);
        }
        found = found || same;
      }
      EXPECT_TRUE(found) << entry.path();
    }
    EXPECT_GT(cases, 0) << op->name;
  }
}

TEST_F(RecordTest, MluOpsVariableIsUnderstood) {
  const std::string check = "check poly_nms/smoke/scattered_300 --impl cpu:reference";
  EXPECT_EQ(Run(check, "MLUOP_GEN_CASE_ON=0").code, 0);
  EXPECT_FALSE(fs::exists(File("gen_case")));
  ASSERT_EQ(Run(check, "MLUOP_GEN_CASE_ON=1").code, 0);  // shapes alone
  ASSERT_EQ(std::distance(fs::directory_iterator(File("gen_case")), fs::directory_iterator()), 1);
  EXPECT_EQ(Run("check gen_case --impl cpu:reference").code, 0);
  ASSERT_EQ(Run(check, "MLUOP_GEN_CASE_ON=2").code, 0);  // with its data beside it
  EXPECT_EQ(std::distance(fs::directory_iterator(File("gen_case")), fs::directory_iterator()), 3);
}

TEST_F(RecordTest, AFolderThatCanNotBeWrittenIsSaidOnce) {
  Write("file", "");
  const Outcome o = Run("check poly_nms/smoke --impl cpu:reference", "DETOPS_RECORD=file/folder");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(CountOf(o.err, "calls are not recorded: can't write file/folder/"), 1) << o.err;
}

}  // namespace
}  // namespace detops::cli::test

// SPDX-License-Identifier: Apache-2.0
#include "cases/case_file.h"
#include "cli/program.h"
#include "oracle/oracle.h"

namespace detops::cli::test {
namespace {

using GenTest = Program;

TEST_F(GenTest, TheSameSeedGivesTheSameCase) {
  const Outcome a = Run("gen poly_nms --scene ties --n 50 --seed 3 --values");
  const Outcome b = Run("gen poly_nms --scene ties --n 50 --seed 3 --values");
  const Outcome c = Run("gen poly_nms --scene ties --n 50 --seed 4 --values");
  EXPECT_EQ(a.code, 0) << a.err;
  EXPECT_EQ(a.out, b.out);
  EXPECT_NE(a.out, c.out);
}

TEST_F(GenTest, JsonIsOneDocument) {
  const std::string text = Run("gen poly_nms --n 2").out;
  EXPECT_EQ(Run("gen poly_nms --n 2 --json").Json()["case"], text);
  EXPECT_EQ(Run("gen poly_nms --n 2 --json --out c.prototxt").Json()["written"], 1);
  EXPECT_EQ(Slurp(File("c.prototxt")), text);
}

TEST_F(GenTest, ValuesAreThoseOfTheScene) {
  for (const Schema* op : schema::All()) {
    for (const auto& kind : op->scenes) {
      const std::string arguments =
          std::string("gen ") + op->name + " --seed 9 --scene " + kind.name;
      ASSERT_EQ(Run(arguments + " --out scene.prototxt").code, 0) << arguments;
      ASSERT_EQ(Run(arguments + " --values --out values.prototxt").code, 0) << arguments;
      const Problem scene = MakeProblem(ReadCase(File("scene.prototxt")));
      const Problem values = MakeProblem(ReadCase(File("values.prototxt")));
      ASSERT_EQ(scene.inputs.size(), values.inputs.size());
      for (size_t i = 0; i < scene.inputs.size(); ++i) {
        EXPECT_TRUE(SameBits(scene.inputs[i], values.inputs[i])) << arguments << " input " << i;
      }
    }
  }
}

// Rows of its table are | `scene` | what | operators |.
TEST_F(GenTest, TheManualHasEveryScene) {
  const std::string manual = Slurp(DETOPS_CASES_FOLDER "/../docs/command-line.md");
  const size_t begin = manual.find("\n## gen\n"), end = manual.find("\n## bench\n");
  ASSERT_LT(begin, end);
  std::istringstream lines(manual.substr(begin, end - begin));
  std::map<std::string, std::string> documented, actual;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `")) continue;
    const size_t last = line.rfind(" | ") + 3;
    documented[line.substr(3, line.find('`', 3) - 3)] = line.substr(last, line.size() - last - 2);
  }
  std::string all;
  for (const Schema* op : schema::All()) {
    const auto add = [&](std::string& names) {
      names += (names.empty() ? "" : ", ") + std::string(op->name);
    };
    add(all);
    for (const auto& kind : op->scenes) add(actual[kind.name]);
  }
  for (auto& [scene, operators] : actual) {
    if (operators == all) operators = "all";
  }
  EXPECT_EQ(documented, actual);
}

TEST_F(GenTest, WhatItWritesPasses) {
  for (const char* arguments :
       {"poly_nms --scene all --count 2 --n 60",
        "bbox_overlaps --scene all --m 20 --n 30 --dtype half",
        "border_align_forward --scene all --h 6 --w 7 --c 3 --k 9 --layout nchw",
        "generate_proposals_v2 --scene all --h 5 --w 6 --count 2",
        "points_in_boxes --scene all --m 300 --t 9"}) {
    fs::remove_all(File("made"));
    const Outcome gen = Run(std::string("gen ") + arguments + " --out made");
    ASSERT_EQ(gen.code, 0) << gen.err;
    const Outcome check = Run("check made");
    EXPECT_EQ(check.code, 0) << arguments << "\n" << check.out << check.err;
  }
  ASSERT_EQ(
      Run("gen points_in_boxes --distribution gaussian --lower -3 --upper 3 --out g.prototxt").code,
      0);
  EXPECT_NE(Slurp(File("g.prototxt")).find("GAUSSIAN"), std::string::npos);
  EXPECT_EQ(Run("check g.prototxt").code, 0);
}

TEST_F(GenTest, NearThresholdIsNear) {
  for (const float threshold : {0.05f, 0.2f, 0.7f}) {
    ASSERT_EQ(Run("gen poly_nms --scene near_threshold --n 400 --iou-threshold " +
                  std::to_string(threshold) + " --out near.prototxt")
                  .code,
              0);
    const Outcome o = Run("check near.prototxt --json");
    EXPECT_EQ(o.code, 0) << o.out;
    EXPECT_EQ(o.Json()["results"][0]["status"], "passed");

    const Problem problem = MakeProblem(ReadCase(File("near.prototxt")));
    const std::vector<float> boxes = problem.inputs[0].Floats();
    int above = 0;
    for (size_t pair = 0; pair < 200; ++pair) {
      const auto quad = [&](size_t box) {
        return std::span<const float>(boxes).subspan(9 * box).first<8>();
      };
      const double iou = oracle::QuadIou(quad(2 * pair), quad(2 * pair + 1));
      EXPECT_NEAR(iou, threshold, 1e-6) << pair;
      above += iou > threshold;
    }
    // Either side must be tried, or the scene is not what it says.
    EXPECT_GE(above, 60) << threshold;
    EXPECT_LE(above, 140) << threshold;
  }
}

TEST_F(GenTest, WrongArguments) {
  ExpectRefused("gen", "needs a command");
  ExpectRefused("gen poly_nms --distribution uniform --lower 3 --upper 1", "--lower");
  ExpectRefused("gen poly_nms --distribution gaussian --lower 3 --upper nan", "--lower");
  ExpectRefused("gen poly_nms --scene strange", "has no scene 'strange'");
  ExpectRefused("gen poly_nms --n -3", "");
  ExpectRefused("gen poly_nms --scene all", "give --out FOLDER");
  ExpectRefused("gen poly_nms --out no/such/file.prototxt", "can't be written");
  ExpectRefused("gen poly_nms --n 1000000000000 --values", "more than this machine");
}

}  // namespace
}  // namespace detops::cli::test

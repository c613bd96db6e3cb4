// SPDX-License-Identifier: Apache-2.0
#include "cli/program.h"
#include "files/npy.h"

namespace detops::cli::test {
namespace {

using RunTest = Program;

constexpr char kQuads[] =
    "0,0,1,0,1,1,0,1,1\n.5,.5,1.5,.5,1.5,1.5,.5,1.5,2\n0,0,-.5,0,-.5,-.5,0,-.5,3\n";

std::vector<int32_t> Ints(const Array& a) {
  return {a.As<int32_t>().begin(), a.As<int32_t>().end()};
}

TEST_F(RunTest, PolyNms) {
  Write("dets.csv", kQuads);
  const Outcome o = Run("run poly_nms --boxes dets.csv --iou-threshold 0.1 --out keep.npy");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find("kept 2 of 3 boxes"), std::string::npos) << o.out;
  EXPECT_EQ(Ints(ReadNpy(File("keep.npy"))), (std::vector<int32_t>{1, 2}));
}

TEST_F(RunTest, EveryImplementationByName) {
  Write("dets.csv", kQuads);
  const Outcome list = Run("list --json");
  ASSERT_EQ(list.code, 0) << list.err;
  const nlohmann::json json = list.Json();
  int tried = 0;
  for (const auto& op : json["operators"]) {
    if (op["name"] != "poly_nms") continue;
    for (const auto& i : op["implementations"]) {
      if (!i["usable"].get<bool>()) continue;
      const Outcome o =
          Run("run poly_nms --boxes dets.csv --iou-threshold 0.1 --json --device " +
              i["device"].get<std::string>() + " --impl " + i["name"].get<std::string>());
      ASSERT_EQ(o.code, 0) << o.err;
      EXPECT_EQ(o.Json()["implementation"], i["name"]);
      EXPECT_EQ(o.Json()["outputs"][0]["shape"], nlohmann::json({2}));
      ++tried;
    }
  }
  EXPECT_GE(tried, 1);
}

TEST_F(RunTest, InstructionSetsCanBeCapped) {
  const std::string narrowest = NarrowestInstructionSet(), cap = "DETOPS_CPU=" + narrowest;
  Write("dets.csv", kQuads);
  const std::string run = "run poly_nms --boxes dets.csv --json";
  EXPECT_EQ(Run(run, cap).Json()["implementation"], "cpu:" + narrowest);
  const nlohmann::json uncapped = Run("list --json", "DETOPS_CPU=").Json();
  for (const auto& i : uncapped["operators"][0]["implementations"]) {
    const std::string name = i["name"];
    if (!name.starts_with("cpu:") || name == "cpu:reference" || name == "cpu:" + narrowest) {
      continue;
    }
    const Outcome o = Run(run + " --impl " + name, cap);
    EXPECT_EQ(o.code, 2);
    const std::string reason =
        i["usable"].get<bool>() ? "not allowed by DETOPS_CPU" : i["reason"].get<std::string>();
    EXPECT_NE(o.err.find("implementation " + name + " can't be used: " + reason), std::string::npos)
        << o.err;
  }
  const Outcome unknown = Run(run, "DETOPS_CPU=mmx");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_NE(unknown.err.find("DETOPS_CPU: is \"mmx\", expected"), std::string::npos) << unknown.err;
}

// The option, else the variable, else the first device.
TEST_F(RunTest, TheDeviceMayComeFromTheEnvironment) {
  Write("boxes.csv", "0,0,2,2\n1,1,3,3\n");
  const std::string run = "run bbox_overlaps --bboxes1 boxes.csv --bboxes2 boxes.csv --json";
  EXPECT_EQ(Run(run, "DETOPS_DEVICE=cpu").code, 0);
  EXPECT_EQ(Run(run, "DETOPS_DEVICE=").code, 0);
  EXPECT_EQ(Run(run + " --device cpu", "DETOPS_DEVICE=tpu:0").code, 0);
  for (const std::string& command : {run, std::string("demo --json")}) {
    const Outcome o = Run(command, "DETOPS_DEVICE=tpu:0");
    EXPECT_EQ(o.code, 2) << command;
    EXPECT_NE(o.err.find("DETOPS_DEVICE: there is no device 'tpu:0'"), std::string::npos) << o.err;
    EXPECT_EQ(o.out, "");
  }
  // As the library: a backend is its first device, usable or not.
  const nlohmann::json list = Run("list --json").Json();
  for (const auto& device : list["devices"]) {
    const std::string name = device["name"], backend = name.substr(0, name.find(':'));
    const Outcome o = Run(run, "DETOPS_DEVICE=" + backend);
    if (device["usable"].get<bool>()) {
      EXPECT_EQ(o.Json()["device"].get<std::string>().substr(0, backend.size()), backend);
    } else {
      EXPECT_EQ(o.code, 2);
      EXPECT_NE(o.err.find("DETOPS_DEVICE: device " + name + " can't be used"), std::string::npos)
          << o.err;
    }
  }
}

TEST_F(RunTest, BboxOverlapsInHalfToCsv) {
  const std::vector<float> a = {0, 0, 10, 10, 10, 10, 20, 20}, b = {0, 0, 10, 20, 10, 10, 20, 20};
  WriteNpy(File("a.npy"), Array::FromFloats(MLUOP_DTYPE_HALF, {2, 4}, a));
  WriteNpy(File("b.npy"), Array::FromFloats(MLUOP_DTYPE_HALF, {2, 4}, b));
  EXPECT_EQ(Run("run bbox_overlaps --bboxes1 a.npy --bboxes2 b.npy --out ious.csv -q").code, 0);
  EXPECT_EQ(Slurp(File("ious.csv")), "0.5,0\n0,1\n");
  EXPECT_EQ(
      Run("run bbox_overlaps --bboxes1 a.npy --bboxes2 b.npy --aligned --mode iof --out v.npy -q")
          .code,
      0);
  EXPECT_EQ(ReadNpy(File("v.npy")).Floats(), (std::vector<float>{1, 1}));
}

TEST_F(RunTest, PointsInBoxesFromCsv) {
  Write("p.csv", "x y z\n0 0 0\n5 5 5\n");
  Write("b.csv", "0 0 0 2 2 2 0\n");
  EXPECT_EQ(Run("run points_in_boxes --points p.csv --boxes b.csv --out i.npy -q").code, 0);
  EXPECT_EQ(ReadNpy(File("i.npy")).shape(), (Shape{1, 2}));
  EXPECT_EQ(Ints(ReadNpy(File("i.npy"))), (std::vector<int32_t>{0, -1}));
}

TEST_F(RunTest, BorderAlignInBothLayouts) {
  std::vector<float> map(4 * 3 * 3);
  for (size_t i = 0; i < map.size(); ++i) map[i] = static_cast<float>(i);
  WriteNpy(File("nchw.npy"), Array::FromFloats(MLUOP_DTYPE_FLOAT, {1, 4, 3, 3}, map));
  WriteNpy(File("boxes.npy"),
           Array::FromFloats(MLUOP_DTYPE_FLOAT, {1, 1, 4}, std::vector<float>{0, 0, 2, 2}));
  const Outcome o =
      Run("run border_align_forward --input nchw.npy --boxes boxes.npy --pool-size 2 "
          "--layout nchw --out o.npy --out-argmax a.npy");
  ASSERT_EQ(o.code, 0) << o.err;
  // The last pixel of the top row, of the left column, and the starts of the bottom and right ones.
  EXPECT_EQ(ReadNpy(File("o.npy")).Floats(), (std::vector<float>{2, 15, 26, 35}));
  EXPECT_EQ(Ints(ReadNpy(File("a.npy"))), (std::vector<int32_t>{2, 2, 0, 0}));
  ExpectRefused(
      "run border_align_forward --input nchw.npy --boxes boxes.npy --pool-size 0 --layout nchw",
      "pool_size");
}

TEST_F(RunTest, GenerateProposals) {
  const auto write = [&](const char* name, Shape shape, const std::vector<float>& values) {
    WriteNpy(File(name), Array::FromFloats(MLUOP_DTYPE_FLOAT, shape, values));
  };
  write("s.npy", {1, 1, 1, 2}, {0.5f, 0.9f});
  write("d.npy", {1, 1, 1, 8}, std::vector<float>(8, 0.0f));
  write("a.npy", {1, 1, 2, 4}, {0, 0, 10, 10, 20, 20, 40, 40});
  write("v.npy", {1, 1, 2, 4}, std::vector<float>(8, 1.0f));
  write("i.npy", {1, 2}, {100, 100});
  const Outcome o =
      Run("run generate_proposals_v2 --scores s.npy --bbox-deltas d.npy --anchors a.npy "
          "--variances v.npy --im-shape i.npy --pixel-offset false --out r.npy "
          "--out-probs p.npy --out-num n.npy");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(ReadNpy(File("r.npy")).Floats(), (std::vector<float>{20, 20, 40, 40, 0, 0, 10, 10}));
  EXPECT_EQ(ReadNpy(File("p.npy")).Floats(), (std::vector<float>{0.9f, 0.5f}));
  EXPECT_EQ(Ints(ReadNpy(File("n.npy"))), (std::vector<int32_t>{2}));
}

TEST_F(RunTest, WrongArguments) {
  Write("dets.csv", kQuads);
  Write("eight.csv", "0,0,1,0,1,1,0,1\n");
  Write("broken.npy", "\x93NUMPY");
  ExpectRefused("", "detops needs a command: list, run, check");
  ExpectRefused("rnu poly_nms", "there is no 'rnu'; detops has list, run, check");
  ExpectRefused("run", "detops run needs a command: bbox_overlaps, border_align_forward");
  ExpectRefused("run soft_nms --boxes dets.csv",
                "there is no 'soft_nms'; detops run has bbox_over");
  ExpectRefused("run poly_nms --boxs dets.csv", "`detops run poly_nms --help`");
  ExpectRefused("run poly_nms --boxes dets.csv --iou 1", "detops run poly_nms has no '--iou'");
  ExpectRefused("run poly_nms", "--boxes");
  ExpectRefused("run poly_nms --boxes none.npy", "no such file");
  ExpectRefused("run poly_nms --boxes .", "");
  ExpectRefused("run poly_nms --boxes broken.npy", "no .npy file");
  ExpectRefused("run poly_nms --boxes eight.csv", "dim 1 is 8, expected 9");
  WriteNpy(File("number.npy"), Array(MLUOP_DTYPE_FLOAT, {}));
  ExpectRefused("run poly_nms --boxes number.npy", "number.npy: holds a single number");
  ExpectRefused("run poly_nms --boxes dets.csv --iou-threshold nan", "threshold");
  ExpectRefused("run poly_nms --boxes dets.csv --iou-threshold much", "");
  ExpectRefused("run poly_nms --boxes dets.csv --impl cpu:none", "this machine runs cpu:");
  ExpectRefused("run poly_nms --boxes dets.csv --device tpu:0", "there is no device");
  ExpectRefused("run poly_nms --boxes dets.csv --out keep.png", ".npy or .csv");
  ExpectRefused("run poly_nms --boxes dets.csv --out no/such/folder.npy",
                "can't be written: there is no folder no/such");
}

TEST_F(RunTest, WhatCanNotBePrintedIsAnError) {
  EXPECT_EQ(Run("list").code, 0);
  const int status = std::system("'" DETOPS_PROGRAM "' list > /dev/full 2> /dev/null");
  EXPECT_EQ(WEXITSTATUS(status), 2);
  EXPECT_EQ(Run("list --quiet").out, "");
}

TEST_F(RunTest, HelpHasAnExampleForEveryCommand) {
  for (const char* command : {"list", "run", "run poly_nms", "check", "gen", "gen poly_nms",
                              "bench", "report", "demo", "completion"}) {
    const Outcome o = Run(std::string(command) + " --help");
    EXPECT_EQ(o.code, 0) << command;
    EXPECT_NE(o.out.find("Example"), std::string::npos) << command << o.out;
    EXPECT_NE(o.out.find("  detops "), std::string::npos) << command << o.out;
  }
  EXPECT_EQ(Run("--version").code, 0);
}

}  // namespace
}  // namespace detops::cli::test

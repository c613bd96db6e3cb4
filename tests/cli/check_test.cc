// SPDX-License-Identifier: Apache-2.0
#include "checking/check.h"

#include <random>

#include "cli/program.h"
#include "files/npy.h"

namespace detops::cli::test {
namespace {

using CheckTest = Program;

// As people have them for mluOp: fields that mean nothing here, both spellings of messages, bounds
// as float and as double.
constexpr char kMluOpCase[] = R"(device: CPU
op_name: "points_in_boxes"
input {
  id: "input1"
  shape: { dims: 1 dims: 100 dims: 3 }
  layout: LAYOUT_ARRAY
  dtype: DTYPE_FLOAT
  random_data: { seed: 25 upper_bound: 100 lower_bound: 0 distribution: UNIFORM }
}
input {
  id: "input2"
  shape { dims: 1 dims: 20 dims: 7 }
  layout: LAYOUT_ARRAY
  dtype: DTYPE_FLOAT
  onchip_dtype: DTYPE_FLOAT
  random_data { distribution: UNIFORM lower_bound_double: 0.0 upper_bound_double: 100.0 }
}
output { id: "output1" shape { dims: 1 dims: 100 } layout: LAYOUT_ARRAY dtype: DTYPE_INT32 }
test_param: { error_func: DIFF3 error_threshold: 0 baseline_device: CPU }
supported_mlu_platform: MLU370
handle_param { round_mode: ROUND_OFF_ZERO }
)";

TEST_F(CheckTest, MluOpsCasesRunUnchanged) {
  Write("case_0.prototxt", kMluOpCase);
  const Outcome o = Run("check case_0.prototxt --json");
  ASSERT_EQ(o.code, 0) << o.out << o.err;
  const nlohmann::json json = o.Json();
  EXPECT_EQ(json["summary"]["failed"], 0);
  for (const auto& r : json["results"]) {
    EXPECT_EQ(r["status"], "passed") << r;
    const std::string notes = r["notes"].dump();
    for (const char* field : {"onchip_dtype", "supported_mlu_platform", "handle_param"}) {
      EXPECT_NE(notes.find(field), std::string::npos) << notes;
    }
  }
}

TEST_F(CheckTest, RandomDataIsMluOps) {
  const Problem problem = MakeProblem(ReadCase(Write("c.prototxt", kMluOpCase)));
  for (const auto& [input, seed] : {std::pair{0, 25}, std::pair{1, 23}}) {
    std::minstd_rand0 engine(static_cast<unsigned>(seed));
    // Below the bound, which the distribution may reach by rounding.
    std::uniform_real_distribution<float> uniform(0.0f, std::nextafter(100.0f, 0.0f));
    for (const float v : problem.inputs[static_cast<size_t>(input)].Floats())
      EXPECT_EQ(v, uniform(engine));
  }
}

TEST_F(CheckTest, ValuesInOrderOfPrecedence) {
  const auto floats = [&](const std::string& values) {
    const std::string text = "op_name: 'poly_nms' input { shape { dims: [1, 9] } " + values + " }";
    return MakeProblem(ReadCase(Write("v.prototxt", text))).inputs[0].Floats();
  };
  const std::vector<float> nine = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  Write("values.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
  EXPECT_EQ(floats("value_f: [1,2,3,4,5,6,7,8,9] random_data { }"), nine);
  EXPECT_EQ(floats("path: 'values.txt' random_data { }"), nine);
  EXPECT_EQ(
      floats(
          "value_h: ['3f800000','40000000','40400000','40800000','40a00000','40c00000','40e00000',"
          "'41000000','41100000'] value_f: 3"),
      nine);
  // 0x3f800000: of float, value_i holds the bits.
  EXPECT_EQ(floats("value_i: [1065353216,0,0,0,0,0,0,0,0]")[0], 1.0f);
}

// As mluOp's tests: values are those of the buffer, and so many random numbers are drawn.
TEST_F(CheckTest, StridedTensorsAreGathered) {
  const auto floats = [&](const std::string& strides, const std::string& values) {
    const std::string text =
        "op_name: 'poly_nms' input { shape { dims: [2, 9] dim_stride: " + strides + " } " + values +
        " }";
    return MakeProblem(ReadCase(Write("s.prototxt", text))).inputs[0].Floats();
  };
  std::minstd_rand0 engine(23);
  std::uniform_real_distribution<float> uniform(-1.0f, std::nextafter(1.0f, 0.0f));
  std::vector<float> buffer(20), expected;
  for (float& v : buffer) v = uniform(engine);
  for (const size_t row : {0, 11}) {
    expected.insert(expected.end(), buffer.begin() + static_cast<long>(row),
                    buffer.begin() + static_cast<long>(row) + 9);
  }
  EXPECT_EQ(floats("[11, 1]", "random_data { }"), expected);
  // Column after column, and one row twice.
  const std::vector<float> columns =
      floats("[1, 2]", "value_f: [0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]");
  EXPECT_EQ(columns, (std::vector<float>{0, 2, 4, 6, 8, 10, 12, 14, 16,  //
                                         1, 3, 5, 7, 9, 11, 13, 15, 17}));
  EXPECT_EQ(floats("[0, 1]", "value_f: [0,1,2,3,4,5,6,7,8]"),
            (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8}));

  Write("run.prototxt",
        "op_name: 'bbox_overlaps' input { shape { dims: [9, 4] dim_stride: [5, 1] } random_data { "
        "upper_bound: 9 } } input { shape { dims: [9, 4] dim_stride: [1, 9] } random_data { "
        "upper_bound: 9 } }");
  const Outcome o = Run("check run.prototxt");
  EXPECT_EQ(o.code, 0) << o.out;
}

// mluOp's schema has names for more distributions than its tests draw from.
TEST_F(CheckTest, UnknownDistributionsAreSkipped) {
  Write("c.prototxt",
        "op_name: 'poly_nms' input { shape { dims: [2, 9] } random_data { distribution: BINOMIAL } "
        "}");
  const Outcome o = Run("check c.prototxt --json");
  EXPECT_EQ(o.code, 0) << o.out << o.err;
  const nlohmann::json row = o.Json()["results"][0];
  EXPECT_EQ(row["status"], "skipped");
  EXPECT_NE(row["reason"].get<std::string>().find("BINOMIAL"), std::string::npos) << row;
}

std::string Overlaps(const std::string& output) {
  return "op_name: 'bbox_overlaps' input { shape { dims: [1, 4] } value_f: [0,0,2,2] } "
         "input { shape { dims: [2, 4] } value_f: [0,0,2,1, 0,0,2,2] } output { id: 'o' " +
         output + " } ";
}

TEST_F(CheckTest, ExpectedValuesAreCompared) {
  const auto check = [&](const std::string& text) {
    Write("e.prototxt", text);
    return Run("check e.prototxt --json");
  };
  const auto expect_failed = [&](const std::string& text, const std::string& output) {
    const Outcome o = check(text);
    EXPECT_EQ(o.code, 1) << text << o.out;
    const nlohmann::json row = o.Json()["results"][0];
    EXPECT_EQ(row["status"], "FAILED");
    EXPECT_EQ(row["reason"], output + " is not what the file expects");
  };
  const std::string shape = "shape { dims: [1, 2] } ";
  Outcome o = check(Overlaps(shape + "value_f: [0.5, 1]"));
  EXPECT_EQ(o.code, 0) << o.out;
  const nlohmann::json expected = o.Json()["results"][0]["expected"][0];
  EXPECT_EQ(expected["name"], "ious");
  EXPECT_EQ(expected["diff1"], 0.0);
  EXPECT_EQ(expected["passed"], true);
  // The bar is the contract's, or the file's, for all outputs or for this one.
  const std::string near = Overlaps(shape + "value_f: [0.5001, 1]");
  EXPECT_EQ(check(near).code, 0);
  expect_failed(Overlaps(shape + "value_f: [0.6, 1]"), "ious");
  expect_failed(near + "test_param { error_func: DIFF2 error_threshold: 1e-6 }", "ious");
  expect_failed(near + "evaluation_criterion: DIFF3 evaluation_threshold: 1e-6", "ious");
  expect_failed(Overlaps(shape + "value_f: [0.5001, 1] thresholds { evaluation_threshold: 1e-6 }") +
                    "evaluation_criterion: DIFF1",
                "ious");
  EXPECT_EQ(check(Overlaps(shape + "value_f: [0.6, 1]") +
                  "test_param { error_func: DIFF1 error_threshold: 0.1 }")
                .code,
            0);
  // As bits, in strides, in a file of bits, in a text.
  EXPECT_EQ(check(Overlaps(shape + "value_h: ['3f000000', '3f800000']")).code, 0);
  EXPECT_EQ(check(Overlaps(shape + "value_i: [1056964608, 1065353216]")).code, 0);
  EXPECT_EQ(check(Overlaps("shape { dims: [1, 2] dim_stride: [9, 2] } value_f: [0.5, 7, 1]")).code,
            0);
  const float ious[] = {0.5f, 1.0f};
  Write("output0", std::string(reinterpret_cast<const char*>(ious), sizeof(ious)));
  EXPECT_EQ(check(Overlaps(shape + "path: 'output0'")).code, 0);
  Write("output.txt", "0.6\n1\n");
  expect_failed(Overlaps(shape + "path: 'output.txt'"), "ious");

  Write("e.prototxt", Overlaps(shape + "value_f: [0.6, 1]"));
  o = Run("check e.prototxt");
  EXPECT_NE(o.out.find("expected ious"), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("diff3 1.7e-01"), std::string::npos) << o.out;
}

// mluOp's tests have zeros behind the results, up to the declared shape.
TEST_F(CheckTest, ExpectedIntegersAreEqual) {
  const std::string quads =
      "op_name: 'poly_nms' input { shape { dims: [3, 9] } value_f: [0,0,1,0,1,1,0,1,1, "
      "0,0,1,0,1,1,0,1,2, 5,5,6,5,6,6,5,6,3] } ";
  const auto check = [&](const std::string& kept, const std::string& count) {
    Write("e.prototxt", quads + "output { shape { dims: [3] } dtype: DTYPE_INT32 value_i: " + kept +
                            " } output { shape { dims: [1] } dtype: DTYPE_INT32 value_i: " + count +
                            " } test_param { error_func: DIFF1 error_threshold: 9 }");
    return Run("check e.prototxt").code;
  };
  EXPECT_EQ(check("[1, 2, 0]", "2"), 0);
  EXPECT_EQ(check("[1, 2, 2]", "2"), 1);
  EXPECT_EQ(check("[0, 2, 0]", "2"), 1);
  EXPECT_EQ(check("[1, 2, 0]", "3"), 1);
}

TEST_F(CheckTest, TheCollectionPasses) {
  const Outcome o = Run("check --group smoke edge --json");
  ASSERT_EQ(o.code, 0) << o.out.substr(0, 2000) << o.err;
  const nlohmann::json json = o.Json();
  EXPECT_GE(json["summary"]["passed"].get<int>(), 60);
  for (const auto& r : json["results"]) {
    EXPECT_TRUE(r["group"] == "smoke" || r["group"] == "edge") << r;
    EXPECT_TRUE(r["same_bits_as"] == "" || r["same_bits"].get<bool>()) << r;
    EXPECT_NE(r["command"].get<std::string>().find("detops check "), std::string::npos);
  }
}

TEST_F(CheckTest, EachLineEndsWithTheCommandThatRepeatsIt) {
  const Outcome o = Run("check poly_nms/edge/ties");
  ASSERT_EQ(o.code, 0) << o.err;
  std::istringstream lines(o.out);
  int repeated = 0;
  for (std::string line; std::getline(lines, line);) {
    const size_t at = line.find("# detops ");
    if (at == std::string::npos) continue;
    const Outcome again = Run(line.substr(at + 9));
    EXPECT_EQ(again.code, 0) << line << again.err;
    ++repeated;
  }
  EXPECT_GE(repeated, 1);
}

TEST_F(CheckTest, WorthlessComparisonsAreWeak) {
  const std::string far_apart =
      "op_name: 'bbox_overlaps' input { shape { dims: [1, 4] } value_f: [0,0,1,1] } "
      "input { shape { dims: [1, 4] } value_f: [5,5,6,6] }";
  Write("zero.prototxt", far_apart);
  Outcome o = Run("check zero.prototxt");
  EXPECT_EQ(o.code, 0);
  EXPECT_NE(o.out.find("passed, but weak: every value is 0"), std::string::npos) << o.out;
  EXPECT_EQ(Run("check zero.prototxt --strict").code, 1);

  Write("nan.prototxt",
        "op_name: 'bbox_overlaps' input { shape { dims: [1, 4] } value_f: [nan,0,1,1] } "
        "input { shape { dims: [1, 4] } value_f: [0,0,6,6] }");
  EXPECT_NE(Run("check nan.prototxt").out.find("every value is NaN"), std::string::npos);
  EXPECT_NE(Run("check points_in_boxes/edge/no_boxes").out.find("no point is in a box"),
            std::string::npos);
  EXPECT_NE(Run("check generate_proposals_v2/edge/all_too_small").out.find("no proposal was left"),
            std::string::npos);
}

TEST_F(CheckTest, SelfIntersectingOutlinesAreNotJudged) {
  Write("bow_ties.prototxt",
        "op_name: 'poly_nms' input { shape { dims: [30, 9] } random_data { lower_bound: -9 "
        "upper_bound: 9 } } poly_nms_param { iou_threshold: 0.15 }");
  const Outcome o = Run("check bow_ties.prototxt");
  EXPECT_EQ(o.code, 0) << o.out;
  EXPECT_NE(o.out.find("self-intersecting"), std::string::npos) << o.out;
  // Also where the two halves' areas have different signs and the same size.
  Write("equal_halves.prototxt",
        "op_name: 'poly_nms' input { shape { dims: [2, 9] } value_f: [0,0,4,4,4,0,0,4,1, "
        "0,0,4,0,4,4,0,4,0] } poly_nms_param { iou_threshold: 0.15 }");
  EXPECT_EQ(Run("check equal_halves.prototxt").code, 0);
}

TEST_F(CheckTest, TheFilesOwnCriteriaCount) {
  const std::string text = Slurp(DETOPS_CASES_FOLDER "/bbox_overlaps/smoke/iou_100x80.prototxt");
  Write("strict.prototxt", text + "test_param { error_func: DIFF1 error_threshold: 0 }");
  EXPECT_EQ(Run("check strict.prototxt").code, 1);
  // What is not evaluated takes no place.
  Write("other.prototxt", text + "test_param { error_func: DIFF4 error_threshold: 0 }");
  const Outcome other = Run("check other.prototxt --json");
  EXPECT_EQ(other.Json()["results"][0]["outputs"][0]["limits"][0], 3e-3) << other.out;
  Write("loose.prototxt",
        text + "evaluation_criterion: [DIFF1, DIFF3] evaluation_threshold: [1e-6, 1e-5]");
  EXPECT_EQ(Run("check loose.prototxt").code, 0);
}

// The judges themselves: a wrong answer must not pass.
TEST_F(CheckTest, WrongResultsFail) {
  for (const char* name :
       {"bbox_overlaps/smoke/iou_100x80", "poly_nms/smoke/scattered_300",
        "border_align_forward/smoke/nhwc", "border_align_forward/smoke/nchw",
        "generate_proposals_v2/smoke/small", "points_in_boxes/smoke/m1000_t20"}) {
    const Problem problem =
        MakeProblem(ReadCase(std::string(DETOPS_CASES_FOLDER "/") + name + ".prototxt"));
    Execution execution(problem, {"cpu", "cpu:reference"});
    execution.Start();
    const std::vector<Array> right = execution.Results();
    const auto judge = oracle::MakeJudge(problem);
    const auto passes = [&](const std::vector<Array>& results) {
      return std::ranges::all_of(judge->Compare(results).outputs,
                                 [](const Accuracy& a) { return a.passed; });
    };
    EXPECT_TRUE(passes(right)) << name;
    for (size_t output = 0; output < right.size(); ++output) {
      std::vector<Array> wrong = right;
      Array& array = wrong[output];
      ASSERT_GT(array.count(), 0) << name;
      const auto middle = static_cast<size_t>(array.count() / 2);
      if (array.dtype() == MLUOP_DTYPE_INT32) {
        array.As<int32_t>()[middle] += 1;
      } else {
        // Enough to show in the sum of all.
        array.As<float>()[middle] += 1000.0f;
      }
      EXPECT_FALSE(passes(wrong)) << name << " output " << output;
    }
    if (std::string(name).starts_with("poly_nms")) {
      std::vector<Array> fewer = right;
      fewer[0].KeepRows(right[0].count() - 1);
      fewer[1].As<int32_t>()[0] -= 1;
      EXPECT_FALSE(passes(fewer));
    }
  }
}

TEST_F(CheckTest, BrokenCasesAreErrors) {
  const auto expect = [&](const std::string& text, const std::string& words) {
    Write("bad.prototxt", text);
    const Outcome o = Run("check bad.prototxt");
    EXPECT_EQ(o.code, 2) << text.substr(0, 100) << o.out << o.err;
    EXPECT_NE((o.out + o.err).find(words), std::string::npos) << text.substr(0, 100) << "\n"
                                                              << o.out << o.err;
  };
  const std::string head = "op_name: 'poly_nms' input { shape ";
  expect("", "no op_name");
  expect("op_name: ", "bad.prototxt:1:");
  expect(std::string("\x00\xff\x12\x80", 4), "bad.prototxt:1:");
  expect("op_name: 'soft_nms'", "there is no operator 'soft_nms'");
  expect("op_name: 'poly_nms'", "has 1 inputs, the file has 0");
  expect("op_name: 'poly_nms' input { }", "has no shape");
  expect(head + "{ dims: [2, 9] } }", "has no values");
  expect(head + "{ dims: [-2, 9] } random_data { } }", "negative dim");
  expect(head + "{ dims: [4611686018427387904, 4] } random_data { } }", "more than this machine");
  expect(head + "{ dims: [99999999999999999999, 4] } }", "bad.prototxt:1:");
  expect(head + "{ dims: [0, 4611686018427387904, 4] } }", "more than this machine");
  expect(head + "{ dims: [1,1,1,1,1,1,1,1,9] } random_data { } }", "9 dims");
  expect(head + "{ dims: [1, 9] } value_f: [1, 2] }", "has 2 of value_f");
  expect(head + "{ dims: [1, 1] } value_h: 'xyz' }", "no hexadecimal");
  expect(head + "{ dims: [1, 9] } path: 'nowhere.txt' }", "no such file");
  Write("short", "1234");
  expect(head + "{ dims: [1, 9] } path: 'short' }", "has 4 bytes");
  Write("long", std::string(1000, 'x'));
  expect(head + "{ dims: [1, 9] } path: 'long' }", "larger than 36 bytes");
  const std::string sound = head + "{ dims: [1, 9] } random_data { } } ";
  expect(sound + "output { dtype: DTYPE_INT32 shape { dims: 1 } value_i: [1, 2] }", "output 1");
  expect(sound + "output { dtype: DTYPE_INT64 shape { dims: 1 } value_i: 1 }", "DTYPE_INT64");
  expect(sound + "output { shape { dims: 1 } value_f: 1 }", "gives int32");
  expect(sound + "output { dtype: DTYPE_INT32 shape { dims: 1 } value_f: 1 }", "value_i");
  expect(sound + "output { dtype: DTYPE_INT32 shape { dims: 2 } value_i: [0, 0] }", "at most 1");
  expect(sound + "output { } output { } output { shape { dims: 1 } value_f: 1 }", "2 outputs");
  expect(head + "{ dims: [1, 9] dim_stride: [9] } random_data { } }", "has 1 of dim_stride");
  expect(head + "{ dims: [1, 9] dim_stride: [9, -1] } random_data { } }", "negative dim_stride");
  expect(head + "{ dims: [9, 9] dim_stride: [4611686018427387904, 1] } random_data { } }",
         "more than this machine");
  expect(head + "{ dims: [9, 9] dim_stride: [0, 0] } value_f: [1, 2] }", "needs 1");
  expect(head + "{ dims: [1, 9] } dtype: DTYPE_INT8 random_data { } }", "DTYPE_INT8");
  expect(head + "{ dims: [1, 9] } dtype: DTYPE_NEW random_data { } }", "DTYPE_NEW");
  expect(head + "{ dims: [1, 9] } random_data { lower_bound: 3 upper_bound: nan } }", "no range");
  expect(head + "{ dims: [1, 9] } } scene { kind: 'none' }", "has no scene 'none'");
  expect(head + "{ dims: [1, 5] } } scene { }", "does not hold");
  std::string deep = "op_name: 'poly_nms' unknown ";
  for (int i = 0; i < 200000; ++i) deep += "{ a ";
  expect(deep, "nested too deep");
}

// What is well formed, but no valid call, is the library's to refuse: the run fails, the file is
// fine.
TEST_F(CheckTest, InvalidCallsFailWithTheLibrarysText) {
  Write("eight.prototxt", "op_name: 'poly_nms' input { shape { dims: [3, 8] } random_data { } }");
  const Outcome o = Run("check eight.prototxt");
  EXPECT_EQ(o.code, 1) << o.out;
  EXPECT_NE(o.out.find("dim 1 is 8, expected 9"), std::string::npos) << o.out;
  std::string huge = Slurp(DETOPS_CASES_FOLDER "/generate_proposals_v2/smoke/small.prototxt");
  const std::string post = "post_nms_top_n: ";
  huge.insert(huge.find(post) + post.size(), "21474836");
  Write("huge.prototxt", huge);
  EXPECT_NE(Run("check huge.prototxt").code, 0);
}

TEST_F(CheckTest, UnknownNamesAreRefused) {
  ExpectRefused("check no_such_case", "is no case file");
  ExpectRefused("check --group large", "large");
  ExpectRefused("check poly_nms/smoke --impl cpu:none", "cpu:none");
  ExpectRefused("check poly_nms/smoke --device gpu:7", "gpu:7");
}

TEST_F(CheckTest, SaysOnceWhatCanNotRun) {
  const Outcome o =
      Run("check poly_nms/smoke bbox_overlaps/smoke", "DETOPS_CPU=" + NarrowestInstructionSet());
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find(" 0 refused, "), std::string::npos) << o.out;
  ExpectUnusableNamedOnce(o, "left out");
}

}  // namespace
}  // namespace detops::cli::test

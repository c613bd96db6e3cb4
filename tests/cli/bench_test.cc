// SPDX-License-Identifier: Apache-2.0
#include "cli/program.h"
#include "terminal/terminal.h"

namespace detops::cli::test {
namespace {

using BenchTest = Program;

constexpr char kQuick[] = " --seconds 0.001 ";

TEST_F(BenchTest, MeasuresAndWrites) {
  const Outcome o = Run(std::string("bench poly_nms/smoke bbox_overlaps/smoke --group smoke") +
                        kQuick + "--out b.json --csv b.csv --datasheet cpu=80,400");
  ASSERT_EQ(o.code, 0) << o.err;
  const auto json = nlohmann::json::parse(Slurp(File("b.json")));
  ASSERT_FALSE(json["measurements"].empty());
  const double fill = json["peaks"][0]["fill_gbps"], copy = json["peaks"][0]["copy_gbps"];
  EXPECT_GT(fill, 0);
  for (const auto& m : json["measurements"]) {
    // mlu_test.cc has the others' bars.
    if (!m["skipped"].get<std::string>().empty() || m["device"] != "cpu") continue;
    const double seconds = m["median_s"], bytes = m["bytes"];
    EXPECT_GT(seconds, 0);
    EXPECT_NEAR(m["gbps"].get<double>(), bytes / seconds * 1e-9, 1e-6 * m["gbps"].get<double>());
    const double io = m["io_efficiency"], of_fill = m["gbps"].get<double>() / fill,
                 of_copy = m["gbps"].get<double>() / copy;
    // Partly at the one rate, partly at the other.
    EXPECT_GE(io, std::min(of_fill, of_copy) * (1 - 1e-9)) << m;
    EXPECT_LE(io, std::max(of_fill, of_copy) * (1 + 1e-9)) << m;
    EXPECT_NEAR(m["ns_per_item"].get<double>(), seconds * 1e9 / m["size"].get<double>(), 1e-6);
    // Where the work is a search, a floor says nothing, and pairs do.
    const bool search = m["op"] == "poly_nms" && m["implementation"] != "cpu:reference";
    EXPECT_EQ(m["share_of_limit"].is_null(), m["op"] == "poly_nms") << m;
    EXPECT_EQ(m["pairs"].is_number(), search) << m;
    EXPECT_NEAR(m["datasheet_io_efficiency"].get<double>(), m["gbps"].get<double>() / 80, 1e-9);
    if (m["implementation"] == "cpu:reference") {
      EXPECT_DOUBLE_EQ(m["ratio_to_reference"].get<double>(), 1.0);
    }
    // The table says the same.
    EXPECT_NE(o.out.find(TimeText(seconds)), std::string::npos) << seconds;
    const std::string shares =
        ShareText(io) + " (" + ShareText(m["datasheet_io_efficiency"].get<double>()) + ")";
    EXPECT_NE(o.out.find(shares), std::string::npos) << shares << o.out;
  }
  const std::string csv = Slurp(File("b.csv"));
  EXPECT_EQ(static_cast<size_t>(std::count(csv.begin(), csv.end(), '\n')),
            json["measurements"].size() + 1);
  EXPECT_NE(csv.find(",datasheet_io_efficiency"), std::string::npos) << csv;
}

TEST_F(BenchTest, OneThreadAgainstAll) {
  const Outcome o =
      Run(std::string("bench poly_nms/smoke --group smoke --impl cpu:reference --json --scaling "
                      "--threads 2") +
          kQuick);
  ASSERT_EQ(o.code, 0) << o.err;
  for (const auto& m : o.Json()["measurements"]) EXPECT_TRUE(m["ratio_to_one_thread"].is_null());
  const Outcome two =
      Run(std::string("bench bbox_overlaps/network/iou_1000x1000 --json --scaling --threads 2") +
          kQuick);
  ASSERT_EQ(two.code, 0) << two.err;
  const auto json = two.Json();
  EXPECT_GT(json["measurements"][0]["ratio_to_one_thread"], 0);
}

// For tools that count instructions.
TEST_F(BenchTest, OneCallAndNothingElse) {
  const Outcome o =
      Run("bench poly_nms/smoke/scattered_300 --impl cpu:reference --once", "DETOPS_LOG=calls");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out, "");
  EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 2) << o.err;  // one warms up
  ExpectRefused("bench poly_nms/smoke --impl cpu:none --once", "cpu:none");
}

TEST_F(BenchTest, CsvQuotesNames) {
  Write("a,\"b\".prototxt", "op_name: 'poly_nms' input { shape { dims: [9, 9] } } scene { }");
  ASSERT_EQ(Run(std::string("bench a* --csv b.csv -q") + kQuick).code, 0);
  EXPECT_NE(Slurp(File("b.csv")).find("/a,\"\"b\"\"\",poly_nms,"), std::string::npos)
      << Slurp(File("b.csv"));
}

// Once per device or implementation, not once per case: this is the same for all of them.
TEST_F(BenchTest, SaysOnceWhatCanNotBeMeasured) {
  ASSERT_EQ(Run(std::string("bench poly_nms/smoke bbox_overlaps/smoke") + kQuick).code, 0);
  const Outcome o = Run(std::string("bench poly_nms/smoke bbox_overlaps/smoke") + kQuick,
                        "DETOPS_CPU=" + NarrowestInstructionSet());
  ASSERT_EQ(o.code, 0) << o.err;
  ExpectUnusableNamedOnce(o, "skipped");
}

TEST_F(BenchTest, ComparesWithAnEarlierRun) {
  const std::string bench =
      std::string("bench poly_nms/smoke/scattered_300 --impl cpu:reference") + kQuick;
  ASSERT_EQ(Run(bench + "--out old.json").code, 0);
  auto old = nlohmann::json::parse(Slurp(File("old.json")));
  for (auto& m : old["measurements"]) m["median_s"] = m["median_s"].get<double>() / 1000;
  Write("faster.json", old.dump());
  Outcome o = Run(bench + "--compare faster.json");
  EXPECT_EQ(o.code, 1) << o.out;
  EXPECT_NE(o.out.find("1 slower"), std::string::npos) << o.out;
  for (auto& m : old["measurements"]) m["median_s"] = m["median_s"].get<double>() * 1e6;
  Write("slower.json", old.dump());
  o = Run(bench + "--compare slower.json --json");
  EXPECT_EQ(o.code, 0) << o.out;
  EXPECT_EQ(o.Json()["comparison"]["faster"], 1);
}

// What has no figure is one line a reason, with the cases it is for.
TEST_F(BenchTest, CasesWithoutAFigure) {
  Write("big.prototxt", "op_name: 'poly_nms' input { shape { dims: [20000, 9] } } scene { }");
  Write("big2.prototxt", "op_name: 'poly_nms' input { shape { dims: [20001, 9] } } scene { }");
  const Outcome slow = Run(std::string("bench big.prototxt big2.prototxt") + kQuick);
  EXPECT_EQ(slow.code, 0) << slow.err;
  const size_t at = slow.out.find("cpu:reference: skipped, the reference is slow on this size");
  ASSERT_NE(at, std::string::npos) << slow.out;
  EXPECT_EQ(slow.out.find("cpu:reference: skipped", at + 1), std::string::npos) << slow.out;
  EXPECT_NE(slow.out.find("big2", at), std::string::npos) << slow.out;
}

TEST_F(BenchTest, BrokenCasesAreErrors) {
  Write("bad.prototxt", "op_name: ");
  Write("eight.prototxt", "op_name: 'poly_nms' input { shape { dims: [3, 8] } random_data { } }");
  for (const char* flag : {"", " -q", " --json"}) {
    const Outcome o = Run(std::string("bench bad.prototxt poly_nms/smoke") + kQuick + flag);
    EXPECT_EQ(o.code, 2) << flag << o.out;
    EXPECT_NE((o.out + o.err).find("bad.prototxt:1:"), std::string::npos) << flag << o.out << o.err;
    // As in check: the file is fine, the call is not.
    EXPECT_EQ(Run(std::string("bench eight.prototxt") + kQuick + flag).code, 1) << flag;
  }
}

TEST_F(BenchTest, WrongFilesAndArguments) {
  Write("no.json", "{");
  Write("other.json", "{\"kind\": \"bench\", \"measurements\": [3]}");
  // Sound, but for a part that nothing asks for: reading is quick, all else needs stack per level.
  const std::string deep = std::string(70000, '[') + std::string(70000, ']');
  Write("deep.json", R"({"kind": "bench", "environment": {"detops": "", "time": "", "system": "",
      "compiler": "", "threads": 1, "devices": [], "unusable": []}, "peaks": [],
      "measurements": [], "more": )" +
                         deep + "}");
  Write("deep_check.json", R"({"kind": "check", "more": )" + deep + "}");
  ExpectRefused("bench poly_nms/smoke --compare no.json", "is no JSON");
  ExpectRefused("bench poly_nms/smoke --compare other.json", "was not written by");
  ExpectRefused("bench poly_nms/smoke --compare deep.json", "deep.json: is nested deeper than 32");
  ExpectRefused("report --check deep_check.json --bench deep.json", "is nested deeper than 32");
  ExpectRefused("bench poly_nms/smoke --compare none.json", "no such file");
  ExpectRefused("bench poly_nms/smoke --datasheet cpu=fast", "--datasheet");
  ExpectRefused("bench poly_nms/smoke --threads 0", "");
  ExpectRefused("bench poly_nms/smoke --seconds -1", "");
}

}  // namespace
}  // namespace detops::cli::test

// SPDX-License-Identifier: Apache-2.0
#include "cli/program.h"
#include "terminal/terminal.h"

namespace detops::cli::test {
namespace {

class ReportTest : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    ASSERT_EQ(Run("check poly_nms bbox_overlaps --group smoke edge --out check.json -q").code, 0);
    ASSERT_EQ(
        Run("bench poly_nms bbox_overlaps --group smoke --seconds 0.001 --out bench.json -q").code,
        0);
  }
};

constexpr char kReport[] = "report --check check.json --bench bench.json ";

// Every figure of the JSON is in the page and in the Markdown, as it is written for people.
TEST_F(ReportTest, FiguresAreThoseOfTheJson) {
  const Outcome json_run = Run(std::string(kReport) + "--format json");
  ASSERT_EQ(json_run.code, 0) << json_run.err;
  const nlohmann::json json = json_run.Json();
  const std::string html = Run(std::string(kReport) + "--format html").out;
  const std::string md = Run(std::string(kReport) + "--format md").out;
  const auto expect = [&](const std::string& text) {
    EXPECT_NE(html.find(text), std::string::npos) << text;
    EXPECT_NE(md.find(text), std::string::npos) << text;
  };
  int figures = 0;
  for (const auto& op : json["operators"]) {
    for (const auto& m : op["measurements"]) {
      expect(TimeText(m["median_s"]));
      expect(Figures(m["gbps"]));
      expect(m["command"]);
      ++figures;
    }
    for (const auto& row : op["accuracy"]) {
      for (const char* diff : {"diff1", "diff2", "diff3"}) expect(DiffText(row[diff]));
      expect(row["command"]);
      ++figures;
    }
  }
  EXPECT_GT(figures, 20);
  // And those of the JSON are those of the runs.
  const auto bench = nlohmann::json::parse(Slurp(File("bench.json")));
  for (const auto& m : bench["measurements"]) {
    if (m["skipped"].get<std::string>().empty()) expect(TimeText(m["median_s"]));
  }
  expect("Quick run");
}

TEST_F(ReportTest, ThePageStandsAlone) {
  ASSERT_EQ(Run(std::string(kReport) + "--out report.html").code, 0);
  const std::string html = Slurp(File("report.html"));
  for (const char* outside :
       {"<script", "http://", "https://", "src=", "<link", "@import", "url(http"}) {
    EXPECT_EQ(html.find(outside), std::string::npos) << outside;
  }
  for (const char* part :
       {"Verdict", "Environment", "Accuracy", "Performance", "Roofline", "What was left out",
        "prefers-color-scheme: dark", "width=device-width"}) {
    EXPECT_NE(html.find(part), std::string::npos) << part;
  }
}

// One implementation may run on several devices.
TEST_F(ReportTest, SecondDevicesHaveANameOfTheirOwn) {
  auto bench = nlohmann::json::parse(Slurp(File("bench.json")));
  nlohmann::json twice = bench["measurements"];
  for (auto m : bench["measurements"]) {
    m["device"] = "cpu:<1>";
    m["median_s"] = m["median_s"].get<double>() * 1000;
    twice.push_back(m);
  }
  bench["measurements"] = twice;
  Write("two.json", bench.dump());
  const std::string html = Run("report --check check.json --bench two.json").out;
  EXPECT_NE(html.find("<th class=\"r\">cpu:reference</th>"), std::string::npos);
  EXPECT_NE(html.find("<th class=\"r\">cpu:reference on cpu:&lt;1&gt;</th>"), std::string::npos);
}

TEST_F(ReportTest, WhatWasNotAskedForHasNoFigures) {
  const std::string md = Run(std::string(kReport) + "--format md").out;
  EXPECT_NE(md.find("| border_align_forward | not checked | not checked | not measured |"),
            std::string::npos)
      << md.substr(0, 3000);
  EXPECT_EQ(Run(kReport).out.find(">0 outputs compared"), std::string::npos);
}

TEST_F(ReportTest, WrongResultsAreSaid) {
  auto check = nlohmann::json::parse(Slurp(File("check.json")));
  check["results"][0]["status"] = "FAILED";
  check["results"][0]["reason"] = "<b>made up</b>";
  Write("failed.json", check.dump());
  const Outcome o = Run("report --check failed.json --bench bench.json");
  EXPECT_EQ(o.code, 1);
  EXPECT_NE(o.out.find("there are wrong results"), std::string::npos);
  EXPECT_NE(o.out.find("&lt;b&gt;made up&lt;/b&gt;"), std::string::npos);
}

// A file's name, or a text in a file that someone sent, is shown and means nothing.
TEST_F(ReportTest, TextsFromFilesMeanNothingInMarkdown) {
  const std::string script = "<script src=\"x\">", image = "![](http://x)", tick = "`<b>`";
  auto check = nlohmann::json::parse(Slurp(File("check.json")));
  auto& result = check["results"][0];
  result["status"] = "FAILED";
  result["reason"] = script + image + "|\n# heading \x1b[31m";
  const std::string name = result["case"];
  for (auto& r : check["results"]) {
    if (r["case"] == name) r["command"] = "detops check " + tick + "|\n```\n" + script;
  }
  Write("spoilt.json", check.dump());
  const Outcome o = Run("report --check spoilt.json --bench bench.json --format md");
  EXPECT_EQ(o.code, 1);
  EXPECT_NE(o.out.find("&lt;script src=\"x\"&gt;!\\[](http://x)\\|\\\\x0a# heading \\\\x1b\\[31m"),
            std::string::npos)
      << o.out.substr(0, 3000);
  // Code begins and ends with more backticks than it holds.
  EXPECT_NE(o.out.find("| ```` detops check " + tick + "\\|\\x0a```\\x0a" + script + " ```` |"),
            std::string::npos)
      << o.out.substr(0, 3000);
  for (const char* line : {"\n# heading", "\n```\n<script", "\x1b"}) {
    EXPECT_EQ(o.out.find(line), std::string::npos) << line;
  }
}

// A case that could not be run at all is no result, and nothing that is right.
TEST_F(ReportTest, ErrorsAreSaid) {
  Write("eight.prototxt", "op_name: 'border_align_forward' input { shape { dims: [3] } }");
  ASSERT_EQ(Run("check eight.prototxt poly_nms/smoke --out errors.json -q").code, 2);
  Write("nine.prototxt",
        "op_name: 'border_align_forward' input { shape { dims: [1, 9, 9, 9] } random_data { } } "
        "input { shape { dims: [1, 9, 4] } random_data { } }");
  ASSERT_EQ(Run("check nine.prototxt --out refused.json -q").code, 1);
  for (const char* file : {"errors.json", "refused.json"}) {
    const Outcome o = Run(std::string("report --bench bench.json --format md --check ") + file);
    EXPECT_EQ(o.code, 1) << o.out.substr(0, 2000);
    EXPECT_NE(o.out.find("There are wrong results"), std::string::npos);
    EXPECT_NE(o.out.find("border_align_forward | failed: 0 outputs compared"), std::string::npos)
        << o.out.substr(0, 3000);
  }
}

TEST_F(ReportTest, WrongFiles) {
  // Each key that is read must be asked for: take them away one by one.
  const auto spoil = [&](const char* file, const std::string& arguments) {
    const auto whole = nlohmann::json::parse(Slurp(File(file)));
    const auto try_it = [&](const nlohmann::json& broken) {
      Write("broken.json", broken.dump());
      const Outcome o = Run(arguments);
      EXPECT_TRUE(o.code == 0 || o.code == 2) << o.code << broken.dump().substr(0, 300) << o.err;
    };
    for (const auto& [key, value] : whole.items()) {
      nlohmann::json broken = whole;
      broken.erase(key);
      try_it(broken);
      broken = whole;
      broken[key] = 3;
      try_it(broken);
    }
    const std::string list = whole.contains("results") ? "results" : "measurements";
    for (const auto& [key, value] : whole[list][0].items()) {
      nlohmann::json broken = whole;
      broken[list][0].erase(key);
      try_it(broken);
      broken[list][0][key] = nlohmann::json::object();
      try_it(broken);
    }
  };
  spoil("check.json", "report --check broken.json --bench bench.json");
  spoil("bench.json", "report --check check.json --bench broken.json");
}

using ReportOrderTest = Program;

TEST_F(ReportOrderTest, WrongFilesAreFoundOutBeforeAnythingIsRun) {
  Write("broken.json", "{");
  for (const char* wrong :
       {"--bench missing.json", "--bench broken.json", "--check missing.json"}) {
    const Outcome o = Run(std::string("report poly_nms/smoke ") + wrong, "DETOPS_LOG=calls");
    EXPECT_EQ(o.code, 2) << wrong;
    EXPECT_NE(o.err.find(".json: "), std::string::npos) << o.err.substr(0, 1000);
    EXPECT_EQ(o.err.find("mluOpPolyNms"), std::string::npos) << o.err.substr(0, 1000);
  }
}

using DemoTest = Program;

TEST_F(DemoTest, AllScenesAreRight) {
  const Outcome o = Run("demo --out page/demo.html");
  EXPECT_EQ(o.code, 0) << o.out << o.err;
  EXPECT_NE(o.out.find("All results are those of the oracle"), std::string::npos) << o.out;
  const std::string html = Slurp(File("page/demo.html"));
  EXPECT_EQ(html.find("DIFFERS"), std::string::npos);
  size_t pictures = 0;
  for (size_t at = html.find("<svg"); at != std::string::npos; at = html.find("<svg", at + 1))
    ++pictures;
  EXPECT_EQ(pictures, 8u);
  ExpectRefused("demo --device none:0", "none:0");
}

using CompletionTest = Program;

TEST_F(CompletionTest, KnowsCommandsAndOptions) {
  const Outcome bash = Run("completion bash");
  EXPECT_EQ(bash.code, 0);
  Write("completion.sh", bash.out);
  // Asks the script as the shell does.
  Write("ask.sh",
        "source ./completion.sh\nCOMP_WORDS=(detops run poly_nms --iou); COMP_CWORD=3; _detops; "
        "echo \"${COMPREPLY[*]}\"\n"
        "COMP_WORDS=(detops ch); COMP_CWORD=1; _detops; echo \"${COMPREPLY[*]}\"\n");
  ASSERT_EQ(std::system(("cd '" + File("").string() + "' && bash ask.sh > answer.txt").c_str()), 0);
  EXPECT_EQ(Slurp(File("answer.txt")), "--iou-threshold\ncheck\n");
  EXPECT_NE(Run("completion fish").out.find("-l iou-threshold"), std::string::npos);
  ExpectRefused("completion tcsh", "tcsh");
}

}  // namespace
}  // namespace detops::cli::test

// SPDX-License-Identifier: Apache-2.0
//
// MLUs, which are simulated here, in every command. Skipped where the plug-in was not built.
#include <regex>

#include "cli/program.h"
#include "measuring/timeline.h"
#include "terminal/errors.h"
#include "terminal/terminal.h"

namespace detops::cli::test {
namespace {

class MluTest : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    const nlohmann::json list = Run("list --json").Json();
    for (const auto& device : list["devices"]) {
      if (device["simulated"].get<bool>()) cards_.push_back(device["name"]);
    }
    if (cards_.empty()) GTEST_SKIP() << "there is no simulated MLU";
    Write("boxes.csv", "0,0,2,2\n1,1,3,3\n0,0,1,1\n");
  }

  std::vector<std::string> cards_;
};

constexpr char kRun[] = "run bbox_overlaps --bboxes1 boxes.csv --bboxes2 boxes.csv ";
constexpr char kTrace[] = "trace bbox_overlaps --bboxes1 boxes.csv --bboxes2 boxes.csv ";

TEST_F(MluTest, ImplementationsAreListedOnEachCard) {
  const Outcome o = Run("list");
  for (const std::string& card : cards_) {
    EXPECT_TRUE(std::regex_search(o.out, std::regex("mlu:bang +" + card + " +yes, preferred")))
        << o.out;
  }
  // The name of the backend means its devices.
  EXPECT_EQ(Run(std::string(kRun) + "--device mlu --json").Json()["device"], cards_.front());
}

TEST_F(MluTest, RunsOnEachCard) {
  const Outcome cpu = Run(std::string(kRun) + "--device cpu --out cpu.csv");
  ASSERT_EQ(cpu.code, 0) << cpu.err;
  EXPECT_EQ(cpu.out.find("simulated"), std::string::npos) << cpu.out;
  for (const std::string& card : cards_) {
    const Outcome o = Run(std::string(kRun) + "--out mlu.csv --device " + card);
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_NE(o.out.find("mlu:bang on " + card), std::string::npos) << o.out;
    EXPECT_NE(o.out.find(" simulated\n"), std::string::npos) << o.out;
    EXPECT_EQ(Slurp(File("mlu.csv")), Slurp(File("cpu.csv")));
    EXPECT_EQ(o.err, "");
  }
}

TEST_F(MluTest, ChecksOnEachCard) {
  const Outcome o = Run("check bbox_overlaps/smoke --json");
  ASSERT_EQ(o.code, 0) << o.err;
  std::map<std::string, int> passed;
  const nlohmann::json json = o.Json();
  for (const auto& r : json["results"]) {
    passed[r["device"]] += r["status"] == "passed" && r["same_bits"].get<bool>();
  }
  for (const std::string& card : cards_) EXPECT_EQ(passed[card], 3) << card;
}

TEST_F(MluTest, LongCasesAreLeftOutUnlessAskedFor) {
  fs::copy_file(fs::path(DETOPS_CASES_FOLDER) / "bbox_overlaps/smoke/iou_100x80.prototxt",
                File("long.prototxt"));
  std::ofstream(File("long.prototxt"), std::ios::app) << "long_to_simulate: true\n";
  const auto statuses = [&](const std::string& more) {
    std::string all;
    const Outcome o = Run("check long.prototxt --device mlu --json " + more);
    EXPECT_EQ(o.code, 0) << o.err;
    const nlohmann::json json = o.Json();
    for (const auto& r : json["results"]) {
      all += r["status"].get<std::string>() + " ";
      if (r["status"] == "skipped") {
        EXPECT_NE(r["reason"].get<std::string>().find("--impl or --large"), std::string::npos) << r;
      }
    }
    return all;
  };
  EXPECT_NE(statuses("").find("skipped"), std::string::npos);
  EXPECT_EQ(statuses("--large").find("skipped"), std::string::npos);
  EXPECT_EQ(statuses("--impl mlu:bang").find("skipped"), std::string::npos);
}

// The simulator's reason is in the result, and a device that was stopped is used again.
TEST_F(MluTest, AStoppedKernelFailsItsCase) {
  const Outcome o = Run("check bbox_overlaps/smoke --device mlu --json", "BANG_TIME_LIMIT=1e-6");
  EXPECT_EQ(o.code, 1);
  int failed = 0;
  const nlohmann::json json = o.Json();
  for (const auto& r : json["results"]) {
    const std::string reason = r["reason"];
    failed +=
        r["status"] == "ERROR" && reason.find("the kernel has not ended") != std::string::npos;
    EXPECT_EQ(reason.find('\n'), std::string::npos) << reason;
  }
  EXPECT_EQ(failed, 3 * static_cast<int>(cards_.size())) << o.out;
}

TEST_F(MluTest, BenchSaysWhatIsSimulated) {
  const std::string bench =
      "bench bbox_overlaps/network/iou_2000x200 --device mlu --timelines --seconds 0.001 ";
  const Outcome o = Run(bench + "--out one.json --csv one.csv");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find("of float and"), std::string::npos) << o.out;
  const auto one = nlohmann::json::parse(Slurp(File("one.json")));
  ASSERT_EQ(Run(bench + "--out two.json -q").code, 0);
  const auto two = nlohmann::json::parse(Slurp(File("two.json")));
  ASSERT_EQ(one["measurements"].size(), cards_.size());
  for (size_t i = 0; i < cards_.size(); ++i) {
    const auto &m = one["measurements"][i], &peak = one["peaks"][i];
    EXPECT_EQ(m["device"], cards_[i]);
    EXPECT_TRUE(m["simulated"].get<bool>() && peak["simulated"].get<bool>());
    EXPECT_EQ(m["device_s"], two["measurements"][i]["device_s"]);  // to the bit
    EXPECT_EQ(m["median_s"], m["device_s"]);
    EXPECT_GT(m["interface_s"].get<double>(), 0);
    EXPECT_TRUE(m["ratio_to_reference"].is_null());
    EXPECT_EQ(m["shapes"], "[2000,4] [200,4]");
    EXPECT_EQ(m["type"], "float");
    // As the design documents define them.
    const double seconds = m["device_s"], io = m["io_efficiency"],
                 compute = m["compute_efficiency"];
    EXPECT_NEAR(io, m["bytes"].get<double>() / (seconds * 1e9 * peak["copy_gbps"].get<double>()),
                1e-9 * io);
    EXPECT_NEAR(compute, 25 * 2000 * 200 / (seconds * 1e9 * peak["gflops"].get<double>()),
                1e-9 * compute);
    EXPECT_TRUE(IsTimeline(m["timeline"])) << m["timeline"];
    EXPECT_NE(o.out.find(TimeText(seconds) + "  simulated"), std::string::npos) << o.out;
  }
  // Twice the peak for half.
  const Outcome half =
      Run("bench bbox_overlaps/network/iou_1000x1000_half --device " + cards_[0] + " --json");
  ASSERT_EQ(half.code, 0) << half.err;
  const auto m = half.Json()["measurements"][0];
  EXPECT_NEAR(m["compute_efficiency"].get<double>(),
              25e6 / (m["device_s"].get<double>() * 1e9 *
                      half.Json()["peaks"][0]["half_gflops"].get<double>()),
              1e-9);
}

TEST_F(MluTest, TheReportHasTheDocumentsTable) {
  ASSERT_EQ(Run("check bbox_overlaps/smoke --out check.json -q").code, 0);
  ASSERT_EQ(Run("bench bbox_overlaps/network/iou_2000x200 bbox_overlaps/smoke/iof_half --group "
                "network smoke --timelines --seconds 0.001 --out bench.json -q")
                .code,
            0);
  const std::string report = "report --check check.json --bench bench.json --format ";
  const nlohmann::json json = Run(report + "json").Json();
  const std::string html = Run(report + "html").out, md = Run(report + "md").out;
  ASSERT_EQ(json["mlu"].size(), cards_.size());
  for (size_t i = 0; i < cards_.size(); ++i) {
    const auto& card = json["mlu"][i];
    EXPECT_EQ(card["device"], cards_[i]);
    EXPECT_EQ(card["operators"][0]["passed"], 3);
    ASSERT_EQ(card["rows"].size(), 2u);
    for (const auto& row : card["rows"]) {
      const bool network = row["group"] == "network";
      EXPECT_EQ(row["bar"], network ? 0.6 : 0.3);
      const double best =
          std::max(row["io_efficiency"].get<double>(), row["compute_efficiency"].get<double>());
      EXPECT_EQ(row["verdict"], best >= row["bar"].get<double>() ? "met" : "short");
      for (const std::string& text : {html, md}) {
        EXPECT_NE(text.find(ShareText(row["compute_efficiency"])), std::string::npos);
        EXPECT_NE(text.find(row["command"].get<std::string>()), std::string::npos);
      }
    }
    for (const std::string& text : {html, md}) {
      EXPECT_NE(text.find(cards_[i] + ", simulated"), std::string::npos);
    }
  }
  for (const char* part : {"hardware<br>time (µs)", "IO<br>efficiency", "<svg class=\"timeline\"",
                           "var(--compute)", "simulated"}) {
    EXPECT_NE(html.find(part), std::string::npos) << part;
  }
  // Each timeline is some kilobytes.
  EXPECT_LT(html.size(), 400000u);
  for (const char* outside : {"<script", "http://", "https://", "src="}) {
    EXPECT_EQ(html.find(outside), std::string::npos) << outside;
  }
}

TEST_F(MluTest, TracesAPage) {
  for (const std::string& card : cards_) {
    const Outcome o = Run(std::string(kTrace) + "--out trace.html --device " + card);
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_NE(o.out.find("simulated -> trace.html"), std::string::npos) << o.out;
    EXPECT_NE(Slurp(File("trace.html")).find(card), std::string::npos);
    fs::remove(File("trace.html"));
  }
  const Outcome json =
      Run("trace case bbox_overlaps/smoke/iof_half --out trace.json --json", "DETOPS_DEVICE=mlu");
  ASSERT_EQ(json.code, 0) << json.err;
  EXPECT_EQ(json.Json()["device"], cards_.front());
  const auto timeline = TimelineOfTrace(File("trace.json"));
  EXPECT_TRUE(IsTimeline(timeline));
  EXPECT_NEAR(timeline["microseconds"].get<double>(),
              1e6 * json.Json()["simulated_s"].get<double>(), 1e-3);
}

TEST_F(MluTest, TracesRefuseInTheCallersWords) {
  ExpectRefused(std::string(kTrace) + "--out trace.svg", "trace.svg: a timeline is a page, .html");
  ExpectRefused(std::string(kTrace) + "--out none/trace.html", "none");
  ExpectRefused(std::string(kTrace) + "--out t.html --device cpu",
                "cpu has no timelines; simulated devices have: --device " + cards_.front());
  ExpectRefused(std::string(kTrace) + "--out t.html --device mlu999", "mlu999");
  ExpectRefused(std::string(kTrace) + "--out t.html --impl cpu:reference",
                "bbox_overlaps has no such implementation on " + cards_.front());
  ExpectRefused("trace case bbox_overlaps/smoke --out t.html", "names 3 cases");
  ExpectRefused("trace case none.prototxt --out t.html", "none.prototxt");
  EXPECT_FALSE(fs::exists(File("t.html")));
}

// A trace that someone else made, or half of one.
TEST(Timelines, BrokenTracesAreErrors) {
  const fs::path file = fs::temp_directory_path() / ("detops_trace_" + std::to_string(getpid()));
  const auto timeline = [&](const std::string& text) {
    Spill(file, text);
    return TimelineOfTrace(file);
  };
  const std::string launch = R"({"ph":"X","name":"k","pid":0,"tid":0,"ts":0,"dur":10,"args":{}},)";
  for (const std::string text :
       {"", "{", "[1]\n{\"ph\":\"X\"}\n", R"({"ph":"X","name":3,"pid":0})"}) {
    EXPECT_THROW(timeline(text), UserError) << text;
  }
  EXPECT_TRUE(IsTimeline(timeline(launch)));
  const auto odd = timeline(
      launch + "\n" + R"({"ph":"X","name":"wait","pid":1,"tid":0,"ts":-5,"dur":1e300,"args":{}},)" +
      "\n" +
      R"({"ph":"X","name":"copy","pid":1,"tid":1,"ts":1e9,"dur":2,"args":{"copy":"NRAM to GDRAM"}},)");
  EXPECT_TRUE(IsTimeline(odd)) << odd;
  fs::remove(file);
}

}  // namespace
}  // namespace detops::cli::test

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "programs.h"
#include "timeline/json.h"
#include "timeline/summary.h"
#include "timeline/write_timeline.h"

namespace bang {
namespace {

std::string ReadText(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

int Count(const std::string& text, const std::string& what) {
  int count = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size()) ++count;
  return count;
}

DrawnLaunch Draw(const std::string& kernel, const std::vector<Operations>& tasks,
                 size_t most = kMostSpans) {
  const Card card = ReadCard(TEST_CARD);
  LaunchRecord launch = Block(tasks);
  launch.kernel = kernel;
  launch.sites = {{"__memcpy_async", "a.mlu", 7}};
  return DrawLaunch(launch, RunClock(launch, card, Detail::kTimeline), card, most);
}

TEST(Json, Strings) {
  EXPECT_EQ(JsonString("a\"b\\c\n"), "\"a\\\"b\\\\c\\u000a\"");
  EXPECT_EQ(JsonString("</script>&"), "\"\\u003c/script\\u003e\\u0026\"");
  EXPECT_EQ(JsonString("µ \xe4\xb8\xad"), "\"µ \xe4\xb8\xad\"");
  EXPECT_EQ(JsonString("\xff|\xc3|\xed\xa0\x80|"), "\"\\ufffd|\\ufffd|\\ufffd\\ufffd\\ufffd|\"");
  EXPECT_EQ(JsonNumber(1.25, 3), "1.250");
  EXPECT_EQ(JsonNumber(0.0 / 0.0, 3), "0");
}

// The load begins at cycle 1011 and is busy for 42 cycles of 1 ns; the second launch begins where
// the first ends, at 1153.
TEST(Perfetto, EventsOfTwoLaunches) {
  const std::string json =
      PerfettoTrace({Draw("first", {{Load(4096)}}), Draw("second", {{Load(4096)}})});
  EXPECT_EQ(Count(json, R"("ph":"X","name":"first","pid":0,"tid":0,"ts":0.0000,"dur":1.1530)"), 1);
  EXPECT_EQ(Count(json, R"("ph":"X","name":"second","pid":0,"tid":0,"ts":1.1530,"dur":1.1530)"), 1);
  EXPECT_EQ(
      Count(json, R"("ph":"X","name":"__memcpy_async","pid":1,"tid":1,"ts":1.0110,"dur":0.0420)"),
      1);
  EXPECT_EQ(
      Count(json, R"("ph":"X","name":"__memcpy_async","pid":1,"tid":1,"ts":2.1640,"dur":0.0420)"),
      1);
  EXPECT_EQ(
      Count(
          json,
          R"("at":"a.mlu:7 __memcpy_async","bytes":4096,"cycles alone":42,"copy":"GDRAM to NRAM")"),
      2);
  EXPECT_EQ(Count(json, R"("name":"waits for IO")"), 2);
  EXPECT_EQ(Count(json, R"({"name":"cluster 0 core 0"})"), 1);
  EXPECT_EQ(Count(json, R"({"name":"IO"})"), 1);
  EXPECT_EQ(Count(json, "{"), Count(json, "}"));
  EXPECT_EQ(json.find(",\n]"), std::string::npos);
}

TEST(Page, HoldsEverythingItself) {
  const std::string page = TimelinePage({Draw("</script><b>", {{Load(4096), Vector(128)}})});
  EXPECT_EQ(Count(page, "</script>"), 2);  // its own
  EXPECT_EQ(page.find("http"), std::string::npos);
  for (const char* mark : {"/*style*/", "/*scripts*/", "/*data*/"}) {
    EXPECT_EQ(page.find(mark), std::string::npos) << mark;
  }
  EXPECT_EQ(Count(page, R"("kernel":"\u003c/script\u003e\u003cb\u003e")"), 1);
  EXPECT_EQ(Count(page, R"({"unit":0,"pipe":1,"spans":[1011,42,100,7,0,0,4096,42,21,1,42]})"), 1);
  EXPECT_EQ(Count(page, R"("cycles":1153,)"), 1);
}

TEST(WriteTimeline, ByTheEndOfTheName) {
  const std::vector<DrawnLaunch> launches = {Draw("kernel", {{Load(4096)}})};
  const std::string path = testing::TempDir() + "timeline";
  std::string error;
  ASSERT_TRUE(WriteTimeline(path + ".html", launches, &error)) << error;
  EXPECT_EQ(ReadText(path + ".html"), TimelinePage(launches));
  ASSERT_TRUE(WriteTimeline(path + ".json", launches, &error)) << error;
  EXPECT_EQ(ReadText(path + ".json"), PerfettoTrace(launches));
  EXPECT_FALSE(WriteTimeline(path + ".png", launches, &error));
  EXPECT_EQ(error, path + ".png: a timeline is a file .html or .json");
  EXPECT_FALSE(WriteTimeline("/nowhere/x.json", launches, &error));
  EXPECT_EQ(error, "/nowhere/x.json: No such file or directory");
}

// Of many spans the first half is drawn as it is, the rest joined.
TEST(Thin, KeepsTheBeginningAndTheWhole) {
  Operations program;
  for (int i = 0; i < 2000; ++i) {
    program.push_back(Blocking(Load(64)));
    program.push_back(Vector(128));
  }
  const DrawnLaunch all = Draw("kernel", {program}), thin = Draw("kernel", {program}, 1000);
  EXPECT_EQ(all.thinned_from, -1);
  EXPECT_GT(all.spans.size(), 5000u);
  EXPECT_LE(thin.spans.size(), 1000u);
  EXPECT_GT(thin.spans.size(), 500u);
  int64_t busy[2] = {}, count[2] = {}, end[2] = {};
  for (const DrawnLaunch* launch : {&all, &thin}) {
    const int which = launch == &thin;
    for (const DrawnSpan& drawn : launch->spans) {
      busy[which] += drawn.busy;
      count[which] += drawn.count;
      end[which] = std::max(end[which], drawn.span.end);
      if (which && drawn.span.begin < thin.thinned_from) EXPECT_EQ(drawn.count, 1);
    }
  }
  EXPECT_LE(busy[1], busy[0]);  // of waits and work that are joined, what is more counts
  EXPECT_GT(busy[1], busy[0] / 2);
  EXPECT_EQ(count[0], count[1]);
  EXPECT_EQ(end[0], end[1]);
}

// Many launches share what a file has.
TEST(Thin, ManyLaunches) {
  Operations program;
  for (int i = 0; i < 20000; ++i) program.push_back(Blocking(Load(64)));
  std::vector<DrawnLaunch> launches;
  const DrawnLaunch small = Draw("small", {{Load(64)}}), large = Draw("large", {program});
  ASSERT_GT(large.spans.size(), kMostSpans / 10);
  AddLaunch(small, &launches);
  for (int i = 0; i < 20; ++i) AddLaunch(large, &launches);
  size_t spans = 0;
  for (const DrawnLaunch& launch : launches) spans += launch.spans.size();
  EXPECT_LE(spans, kMostSpans);
  EXPECT_GT(spans, kMostSpans / 10);
  EXPECT_EQ(launches[0].spans.size(), small.spans.size());
  EXPECT_EQ(launches[0].thinned_from, -1);
  EXPECT_GE(launches[1].thinned_from, 0);
}

}  // namespace
}  // namespace bang

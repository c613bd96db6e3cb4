// SPDX-License-Identifier: Apache-2.0
#include "clock/card.h"

#include <gtest/gtest.h>
#include <stdio.h>
#include <stdlib.h>

#include <algorithm>
#include <set>

#include "programs.h"

namespace bang {
namespace {

std::string TestCard() {
  std::stringstream text;
  text << std::ifstream(TEST_CARD).rdbuf();
  return text.str();
}

std::string Replaced(std::string text, const std::string& what, const std::string& by) {
  return text.replace(text.find(what), what.size(), by);
}

std::string ErrorOf(const std::string& text) {
  Card card;
  std::string error;
  EXPECT_FALSE(ParseCard(text, "my.card", &card, &error));
  return error;
}

TEST(Card, TheCardsOfTheLibrary) {
  const Card* mlu590 = GetCard("mlu590");
  ASSERT_NE(mlu590, nullptr);
  EXPECT_EQ(mlu590->arch, 592);
  EXPECT_EQ(mlu590->cores(), 48);
  EXPECT_EQ(mlu590->nram_bytes, 512 * 1024);
  EXPECT_EQ(mlu590->gdram_bandwidth, 2048000000000);
  EXPECT_DOUBLE_EQ(mlu590->Microseconds(3000), 2.0);
  const Card* mlu370 = GetCard("mlu370");
  ASSERT_NE(mlu370, nullptr);
  EXPECT_EQ(mlu370->arch, 372);
  EXPECT_EQ(mlu370->cores(), 32);
  EXPECT_EQ(mlu370->nram_bytes, 768 * 1024);
  EXPECT_EQ(mlu370->gdram_cluster_bandwidth, 128000000000);
  EXPECT_EQ(GetCard("mlu220"), nullptr);
}

// A row of costs that no built-in names would do nothing.
TEST(Card, CostsAreOfBuiltIns) {
  std::set<std::string> named;
#define BUILTIN(name, shape, operation, types, since, passes, kind, result) \
  if (const char* cost = kind) named.insert(cost);
#include "bang/builtins.inc"
  for (const char* card : {"mlu370", "mlu590"}) {
    EXPECT_FALSE(GetCard(card)->costs.empty());
    for (const auto& [name, cycles] : GetCard(card)->costs)
      EXPECT_EQ(named.count(name), 1u) << name;
  }
}

TEST(Card, ErrorsNameTheLine) {
  EXPECT_EQ(ErrorOf(Replaced(TestCard(), "clusters 4", "clusters four")),
            "my.card:4: clusters: not a number from 0 to 1000000000");
  EXPECT_EQ(ErrorOf(Replaced(TestCard(), "clusters 4", "clusters 0")),
            "my.card:4: clusters: too small");
  EXPECT_EQ(ErrorOf(Replaced(TestCard(), "clusters 4", "cluster 4")),
            "my.card:4: cluster: no such value");
  EXPECT_EQ(ErrorOf(Replaced(TestCard(), "clusters 4", "clusters 4 8")),
            "my.card:4: clusters: a line is a name and a value, then perhaps # and a remark");
  EXPECT_EQ(ErrorOf(Replaced(TestCard(), "arch 592", "clusters 4")),
            "my.card:4: clusters: this value stands here twice");
  const std::string card = TestCard();
  const auto lines = std::count(card.begin(), card.end(), '\n');
  const std::string last = "my.card:" + std::to_string(lines);
  EXPECT_EQ(ErrorOf(card + "cost div 3\n"),
            "my.card:" + std::to_string(lines + 1) + ": cost: this cost stands here twice");
  EXPECT_EQ(ErrorOf(Replaced(card, "issue 1", "")), last + ": issue: missing");
  EXPECT_EQ(ErrorOf(Replaced(card, "name test", "")), last + ": name: missing");
}

// GetCard reads the environment once, so each of these asks in a process of its own.
int CardsIn(const std::string& path) {
  setenv("BANG_CARD", path.c_str(), 1);
  const Card* mlu590 = GetCard("mlu590");
  return (mlu590 != nullptr) + 2 * (mlu590 && mlu590->clusters == 4) +
         4 * (GetCard("test") != nullptr);
}

TEST(CardDeathTest, TheEnvironmentsCardComesFirst) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(exit(CardsIn(TEST_CARD)), testing::ExitedWithCode(1 + 4), "^$");
  const std::string mine = testing::TempDir() + "mine.card";
  std::ofstream(mine) << Replaced(TestCard(), "name test", "name mlu590");
  EXPECT_EXIT(exit(CardsIn(mine)), testing::ExitedWithCode(1 + 2), "^$");
  std::ofstream(mine) << "name mlu590\narch x\n";
  EXPECT_EXIT(exit(CardsIn(mine)), testing::ExitedWithCode(0), "mine.card:2: arch: not a number");
  EXPECT_EXIT(exit(CardsIn("/nowhere/x.card")), testing::ExitedWithCode(0), "can't be read");
}

}  // namespace
}  // namespace bang

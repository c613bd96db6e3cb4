// SPDX-License-Identifier: Apache-2.0
#include "clock/card.h"

#include <stdio.h>
#include <stdlib.h>

#include <charconv>
#include <deque>
#include <fstream>
#include <sstream>

namespace bang {

extern const char* const kCardFiles[];  // of cards/, embedded

namespace {

struct Field {
  const char* key;
  int64_t Card::*member;
  int64_t scale;  // from the file's unit
  int64_t least;  // in the file's unit
};

constexpr int64_t kKilobyte = 1024, kMegabyte = 1024 * 1024;
constexpr int64_t kMegabytesPerSecond = 1000000;

constexpr Field kFields[] = {
    {"arch", &Card::arch, 1, 1},
    {"clusters", &Card::clusters, 1, 1},
    {"clock_khz", &Card::clock_khz, 1, 1},
    {"nram_kb", &Card::nram_bytes, kKilobyte, 1},
    {"nram_stack_kb", &Card::nram_stack_bytes, kKilobyte, 0},
    {"wram_kb", &Card::wram_bytes, kKilobyte, 0},
    {"sram_kb", &Card::sram_bytes, kKilobyte, 0},
    {"ldram_kb", &Card::ldram_bytes, kKilobyte, 0},
    {"gdram_mb", &Card::gdram_bytes, kMegabyte, 1},
    {"gdram_mb_per_s", &Card::gdram_bandwidth, kMegabytesPerSecond, 1},
    {"gdram_cluster_mb_per_s", &Card::gdram_cluster_bandwidth, kMegabytesPerSecond, 1},
    {"gdram_core_mb_per_s", &Card::gdram_core_bandwidth, kMegabytesPerSecond, 1},
    {"gdram_write_percent", &Card::gdram_write_percent, 1, 1},
    {"gdram_strided_read_bytes", &Card::gdram_strided_read_bytes, 1, 0},
    {"gdram_strided_write_bytes", &Card::gdram_strided_write_bytes, 1, 0},
    {"gdram_start", &Card::gdram_start, 1, 0},
    {"gdram_read_latency", &Card::gdram_read_latency, 1, 0},
    {"gdram_write_latency", &Card::gdram_write_latency, 1, 0},
    {"sram_cluster_bytes_per_cycle", &Card::sram_cluster_bytes_per_cycle, 1, 1},
    {"sram_core_bytes_per_cycle", &Card::sram_core_bytes_per_cycle, 1, 1},
    {"sram_start", &Card::sram_start, 1, 0},
    {"sram_latency", &Card::sram_latency, 1, 0},
    {"sram_remote_latency", &Card::sram_remote_latency, 1, 0},
    {"local_bytes_per_cycle", &Card::local_bytes_per_cycle, 1, 1},
    {"local_start", &Card::local_start, 1, 0},
    {"local_latency", &Card::local_latency, 1, 0},
    {"segment_cycles", &Card::segment_cycles, 1, 0},
    {"vector_bytes_per_cycle", &Card::vector_bytes_per_cycle, 1, 1},
    {"vector_start", &Card::vector_start, 1, 0},
    {"vector_latency", &Card::vector_latency, 1, 0},
    {"scalar_operator", &Card::scalar_operator, 1, 0},
    {"scalar_access_nram", &Card::scalar_access_nram, 1, 0},
    {"scalar_access_wram", &Card::scalar_access_wram, 1, 0},
    {"scalar_access_sram", &Card::scalar_access_sram, 1, 0},
    {"scalar_access_ldram", &Card::scalar_access_ldram, 1, 0},
    {"scalar_access_gdram", &Card::scalar_access_gdram, 1, 0},
    {"issue", &Card::issue, 1, 0},
    {"sync", &Card::sync, 1, 0},
    {"queue_depth", &Card::queue_depth, 1, 1},
    {"launch_cycles", &Card::launch_cycles, 1, 0},
    {"task_start", &Card::task_start, 1, 0},
    {"block_tasks_spread", &Card::block_tasks_spread, 1, 0},
    {"barrier_cluster", &Card::barrier_cluster, 1, 0},
    {"barrier_union", &Card::barrier_union, 1, 0},
    {"host_mb_per_s", &Card::host_bandwidth, kMegabytesPerSecond, 1},
    {"host_start_ns", &Card::host_start_ns, 1, 0},
};
constexpr int kFieldCount = sizeof kFields / sizeof kFields[0];
// Far from overflow in the clock's arithmetic.
constexpr int64_t kGreatest = 1000000000;

bool ParseNumber(const std::string& word, int64_t* value) {
  const char* end = word.data() + word.size();
  const auto result = std::from_chars(word.data(), end, *value);
  return result.ec == std::errc() && result.ptr == end && *value >= 0 && *value <= kGreatest;
}

// What is wrong with a line that has these words, or null.
const char* ParseLine(const std::vector<std::string>& words, bool* seen, Card* card) {
  const std::string& key = words[0];
  int64_t value = 0;
  if (key == "cost") {
    if (words.size() != 3) return "a cost has a name and a number of cycles";
    if (!ParseNumber(words[2], &value) || value < 1) return "not a number from 1 to 1000000000";
    if (card->FindCost(words[1])) return "this cost stands here twice";
    card->costs.emplace_back(words[1], value);
    return nullptr;
  }
  if (words.size() != 2) return "a line is a name and a value, then perhaps # and a remark";
  if (key == "name") {
    card->name = words[1];
    return nullptr;
  }
  for (int i = 0; i < kFieldCount; ++i) {
    const Field& field = kFields[i];
    if (key != field.key) continue;
    if (seen[i]) return "this value stands here twice";
    seen[i] = true;
    if (!ParseNumber(words[1], &value)) return "not a number from 0 to 1000000000";
    if (value < field.least) return "too small";
    card->*field.member = value * field.scale;
    return nullptr;
  }
  return "no such value";
}

struct Cards {
  std::deque<Card> cards;
  Cards();
};

Cards::Cards() {
  std::string error;
  if (const char* path = getenv("BANG_CARD"); path && *path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    if (!file) {
      error = std::string(path) + ": can't be read (BANG_CARD)";
    } else {
      ParseCard(text.str(), path, &cards.emplace_back(), &error);
    }
  }
  for (const char* const* text = kCardFiles; *text && error.empty(); ++text) {
    ParseCard(*text, "built-in card", &cards.emplace_back(), &error);
  }
  if (error.empty()) return;
  fprintf(stderr, "bang: %s\n", error.c_str());
  cards.clear();
}

}  // namespace

const int64_t* Card::FindCost(const std::string& kind) const {
  for (const auto& [name, cycles] : costs) {
    if (name == kind) return &cycles;
  }
  return nullptr;
}

bool ParseCard(const std::string& text, const std::string& path, Card* card, std::string* error) {
  *card = Card();
  bool seen[kFieldCount] = {};
  // Streams else take a lack of memory for the end of the text.
  std::istringstream lines(text);
  lines.exceptions(std::ios_base::badbit);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream stream(line.substr(0, line.find('#')));
    stream.exceptions(std::ios_base::badbit);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    if (words.empty()) continue;
    if (const char* wrong = ParseLine(words, seen, card)) {
      *error = path + ":" + std::to_string(number) + ": " + words[0] + ": " + wrong;
      return false;
    }
  }
  std::string missing = card->name.empty() ? "name" : "";
  for (int i = 0; i < kFieldCount && missing.empty(); ++i) {
    if (!seen[i]) missing = kFields[i].key;
  }
  if (missing.empty()) return true;
  *error = path + ":" + std::to_string(number) + ": " + missing + ": missing";
  return false;
}

const Card* GetCard(const std::string& name) {
  static const Cards all;
  for (const Card& card : all.cards) {
    if (card.name == name) return &card;
  }
  return nullptr;
}

}  // namespace bang

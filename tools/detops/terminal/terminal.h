// SPDX-License-Identifier: Apache-2.0
//
// What people see: tables, colours where the output is a terminal, a progress bar for what takes
// longer than two seconds.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace detops::cli {

// Options that every command has.
struct Output {
  bool quiet = false;  // results and errors alone
  bool json = false;   // one JSON document on stdout, nothing else
};

enum class Colour { kNone, kGreen, kYellow, kRed, kDim, kBold };
// Shown (errors.h), without colour where stdout is no terminal or NO_COLOR is set.
std::string Coloured(Colour colour, const std::string& text);

// Columns as wide as their widest cell, which is Shown; numbers in right-aligned columns.
class Table {
 public:
  explicit Table(std::vector<std::string> header, std::string right_aligned_columns = "");
  void Add(std::vector<std::string> row, Colour colour = Colour::kNone);
  void Print() const;

 private:
  std::vector<std::vector<std::string>> rows_;
  std::vector<Colour> colours_;
  std::string alignment_;  // 'r' or 'l' a column
};

// A bar on stderr, if that is a terminal and `shown`; it appears after two seconds.
class Progress {
 public:
  Progress(size_t total, bool shown);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void Step(const std::string& what);
  // Removes the bar, so that a line can be printed; the next step brings it back.
  void Clear();

 private:
  void Draw(bool visible);

  const size_t total_;
  const bool shown_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::condition_variable wake_;
  size_t done_ = 0;
  bool drawn_ = false, finished_ = false;
  std::string what_;
  std::thread drawer_;
};

// "1.25 ms", "31.4", "1.5 GB", "98 %": three digits that mean something.
std::string TimeText(double seconds);
std::string Figures(double value);
std::string BytesText(double bytes);
std::string ShareText(double share);
std::string DiffText(double diff);  // "0" or "1.2e-08"
// A word of a command line, quoted where the shell needs it.
std::string Quoted(const std::string& word);

}  // namespace detops::cli

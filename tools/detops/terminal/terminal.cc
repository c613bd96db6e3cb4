// SPDX-License-Identifier: Apache-2.0
#include "terminal/terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "terminal/errors.h"

namespace detops::cli {
namespace {

constexpr auto kPatience = std::chrono::seconds(2);

bool ColoursWanted() {
  static const bool wanted = isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
  return wanted;
}

// Bytes of UTF-8 that begin a character.
size_t Width(const std::string& text) {
  return static_cast<size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace

std::string Coloured(Colour colour, const std::string& text) {
  if (colour == Colour::kNone || !ColoursWanted()) return Shown(text);
  const char* code = "";
  switch (colour) {
    case Colour::kGreen: code = "32"; break;
    case Colour::kYellow: code = "33"; break;
    case Colour::kRed: code = "31"; break;
    case Colour::kDim: code = "2"; break;
    case Colour::kBold: code = "1"; break;
    case Colour::kNone: break;
  }
  return fmt::format("\x1b[{}m{}\x1b[0m", code, Shown(text));
}

Table::Table(std::vector<std::string> header, std::string alignment)
    : alignment_(std::move(alignment)) {
  alignment_.resize(header.size(), 'l');
  Add(std::move(header), Colour::kBold);
}

void Table::Add(std::vector<std::string> row, Colour colour) {
  std::ranges::transform(row, row.begin(), Shown);
  rows_.push_back(std::move(row));
  colours_.push_back(colour);
}

void Table::Print() const {
  std::vector<size_t> widths(alignment_.size(), 0);
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], Width(row[i]));
  }
  for (size_t r = 0; r < rows_.size(); ++r) {
    std::string line;
    for (size_t i = 0; i < rows_[r].size(); ++i) {
      const std::string& cell = rows_[r][i];
      const std::string pad(widths[i] - Width(cell), ' ');
      line += alignment_[i] == 'r' ? pad + cell : cell + pad;
      if (i + 1 < rows_[r].size()) line += "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    fmt::print("{}\n", Coloured(colours_[r], line));
  }
}

Progress::Progress(size_t total, bool shown)
    : total_(total), shown_(shown && isatty(STDERR_FILENO) == 1) {
  if (!shown_) return;
  const auto draw = [this] {
    std::unique_lock lock(mutex_);
    while (!finished_) {
      wake_.wait_for(lock, std::chrono::milliseconds(200));
      if (!finished_ && std::chrono::steady_clock::now() - start_ > kPatience) Draw(true);
    }
    Draw(false);
  };
  try {
    drawer_ = std::thread(draw);
  } catch (const std::system_error&) {
    // No thread can be started: then there is no bar, and the work goes on.
  }
}

Progress::~Progress() {
  if (!drawer_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    finished_ = true;
  }
  wake_.notify_one();
  drawer_.join();
}

void Progress::Step(const std::string& what) {
  const std::lock_guard lock(mutex_);
  if (!what_.empty()) ++done_;
  what_ = what;
}

void Progress::Clear() {
  const std::lock_guard lock(mutex_);
  Draw(false);
}

void Progress::Draw(bool visible) {
  if (!visible) {
    if (drawn_) std::fputs("\r\x1b[K", stderr);
    drawn_ = false;
    return;
  }
  constexpr size_t kCells = 24;
  const size_t filled = total_ == 0 ? 0 : std::min(kCells, kCells * done_ / total_);
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - start_)
          .count();
  fmt::print(stderr, "\r\x1b[K[{}{}] {}/{} {} s  {}", std::string(filled, '#'),
             std::string(kCells - filled, '.'), done_, total_, seconds, Shown(what_));
  std::fflush(stderr);
  drawn_ = true;
}

std::string Figures(double value) {
  if (!std::isfinite(value)) return fmt::format("{}", value);
  if (value == 0) return "0";
  const int before = static_cast<int>(std::floor(std::log10(std::fabs(value))));
  return fmt::format("{:.{}f}", value, std::clamp(2 - before, 0, 9));
}

std::string TimeText(double seconds) {
  if (seconds >= 1) return Figures(seconds) + " s";
  if (seconds >= 1e-3) return Figures(seconds * 1e3) + " ms";
  if (seconds >= 1e-6) return Figures(seconds * 1e6) + " µs";
  return Figures(seconds * 1e9) + " ns";
}

std::string BytesText(double bytes) {
  if (bytes >= 1e9) return Figures(bytes * 1e-9) + " GB";
  if (bytes >= 1e6) return Figures(bytes * 1e-6) + " MB";
  if (bytes >= 1e3) return Figures(bytes * 1e-3) + " kB";
  return fmt::format("{:.0f} B", bytes);
}

std::string ShareText(double share) {
  return share >= 0.1 ? fmt::format("{:.0f} %", share * 100) : Figures(share * 100) + " %";
}

std::string DiffText(double diff) { return diff == 0 ? "0" : fmt::format("{:.1e}", diff); }

std::string Quoted(const std::string& word) {
  const bool plain = !word.empty() && std::ranges::all_of(word, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) ||
           std::string("_-./:=,+").find(c) != std::string::npos;
  });
  if (plain) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace detops::cli

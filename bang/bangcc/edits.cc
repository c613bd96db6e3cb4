// SPDX-License-Identifier: Apache-2.0
#include "bangcc/edits.h"

#include <algorithm>
#include <tuple>

namespace bangcc {

void Edits::Before(size_t token, std::string text) {
  const uint32_t at = source_.tokens[token].begin;
  changes_.push_back({at, at, std::move(text)});
}

void Edits::BeforeAll(std::string text) {
  if (source_.tokens.empty()) return;
  const uint32_t at = source_.tokens[0].begin;
  changes_.insert(changes_.begin(), {at, at, std::move(text)});
}

void Edits::After(size_t token, std::string text) {
  const uint32_t at = source_.tokens[token].end;
  changes_.push_back({at, at, std::move(text)});
}

void Edits::Replace(size_t token, std::string text) {
  changes_.push_back({source_.tokens[token].begin, source_.tokens[token].end, std::move(text)});
}

void Edits::Remove(size_t first, size_t last) {
  for (size_t i = first; i <= last; ++i) Remove(i);
}

std::string Edits::Apply() {
  // At one place, additions come first, and the first replacement of a token stands.
  std::stable_sort(changes_.begin(), changes_.end(), [](const Change& a, const Change& b) {
    return std::make_tuple(a.begin, a.end != a.begin) < std::make_tuple(b.begin, b.end != b.begin);
  });
  std::string result;
  result.reserve(source_.text.size() * 5 / 4);
  uint32_t at = 0;
  for (const Change& change : changes_) {
    if (change.begin < at) continue;  // in what is already replaced
    result.append(source_.text, at, change.begin - at);
    result += change.text;
    at = change.end;
  }
  result.append(source_.text, at);
  return result;
}

}  // namespace bangcc

// SPDX-License-Identifier: Apache-2.0
#ifndef BANGCC_EDITS_H_
#define BANGCC_EDITS_H_

#include <string>
#include <vector>

#include "bangcc/token.h"

namespace bangcc {

// Changes to a source. None adds or takes away a line, so that errors keep the user's.
class Edits {
 public:
  explicit Edits(const Source& source) : source_(source) {}

  // In front of a token, and behind what was put there before.
  void Before(size_t token, std::string text);
  void BeforeAll(std::string text);  // in front of the first token
  // Behind a token, and behind what was put there before.
  void After(size_t token, std::string text);
  void Replace(size_t token, std::string text);
  void Remove(size_t token) { Replace(token, ""); }
  void Remove(size_t first, size_t last);  // both included
  void RemoveText(uint32_t begin, uint32_t end) { changes_.push_back({begin, end, ""}); }

  std::string Apply();

 private:
  struct Change {
    uint32_t begin, end;  // equal: only adds
    std::string text;
  };

  const Source& source_;
  std::vector<Change> changes_;
};

}  // namespace bangcc

#endif  // BANGCC_EDITS_H_

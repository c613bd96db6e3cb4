// SPDX-License-Identifier: Apache-2.0
//
// Writes down what a core does, for the clock.
#ifndef BANG_MACHINE_RECORDER_H_
#define BANG_MACHINE_RECORDER_H_

#include <stdint.h>

#include <unordered_map>
#include <vector>

#include "clock/operations.h"

namespace bang {

// The sites and cost rows of one thread's programs; numbers in Operation are this thread's until
// the launch puts all programs together.
class Glossary {
 public:
  uint32_t Site(const char* name, Where where);
  uint8_t Cost(const char* name);

  const std::vector<CallSite>& sites() const { return sites_; }
  const std::vector<const char*>& costs() const { return costs_; }
  void Clear();

 private:
  struct Key {
    const char* name;
    const char* file;
    int line;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key& key) const {
      return (reinterpret_cast<uintptr_t>(key.name) * 31 + reinterpret_cast<uintptr_t>(key.file)) *
                 31 +
             key.line;
    }
  };
  std::vector<CallSite> sites_{{nullptr, nullptr, 0}};
  std::vector<const char*> costs_{""};
  std::unordered_map<Key, uint32_t, Hash> numbers_;
};

class Recorder {
 public:
  explicit Recorder(Glossary* glossary) : glossary_(glossary) {}

  // From now on into `operations`; null: nothing is recorded.
  void Start(std::vector<Operation>* operations) {
    operations_ = operations;
    operators_ = 0;
    result_count_ = 0;
    for (int64_t& count : accesses_) count = 0;
  }
  bool on() const { return operations_ != nullptr; }
  Glossary& glossary() { return *glossary_; }

  void Operators(int64_t count) { operators_ += count; }
  void ScalarAccess(Space space) { ++accesses_[static_cast<int>(space)]; }
  void Add(const Operation& operation) {
    if (!on()) return;
    Flush();
    operations_->push_back(operation);
  }
  // Scalar work since the last operation.
  void Flush();

  // What the last vector instruction wrote: one that reads it waits for the result.
  bool InLastResult(const char* data, int64_t bytes) const {
    for (int i = 0; i < result_count_; ++i) {
      const Result& result = results_[i];
      if (data < result.data + result.bytes && result.data < data + bytes) return true;
    }
    return false;
  }
  void ClearLastResult() { result_count_ = 0; }
  void AddLastResult(const char* data, int64_t bytes) { results_[result_count_++] = {data, bytes}; }
  static constexpr int kMaxResults = 6;

 private:
  Glossary* glossary_;
  std::vector<Operation>* operations_ = nullptr;
  int64_t operators_ = 0;
  int64_t accesses_[5] = {};
  struct Result {
    const char* data;
    int64_t bytes;
  };
  Result results_[kMaxResults];
  int result_count_ = 0;
};

}  // namespace bang

#endif  // BANG_MACHINE_RECORDER_H_

// SPDX-License-Identifier: Apache-2.0
//
// One small problem for each operator of the library, with a handle, a queue, descriptors and
// buffers of its own: what a thread of a client has.
#pragma once

#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

#include "schema/invocation.h"
#include "support/handle.h"

namespace detops::test {

// A problem of a scene, or of the operator's first one. Sizes are by position in the letters; forms
// by number.
inline schema::Problem SceneOf(const schema::Schema& schema, std::string_view scene,
                               const std::vector<int64_t>& sizes, schema::Rng& rng,
                               size_t form = 0) {
  schema::Problem problem(schema);
  if (schema.form_scalar != nullptr) {
    problem.set_scalar(schema.form_scalar, static_cast<double>(form));
  }
  problem.MakeInputs(sizes, MLUOP_DTYPE_FLOAT);
  schema.fill(scene.empty() ? schema.scenes.front().name : scene, rng, problem);
  return problem;
}
// Of the sizes that `detops gen` has, which are those of a small network.
inline schema::Problem StandardProblem(const schema::Schema& schema, size_t form = 0,
                                       std::string_view scene = {}) {
  std::vector<int64_t> sizes;
  for (const schema::Letter& letter : schema.letters) sizes.push_back(letter.standard);
  schema::Rng rng(1);
  return SceneOf(schema, scene, sizes, rng, form);
}

// Of those sizes, or so many times as large that several threads work on it: the library leaves
// smaller calls to the caller's thread.
inline schema::Problem ProblemForThreads(const schema::Schema& schema, size_t form = 0,
                                         std::string_view scene = {}) {
  constexpr double kSteps = 2.5e6;
  for (int64_t times = 1;; times *= 2) {
    std::vector<int64_t> sizes;
    for (const schema::Letter& letter : schema.letters) sizes.push_back(times * letter.standard);
    schema::Rng rng(1);
    schema::Problem problem = SceneOf(schema, scene, sizes, rng, form);
    if (schema.reference_steps(problem) >= kSteps) return problem;
  }
}

// The bytes of all outputs, one after the other.
inline std::vector<std::byte> BytesOf(const schema::Invocation& invocation) {
  std::vector<std::byte> all;
  for (const schema::Array& output : invocation.Results()) {
    all.insert(all.end(), output.bytes().begin(), output.bytes().end());
  }
  return all;
}

class EveryOperator {
 public:
  // The same seed makes the same problems.
  explicit EveryOperator(unsigned seed) {
    EXPECT_EQ(cnrtQueueCreate(&queue_), cnrtSuccess);
    EXPECT_OK(mluOpSetQueue(handle_, queue_));
    schema::Rng rng(seed);
    for (const schema::Schema* schema : schema::All()) {
      std::vector<int64_t> sizes;
      for (const schema::Letter& letter : schema->letters) sizes.push_back(3 * letter.small);
      const schema::Problem& problem = problems_.emplace_back(SceneOf(*schema, {}, sizes, rng));
      EXPECT_OK(invocations_.emplace_back(handle_, problem).Prepare());
    }
  }
  ~EveryOperator() {
    invocations_.clear();
    EXPECT_OK(mluOpSetQueue(handle_, nullptr));
    EXPECT_EQ(cnrtQueueDestroy(queue_), cnrtSuccess);
  }
  EveryOperator(const EveryOperator&) = delete;
  EveryOperator& operator=(const EveryOperator&) = delete;

  mluOpHandle_t handle() const { return handle_; }

  // The bytes of every output, one after the other.
  std::vector<std::byte> Run() {
    std::vector<std::byte> all;
    for (schema::Invocation& invocation : invocations_) {
      EXPECT_OK(invocation.Start());
      EXPECT_EQ(cnrtQueueSync(queue_), cnrtSuccess);
      const std::vector<std::byte> outputs = BytesOf(invocation);
      all.insert(all.end(), outputs.begin(), outputs.end());
    }
    return all;
  }

 private:
  Handle handle_;
  cnrtQueue_t queue_ = nullptr;
  std::deque<schema::Problem> problems_;
  std::deque<schema::Invocation> invocations_;
};

}  // namespace detops::test

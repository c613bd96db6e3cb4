// SPDX-License-Identifier: Apache-2.0
//
// One small problem for each operator of the library, with a handle, a queue, descriptors and
// buffers of its own: what a thread of a client has.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "schema/invocation.h"
#include "support/handle.h"

namespace detops::test {

class EveryOperator {
 public:
  // The same seed makes the same problems.
  explicit EveryOperator(unsigned seed) {
    EXPECT_EQ(cnrtQueueCreate(&queue_), cnrtSuccess);
    EXPECT_OK(mluOpSetQueue(handle_, queue_));
    schema::Rng rng(seed);
    for (const schema::Schema* schema : schema::All()) {
      schema::Problem& problem = problems_.emplace_back(*schema);
      std::vector<int64_t> sizes;
      for (const schema::Letter& letter : schema->letters) sizes.push_back(3 * letter.small);
      problem.MakeInputs(sizes, MLUOP_DTYPE_FLOAT);
      schema->fill(schema->scenes.front().name, rng, problem);
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
      for (const schema::Array& output : invocation.Results()) {
        all.insert(all.end(), output.bytes().begin(), output.bytes().end());
      }
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

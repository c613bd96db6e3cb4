// SPDX-License-Identifier: Apache-2.0
#include "bench/problem.h"

#include <algorithm>
#include <stdexcept>

namespace detops::bench {

std::string DeviceOf(const std::string& implementation) {
  return implementation.substr(0, implementation.find(':'));
}

const Buffer& Problem::Output(int64_t bytes) {
  Buffer& buffer = outputs_.emplace_back(handle_, static_cast<size_t>(bytes), sets_);
  for (int64_t set = 0; set < sets_; ++set) buffer.Poison(set);
  return buffer;
}

void Problem::Poison() {
  for (Buffer& output : outputs_) output.Poison(0);
}

std::vector<std::byte> Problem::Result() const {
  size_t bytes = 0;
  for (const Buffer& output : outputs_) bytes += output.bytes();
  std::vector<std::byte> result(bytes);
  size_t at = 0;
  for (const Buffer& output : outputs_) {
    output.Download(0, result.data() + at);
    at += output.bytes();
  }
  return result;
}

}  // namespace detops::bench

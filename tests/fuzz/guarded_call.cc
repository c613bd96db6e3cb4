// SPDX-License-Identifier: Apache-2.0
#include "fuzz/guarded_call.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <memory>

#include "fuzz/failure.h"

namespace detops::fuzz {
namespace {

size_t PageBytes() {
  static const auto bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

// Not in a loop, whose every step the fuzzer would observe.
void Copy(std::byte* to, const std::byte* from, size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

}  // namespace

GuardedMemory::GuardedMemory(size_t bytes, Edge edge)
    : usable_((bytes + PageBytes() - 1) / PageBytes() * PageBytes()) {
  void* pages =
      mmap(nullptr, usable_ + 2 * PageBytes(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) Fail("mmap gives no memory");
  pages_ = static_cast<std::byte*>(pages);
  std::byte* const first = pages_ + PageBytes();
  if (usable_ > 0 && mprotect(first, usable_, PROT_READ | PROT_WRITE) != 0) Fail("mprotect fails");
  data_ = edge == Edge::kBegin ? first : first + usable_ - bytes;
}

GuardedMemory::~GuardedMemory() { munmap(pages_, usable_ + 2 * PageBytes()); }

void GuardedMemory::MakeReadOnly() {
  if (usable_ > 0 && mprotect(pages_ + PageBytes(), usable_, PROT_READ) != 0) {
    Fail("mprotect fails");
  }
}

GuardedCall::GuardedCall(const schema::Problem& problem, const std::vector<schema::Array>& outputs,
                         GuardedMemory::Edge edge)
    : problem_(problem), outputs_(outputs), edge_(edge) {
  arguments_.scalars = problem.scalars;
  const std::vector<schema::Tensor>& tensors = problem.form().tensors;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const bool is_input = i < problem.inputs.size();
    const schema::Array& array = is_input ? problem.inputs[i] : outputs[i - problem.inputs.size()];
    mluOpTensorDescriptor_t desc = nullptr;
    if (tensors[i].role != schema::Role::kCount) {
      desc = descs_.emplace_back(array.dtype(), array.shape(),
                                 tensors[i].layout.value_or(MLUOP_LAYOUT_ARRAY));
    }
    arguments_.descs.push_back(desc);
    GuardedMemory& memory = memory_.emplace_back(array.bytes().size(), edge);
    if (is_input) {
      Copy(memory.data(), array.bytes().data(), array.bytes().size());
      memory.MakeReadOnly();
    }
    arguments_.data.push_back(memory.data());
  }
}

Outcome GuardedCall::Run(mluOpHandle_t handle) {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const std::span<const std::byte> from = outputs_[i].bytes();
    Copy(memory_[problem_.inputs.size() + i].data(), from.data(), from.size());
  }
  arguments_.handle = handle;
  arguments_.workspace_size = 0;
  if (!problem_.schema->queries.empty()) {
    // Where the query refuses the tensors, so does the call.
    problem_.schema->queries.front().call(arguments_, &arguments_.workspace_size);
  }
  const GuardedMemory workspace(arguments_.workspace_size, edge_);
  arguments_.workspace = workspace.data();
  Outcome outcome = {problem_.form().call(arguments_), outputs_};
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const std::span<std::byte> to = outcome.results[i].bytes();
    Copy(to.data(), memory_[problem_.inputs.size() + i].data(), to.size());
  }
  return outcome;
}

std::vector<std::string> CpuImplementations(std::string_view op) {
  size_t count = 0;
  schema::Require(detopsListImplementations(nullptr, 0, &count));
  std::vector<detopsImplementationInfo> all(count);
  schema::Require(detopsListImplementations(all.data(), count, &count));
  std::vector<std::string> names = {"cpu:reference"};
  for (const detopsImplementationInfo& info : all) {
    const std::string_view name = info.name;
    if (info.op == op && info.usable && name.starts_with("cpu:") && name != names[0]) {
      names.emplace_back(name);
    }
  }
  return names;
}

mluOpHandle_t KeptHandle(const std::string& implementation, int threads) {
  // Never released: at the end of the process the library may be gone before.
  static auto& handles =
      *new std::map<std::pair<std::string, int>, std::unique_ptr<schema::Handle>>();
  std::unique_ptr<schema::Handle>& handle = handles[{implementation, threads}];
  if (handle == nullptr) {
    handle = std::make_unique<schema::Handle>("cpu");
    schema::Require(detopsSetImplementation(*handle, implementation.c_str()));
    schema::Require(detopsSetThreads(*handle, threads));
  }
  return *handle;
}

}  // namespace detops::fuzz

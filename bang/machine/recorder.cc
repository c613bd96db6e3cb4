// SPDX-License-Identifier: Apache-2.0
#include "machine/recorder.h"

#include <string.h>

namespace bang {

uint32_t Glossary::Site(const char* name, Where where) {
  const auto [at, fresh] =
      numbers_.try_emplace(Key{name, where.file, where.line}, static_cast<uint32_t>(sites_.size()));
  if (fresh) sites_.push_back({name, where.file, where.line});
  return at->second;
}

uint8_t Glossary::Cost(const char* name) {
  if (name == nullptr) return 0;
  for (size_t i = 0; i < costs_.size(); ++i) {
    if (costs_[i] == name || strcmp(costs_[i], name) == 0) return static_cast<uint8_t>(i);
  }
  costs_.push_back(name);
  return static_cast<uint8_t>(costs_.size() - 1);
}

void Glossary::Clear() { *this = Glossary(); }

void Recorder::Flush() {
  if (!on()) return;
  if (operators_ > 0) {
    Operation operation{.kind = Kind::kScalar};
    operation.amount = operators_;
    operations_->push_back(operation);
    operators_ = 0;
  }
  for (int space = 0; space < 5; ++space) {
    if (accesses_[space] == 0) continue;
    Operation operation{.kind = Kind::kAccess, .from = static_cast<Space>(space)};
    operation.amount = accesses_[space];
    operations_->push_back(operation);
    accesses_[space] = 0;
  }
}

}  // namespace bang

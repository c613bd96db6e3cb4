// SPDX-License-Identifier: Apache-2.0
#include "machine/sram.h"

#include <stdlib.h>

#include <new>

namespace bang {

void Sram::Freer::operator()(char* data) const { free(data); }

void Sram::Clear() {
  for (Entry& entry : entries_) entry.in_use = false;
}

Array& Sram::Get(const ArrayRecord& record) {
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].record != &record) continue;
    if (!entries_[i].in_use) {
      entries_[i].in_use = true;
      arrays_[i]->Reset();
    }
    return *arrays_[i];
  }
  constexpr int64_t kAlignment = 128;
  const int64_t bytes = (record.bytes + kAlignment - 1) / kAlignment * kAlignment;
  std::unique_ptr<char, Freer> data(static_cast<char*>(aligned_alloc(kAlignment, bytes)));
  if (data == nullptr) throw std::bad_alloc();
  arrays_.push_back(std::make_unique<Array>(record.name, Where{record.file, record.line},
                                            record.space, data.get(), record.bytes));
  arrays_.back()->Reset();
  entries_.push_back({&record, std::move(data), true});
  return *arrays_.back();
}

const ArrayRecord* Sram::Find(const void* address) const {
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].in_use && arrays_[i]->Holds(address)) return entries_[i].record;
  }
  return nullptr;
}

int64_t Sram::UsedWith(const ArrayRecord& record) const {
  int64_t bytes = record.bytes;
  for (const Entry& entry : entries_) {
    if (entry.in_use && entry.record != &record) bytes += entry.record->bytes;
  }
  return bytes;
}

}  // namespace bang

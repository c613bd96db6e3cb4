// SPDX-License-Identifier: Apache-2.0
#include "machine/arrays.h"

#include <string.h>

#include <algorithm>

#include "machine/options.h"

namespace bang {

const char* SpaceName(Space space) {
  static const char* const names[] = {"NRAM", "WRAM", "SRAM", "LDRAM", "GDRAM"};
  return names[static_cast<int>(space)];
}

Array::Array(const char* name, Where where, Space space, void* data, int64_t bytes)
    : name_(name),
      where_(where),
      space_(space),
      begin_(static_cast<char*>(data)),
      bytes_(bytes),
      shadow_(GetOptions().check ? bytes : 0),
      touched_end_(bytes) {}

void Array::Reset() {
  // With checks off nobody announces what is touched.
  if (shadow_.empty()) {
    memset(begin_, kFill, bytes_);
    return;
  }
  const int64_t touched = touched_end_ - touched_begin_;
  if (touched > 0) {
    memset(begin_ + touched_begin_, kFill, touched);
    memset(shadow_.data() + touched_begin_, 1, touched);
  }
  touched_begin_ = bytes_;
  touched_end_ = 0;
}

void Array::Touch(const void* data, int64_t bytes) {
  const int64_t at = static_cast<const char*>(data) - begin_;
  touched_begin_ = std::min(touched_begin_, at);
  touched_end_ = std::max(touched_end_, at + bytes);
}

void Array::Mark(const void* data, int64_t bytes, uint8_t unwritten) {
  if (shadow_.empty()) return;
  Touch(data, bytes);
  memset(shadow_.data() + (static_cast<const char*>(data) - begin_), unwritten, bytes);
}

bool Array::HasUnwritten(const void* data, int64_t bytes) const {
  if (shadow_.empty()) return false;
  const uint8_t* shadow = shadow_.data() + (static_cast<const char*>(data) - begin_);
  if (bytes <= 16) {
    uint8_t any = 0;
    for (int64_t i = 0; i < bytes; ++i) any |= shadow[i];
    return any != 0;
  }
  return memchr(shadow, 1, bytes) != nullptr;
}

uint8_t* Array::Shadow(const void* data) {
  if (shadow_.empty()) return nullptr;
  return shadow_.data() + (static_cast<const char*>(data) - begin_);
}

Arrays::File& Arrays::GetFile(uint64_t id, Module module) {
  for (File& file : files_) {
    if (file.id == id) return file;
  }
  File file{id, {}, {}};
  for (const ArrayRecord* record = module.begin; record != module.end; ++record) {
    if (record->file_id != id) continue;
    if (file.by_id.size() <= record->id) file.by_id.resize(record->id + 1);
    if (record->address == nullptr) continue;
    file.arrays.push_back(std::make_unique<Array>(record->name, Where{record->file, record->line},
                                                  record->space, record->address(),
                                                  record->bytes));
    file.by_id[record->id] = file.arrays.back().get();
  }
  std::sort(file.arrays.begin(), file.arrays.end(),
            [](const auto& a, const auto& b) { return a->begin() < b->begin(); });
  files_.push_back(std::move(file));
  return files_.back();
}

void Arrays::Enter(const KernelRecord& kernel, Module module) {
  File& file = GetFile(kernel.file_id, module);
  file_ = &file;
  last_ = nullptr;
  std::fill(std::begin(used_), std::end(used_), 0);
  for (int i = 0; i < kernel.array_count; ++i) {
    Array* array = file.by_id[kernel.arrays[i]];
    if (array == nullptr) continue;
    array->Reset();
    used_[static_cast<int>(array->space())] += array->bytes();
  }
}

void Arrays::Leave() {
  locals_.clear();
  file_ = nullptr;
  last_ = nullptr;
}

Array* Arrays::Search(const void* address) {
  const auto& arrays = file_->arrays;
  auto after = std::upper_bound(
      arrays.begin(), arrays.end(), address,
      [](const void* wanted, const auto& array) { return wanted < array->begin(); });
  if (after != arrays.begin() && (*std::prev(after))->Holds(address)) {
    return last_ = std::prev(after)->get();
  }
  for (size_t i = locals_.size(); i-- > 0;) {
    if (locals_[i]->Holds(address)) return last_ = locals_[i].get();
  }
  for (Shared shared : shared_) {
    for (const auto& array : *shared) {
      if (array->Holds(address)) return last_ = array.get();
    }
  }
  return nullptr;
}

template <typename Look>
void Arrays::ForEach(const Look& look) const {
  for (const auto& array : file_->arrays) look(*array);
  for (const auto& array : locals_) look(*array);
  for (Shared shared : shared_) {
    for (const auto& array : *shared) look(*array);
  }
}

const Array* Arrays::Below(const void* address) const {
  const Array* best = nullptr;
  ForEach([&](const Array& array) {
    if (array.end() <= address && (best == nullptr || array.end() > best->end())) best = &array;
  });
  return best;
}

const Array* Arrays::Above(const void* address) const {
  const Array* best = nullptr;
  ForEach([&](const Array& array) {
    if (array.begin() > address && (best == nullptr || array.begin() < best->begin())) best = &array;
  });
  return best;
}

Array& Arrays::PushLocal(const char* name, Space space, void* data, int64_t bytes, Where where) {
  locals_.push_back(std::make_unique<Array>(name, where, space, data, bytes));
  locals_.back()->Reset();
  used_[static_cast<int>(space)] += bytes;
  return *locals_.back();
}

void Arrays::PopLocal() {
  const Array& array = *locals_.back();
  used_[static_cast<int>(array.space())] -= array.bytes();
  last_ = nullptr;
  locals_.pop_back();
}

}  // namespace bang

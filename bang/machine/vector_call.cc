// SPDX-License-Identifier: Apache-2.0
#include "machine/vector_call.h"

#include <string.h>

#include <algorithm>

#include "machine/running_core.h"

namespace bang {

VectorCall::VectorCall(const char* name, Where where) : name_(name), where_(where) {
  current_core->Called();
}

void VectorCall::Count(int64_t count, const char* argument) {
  if (count > 0) return;
  Fail("%s is %lld; expected at least 1", argument, static_cast<long long>(count));
}

void VectorCall::Read(const char* operand, const void* data, int64_t bytes, Space space) {
  operands_[operand_count_++] = {operand, static_cast<const char*>(data), bytes, space, false};
}

void VectorCall::Write(const char* operand, void* data, int64_t bytes, Space space) {
  operands_[operand_count_++] = {operand, static_cast<const char*>(data), bytes, space, true};
}

void VectorCall::Distinct() { distinct_ = true; }

void VectorCall::Trailing() { trailing_ = true; }

void VectorCall::Fail(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const std::string text = FormatList(format, arguments);
  va_end(arguments);
  current_core->Fail(where_, std::string(name_) + ": " + text);
}

void VectorCall::Remark(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const std::string text = FormatList(format, arguments);
  va_end(arguments);
  current_core->Say(where_, std::string(name_) + ": " + text);
}

void VectorCall::CheckOverlap() const {
  for (int i = 0; i < operand_count_; ++i) {
    const Operand& a = operands_[i];
    if (!a.written) continue;
    for (int j = 0; j < operand_count_; ++j) {
      const Operand& b = operands_[j];
      if (j == i || (b.written && j < i)) continue;
      if (a.data >= b.data + b.bytes || b.data >= a.data + a.bytes) continue;
      const bool same_begin = a.data == b.data;
      const bool narrow_at_end = b.bytes < a.bytes && b.data + b.bytes == a.data + a.bytes;
      const bool trails = trailing_ && a.data < b.data;
      if (!distinct_ && !b.written && (same_begin || narrow_at_end || trails)) continue;
      const Array* array = current_core->arrays().Find(a.data);
      const long long shared =
          std::min(a.data + a.bytes, b.data + b.bytes) - std::max(a.data, b.data);
      current_core->Fail(
          where_, Format("%s: %s and %s overlap by %lld bytes%s%s; %s", name_, a.name, b.name,
                         shared, array ? " in " : "", array ? array->name() : "",
                         distinct_ || b.written
                             ? "they have to lie apart"
                             : "they have to begin at the same place, or lie apart"));
    }
  }
}

void VectorCall::Begin(const VectorCost& cost) {
  RunningCore& core = *current_core;
  if (core.is_mpu()) {
    for (int i = 0; i < operand_count_; ++i) {
      const Operand& operand = operands_[i];
      if (core.Fits(Contiguous(operand.data, operand.bytes), operand.space)) continue;
      Fail("%s lies outside its array, and an MPU has no vector unit; begin the kernel with "
           "if (__is_mpu()) return; or guard this",
           operand.name);
    }
    return;
  }
  if (core.checks()) {
    for (int i = 0; i < operand_count_; ++i) {
      const Operand& operand = operands_[i];
      const Region region = Contiguous(operand.data, operand.bytes);
      core.Locate(name_, operand.name, where_, region, operand.space);
      if (core.in_flight().HasCopies()) {
        core.CheckInFlight({name_, operand.name, Pipe::kCompute, operand.written, true}, where_,
                           region);
      }
    }
    CheckOverlap();
  }
  if (core.follows_compute()) {
    for (int i = 0; i < operand_count_; ++i) {
      const Operand& operand = operands_[i];
      core.in_flight().AddCompute(name_, where_, operand.data, operand.bytes, operand.written);
    }
  }
  if (!core.recorder().on()) return;
  Operation operation{.kind = Kind::kCompute, .pipe = Pipe::kCompute};
  operation.bytes = cost.bytes;
  operation.passes = static_cast<uint16_t>(std::clamp<int64_t>(cost.passes, 1, UINT16_MAX));
  operation.amount = cost.operations;
  operation.cost = core.recorder().glossary().Cost(cost.kind);
  operation.site = core.recorder().glossary().Site(name_, where_);
  operation.dependent = false;
  for (int i = 0; i < operand_count_; ++i) {
    const Operand& operand = operands_[i];
    if (operand.written) continue;
    operation.dependent |= core.recorder().InLastResult(operand.data, operand.bytes);
  }
  static_assert(Recorder::kMaxResults >= kMaxOperands);
  core.recorder().ClearLastResult();
  for (int i = 0; i < operand_count_; ++i) {
    const Operand& operand = operands_[i];
    if (operand.written) core.recorder().AddLastResult(operand.data, operand.bytes);
  }
  core.recorder().Add(operation);
}

// Shadows of the sources go to those of the results, byte for byte in proportion.
void VectorCall::EndElementwise() {
  RunningCore& core = *current_core;
  if (!core.checks()) return;
  bool any = false;
  for (int i = 0; i < operand_count_ && !any; ++i) {
    const Operand& source = operands_[i];
    if (source.written) continue;
    const Array* array = core.arrays().Find(source.data);
    any = array != nullptr && array->HasUnwritten(source.data, source.bytes);
  }
  if (!any) {
    EndInitialised();
    return;
  }
  std::vector<uint8_t> joined;
  for (int i = 0; i < operand_count_; ++i) {
    const Operand& result = operands_[i];
    if (!result.written) continue;
    Array* const to = core.arrays().Find(result.data);
    if (to == nullptr) continue;
    joined.assign(result.bytes, 0);
    for (int j = 0; j < operand_count_; ++j) {
      const Operand& source = operands_[j];
      if (source.written) continue;
      Array* const from = core.arrays().Find(source.data);
      if (from == nullptr) continue;
      const uint8_t* const shadow = from->Shadow(source.data);
      for (int64_t b = 0; b < result.bytes; ++b) joined[b] |= shadow[b * source.bytes / result.bytes];
    }
    memcpy(to->Shadow(result.data), joined.data(), result.bytes);
    to->Touch(result.data, result.bytes);
  }
}

void VectorCall::EndWhole() {
  RunningCore& core = *current_core;
  if (!core.checks()) return;
  bool any = false;
  for (int i = 0; i < operand_count_; ++i) {
    const Operand& source = operands_[i];
    if (source.written) continue;
    const Array* array = core.arrays().Find(source.data);
    any |= array != nullptr && array->HasUnwritten(source.data, source.bytes);
  }
  if (!any) {
    EndInitialised();
    return;
  }
  for (int i = 0; i < operand_count_; ++i) {
    const Operand& result = operands_[i];
    if (!result.written) continue;
    if (Array* to = core.arrays().Find(result.data)) to->MarkUnwritten(result.data, result.bytes);
  }
}

void VectorCall::EndInitialised() {
  RunningCore& core = *current_core;
  if (!core.checks()) return;
  for (int i = 0; i < operand_count_; ++i) {
    const Operand& result = operands_[i];
    if (!result.written) continue;
    if (Array* to = core.arrays().Find(result.data)) to->MarkWritten(result.data, result.bytes);
  }
}

void VectorCall::EndMoved(const std::function<void(void* dst, const void* src)>& move) {
  RunningCore& core = *current_core;
  if (!core.checks()) return;
  const Operand& source = operands_[operands_[0].written ? 1 : 0];
  const Operand& result = operands_[operands_[0].written ? 0 : 1];
  Array* const from = core.arrays().Find(source.data);
  Array* const to = core.arrays().Find(result.data);
  if (from == nullptr || to == nullptr || !from->HasUnwritten(source.data, source.bytes)) {
    EndInitialised();
    return;
  }
  move(to->Shadow(result.data), from->Shadow(source.data));
  to->Touch(result.data, result.bytes);
}

}  // namespace bang

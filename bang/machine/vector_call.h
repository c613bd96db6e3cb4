// SPDX-License-Identifier: Apache-2.0
//
// One call of a built-in of the vector unit, checked and accounted: what it reads and writes, then
// the work itself, then what the checker must know of the result.
//
//   VectorCall call("__bang_add", where);
//   call.Count(count);
//   call.Read("src0", src0, count * sizeof(T));
//   call.Read("src1", src1, count * sizeof(T));
//   call.Write("dst", dst, count * sizeof(T));
//   call.Begin({.bytes = count * sizeof(T), .operations = count});
//   ... the loop ...
//   call.EndElementwise();
#ifndef BANG_MACHINE_VECTOR_CALL_H_
#define BANG_MACHINE_VECTOR_CALL_H_

#include <stdint.h>

#include <functional>

#include "bang/launch.h"
#include "bang/where.h"

namespace bang {

struct VectorCost {
  int64_t bytes;           // the widest operand: what goes through the unit, 128 bytes per cycle
  int64_t passes = 1;      // simple instructions that the built-in counts as
  int64_t operations = 0;  // for the compute efficiency: arithmetic operations on elements
  // Names a row of the card's parameter file whose cycles per 128 bytes replace passes; null: none.
  const char* kind = nullptr;
};

class VectorCall {
 public:
  VectorCall(const char* name, Where where);
  VectorCall(const VectorCall&) = delete;
  VectorCall& operator=(const VectorCall&) = delete;

  void Count(int64_t count, const char* argument = "count");  // must be positive
  void Read(const char* operand, const void* data, int64_t bytes, Space space = Space::kNram);
  void Write(const char* operand, void* data, int64_t bytes, Space space = Space::kNram);
  // A written operand may begin exactly where one that is read begins; a narrower source may lie at
  // the end of its wider result. Any other overlap is an error. After this, any overlap is one.
  void Distinct();
  // A written operand may also begin before one that is read, which is read before it is overwritten.
  void Trailing();
  // For results that depend on values: the error, or the remark, names the call and its line.
  [[noreturn]] void Fail(const char* format, ...) __attribute__((format(printf, 2, 3)));
  void Remark(const char* format, ...) __attribute__((format(printf, 2, 3)));

  // All checks that don't need values; the work may begin.
  void Begin(const VectorCost& cost);

  // One of these ends the call. Element i of the result depends on elements i of the sources (which
  // may be unwritten: garbage lanes are allowed until somebody uses them); every element depends on
  // all sources; or the result is defined whatever the sources held.
  void EndElementwise();
  void EndWhole();
  void EndInitialised();
  // The result holds elements of the only source at other places: `move` does with the shadows what
  // was done with the data.
  void EndMoved(const std::function<void(void* dst, const void* src)>& move);

 private:
  struct Operand {
    const char* name;
    const char* data;
    int64_t bytes;
    Space space;
    bool written;
  };
  static constexpr int kMaxOperands = 6;

  void CheckOverlap() const;

  const char* name_;
  Where where_;
  Operand operands_[kMaxOperands];
  int operand_count_ = 0;
  bool distinct_ = false;
  bool trailing_ = false;
};

}  // namespace bang

#endif  // BANG_MACHINE_VECTOR_CALL_H_

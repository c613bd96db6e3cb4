// SPDX-License-Identifier: Apache-2.0
#include "builtins/rows.h"

namespace bang {
namespace {

// The third column is an Operation, or a Rounding.
constexpr Operation Of(Operation operation) { return operation; }
constexpr Operation Of(Rounding) { return Operation::kNone; }

namespace columns {
using enum Operation;
using enum Rounding;
}  // namespace columns

constexpr Row kRows[] = {
#define BUILTIN(name, shape, operation, types, since, passes, kind, result) \
  {#name, Of(columns::operation), passes, kind},
#include "bang/builtins.inc"
};
static_assert(sizeof kRows / sizeof *kRows == static_cast<size_t>(BuiltIn::kNumber));

}  // namespace

const Row& RowOf(BuiltIn id) { return kRows[static_cast<int>(id)]; }

}  // namespace bang

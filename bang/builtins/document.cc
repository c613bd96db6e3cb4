// SPDX-License-Identifier: Apache-2.0
//
// Writes docs/built-ins.md from the tables. With an argument: says whether that file is current.
#include <stdio.h>
#include <string.h>

#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct Row {
  std::string name, shape, types, since, result;
};

struct Section {
  std::string title;
  std::vector<Row> rows;
};

std::vector<Section> Sections() {
  std::vector<Section> sections;
#define SECTION(title) sections.push_back({title, {}});
#define BUILTIN(name, shape, operation, types, since, passes, kind, result) \
  sections.back().rows.push_back({#name, #shape, #types, #since, result});
#include "bang/builtins.inc"
  return sections;
}

std::string ParametersOf(const std::string& shape) {
  static const std::map<std::string, const char*> parameters = {
#define SHAPE(shape, parameters) {#shape, parameters},
#define BUILTIN(...)
#include "bang/builtins.inc"
  };
  const char* const text = parameters.at(shape);
  return text == nullptr ? "" : text;
}

std::string TypesText(const std::string& types) {
  static const std::map<std::string, const char*> sets = {
      {"kHalf", "half"},
      {"kFloat", "float"},
      {"kInt16", "int16"},
      {"kInt32", "int32"},
      {"kUint32", "uint32"},
      {"kInt64", "int64"},
      {"kUint64", "uint64"},
      {"kHalfFloat", "half, float"},
      {"kFloating", "half, bfloat16, float"},
      {"kInteger", "integers of 8 to 64 bits"},
      {"kArithmetic", "half, bfloat16, float, integers of 16 to 64 bits"},
      {"kSigned", "half, bfloat16, float, int16, int32, int64"},
      {"kDivisible", "half, bfloat16, float, integers of 32 and 64 bits"},
      {"kAtomic", "half, float, integers of 16 and 32 bits"},
      {"kWords", "half, bfloat16, float, integers of 8 to 32 bits"},
      {"kAny", "all"}};
  const auto set = sets.find(types);
  if (set != sets.end()) return set->second;
  const size_t of = types.find("_of_");
  return types.substr(0, of) + " from " + types.substr(of + strlen("_of_"));
}

// A bar would end a cell of the table.
std::string Escaped(std::string text) {
  for (size_t bar = 0; (bar = text.find('|', bar)) != std::string::npos; bar += 2)
    text.insert(bar, "\\");
  return text;
}

// Rows that differ in nothing but their names stand together.
void WriteTable(const std::vector<Row>& rows, std::ostream& out) {
  std::vector<std::pair<std::string, std::string>> lines;  // what they share, names
  for (const Row& row : rows) {
    const std::string parameters = ParametersOf(row.shape);
    const std::string rest = " | " + (parameters.empty() ? "" : "`(" + parameters + ")`") + " | " +
                             (row.shape == "Declared" ? "" : TypesText(row.types)) + " | " +
                             (row.since == "372" ? "" : "592") + " | " + Escaped(row.result) + " |";
    bool found = false;
    for (auto& [shared, names] : lines) {
      if (shared != rest || row.shape == "Declared") continue;
      names += ", `" + row.name + "`";
      found = true;
      break;
    }
    if (!found) lines.push_back({rest, "`" + row.name + "`"});
  }
  out << "| built-in | parameters | types | only on | result |\n|---|---|---|---|---|\n";
  for (const auto& [shared, names] : lines) out << "| " << names << shared << "\n";
}

void Write(std::ostream& out) {
  out << R"(# Built-ins
<!-- Written by builtins/document.cc from include/bang/builtins.inc; change that and run
     bang_builtins_document > docs/built-ins.md -->

What bangcc's programs can call. T is one of the types of the row; a call with another type, or of a name
that isn't here, is an error of the compiler which names it. "only on 592": mtp_372 doesn't have it.

Operands lie in NRAM at any address; counts are of elements and at least 1. A result may begin exactly where
a source does, and a narrower source may lie at the end of its wider result; any other overlap is an error.

Results are the same bits on every host. `half` and `bfloat16_t` are computed in float and rounded, which for
`+ - * /` and square roots is the correctly rounded result. NaNs that an operation makes are the quiet,
positive one; subnormal numbers are kept.
)";
  for (const Section& section : Sections()) {
    if (section.rows.empty()) continue;
    out << "\n## " << section.title << "\n";
    WriteTable(section.rows, out);
  }
  out << R"(
## `__bang_fusion`
`__bang_fusion(operation, dst, a, b, c, count[, period])`; b and c are each a vector of `period` elements, which
repeat and divide `count`, or a scalar.

| operation | result |
|---|---|
| `FUSION_FMA` | a * b + c |
| `FUSION_FMS` | a * b - c |
| `FUSION_FAM` | (a + b) * c |
| `FUSION_FSM` | (a - b) * c |
| `FUSION_FAA` | a + b + c |
| `FUSION_FAS` | a + b - c |
| `FUSION_FSS` | a - b - c |
| `FUSION_FSA` | a - b + c |

## What is assumed
Nobody outside knows these; the first value is what happens unless the environment's `BANG_ASSUME`, a list
such as `fusion=twice,pool=narrow`, says otherwise.

| name | values | meaning |
|---|---|---|
)";
#define ASSUMPTION(member, name, otherwise, usual, meaning) \
  out << "| `" name "` | `" usual "`, `" otherwise "` | " << meaning << " |\n";
#include "builtins/assumptions.inc"
  out << R"(
Without a switch: functions are as exact as the table says, whatever the card does; sums of pools and of 128
bytes are made from the first element to the last; `__bang_argmax` and its like never choose a NaN unless there
is nothing else; `_rm` rounds ties up; a conversion without a suffix rounds to nearest even; `__bang_rotate90`
turns clockwise; `__gather_async` and `__scatter_async` block.

## What is not there
The matrix unit (`__bang_matmul`, `__bang_mlp`, `__bang_conv`), because the layout of its weights is not public;
vectors in registers (`__vv_...`), `__bang_rand`, `__bang_histogram`, `__bang_unpool`, the `_bp` forms of pools,
`__bang_reshape_filter`, `__bang_tiling_...`, copies to another cluster's SRAM, conversions with strides.
)";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    Write(std::cout);
    return 0;
  }
  std::ostringstream expected, found;
  Write(expected);
  found << std::ifstream(argv[1]).rdbuf();
  if (expected.str() == found.str()) return 0;
  fprintf(stderr, "%s is not current: run %s > %s\n", argv[1], argv[0], argv[1]);
  return 1;
}

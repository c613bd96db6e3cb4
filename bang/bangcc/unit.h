// SPDX-License-Identifier: Apache-2.0
//
// One .mlu in one of its two passes, and the steps that rewrite it.
#ifndef BANGCC_UNIT_H_
#define BANGCC_UNIT_H_

#include <stdint.h>

#include <string>
#include <vector>

#include "bangcc/edits.h"
#include "bangcc/program.h"
#include "bangcc/token.h"

namespace bangcc {

enum class Pass { kDevice, kHost };

// An array at namespace scope; its index is its id.
struct NamedArray {
  std::string_view name;
  std::string_view mark;
  size_t token;
};

struct Unit {
  Unit(Source source_text, Pass pass, int arch, uint64_t file_id)
      : source(std::move(source_text)),
        program(ReadProgram(source)),
        edits(source),
        pass(pass),
        arch(arch),
        file_id(file_id) {}
  Unit(const Unit&) = delete;

  bool device() const { return pass == Pass::kDevice; }
  // The host pass has only those bodies of device functions that the host may run, too.
  bool KeepsBody(const Function& function) const {
    return device() || !function.device ||
           (!function.kernel && (function.host || function.is_constexpr));
  }
  void Error(size_t token, const std::string& text) { Say(token, "error", text), failed = true; }
  void Warn(size_t token, const std::string& text) { Say(token, "warning", text); }
  void Say(size_t token, const char* kind, const std::string& text);
  // "file", line: as arguments in generated code.
  std::string FileAndLine(size_t token) const;
  std::string Id() const;  // of the file, as generated names carry it

  Source source;
  Program program;
  Edits edits;
  const Pass pass;
  const int arch;
  const uint64_t file_id;

  std::vector<NamedArray> arrays;
  std::string preamble;  // put in front of all, without a line of its own
  bool has_kernels = false;
  bool failed = false;
  std::string messages;
};

std::string Quoted(std::string_view text);  // as a string literal

// The steps, in their order.
void RewriteArrays(Unit* unit);     // arrays in a memory space, at namespace scope and in functions
void RewriteBodies(Unit* unit);     // of device functions: loops, assembly, unknown built-ins
void RewriteFunctions(Unit* unit);  // kernels, device functions, instantiations
void RewriteLaunches(Unit* unit);   // <<< >>>
void RewriteNamespaces(Unit* unit);  // anonymous ones

// Ids of the arrays that a kernel can reach, and whether it uses atomics or locks.
struct Reached {
  std::vector<uint32_t> arrays;
  bool ordered = false;
};
Reached Reach(const Unit& unit, const Function& kernel);

}  // namespace bangcc

#endif  // BANGCC_UNIT_H_

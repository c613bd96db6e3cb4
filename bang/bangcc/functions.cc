// SPDX-License-Identifier: Apache-2.0
//
// The device pass keeps all code, for host code instantiates kernels; a kernel's body becomes what
// Launch runs once per task. The host pass keeps of kernels and device functions what declares
// them.
#include "bangcc/unit.h"

namespace bangcc {
namespace {

class FunctionRewriter {
 public:
  explicit FunctionRewriter(Unit* unit) : unit_(unit), source_(unit->source) {}

  void Rewrite(const Function& function) {
    RemoveMarks(function);
    if (function.kernel) {
      Kernel(function);
    } else if (function.device) {
      Device(function);
    } else if (function.host && unit_->device() && HasDeviceTwin(function)) {
      unit_->edits.Remove(function.first, function.last);
    }
  }

 private:
  bool Qualified(const Function& function) const { return source_.Is(function.name - 1, "::"); }

  size_t SignatureEnd(const Function& function) const {
    if (function.initialisers != kNone) return function.initialisers;
    return function.has_body() ? function.body_open : function.last;
  }

  void RemoveMarks(const Function& function) {
    for (size_t i = function.first; i < SignatureEnd(function); ++i) {
      if (source_.IsIdentifier(i) && IsFunctionMark(source_.Text(i))) unit_->edits.Remove(i);
    }
  }

  bool RemoveWord(const Function& function, std::string_view word) {
    for (size_t i = function.head; i < function.name; ++i) {
      if (!source_.Is(i, word)) continue;
      unit_->edits.Remove(i);
      return true;
    }
    return false;
  }

  bool HasWord(const Function& function, std::string_view word) const {
    for (size_t i = function.head; i < function.name; ++i) {
      if (source_.Is(i, word)) return true;
    }
    return false;
  }

  // Replaces a definition by a declaration. What is defined outside of its class is declared there.
  void Declare(const Function& function, const char* attributes) {
    if (Qualified(function)) {
      unit_->edits.Remove(function.first, function.last);
      return;
    }
    unit_->edits.Before(function.head, attributes);
    if (function.initialisers != kNone)
      unit_->edits.Remove(function.initialisers, function.body_open - 1);
    unit_->edits.Remove(function.body_open, function.body_close);
    unit_->edits.After(function.body_close, ";");
  }

  void Instantiation(const Function& function) {
    if (unit_->device()) return;
    if (function.kernel && function.instantiation) {
      unit_->edits.Before(function.first, "extern ");
    } else if (!function.kernel) {
      unit_->edits.Remove(function.first, function.last);
    }
  }

  // A kernel is called by the host pass of its file or of another one: it is no file's own.
  void Kernel(const Function& function) {
    if (function.instantiation || function.extern_instantiation) return Instantiation(function);
    RemoveWord(function, "inline");
    const bool is_private = !function.in_class && RemoveWord(function, "static");
    if (!unit_->device()) {
      if (function.has_body()) Declare(function, "__attribute__((visibility(\"default\"))) ");
      return;
    }
    // An instantiation has the attributes of the template's first declaration.
    unit_->edits.Before(function.head, "__attribute__((used, noinline, visibility(\"default\"))) ");
    if (!function.has_body()) return;
    unit_->has_kernels = true;
    const Reached reached = Reach(*unit_, function);
    std::string ids, bind;
    for (uint32_t id : reached.arrays) {
      ids += (ids.empty() ? "" : ", ") + std::to_string(id);
      bind += "bang_bind_" + std::to_string(id) + "(); ";
    }
    const std::string record = is_private ? "bang_private_kernel_record" : "bang_kernel_record";
    std::string before = "{ ";
    if (!ids.empty()) before += "static const ::uint32_t bang_arrays[] = {" + ids + "}; ";
    before += NameOfTemplate(function) + "static const ::bang::KernelRecord " + record + " = {" +
              KernelName(function) + ", " + unit_->FileAndLine(function.name) + ", 0x" +
              unit_->Id() + "u, " + (ids.empty() ? "nullptr" : "bang_arrays") + ", " +
              std::to_string(reached.arrays.size()) + ", " + (reached.ordered ? "true" : "false") +
              ", " + std::to_string(unit_->arch) +
              "}; struct bang_arrays_of_kernel { static void Bind() { " + bind +
              "} }; ::bang::Launch<bang_arrays_of_kernel>(" + record + ", [=]() mutable { ";
    unit_->edits.Before(function.body_open, before);
    unit_->edits.After(function.body_close, " }); }");
  }

  // For the record: with template arguments, where there are some.
  std::string KernelName(const Function& function) const {
    return function.parameters.empty() ? Quoted(source_.Text(function.name))
                                       : "bang_kernel_name.text";
  }

  std::string NameOfTemplate(const Function& function) const {
    if (function.parameters.empty()) return "";
    std::string names;
    for (const std::string& parameter : function.parameters) {
      names += (names.empty() ? "" : ",") + parameter;
    }
    return "static constexpr auto bang_kernel_name = ::bang::MakeKernelName(__PRETTY_FUNCTION__, " +
           Quoted(source_.Text(function.name)) + ", " + Quoted(names) + "); ";
  }

  void Device(const Function& function) {
    if (function.instantiation || function.extern_instantiation) return Instantiation(function);
    // Device code is private to its file in any case; `static` would only make two passes name a
    // kernel that takes such a function in two ways.
    if (!function.in_class) RemoveWord(function, "static");
    const bool is_inline =
        HasWord(function, "inline") || function.is_constexpr || HasWord(function, "friend");
    if (function.has_body() && !unit_->KeepsBody(function)) {
      RemoveWord(function, "inline");
      Declare(function, "");
    } else if (!is_inline && (unit_->device() || function.host || function.is_constexpr)) {
      unit_->edits.Before(function.head, "inline ");
    }
  }

  std::string Signature(const Function& function) const {
    std::string result;
    for (size_t i = function.name; i <= function.close; ++i)
      result += std::string(source_.Text(i)) + " ";
    return result;
  }

  // f() for the device and f() for the host, side by side.
  bool HasDeviceTwin(const Function& function) const {
    for (const Function& other : unit_->program.functions) {
      if (other.device && !other.host && other.has_body() &&
          Signature(other) == Signature(function))
        return true;
    }
    return false;
  }

  Unit* unit_;
  const Source& source_;
};

}  // namespace

void RewriteFunctions(Unit* unit) {
  FunctionRewriter rewriter(unit);
  for (const Function& function : unit->program.functions) rewriter.Rewrite(function);
  // Marks where nothing depends on them: on a lambda's, in a function's type.
  for (size_t i = 0; i < unit->source.tokens.size(); ++i) {
    const std::string_view word = unit->source.Text(i);
    if (IsFunctionMark(word) || IsSpaceMark(word)) unit->edits.Remove(i);
  }
}

// A kernel in an anonymous namespace, or one that takes a type of it, is named by both passes: the
// namespace gets a name that no other file has.
void RewriteNamespaces(Unit* unit) {
  for (size_t open : unit->program.anonymous_namespaces) {
    const bool is_inline = open >= 2 && unit->source.Is(open - 2, "inline");
    unit->edits.Before(open - 1, is_inline ? "" : "inline ");
    unit->edits.Before(open, "bang_private_" + unit->Id() + " ");
  }
}

}  // namespace bangcc

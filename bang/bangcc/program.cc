// SPDX-License-Identifier: Apache-2.0
#include "bangcc/program.h"

#include <algorithm>

namespace bangcc {
namespace {

class Parser {
 public:
  Parser(const Source& source, Program* program) : source_(source), program_(program) {}

  void Scope(size_t begin, size_t end, bool in_class) {
    for (size_t i = begin; i < end;) i = std::max(i + 1, Declaration(i, end, in_class));
  }

 private:
  size_t Declaration(size_t i, size_t end, bool in_class);
  size_t TemplateHeads(size_t i, size_t end, Function* function);
  void Parameters(size_t open, size_t close, Function* function);
  size_t Namespace(size_t i, size_t end, bool in_class);
  size_t Statement(size_t i, size_t end) const;
  size_t ClassDefinition(size_t i, size_t end, std::string_view* name) const;
  size_t BodyBehindInitialisers(size_t colon, size_t end) const;

  bool Is(size_t i, std::string_view what) const { return source_.Is(i, what); }

  const Source& source_;
  Program* program_;
};

// To the ';', brackets skipped.
size_t Parser::Statement(size_t i, size_t end) const {
  while (i < end && !Is(i, ";")) i = source_.Partner(i) > i ? source_.Partner(i) + 1 : i + 1;
  return i;
}

size_t Parser::Namespace(size_t i, size_t end, bool in_class) {
  bool named = false;
  for (size_t j = i; j < end; ++j) {
    if (Is(j, "=") || Is(j, ";")) return Statement(j, end) + 1;
    if (Is(j, "(") || Is(j, "[")) j = source_.Partner(j);
    if (source_.IsIdentifier(j) && !Is(j, "namespace") && !Is(j, "inline") &&
        !Is(j, "__attribute__"))
      named = true;
    if (!Is(j, "{")) continue;
    if (!named) program_->anonymous_namespaces.push_back(j);
    Scope(j + 1, source_.Partner(j), in_class);
    return source_.Partner(j) + 1;
  }
  return end;
}

void Parser::Parameters(size_t open, size_t close, Function* function) {
  function->parameters.clear();
  std::string parameter;
  bool fixed = false;  // behind '=' stands the default
  for (size_t i = open + 1; i < close; ++i) {
    if (Is(i, "<")) {
      const size_t behind = SkipAngles(source_, i, close);
      if (behind != kNone) i = behind - 1;
      continue;
    }
    if (Is(i, ",")) {
      function->parameters.push_back(parameter);
      parameter.clear();
      fixed = false;
    } else if (Is(i, "=")) {
      fixed = true;
    } else if (source_.Partner(i) > i) {
      i = source_.Partner(i);
    } else if (!fixed && source_.IsIdentifier(i) && !Is(i, "typename") && !Is(i, "class")) {
      parameter = source_.Text(i);
    }
  }
  if (close > open + 1) function->parameters.push_back(parameter);
}

size_t Parser::TemplateHeads(size_t i, size_t end, Function* function) {
  if (Is(i, "extern") && Is(i + 1, "template")) {
    function->extern_instantiation = true;
    return i + 2;
  }
  while (i < end && Is(i, "template")) {
    if (!Is(i + 1, "<")) {
      function->instantiation = true;
      return i + 1;
    }
    const size_t behind = SkipAngles(source_, i + 1, end);
    if (behind == kNone) return i + 1;
    function->is_template = function->is_template || behind > i + 3;
    Parameters(i + 1, behind - 1, function);
    i = behind;
  }
  return i;
}

// The '{' of the class that `struct` and its like define here, or kNone.
size_t Parser::ClassDefinition(size_t i, size_t end, std::string_view* name) const {
  for (size_t j = i + 1; j < end; ++j) {
    if (Is(j, "{")) return j;
    if (Is(j, ":")) {
      while (j < end && !Is(j, "{") && !Is(j, ";")) j = Is(j, "(") ? source_.Partner(j) + 1 : j + 1;
      return Is(j, "{") ? j : kNone;
    }
    if (Is(j, "<")) {
      const size_t behind = SkipAngles(source_, j, end);
      if (behind == kNone) return kNone;
      j = behind - 1;
    } else if (Is(j, "[")) {
      j = source_.Partner(j);
    } else if (source_.IsIdentifier(j)) {
      if (TakesBrackets(source_.Text(j)) && Is(j + 1, "(")) {
        j = source_.Partner(j + 1);
      } else if (!Is(j, "final")) {
        // Two names: `struct S f(...)`, no definition.
        if (!name->empty() && !Is(j - 1, "::")) return kNone;
        *name = source_.Text(j);
      }
    } else if (!Is(j, "::")) {
      return kNone;
    }
  }
  return kNone;
}

// The '{' of the body behind `: a(1), b{2}`.
size_t Parser::BodyBehindInitialisers(size_t colon, size_t end) const {
  size_t i = colon + 1;
  while (i < end) {
    while (i < end && !Is(i, "(") && !Is(i, "{")) {
      const size_t behind = Is(i, "<") ? SkipAngles(source_, i, end) : kNone;
      i = behind == kNone ? i + 1 : behind;
    }
    if (i >= end) break;
    i = source_.Partner(i) + 1;
    if (Is(i, "...")) ++i;
    if (!Is(i, ",")) return Is(i, "{") ? i : kNone;
    ++i;
  }
  return kNone;
}

// One declaration at namespace or class scope; returns what is behind it.
size_t Parser::Declaration(size_t i, size_t end, bool in_class) {
  Function function;
  function.first = i;
  function.in_class = in_class;
  if (in_class && Is(i + 1, ":") && (Is(i, "public") || Is(i, "private") || Is(i, "protected")))
    return i + 2;
  if (Is(i, "namespace") || (Is(i, "inline") && Is(i + 1, "namespace")))
    return Namespace(i, end, in_class);
  if (Is(i, "extern") && i + 1 < end && source_.tokens[i + 1].kind == TokenKind::kString) {
    if (Is(i + 2, "{")) {
      Scope(i + 3, source_.Partner(i + 2), in_class);
      return source_.Partner(i + 2) + 1;
    }
    i += 2;
  }
  i = TemplateHeads(i, end, &function);
  if (Is(i, "using") || Is(i, "static_assert")) {
    const size_t semicolon = Statement(i, end);
    if (Is(i, "using")) program_->declared.push_back({source_.Text(i + 1), i, semicolon});
    return semicolon + 1;
  }
  function.head = i;
  bool initialiser = false;
  size_t mark = kNone;
  std::string_view class_name;
  size_t j = i;
  for (; j < end && !Is(j, ";"); ++j) {
    const std::string_view word = source_.Text(j);
    if (source_.IsIdentifier(j)) {
      if (IsKernelMark(word)) function.kernel = true;
      if (word == "__mlu_host__")
        function.host = true;
      else if (IsFunctionMark(word))
        function.device = true;
      if (IsSpaceMark(word) && mark == kNone) mark = j;
      if (word == "constexpr" && function.open == kNone) function.is_constexpr = true;
      if (TakesBrackets(word) && Is(j + 1, "(")) {
        j = source_.Partner(j + 1);
        continue;
      }
      if (function.open == kNone && !initialiser) {
        if (word == "enum") {
          while (j + 1 < end && !Is(j + 1, "{") && !Is(j + 1, ";") && !Is(j + 1, "(")) ++j;
          if (Is(j + 1, "{")) j = source_.Partner(j + 1);
          continue;
        }
        if (word == "struct" || word == "class" || word == "union") {
          const size_t open = ClassDefinition(j, end, &class_name);
          if (open != kNone) {
            Scope(open + 1, source_.Partner(open), true);
            j = source_.Partner(open);
            if (!class_name.empty()) program_->declared.push_back({class_name, function.first, j});
          }
          continue;
        }
        if (word == "operator") {
          function.is_operator = true;
          function.name = j;
          if (Is(j + 1, "(")) j = source_.Partner(j + 1);
          while (j + 1 < end && !Is(j + 1, "(")) ++j;
          if (j + 1 >= end) return end;
          function.open = j + 1;
          function.close = source_.Partner(j + 1);
          j = function.close;
        }
      }
      continue;
    }
    if (word == "<") {
      const size_t behind = source_.IsIdentifier(j - 1) ? SkipAngles(source_, j, end) : kNone;
      if (behind != kNone) j = behind - 1;
    } else if (word == "(") {
      const bool named = j > function.head && (source_.IsIdentifier(j - 1) || Is(j - 1, ">"));
      if (named && function.open == kNone && !initialiser) {
        function.open = j;
        function.close = source_.Partner(j);
        size_t name = j - 1;
        if (Is(name, ">")) {  // f<int>(...): back to f
          int depth = 0;
          for (; name > function.head; --name) {
            if (Is(name, ">")) ++depth;
            if (Is(name, "<") && --depth == 0) break;
          }
          --name;
        }
        function.name = name;
      }
      j = source_.Partner(j);
    } else if (word == "[") {
      j = source_.Partner(j);
    } else if (word == "=") {
      initialiser = true;
    } else if (word == ":" && function.open != kNone && !initialiser) {
      const size_t body = BodyBehindInitialisers(j, end);
      if (body == kNone) continue;
      function.initialisers = j;
      j = body - 1;
    } else if (word == "{") {
      if (function.open != kNone && !initialiser) {
        function.body_open = j;
        function.body_close = source_.Partner(j);
        j = function.body_close;
        break;
      }
      j = source_.Partner(j);
    }
  }
  if (j >= end) j = end - 1;
  function.last = j;
  function.device = function.device || function.kernel;
  const bool is_function =
      function.device || function.has_body() || (!initialiser && mark == kNone);
  if (Is(i, "typedef")) {
    if (source_.IsIdentifier(j - 1)) program_->declared.push_back({source_.Text(j - 1), i, j});
  } else if (function.open != kNone && is_function) {
    program_->declared.push_back({source_.Text(function.name), function.first, function.last});
    for (size_t token = function.head; function.device && token <= function.last; ++token) {
      if (source_.IsIdentifier(token) && IsVectorRegister(source_.Text(token)))
        function.vector_registers = true;
    }
    program_->functions.push_back(std::move(function));
  } else if (mark != kNone) {
    program_->variables.push_back({function.first, j, mark, in_class});
  } else if (initialiser) {
    const auto names = ReadDeclaration(source_, function.head, j).declarators;
    for (const Declarator& name : names)
      program_->declared.push_back({source_.Text(name.name), function.first, j});
  }
  return j + 1;
}

}  // namespace

Program ReadProgram(const Source& source) {
  Program program;
  Parser(source, &program).Scope(0, source.tokens.size(), false);
  return program;
}

}  // namespace bangcc

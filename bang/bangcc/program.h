// SPDX-License-Identifier: Apache-2.0
//
// What a source declares, as far as its rewriting needs it: functions, arrays in a memory space,
// classes and namespaces.
#ifndef BANGCC_PROGRAM_H_
#define BANGCC_PROGRAM_H_

#include <string>
#include <string_view>
#include <vector>

#include "bangcc/token.h"

namespace bangcc {

constexpr size_t kNone = static_cast<size_t>(-1);

bool IsKernelMark(std::string_view word);    // __mlu_global__, __mlu_entry__
bool IsFunctionMark(std::string_view word);  // those, __mlu_func__, __mlu_host__ and their like
bool IsSpaceMark(std::string_view word);     // __nram__ and its like
bool IsVectorRegister(std::string_view word);  // __mlu_vector__, vv_float, __vv_add and their like
bool TakesBrackets(std::string_view word);   // __attribute__, alignas, ...: brackets, no parameters

// All positions are indices of tokens.
struct Function {
  size_t first = 0;  // of the declaration, with its template <...>
  size_t head = 0;   // behind template <...>
  size_t name = 0;
  size_t open = kNone, close = kNone;            // of the parameters
  size_t initialisers = kNone;                   // the ':' of a constructor
  size_t body_open = kNone, body_close = kNone;  // none: only declared
  size_t last = 0;                               // its '}' or ';'
  bool kernel = false;
  bool device = false;  // or a kernel
  bool host = false;    // marked so
  bool in_class = false;
  bool is_template = false;
  bool is_constexpr = false;
  bool is_operator = false;
  bool vector_registers = false;        // uses them: only its declaration means something here
  bool instantiation = false;           // template void f<int>();
  bool extern_instantiation = false;    // extern template ...
  std::vector<std::string> parameters;  // names of the template's; an empty one for none

  bool has_body() const { return body_open != kNone; }
};

// A variable at namespace scope with a memory space.
struct SpaceVariable {
  size_t first = 0;
  size_t last = 0;  // the ';'
  size_t mark = 0;  // __nram__ and its like
  bool in_class = false;
};

// A name, and the tokens of what it declares: what using the name may reach.
struct Declared {
  std::string_view name;
  size_t first, last;
};

struct Program {
  std::vector<Function> functions;
  std::vector<SpaceVariable> variables;
  std::vector<size_t> anonymous_namespaces;  // their '{'
  std::vector<Declared> declared;
};

Program ReadProgram(const Source& source);

// Behind the '>' that closes the '<' at `open`, or kNone where it closes nothing.
size_t SkipAngles(const Source& source, size_t open, size_t end);

// One of the names that a variable's declaration declares.
struct Declarator {
  size_t first;  // its '*' or name
  size_t name;
  size_t bounds = kNone, bounds_last;  // [2][3]
  size_t last;                         // of the whole, before ',' or ';'
  bool pointer = false;
  bool initialised = false;
};

struct Declaration {
  size_t type_first, type_last;
  std::vector<Declarator> declarators;
};

// Of the variables declared by tokens first to semicolon.
Declaration ReadDeclaration(const Source& source, size_t first, size_t semicolon);

}  // namespace bangcc

#endif  // BANGCC_PROGRAM_H_

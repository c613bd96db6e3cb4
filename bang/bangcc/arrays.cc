// SPDX-License-Identifier: Apache-2.0
//
// Arrays in NRAM, WRAM, SRAM and LDRAM. One at namespace scope becomes a reference that each thread
// binds when it starts a kernel, for the memory is a core's or a cluster's and a program of many
// files would not fit into every thread's storage. One inside a function becomes an array on the
// stack, with a guard that tells the machine of it.
#include "bangcc/unit.h"

namespace bangcc {
namespace {

std::string SpaceName(std::string_view mark) {
  if (mark == "__nram__") return "::bang::Space::kNram";
  if (mark == "__wram__") return "::bang::Space::kWram";
  if (mark == "__mlu_shared__") return "::bang::Space::kSram";
  return "::bang::Space::kLdram";
}

bool IsConstant(std::string_view mark) {
  return mark == "__mlu_const__" || mark == "__mlu_constant__";
}

std::string Numbered(const char* what, size_t id) {
  return "bang_" + std::string(what) + "_" + std::to_string(id);
}

std::string Record(const Unit& unit, const Declarator& name, std::string_view mark, size_t id,
                   const std::string& bytes, const std::string& address) {
  return "{" + Quoted(unit.source.Text(name.name)) + ", " + unit.FileAndLine(name.name) + ", 0x" +
         unit.Id() + "u, " + std::to_string(id) + ", " + SpaceName(mark) + ", " + bytes + ", " +
         address + "}";
}

// The words in front of the first name that only concern the storage.
bool RemoveStorageWords(Unit* unit, size_t first, size_t last) {
  bool is_extern = false;
  for (size_t i = first; i <= last; ++i) {
    const std::string_view word = unit->source.Text(i);
    if (word == "extern") is_extern = true;
    if (IsSpaceMark(word) || word == "static" || word == "extern" || word == "inline")
      unit->edits.Remove(i);
    // All that the machine places is aligned.
    if ((word == "alignas" || word == "__attribute__") && unit->source.Is(i + 1, "(")) {
      unit->edits.Remove(i, unit->source.Partner(i + 1));
    }
  }
  return is_extern;
}

void RewriteConstant(Unit* unit, size_t first, size_t last) {
  bool is_const = false, is_static = false;
  for (size_t i = first; i <= last; ++i) {
    const std::string_view word = unit->source.Text(i);
    if (IsSpaceMark(word)) unit->edits.Remove(i);
    is_const = is_const || word == "const" || word == "constexpr";
    is_static = is_static || word == "static" || word == "extern" || word == "constexpr";
  }
  unit->edits.Before(first, std::string("__attribute__((unused)) ") + (is_static ? "" : "static ") +
                                (is_const ? "" : "const "));
}

// At namespace scope, for the device. `name` becomes a reference whose value stands in a variable
// of each thread, bang_slot_ID; bang_bind_ID, which a kernel calls first, sets it. The values of an
// initialised array stay in a constant, bang_values_ID, from which each task's array is filled.
void RewriteNamed(Unit* unit, const SpaceVariable& variable, const Declaration& declaration) {
  const std::string_view mark = unit->source.Text(variable.mark);
  const bool is_extern = RemoveStorageWords(unit, variable.first, declaration.type_last);
  bool initialised = false;
  for (const Declarator& name : declaration.declarators) initialised |= name.initialised;
  std::string behind;
  for (const Declarator& name : declaration.declarators) {
    const std::string_view text = unit->source.Text(name.name);
    if (initialised && mark == "__mlu_shared__") {
      unit->Error(name.name, std::string(text) +
                                 ": SRAM has no value before a kernel writes one");
      continue;
    }
    size_t id = 0;
    while (id < unit->arrays.size() && unit->arrays[id].name != text) ++id;
    if (id == unit->arrays.size()) {
      unit->arrays.push_back({text, mark, name.name});
      unit->preamble += "extern \"C\" { extern __thread void* " + Numbered("slot", id) + "; void " +
                        Numbered("bind", id) + "(); } ";
    }
    const std::string target(text);
    const std::string values = Numbered("values", id);
    if (initialised) {
      unit->edits.Replace(name.name, values);
      behind += " extern __thread ::std::remove_const_t<decltype(" + values + ")>& " + target + " __asm__(\"" +
                Numbered("array", id) + "\");";
    } else {
      unit->edits.Replace(name.name, "(&" + target + ")");
      unit->edits.After(name.bounds == kNone ? name.name : name.bounds_last,
                        " __asm__(\"" + Numbered("array", id) + "\")");
    }
    if (is_extern) continue;
    const bool shared = mark == "__mlu_shared__";
    const std::string array = Numbered("array", id), slot = Numbered("slot", id),
                      record = Numbered("record", id), address = Numbered("address", id);
    behind += " extern \"C\" { __thread void* " + slot + "; } __asm__(\".set " + array + ", " +
              slot + "\\n.type " + array + ", @tls_object\");";
    if (!shared) {
      behind += " __attribute__((no_sanitize(\"thread\"))) static void* " + address + "() { if (!" +
                slot + ") " + slot + " = ::bang::CoreMemory(sizeof(" + target + ")); return " +
                slot + "; }";
    }
    behind +=
        " __attribute__((section(\"bang_arrays\"), used, retain)) static ::bang::ArrayRecord " +
        record + " = " +
        Record(*unit, name, mark, id, "sizeof(" + target + ")", shared ? "nullptr" : address) +
        ";" + " extern \"C\" __attribute__((no_sanitize(\"thread\"))) void " +
        Numbered("bind", id) + "() { " + slot + " = " +
        (shared ? "::bang::SharedMemory(" + record + ")" : address + "()") + ";" +
        (name.initialised ? " ::bang::SetValues(" + slot + ", (const void*)&" + values +
                                ", sizeof(" + target + "));"
                          : "") +
        " }";
  }
  // A value that is not known when it is compiled would need code that runs before main.
  unit->edits.Before(variable.first, initialised
                                         ? "__attribute__((unused)) static constexpr "
                                         : "extern __thread ");
  unit->edits.After(variable.last, behind);
}

// An array of a function that the cores of a cluster share: a reference, too.
void RewriteLocalShared(Unit* unit, const Declaration& declaration, size_t first, size_t* next_id) {
  const Source& source = unit->source;
  RemoveStorageWords(unit, first, declaration.type_last);
  std::string type, records;
  for (size_t i = declaration.type_first; i <= declaration.type_last; ++i) {
    const std::string_view word = source.Text(i);
    if (!IsSpaceMark(word) && word != "static") type += std::string(word) + " ";
  }
  for (const Declarator& name : declaration.declarators) {
    std::string array = type;
    for (size_t i = name.bounds; name.bounds != kNone && i <= name.bounds_last; ++i)
      array += std::string(source.Text(i)) + " ";
    const std::string target(source.Text(name.name));
    const size_t id = (*next_id)++;
    const std::string record = Numbered("record", id);
    records += "static const ::bang::ArrayRecord " + record + " = " +
               Record(*unit, name, "__mlu_shared__", id, "sizeof(" + array + ")", "nullptr") + "; ";
    unit->edits.Replace(name.name, "(&" + target + ")");
    unit->edits.After(name.bounds == kNone ? name.name : name.bounds_last,
                      " = ::bang::SharedArray<" + array + ">(" + record + ")");
  }
  unit->edits.Before(first, records);
}

void RewriteLocal(Unit* unit, const Declaration& declaration, size_t first, size_t semicolon,
                  std::string_view mark, size_t* next_id) {
  RemoveStorageWords(unit, first, declaration.type_last);
  unit->edits.Before(first, "alignas(128) ");
  std::string behind;
  for (const Declarator& name : declaration.declarators) {
    if (name.bounds == kNone && (name.pointer || name.initialised))
      continue;  // a register, as good as
    const std::string target(unit->source.Text(name.name));
    const size_t id = (*next_id)++;
    std::string storage = Numbered("storage", id);
    unit->edits.Replace(name.name, storage);
    std::string copy;
    if (name.initialised) {  // the values come once the machine knows the array
      const std::string values = storage;
      storage = Numbered("memory", id);
      behind += " alignas(128) decltype(" + values + ") " + storage + ";";
      copy = " ::bang::bang_tsan_memcpy((void*)&" + target + ", &" + values + ", sizeof(" + target +
             "));";
    }
    behind += " decltype(" + storage + ")& " + target + " = *(decltype(&" + storage +
              "))::bang::Launder((void*)&" + storage + "); ::bang::LocalArray " +
              Numbered("local", id) + "(" + Quoted(target) + ", " + SpaceName(mark) + ", (void*)&" +
              target + ", sizeof(" + target + "), {" + unit->FileAndLine(name.name) + "});" + copy;
  }
  unit->edits.After(semicolon, behind);
}

bool InBrackets(const Source& source, size_t token, size_t open) {
  for (size_t i = open + 1; i < token; ++i) {
    if (!source.Is(i, "{") && source.Partner(i) > i) {
      if (source.Partner(i) > token) return true;
      i = source.Partner(i);
    }
  }
  return false;
}

void RewriteIn(Unit* unit, const Function& function, size_t* next_id) {
  const Source& source = unit->source;
  for (size_t i = function.body_open + 1; i < function.body_close; ++i) {
    if (!source.IsIdentifier(i) || !IsSpaceMark(source.Text(i))) continue;
    size_t first = i;
    while (source.Is(first - 1, "static") || source.Is(first - 1, "const") ||
           source.Is(first - 1, "volatile") || source.Is(first - 1, "constexpr"))
      --first;
    size_t semicolon = i;
    while (semicolon < function.body_close && !source.Is(semicolon, ";")) {
      semicolon =
          source.Partner(semicolon) > semicolon ? source.Partner(semicolon) + 1 : semicolon + 1;
    }
    const Declaration declaration = ReadDeclaration(source, first, semicolon);
    if (InBrackets(source, i, function.body_open) || semicolon >= function.body_close ||
        declaration.declarators.empty()) {
      unit->edits.Remove(i);  // (__nram__ float*)p
      continue;
    }
    const std::string_view mark = source.Text(i);
    if (IsConstant(mark)) {
      RewriteConstant(unit, first, declaration.type_last);
    } else if (mark == "__mlu_shared__") {
      RewriteLocalShared(unit, declaration, first, next_id);
    } else {
      RewriteLocal(unit, declaration, first, semicolon, mark, next_id);
    }
    i = semicolon;
  }
}

}  // namespace

void RewriteArrays(Unit* unit) {
  for (const SpaceVariable& variable : unit->program.variables) {
    const Declaration declaration = ReadDeclaration(unit->source, variable.first, variable.last);
    if (IsConstant(unit->source.Text(variable.mark))) {
      RewriteConstant(unit, variable.first, declaration.type_last);
    } else if (variable.in_class || declaration.declarators.empty()) {
      unit->Error(variable.mark,
                  "an array in a memory space stands at namespace scope or in a function");
    } else if (unit->device()) {
      RewriteNamed(unit, variable, declaration);
    } else {
      RemoveStorageWords(unit, variable.first, declaration.type_last);
      unit->edits.Before(variable.first, "extern ");
      for (const Declarator& name : declaration.declarators) {
        // What device code starts with is no business of the host.
        if (name.initialised)
          unit->edits.Remove((name.bounds == kNone ? name.name : name.bounds_last) + 1, name.last);
      }
    }
  }
  size_t next_id = unit->arrays.size();
  for (const Function& function : unit->program.functions) {
    // Marks in parameter lists say nothing that the host compiler needs.
    for (size_t i = function.head; i < (function.has_body() ? function.body_open : function.last);
         ++i) {
      if (unit->source.IsIdentifier(i) && IsSpaceMark(unit->source.Text(i))) unit->edits.Remove(i);
    }
    if (function.has_body() && unit->KeepsBody(function) && !function.vector_registers)
      RewriteIn(unit, function, &next_id);
  }
}

}  // namespace bangcc

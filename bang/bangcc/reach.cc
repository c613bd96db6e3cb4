// SPDX-License-Identifier: Apache-2.0
//
// What a kernel can reach, by names: every name in its text, in the text that declares those names,
// and so on. More than it uses, never less.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "bangcc/unit.h"

namespace bangcc {
namespace {

bool IsOrdered(std::string_view name) {
  return name.substr(0, 13) == "__bang_atomic" || name == "__bang_lock" || name == "__bang_unlock";
}

}  // namespace

Reached Reach(const Unit& unit, const Function& kernel) {
  const Source& source = unit.source;
  std::unordered_multimap<std::string_view, const Declared*> declared;
  for (const Declared& declaration : unit.program.declared)
    declared.emplace(declaration.name, &declaration);
  std::unordered_map<std::string_view, uint32_t> arrays;
  for (size_t id = 0; id < unit.arrays.size(); ++id) arrays.emplace(unit.arrays[id].name, id);

  Reached result;
  std::unordered_set<std::string_view> seen;
  std::vector<std::string_view> waiting = {source.Text(kernel.name)};
  // Arguments of a template are functors, as a rule, and named where it is launched or
  // instantiated.
  if (kernel.is_template) {
    waiting.push_back("operator");
    for (size_t i = 0; i + 1 < source.tokens.size(); ++i) {
      if (source.Text(i) != waiting[0] || !source.Is(i + 1, "<")) continue;
      const size_t behind = SkipAngles(source, i + 1, source.tokens.size());
      for (size_t j = i + 2; behind != kNone && j < behind; ++j) {
        if (source.IsIdentifier(j)) waiting.push_back(source.Text(j));
      }
    }
  }
  while (!waiting.empty()) {
    const std::string_view name = waiting.back();
    waiting.pop_back();
    if (!seen.insert(name).second) continue;
    if (IsOrdered(name)) result.ordered = true;
    if (const auto array = arrays.find(name); array != arrays.end())
      result.arrays.push_back(array->second);
    const auto [begin, end] = declared.equal_range(name);
    for (auto i = begin; i != end; ++i) {
      for (size_t token = i->second->first; token <= i->second->last; ++token) {
        if (source.IsIdentifier(token) && seen.count(source.Text(token)) == 0)
          waiting.push_back(source.Text(token));
      }
    }
  }
  std::sort(result.arrays.begin(), result.arrays.end());
  return result;
}

}  // namespace bangcc

// SPDX-License-Identifier: Apache-2.0
//
// kernel<<<dim, type, queue>>>(arguments) becomes (Configure(dim, type, queue), kernel(arguments)).
#include "bangcc/unit.h"

namespace bangcc {
namespace {

bool AreAngles(const Source& source, size_t i) {
  return source.Is(i, ">") && source.Is(i + 1, ">") && source.Is(i + 2, ">") &&
         source.tokens[i].end == source.tokens[i + 1].begin &&
         source.tokens[i + 1].end == source.tokens[i + 2].begin;
}

// Back from `last` to the first token of the expression that ends there: ns::f<int, 4>, object.f,
// (*f), table[i].
size_t ExpressionBegin(const Source& source, size_t last) {
  size_t i = last;
  while (true) {
    if (source.Is(i, ">")) {
      int depth = 0;
      for (; i > 0; --i) {
        if (source.Is(i, ">")) ++depth;
        if (source.Is(i, "<") && --depth == 0) break;
        if (source.Partner(i) < i) i = source.Partner(i);
      }
      --i;  // the template's name
    } else if (source.Partner(i) < i) {
      i = source.Partner(i);
      const bool more = source.IsIdentifier(i - 1) && !source.Is(i - 1, "return") &&
                        !source.Is(i - 1, "else") && !source.Is(i - 1, "do");
      if (more || source.Is(i - 1, "]") || source.Is(i - 1, ")")) {
        --i;
        continue;
      }
      return i;
    }
    if (source.Is(i - 1, "template")) --i;
    if (source.Is(i - 1, "::") || source.Is(i - 1, ".") || source.Is(i - 1, "->")) {
      i -= 1;
      const bool qualified = source.IsIdentifier(i - 1) || source.Is(i - 1, ">") ||
                             source.Is(i - 1, ")") || source.Is(i - 1, "]");
      if (!qualified || source.Is(i - 1, "return") || source.Is(i - 1, "else")) return i;
      i -= 1;
      continue;
    }
    return i;
  }
}

}  // namespace

void RewriteLaunches(Unit* unit) {
  const Source& source = unit->source;
  for (size_t open = 1; open < source.tokens.size(); ++open) {
    if (!source.Is(open, "<<<")) continue;
    size_t close = open + 1;
    int arguments = 1;
    std::string configuration;
    while (close < source.tokens.size() && !AreAngles(source, close) && !source.Is(close, ";")) {
      if (source.Is(close, ",")) ++arguments;
      const size_t behind = source.Partner(close) > close ? source.Partner(close) + 1 : close + 1;
      for (; close < behind; ++close) {
        configuration += source.Text(close);
        // >> is two tokens.
        if (close + 1 < source.tokens.size() &&
            source.tokens[close].end != source.tokens[close + 1].begin)
          configuration += " ";
      }
    }
    const size_t call = close + 3;
    if (!AreAngles(source, close) || !source.Is(call, "(")) {
      unit->Error(open, "a launch is kernel<<<dim, type, queue>>>(arguments)");
      continue;
    }
    if (arguments < 3) {
      unit->Error(open, "a launch has three arguments in <<< >>>: dim, type, queue");
      continue;
    }
    unit->edits.Before(
        ExpressionBegin(source, open - 1),
        "(::bang::Configure({" + unit->FileAndLine(open) + "}, " + configuration + "), ");
    unit->edits.Remove(open, call - 1);
    unit->edits.After(source.Partner(call), ")");
  }
}

}  // namespace bangcc

// SPDX-License-Identifier: Apache-2.0
//
// The bodies of device functions: scalar code is counted, assembly becomes a call, and what is no
// built-in is an error that names it.
#include <algorithm>

#include "bangcc/unit.h"

namespace bangcc {
namespace {

bool IsOperator(const Source& source, size_t token) {
  static constexpr std::string_view kOperators[] = {
      "+",  "-",  "*",  "/",  "%",  "&",  "|",  "^",  "~",   "!",  "<",  ">",
      "<<", "<=", ">=", "==", "!=", "&&", "||", "++", "--",  "+=", "-=", "*=",
      "/=", "%=", "&=", "|=", "^=", "=",  "?",  "[",  "<<=", ">>="};
  return source.tokens[token].kind == TokenKind::kPunctuation &&
         std::find(std::begin(kOperators), std::end(kOperators), source.Text(token)) !=
             std::end(kOperators);
}

// Only the start tells a built-in from what the compiler or the C library has.
bool LooksLikeBuiltin(std::string_view name) {
  for (std::string_view start : {"__bang_", "__mlvm_", "__memcpy", "__memset", "__nramset",
                                 "__sync_", "__gather", "__scatter", "__cn_scalar_", "__cn_vector_",
                                 "__load_", "__store_", "__is_nram", "__is_sram", "__is_wram"}) {
    if (name.substr(0, start.size()) == start) return true;
  }
  return name == "__extension";
}

// For built-ins that exist on the cards and can't be simulated from what is public.
const char* WhyNotSimulated(std::string_view name) {
  for (std::string_view start : {"__bang_matmul", "__bang_mlp", "__bang_conv", "__bang_reshape_filter"}) {
    const std::string_view rest = name.substr(std::min(start.size(), name.size()));
    if (name.substr(0, start.size()) == start && (rest.empty() || rest[0] == '_'))
      return " belongs to the matrix unit, which is not simulated";
  }
  return name == "__extension" ? " is not simulated" : nullptr;
}

int Distance(std::string_view a, std::string_view b) {
  std::vector<int> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

class BodyRewriter {
 public:
  BodyRewriter(Unit* unit, const Function& function)
      : unit_(unit), source_(unit->source), function_(function) {}

  void Run() {
    if (!function_.is_constexpr) Count();
    for (size_t i = function_.body_open + 1; i < function_.body_close; ++i) {
      if (source_.IsIdentifier(i)) i = Word(i);
    }
  }

 private:
  // A function, a lambda or a loop: what one Tick counts.
  struct Region {
    size_t body, body_end;  // the statement, or '{' and '}'
    size_t end;             // behind a do, its condition
    bool braced;
    int operators = 0;
  };

  void Count() {
    OpenRegion(function_.body_open);
    for (size_t i = function_.body_open + 1; i < function_.body_close; ++i) {
      while (regions_[open_.back()].end < i) open_.pop_back();
      if (source_.Is(i, "[")) Lambda(i);
      if (std::find(lambdas_.begin(), lambdas_.end(), i) != lambdas_.end()) OpenRegion(i);
      const bool is_loop =
          (source_.Is(i, "for") || source_.Is(i, "while")) && source_.Is(i + 1, "(");
      if (is_loop && std::find(tails_.begin(), tails_.end(), i) == tails_.end()) {
        OpenRegion(source_.Partner(i + 1) + 1);
      } else if (source_.Is(i, "do")) {
        const size_t tail = StatementEnd(i + 1) + 1;
        tails_.push_back(tail);
        OpenRegion(i + 1);
        regions_.back().end = source_.Partner(tail + 1);
      } else if (IsOperator(source_, i)) {
        ++regions_[open_.back()].operators;
      }
    }
    for (const Region& region : regions_) {
      const std::string tick =
          " ::bang::Tick(" + std::to_string(std::max(1, region.operators)) + "); ";
      if (region.braced) {
        unit_->edits.After(region.body, tick);
      } else {
        unit_->edits.Before(region.body, "{" + tick);
        unit_->edits.After(region.body_end, " }");
      }
    }
  }

  void OpenRegion(size_t body) {
    const size_t end = StatementEnd(body);
    open_.push_back(regions_.size());
    regions_.push_back({body, end, end, source_.Is(body, "{")});
  }

  // The last token of the statement that begins here.
  size_t StatementEnd(size_t i) const {
    if (source_.Is(i, "{")) return source_.Partner(i);
    if (source_.Is(i, "if") || source_.Is(i, "for") || source_.Is(i, "while") ||
        source_.Is(i, "switch")) {
      const bool is_if = source_.Is(i, "if");
      while (!source_.Is(i, "(")) ++i;
      const size_t end = StatementEnd(source_.Partner(i) + 1);
      return is_if && source_.Is(end + 1, "else") ? StatementEnd(end + 2) : end;
    }
    if (source_.Is(i, "do")) i = StatementEnd(i + 1) + 1;
    while (i < function_.body_close && !source_.Is(i, ";"))
      i = source_.Partner(i) > i ? source_.Partner(i) + 1 : i + 1;
    return i;
  }

  void Lambda(size_t open) {
    const size_t before = open - 1;
    const bool subscript = (source_.IsIdentifier(before) && !source_.Is(before, "return")) ||
                           source_.Is(before, ")") || source_.Is(before, "]") ||
                           source_.Is(before, ">") || source_.Is(open + 1, "[") ||
                           source_.Is(before, "[");
    if (subscript) return;
    size_t i = source_.Partner(open) + 1;
    if (source_.Is(i, "(")) i = source_.Partner(i) + 1;
    // mutable, noexcept, -> type
    while (source_.IsIdentifier(i) || source_.Is(i, "->") || source_.Is(i, "::") ||
           source_.Is(i, "*") || source_.Is(i, "&") || source_.Is(i, "<") || source_.Is(i, ">")) {
      ++i;
    }
    if (source_.Is(i, "{")) lambdas_.push_back(i);
  }

  size_t Word(size_t i) {
    const std::string_view word = source_.Text(i);
    if (word == "double") {
      unit_->Warn(i, "double is no type of the device; the simulator computes in it all the same");
    } else if (word == "asm" || word == "__asm__" || word == "__asm") {
      return Assembly(i);
    } else if (word == "__assert_fail" && source_.Is(i + 1, "(")) {
      unit_->edits.Replace(i, "::bang::AssertFailed");
    } else if (word == "printf" && source_.Is(i + 1, "(") && !source_.Is(i - 1, ".") &&
               !source_.Is(i - 1, "->")) {
      Printf(i);
    } else if (source_.Is(i + 1, "(") && LooksLikeBuiltin(word)) {
      Builtin(i);
    }
    return i;
  }

  size_t Assembly(size_t first) {
    size_t open = first;
    while (open < function_.body_close && !source_.Is(open, "(")) ++open;
    std::string text;
    for (size_t i = open + 1;
         i < source_.Partner(open) && source_.tokens[i].kind == TokenKind::kString; ++i)
      text += source_.Text(i);
    unit_->edits.Remove(first, source_.Partner(open));
    unit_->edits.Before(first, "::bang::InlineAssembly(" + (text.empty() ? "\"\"" : text) + ", {" +
                                   unit_->FileAndLine(first) + "})");
    return source_.Partner(open);
  }

  void Printf(size_t i) {
    size_t first = i;
    if (source_.Is(first - 1, "::")) first -= source_.Is(first - 2, "std") ? 2 : 1;
    unit_->edits.Remove(first, i);
    unit_->edits.Before(first, "::__bang_printf");
  }

  bool IsDeclared(std::string_view name) const {
    for (const Declared& declared : unit_->program.declared) {
      if (declared.name == name) return true;
    }
    return false;
  }

  void Builtin(size_t i) {
    const std::string_view name = source_.Text(i);
    const auto& known = source_.header_names;
    if (known.count(name) != 0 || IsDeclared(name)) return;
    if (const char* why = WhyNotSimulated(name)) {
      unit_->Error(i, std::string(name) + why + "; see \"What is not there\" in bang/README.md");
      return;
    }
    std::string_view nearest;
    int distance = 1 + static_cast<int>(name.size()) / 3;
    for (std::string_view candidate : known) {
      const int d = LooksLikeBuiltin(candidate) ? Distance(name, candidate) : distance + 1;
      if (d < distance || (d == distance && candidate < nearest)) nearest = candidate, distance = d;
    }
    std::string text =
        std::string(name) + " is no built-in of bangcc for mtp_" + std::to_string(unit_->arch);
    if (!nearest.empty()) text += "; did you mean " + std::string(nearest) + "?";
    unit_->Error(i, text);
  }

  Unit* unit_;
  const Source& source_;
  const Function& function_;
  std::vector<Region> regions_;
  std::vector<size_t> open_;     // the regions around the current token, the innermost last
  std::vector<size_t> tails_;    // the while of do ... while
  std::vector<size_t> lambdas_;  // their '{'
};

// What a function of vector registers does is unknown here: reaching it stops the kernel.
void Stub(Unit* unit, const Function& function) {
  for (size_t i = function.body_open + 1; i < function.body_close; ++i) unit->edits.Remove(i);
  unit->edits.After(function.body_open,
                    " ::bang::Stop(" +
                        Quoted(std::string(unit->source.Text(function.name)) +
                               " uses vector registers (__mlu_vector__, __vv_*), which are not "
                               "simulated") +
                        ", {" + unit->FileAndLine(function.name) + "}); ");
}

}  // namespace

void RewriteBodies(Unit* unit) {
  for (const auto& [begin, end] : unit->source.unrolls) unit->edits.RemoveText(begin, end);
  if (!unit->device()) return;
  for (const Function& function : unit->program.functions) {
    if (!function.device || !function.has_body()) continue;
    if (function.vector_registers) {
      Stub(unit, function);
    } else {
      BodyRewriter(unit, function).Run();
    }
  }
}

}  // namespace bangcc

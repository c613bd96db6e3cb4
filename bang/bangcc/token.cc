// SPDX-License-Identifier: Apache-2.0
#include "bangcc/token.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <unordered_map>

namespace bangcc {
namespace {

bool StartsName(char c) {
  return isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$' || (c & 0x80);
}
bool ContinuesName(char c) { return StartsName(c) || isdigit(static_cast<unsigned char>(c)); }

// `# 12 "file.h" 1 3`: the line that follows is line 12 of file.h, which begins here and is a
// system header. Without 1, a 3 only says that a macro of a system header was used.
struct LineMarker {
  int line = 0;
  std::string file;
  bool enters = false;
  bool system = false;
};

bool ParseLineMarker(std::string_view text, LineMarker* marker) {
  if (text.size() < 4 || text[0] != '#' || text[1] != ' ' || !isdigit(text[2])) return false;
  marker->line = atoi(text.data() + 2);
  const size_t open = text.find('"');
  const size_t close = text.rfind('"');
  if (open == text.npos || close <= open) return false;
  marker->file.clear();
  for (size_t i = open + 1; i < close; ++i) {
    if (text[i] == '\\' && i + 1 < close) ++i;
    marker->file += text[i];
  }
  const std::string_view flags = text.substr(close + 1);
  marker->enters = flags.substr(0, 2) == " 1";
  marker->system = flags.find('3') != flags.npos;
  return true;
}

// A library's device code may come as a system header.
bool HasDeviceCode(std::string_view text) {
  for (const char* word : {"__mlu_", "__nram__", "__wram__", "__ldram__"}) {
    if (text.find(word) != text.npos) return true;
  }
  return false;
}

class Lexer {
 public:
  Lexer(Source* source, std::string_view own_headers)
      : source_(source), own_headers_(own_headers) {}

  void Run() {
    FindSkippedFiles();
    const std::string& text = source_->text;
    while (at_ < text.size()) {
      size_t end = text.find('\n', at_);
      if (end == text.npos) end = text.size();
      if (text[at_] == '#') {
        Directive(end);
        at_ = end + 1;
      } else if (skipped_) {
        if (own_) CollectNames(end);
        at_ = end + 1;
      } else {
        Line();
      }
    }
    FindPartners();
  }

 private:
  bool Own(const std::string& file) const {
    return !own_headers_.empty() && file.compare(0, own_headers_.size(), own_headers_) == 0;
  }

  // Fills skipped_files_: system headers but those with device code.
  void FindSkippedFiles() {
    const std::string_view text = source_->text;
    LineMarker marker;
    size_t begin = 0;
    std::unordered_set<std::string> with_device_code;
    auto Finish = [&](size_t end) {
      if (skipped_files_.count(marker.file) == 0 || Own(marker.file)) return;
      if (HasDeviceCode(text.substr(begin, end - begin))) with_device_code.insert(marker.file);
    };
    for (size_t at = 0; at != text.npos && at < text.size();) {
      size_t end = text.find('\n', at);
      if (end == text.npos) end = text.size();
      LineMarker next;
      if (text[at] == '#' && ParseLineMarker(text.substr(at, end - at), &next)) {
        Finish(at);
        marker = next;
        begin = end;
        if (Own(marker.file) || (marker.enters && marker.system))
          skipped_files_.insert(marker.file);
      }
      at = text.find("\n#", end);
      if (at != text.npos) ++at;
    }
    Finish(text.size());
    for (const std::string& file : with_device_code) skipped_files_.erase(file);
  }

  void Directive(size_t end) {
    const std::string_view line = std::string_view(source_->text).substr(at_, end - at_);
    LineMarker marker;
    if (ParseLineMarker(line, &marker)) {
      line_ = marker.line;
      own_ = Own(marker.file);
      skipped_ = skipped_files_.count(marker.file) != 0;
      if (!skipped_) file_ = FileIndex(marker.file);
      return;
    }
    ++line_;
    const size_t word = line.find_first_not_of(" \t", 1 + strlen("pragma"));
    if (!skipped_ && line.compare(0, 7, "#pragma") == 0 && word != line.npos &&
        line.compare(word, 6, "unroll") == 0) {
      source_->unrolls.emplace_back(at_, end);
    }
  }

  int FileIndex(const std::string& file) {
    const auto [found, added] = file_index_.emplace(file, static_cast<int>(source_->files.size()));
    if (added) source_->files.push_back(file);
    return found->second;
  }

  void CollectNames(size_t end) {
    const std::string_view text = source_->text;
    for (size_t i = at_; i < end;) {
      if (!StartsName(text[i])) {
        ++i;
        continue;
      }
      const size_t begin = i;
      while (i < end && ContinuesName(text[i])) ++i;
      const std::string_view name = text.substr(begin, i - begin);
      if (name.substr(0, 2) == "__") source_->header_names.insert(name);
    }
  }

  // The tokens of one line, and of the lines that a literal of several goes on in.
  void Line() {
    const std::string& text = source_->text;
    while (at_ < text.size() && text[at_] != '\n') {
      const char c = text[at_];
      if (isspace(static_cast<unsigned char>(c))) {
        ++at_;
      } else if (StartsName(c)) {
        const size_t begin = at_;
        while (at_ < text.size() && ContinuesName(text[at_])) ++at_;
        const std::string_view name = std::string_view(text).substr(begin, at_ - begin);
        if (at_ < text.size() && text[at_] == '"' && IsEncoding(name)) {
          name.back() == 'R' ? RawString(begin) : Quoted(begin);
        } else {
          Add(TokenKind::kIdentifier, begin);
        }
      } else if (isdigit(static_cast<unsigned char>(c)) ||
                 (c == '.' && at_ + 1 < text.size() &&
                  isdigit(static_cast<unsigned char>(text[at_ + 1])))) {
        Number();
      } else if (c == '"' || c == '\'') {
        Quoted(at_);
      } else {
        Punctuation();
      }
    }
    ++at_;
    ++line_;
  }

  static bool IsEncoding(std::string_view name) {
    for (const char* prefix : {"L", "u", "U", "u8", "R", "LR", "uR", "UR", "u8R"}) {
      if (name == prefix) return true;
    }
    return false;
  }

  void Number() {
    const std::string& text = source_->text;
    const size_t begin = at_;
    for (++at_; at_ < text.size(); ++at_) {
      const char c = text[at_];
      const bool sign =
          (c == '+' || c == '-') && strchr("eEpP", text[at_ - 1]) != nullptr &&
          !(text[begin] == '0' && strchr("xX", text[begin + 1]) && strchr("eE", text[at_ - 1]));
      const bool separator =
          c == '\'' && at_ + 1 < text.size() && isalnum(static_cast<unsigned char>(text[at_ + 1]));
      if (!isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '_' && !sign && !separator)
        break;
    }
    Add(TokenKind::kNumber, begin);
  }

  void Quoted(size_t begin) {
    const std::string& text = source_->text;
    const char quote = text[at_];
    for (++at_; at_ < text.size() && text[at_] != quote && text[at_] != '\n'; ++at_) {
      if (text[at_] == '\\') ++at_;
    }
    if (at_ < text.size() && text[at_] == quote) ++at_;
    Add(TokenKind::kString, begin);
  }

  void RawString(size_t begin) {
    const std::string& text = source_->text;
    const size_t open = text.find('(', at_);
    if (open == text.npos) return Quoted(begin);
    std::string close(1, ')');
    close.append(text, at_ + 1, open - at_ - 1);
    close += '"';
    const size_t end = text.find(close, open);
    at_ = end == text.npos ? text.size() : end + close.size();
    Add(TokenKind::kString, begin);
    line_ += static_cast<int>(std::count(text.begin() + begin, text.begin() + at_, '\n'));
  }

  // '>' stays single: it may close template arguments.
  void Punctuation() {
    static constexpr std::string_view kLong[] = {
        "<<<", "<<=", ">>=", "...", "->*", "<=>", "::", "->", "<<", "<=", ">=", "==", "!=", "&&",
        "||",  "++",  "--",  "+=",  "-=",  "*=",  "/=", "%=", "&=", "|=", "^=", ".*", "##"};
    const std::string_view rest = std::string_view(source_->text).substr(at_, 3);
    const size_t begin = at_;
    size_t length = 1;
    for (std::string_view candidate : kLong) {
      if (rest.substr(0, candidate.size()) != candidate) continue;
      if (candidate == "<<<" && !source_->tokens.empty() &&
          source_->Is(source_->tokens.size() - 1, "operator")) {
        continue;
      }
      length = candidate.size();
      break;
    }
    at_ += length;
    Add(TokenKind::kPunctuation, begin);
  }

  void Add(TokenKind kind, size_t begin) {
    source_->tokens.push_back({kind, static_cast<uint32_t>(begin), static_cast<uint32_t>(at_),
                               file_, line_, static_cast<uint32_t>(source_->tokens.size())});
  }

  void FindPartners() {
    std::vector<uint32_t> open;
    for (uint32_t i = 0; i < source_->tokens.size(); ++i) {
      Token& token = source_->tokens[i];
      if (token.kind != TokenKind::kPunctuation || token.end - token.begin != 1) continue;
      const char c = source_->text[token.begin];
      if (c == '(' || c == '[' || c == '{') open.push_back(i);
      const char wanted = c == ')' ? '(' : c == ']' ? '[' : c == '}' ? '{' : 0;
      if (wanted == 0 || open.empty() ||
          source_->text[source_->tokens[open.back()].begin] != wanted)
        continue;
      token.partner = open.back();
      source_->tokens[open.back()].partner = i;
      open.pop_back();
    }
  }

  Source* source_;
  const std::string_view own_headers_;
  std::unordered_set<std::string> skipped_files_;
  std::unordered_map<std::string, int> file_index_;
  size_t at_ = 0;
  int file_ = 0;
  int line_ = 1;
  bool own_ = false;
  bool skipped_ = false;
};

}  // namespace

Source ReadTokens(std::string text, std::string_view own_headers) {
  Source source;
  source.text = std::move(text);
  Lexer(&source, own_headers).Run();
  return source;
}

}  // namespace bangcc

// SPDX-License-Identifier: Apache-2.0
#ifndef BANGCC_TOKEN_H_
#define BANGCC_TOKEN_H_

#include <stdint.h>

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace bangcc {

enum class TokenKind : uint8_t { kIdentifier, kNumber, kString, kPunctuation };

struct Token {
  TokenKind kind;
  uint32_t begin, end;  // in the preprocessed text
  int file, line;       // where the user wrote it
  // For a bracket: the index of its partner, or its own where there is none.
  uint32_t partner;
};

// What the preprocessor left of a file. Tokens are those of the user's files alone: system headers
// stay as they are.
struct Source {
  std::string text;
  std::vector<Token> tokens;
  std::vector<std::string> files;
  // Names with two underscores in front in bang.h and what it includes: built-ins among others.
  std::unordered_set<std::string_view> header_names;
  // `#pragma unroll` and its number, which host compilers warn of.
  std::vector<std::pair<uint32_t, uint32_t>> unrolls;

  std::string_view Text(size_t token) const {
    const Token& t = tokens[token];
    return std::string_view(text).substr(t.begin, t.end - t.begin);
  }
  bool Is(size_t token, std::string_view what) const {
    return token < tokens.size() && Text(token) == what;
  }
  bool IsIdentifier(size_t token) const {
    return token < tokens.size() && tokens[token].kind == TokenKind::kIdentifier;
  }
  size_t Partner(size_t token) const { return tokens[token].partner; }
};

// Reads text as `-E` leaves it; files below `own_headers` are those of bang itself.
Source ReadTokens(std::string text, std::string_view own_headers);

}  // namespace bangcc

#endif  // BANGCC_TOKEN_H_

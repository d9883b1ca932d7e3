// ir/text/lexer.h - the text of a program as tokens.
//
// Words (`add`, `scatter-add`, `f32`, `True`), numbers (`-12`, `1e-05`, `0x1f`), strings in single
// or double quotes, and single characters. Spaces and lines only part tokens; `#` begins a comment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace shardax {

enum class TokenKind : std::uint8_t { word, number, string, symbol, end };

struct Token {
  TokenKind kind = TokenKind::end;
  std::string text;    // of a string: its content, without quotes and escapes
  std::size_t at = 0;  // its first character
};

// A string in those quotes, with escapes where it needs them.
std::string quoted_text(std::string_view text, char quote);

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) { advance(); }

  // The next token, and the one after it.
  const Token& peek() const { return next_; }
  Token peek_second() const;
  // Takes the next token.
  Token take();
  // Is the next token that word or symbol? `take_if` also takes it.
  bool is(std::string_view text) const;
  bool take_if(std::string_view text);
  // Takes it, or throws: "... was expected".
  void expect(std::string_view text);

  // Its line, from 1, and column, from 0.
  std::pair<int, int> place(const Token& token) const;
  // Throws ValueError with the line, the column and the text of the line that has the token.
  [[noreturn]] void fail_at(const Token& token, const std::string& what) const;
  // "X was expected, not 'token'" of the next one.
  [[noreturn]] void expected(const std::string& what) const;

 private:
  void advance() { next_ = scan(position_); }
  Token scan(std::size_t& position) const;
  Token scan_string(std::size_t& position) const;

  std::string_view source_;
  std::size_t position_ = 0;
  Token next_;
};

}  // namespace shardax

// ir/text/lexer.cpp - tokens, and errors that show the line they are about.
#include "ir/text/lexer.h"

#include <algorithm>
#include <cstring>

#include "base/errors.h"
#include "base/index.h"

namespace shardax {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word_part(char c) { return is_letter(c) || is_digit(c); }
bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

constexpr std::string_view hex_digits = "0123456789abcdef";

// Messages may cut the text anywhere, also within a character.
std::string ascii(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= ' ' && c < 0x7f ? c : '?';
  return out;
}

std::string token_text(const Token& token) {
  if (token.kind == TokenKind::end) return "the end of the text";
  constexpr std::size_t longest = 40;
  return concat("'", ascii(std::string_view(token.text).substr(0, longest)), "'");
}

}  // namespace

std::string quoted_text(std::string_view text, char quote) {
  std::string out(1, quote);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == quote || c == '\\') {
      out += {'\\', c};
    } else if (c == '\n') {
      out += "\\n";
    } else if (byte < ' ' || byte == 0x7f) {
      out += {'\\', 'x', hex_digits[byte >> 4], hex_digits[byte & 15]};
    } else {
      out += c;
    }
  }
  return out + quote;
}

Token Lexer::scan_string(std::size_t& position) const {
  Token token{TokenKind::string, "", position};
  const char quote = source_[position++];
  const auto more = [&] {
    if (position >= source_.size()) fail_at(token, "a string without its closing quote");
    return source_[position++];
  };
  const auto hex = [&] {
    const std::size_t digit = hex_digits.find(more());
    if (digit == std::string_view::npos) fail_at(token, "a string whose \\x has no two hex digits");
    return digit;
  };
  for (char c = more(); c != quote; c = more()) {
    if (c == '\\') {
      c = more();
      if (c == 'n') c = '\n';
      if (c == 'x') {
        const std::size_t high = hex();
        c = static_cast<char>(high * 16 + hex());
      }
    }
    token.text += c;
  }
  return token;
}

Token Lexer::scan(std::size_t& position) const {
  while (position < source_.size() && (is_space(source_[position]) || source_[position] == '#')) {
    if (source_[position] == '#')
      position = std::min(source_.find('\n', position), source_.size());
    else
      ++position;
  }
  if (position >= source_.size()) return {TokenKind::end, "", source_.size()};
  const auto at = [&](std::size_t i) { return i < source_.size() ? source_[i] : '\0'; };
  const std::size_t begin = position;
  const char first = source_[begin];
  if (first == '\'' || first == '"') return scan_string(position);
  TokenKind kind = TokenKind::symbol;
  std::size_t end = begin + 1;
  if (is_letter(first)) {
    kind = TokenKind::word;
    while (is_word_part(at(end)) || (at(end) == '-' && is_letter(at(end + 1)))) ++end;
  } else if (is_digit(first) || (first == '-' && is_digit(at(end)))) {
    kind = TokenKind::number;
    const auto exponent = [&](std::size_t i) {  // the sign in 1e-05
      return (at(i) == '-' || at(i) == '+') && at(i - 1) == 'e' && is_digit(at(i + 1));
    };
    while (is_word_part(at(end)) || (at(end) == '.' && is_digit(at(end + 1))) || exponent(end))
      ++end;
  } else if (first == '-' && at(end) == 'i') {  // -inf
    kind = TokenKind::word;
    while (is_word_part(at(end))) ++end;
  }
  position = end;
  return {kind, std::string(source_.substr(begin, end - begin)), begin};
}

Token Lexer::peek_second() const {
  std::size_t position = position_;
  return scan(position);
}

Token Lexer::take() {
  Token taken = std::move(next_);
  advance();
  return taken;
}

bool Lexer::is(std::string_view text) const {
  return (next_.kind == TokenKind::word || next_.kind == TokenKind::symbol) && next_.text == text;
}

bool Lexer::take_if(std::string_view text) {
  if (!is(text)) return false;
  advance();
  return true;
}

void Lexer::expect(std::string_view text) {
  if (!take_if(text)) expected(concat("'", text, "'"));
}

void Lexer::expected(const std::string& what) const {
  fail_at(next_, concat(what, " was expected, not ", token_text(next_)));
}

std::pair<int, int> Lexer::place(const Token& token) const {
  const std::string_view before = source_.substr(0, token.at);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t begin = before.rfind('\n') + 1;  // 0 where there is none
  return {static_cast<int>(line), static_cast<int>(token.at - begin)};
}

void Lexer::fail_at(const Token& token, const std::string& what) const {
  const auto [line, before] = place(token);
  const std::size_t begin = token.at - index(before);
  const std::size_t end = std::min(source_.find('\n', begin), source_.size());
  constexpr std::size_t window = 80;  // of a long line
  const std::size_t column = token.at - begin;
  const std::size_t from = column < window ? begin : token.at - window / 2;
  value_error("parse: line ", line, ", column ", column + 1, ": ", what, ".\n  ",
              ascii(source_.substr(from, std::min(end - from, window))), "\n  ",
              std::string(token.at - from, ' '), "^");
}

}  // namespace shardax

// base/settings.cpp - the words that each variable of the environment takes.
#include "base/settings.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/errors.h"

namespace shardax {
namespace {

struct Setting {
  std::string_view name;
  std::string_view words;  // with a space between two
  bool takes_several = false;
};

constexpr Setting settings[] = {
    {"SHARDAX_CODEGEN", "0 1 avx2 stream neon"},
    {"SHARDAX_DUMP", "passes plan time asm", true},
    {"SHARDAX_NODE_WINDOW", "0 1"},
    {"SHARDAX_PERF_MAP", "0 1"},
    {"SHARDAX_PROGRESS", "0 1"},
    {"SHARDAX_VERIFY", "0 1"},
};

const Setting& setting_of(std::string_view name) {
  for (const Setting& s : settings) {
    if (s.name == name) return s;
  }
  throw InternalError(concat("no setting is ", name));
}

std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(separators), text.size());
    if (end > 0) words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

std::vector<std::string_view> words_of(const Setting& s, std::string_view text) {
  if (s.takes_several) return split(text, "|, ");
  return {text};
}

std::string_view checked_text(const Setting& s) {
  const char* const given = std::getenv(s.name.data());
  const std::string_view text = given ? given : "";
  if (text.empty()) return text;
  const std::vector<std::string_view> known = split(s.words, " ");
  for (const std::string_view word : words_of(s, text)) {
    if (std::find(known.begin(), known.end(), word) != known.end()) continue;
    value_error("shardax: the environment's ", s.name, " is '", text, "'; ",
                s.takes_several ? "words among " : "one of ", quoted(known), " ",
                s.takes_several ? "were expected, joined by ','" : "was expected",
                ". Set it to that, or unset it.");
  }
  return text;
}

}  // namespace

std::string_view setting(const char* name) { return checked_text(setting_of(name)); }

bool setting_has(const char* name, std::string_view word) {
  const Setting& s = setting_of(name);
  const std::vector<std::string_view> words = words_of(s, checked_text(s));
  return std::find(words.begin(), words.end(), word) != words.end();
}

void check_settings() {
  for (const Setting& s : settings) checked_text(s);
}

}  // namespace shardax

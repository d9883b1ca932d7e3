// base/settings.h - environment variables whose value is a word of a list.
#pragma once

#include <string_view>

namespace shardax {

// The value of the variable, one of those in settings.cpp; "" where it is unset or empty. Throws
// ValueError for a word that it does not have. The text is the environment's own.
std::string_view setting(const char* name);

// Is the word among those of the variable's value, which are joined by '|' or ','?
bool setting_has(const char* name, std::string_view word);

// Throws ValueError for the first of the variables that has a wrong word.
void check_settings();

}  // namespace shardax

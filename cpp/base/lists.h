// base/lists.h - sublists, and masks that select elements of lists.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "base/index.h"

namespace shardax {

// The elements of `list` that `mask` selects.
template <class List>
List select(const List& list, const std::vector<bool>& mask) {
  List out;
  for (std::size_t i = 0; i < mask.size(); ++i) {
    if (mask[i]) out.push_back(list[i]);
  }
  return out;
}

// Is `value` among the elements?
template <class List>
bool has(const List& list, const typename List::value_type& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// `count` elements of `all`, starting at `from`.
template <class T>
std::vector<T> part(const std::vector<T>& all, std::size_t from, std::size_t count) {
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(from);
  return std::vector<T>(first, first + static_cast<std::ptrdiff_t>(count));
}

template <class List>
List joined(std::type_identity_t<List> a, const List& b) {
  for (const auto& element : b) a.push_back(element);
  return a;
}

inline bool any(const std::vector<bool>& mask) {
  return std::find(mask.begin(), mask.end(), true) != mask.end();
}
inline bool all(const std::vector<bool>& mask) {
  return std::find(mask.begin(), mask.end(), false) == mask.end();
}
inline std::size_t count_true(const std::vector<bool>& mask) {
  return index(std::count(mask.begin(), mask.end(), true));
}
inline std::vector<bool> inverse(std::vector<bool> mask) {
  mask.flip();
  return mask;
}

}  // namespace shardax

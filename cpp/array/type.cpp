// array/type.cpp - names and sets of axes, printing and hashing of types.
#include "array/type.h"

#include <deque>
#include <mutex>
#include <unordered_map>

namespace shardax {
namespace {

struct AxisTable {
  std::mutex mutex;
  std::unordered_map<std::string, AxisName> ids;
  std::deque<std::string> texts;
};

AxisTable& axis_table() {
  static AxisTable& table = *new AxisTable;  // threads may compute while the process ends
  return table;
}

std::string bracketed(std::string_view dtype, const Shape& shape) {
  std::string text(dtype);
  text += '[';
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i) text += ',';
    text += std::to_string(shape[i]);
  }
  return text + ']';
}

}  // namespace

AxisName intern_axis(const std::string& text) {
  AxisTable& table = axis_table();
  const std::lock_guard lock(table.mutex);
  const auto [it, added] = table.ids.try_emplace(text, static_cast<AxisName>(table.texts.size()));
  if (added) table.texts.push_back(text);
  return it->second;
}

const std::string& axis_text(AxisName name) {
  AxisTable& table = axis_table();
  const std::lock_guard lock(table.mutex);
  return table.texts[static_cast<std::size_t>(name)];
}

AxisSet join(const AxisSet& a, const AxisSet& b) {
  if (a.empty()) return b;
  AxisSet out = a;
  for (AxisName name : b) {
    const auto at = std::lower_bound(out.begin(), out.end(), name);
    if (at == out.end() || *at != name)
      out.insert(static_cast<std::size_t>(at - out.begin()), name);
  }
  return out;
}

AxisSet without(const AxisSet& a, AxisName name) {
  AxisSet out;
  for (AxisName other : a)
    if (other != name) out.push_back(other);
  return out;
}

bool contains(const AxisSet& a, AxisName name) {
  return std::find(a.begin(), a.end(), name) != a.end();
}

std::size_t hash(const Type& type) {
  const std::size_t head = static_cast<std::size_t>(type.dtype) * 2 + (type.weak ? 1 : 0);
  return mix_all(mix_all(head, type.shape), type.varying);
}

std::string to_string(const Shape& shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i) text += ", ";
    text += std::to_string(shape[i]);
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

std::string to_string(const Type& type) { return bracketed(name(type.dtype), type.shape); }
std::string short_string(const Type& type) { return bracketed(short_name(type.dtype), type.shape); }

Shape row_major_strides(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) {
    strides[i - 1] = strides[i] * std::max<std::int64_t>(shape[i], 1);
  }
  return strides;
}

}  // namespace shardax

// array/type.cpp - names and sets of axes, printing and hashing of types.
#include "array/type.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <unordered_map>

#include "array/checked_axis.h"
#include "base/errors.h"

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

// "x", or "(x,y)" for several names.
template <class Names, class Text>
void append_names(std::string& out, const Names& names, Text text) {
  if (names.size() > 1) out += '(';
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i) out += ',';
    out += text(names[i]);
  }
  if (names.size() > 1) out += ')';
}

std::string bracketed(std::string_view dtype, const Type& type) {
  std::string text(dtype);
  text += '[';
  for (std::size_t i = 0; i < type.shape.size(); ++i) {
    if (i) text += ',';
    text += std::to_string(type.shape[i]);
    if (!type.sharding) continue;
    const std::vector<std::string> axes = type.sharding->explicit_split(i);
    if (axes.empty()) continue;
    text += '@';
    append_names(text, axes, [](const std::string& name) { return name; });
  }
  text += ']';
  // {V:x, U:y}: over which axes devices differ, and which are left to sum
  std::string marks;
  const auto mark = [&](const char* letter, const auto& names, auto name_text) {
    if (names.empty()) return;
    marks += concat(marks.empty() ? "" : ", ", letter, ":");
    append_names(marks, names, name_text);
  };
  const auto itself = [](const std::string& name) { return name; };
  mark("V", checked_axes(type.varying), [](AxisName name) { return axis_text(name); });
  if (type.sharding) {
    mark("U", type.sharding->unreduced, itself);
    mark("R", type.sharding->reduced, itself);
  }
  return marks.empty() ? text : concat(text, "{", marks, "}");
}

}  // namespace

// Names are numbered in twos: the even one of a text is not checked, the odd one is.
AxisName intern_axis(const std::string& text) {
  AxisTable& table = axis_table();
  const std::lock_guard lock(table.mutex);
  const auto next = static_cast<AxisName>(2 * table.texts.size());
  const auto [it, added] = table.ids.try_emplace(text, next);
  if (added) table.texts.push_back(text);
  return it->second;
}

AxisName intern_checked_axis(const std::string& text) { return intern_axis(text) + 1; }
bool is_checked(AxisName name) { return name >= 0 && name % 2 == 1; }

AxisSet checked_axes(const AxisSet& axes) {
  AxisSet out;
  std::copy_if(axes.begin(), axes.end(), std::back_inserter(out), is_checked);
  return out;
}
AxisSet unchecked_axes(const AxisSet& axes) {
  AxisSet out;
  std::remove_copy_if(axes.begin(), axes.end(), std::back_inserter(out), is_checked);
  return out;
}
AxisSet lacking(const AxisSet& has, const AxisSet& axes) {
  AxisSet out;
  std::copy_if(axes.begin(), axes.end(), std::back_inserter(out),
               [&](AxisName name) { return is_checked(name) && !contains(has, name); });
  return out;
}

const std::string& axis_text(AxisName name) {
  AxisTable& table = axis_table();
  const std::lock_guard lock(table.mutex);
  return table.texts[static_cast<std::size_t>(name) / 2];
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

void Type::insert_dimension(std::size_t at, std::int64_t extent,
                            const std::vector<std::string>& split) {
  shape.insert(at, extent);
  if (!sharding) return;
  std::vector<std::vector<std::string>> spec = sharding->spec;
  spec.resize(std::max(spec.size(), at));
  spec.insert(spec.begin() + static_cast<std::ptrdiff_t>(at), split);
  sharding = with_spec(*sharding, std::move(spec));
}

void Type::erase_dimension(std::size_t at) {
  shape.erase(at);
  if (!sharding || at >= sharding->spec.size()) return;
  std::vector<std::vector<std::string>> spec = sharding->spec;
  spec.erase(spec.begin() + static_cast<std::ptrdiff_t>(at));
  sharding = with_spec(*sharding, std::move(spec));
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

std::string to_string(const Type& type) { return bracketed(name(type.dtype), type); }
std::string short_string(const Type& type) { return bracketed(short_name(type.dtype), type); }

Shape row_major_strides(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) {
    strides[i - 1] = strides[i] * std::max<std::int64_t>(shape[i], 1);
  }
  return strides;
}

}  // namespace shardax

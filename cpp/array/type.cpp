// array/type.cpp - names and sets of axes, printing and hashing of types.
#include "array/type.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <unordered_map>

#include "array/checked_axis.h"
#include "base/errors.h"
#include "base/index.h"

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
  if (type.host) text += "<host>";
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
  mark("V", checked_axes(type.varying), axis_text);
  mark("U", type.unreduced(), itself);
  mark("R", type.reduced(), itself);
  return marks.empty() ? text : concat(text, "{", marks, "}");
}

}  // namespace

// Names are numbered in fours. Each text has an unchecked name, and a checked one for each state of
// a value over it.
namespace {

constexpr AxisName states = 4;
AxisState own_state(AxisName name) { return static_cast<AxisState>(name % states); }

template <class Test>
AxisSet those(const AxisSet& axes, Test test) {
  AxisSet out;
  std::copy_if(axes.begin(), axes.end(), std::back_inserter(out), test);
  return out;
}

std::vector<std::string> texts_in_state(const AxisSet& axes, AxisState state) {
  std::vector<std::string> out;
  for (const AxisName name : axes_in_state(axes, state)) out.push_back(axis_text(name));
  return out;
}

}  // namespace

AxisName intern_axis(const std::string& text) {
  AxisTable& table = axis_table();
  const std::lock_guard lock(table.mutex);
  const auto next = static_cast<AxisName>(states * table.texts.size());
  const auto [it, added] = table.ids.try_emplace(text, next);
  if (added) table.texts.push_back(text);
  return it->second;
}

AxisName intern_checked_axis(const std::string& text) {
  return in_state(intern_axis(text), AxisState::varying);
}
bool is_checked(AxisName name) { return name >= 0 && own_state(name) == AxisState::varying; }

AxisSet checked_axes(const AxisSet& axes) { return those(axes, is_checked); }
AxisSet unchecked_axes(const AxisSet& axes) {
  return those(axes, [](AxisName name) { return name < 0 || name % states == 0; });
}
AxisSet lacking(const AxisSet& has, const AxisSet& axes) {
  return those(axes, [&](AxisName name) { return is_checked(name) && !contains(has, name); });
}

AxisName in_state(AxisName name, AxisState state) {
  return name - name % states + static_cast<AxisName>(state);
}
AxisState state_over(const AxisSet& axes, AxisName checked) {
  for (const AxisName name : axes) {
    if (name / states == checked / states && name % states != 0) return own_state(name);
  }
  return AxisState::shared;
}
AxisSet axes_in_state(const AxisSet& axes, AxisState state) {
  AxisSet out;
  for (const AxisName name : axes) {
    if (name >= 0 && own_state(name) == state) out.push_back(in_state(name, AxisState::varying));
  }
  return out;
}
bool has_sums(const AxisSet& axes) {
  return std::any_of(axes.begin(), axes.end(), [](AxisName name) {
    return name >= 0 && own_state(name) >= AxisState::unreduced;
  });
}
AxisSet with_state(AxisSet axes, const AxisSet& over, AxisState state) {
  for (const AxisName name : over) {
    axes = without(axes, name);
    if (state != AxisState::shared) axes = join(axes, AxisSet{in_state(name, state)});
  }
  return axes;
}

std::vector<std::string> Type::unreduced() const {
  std::vector<std::string> out = texts_in_state(varying, AxisState::unreduced);
  if (sharding) out.insert(out.end(), sharding->unreduced.begin(), sharding->unreduced.end());
  return out;
}
std::vector<std::string> Type::reduced() const {
  std::vector<std::string> out = texts_in_state(varying, AxisState::reduced);
  if (sharding) out.insert(out.end(), sharding->reduced.begin(), sharding->reduced.end());
  return out;
}

const std::string& axis_text(AxisName name) {
  AxisTable& table = axis_table();
  const std::lock_guard lock(table.mutex);
  return table.texts[index(name) / states];
}

AxisSet join(const AxisSet& a, const AxisSet& b) {
  if (a.empty()) return b;
  AxisSet out = a;
  for (AxisName name : b) {
    const auto at = std::lower_bound(out.begin(), out.end(), name);
    if (at == out.end() || *at != name) out.insert(index(at - out.begin()), name);
  }
  return out;
}

AxisSet without(const AxisSet& a, AxisName name) {
  const bool checked = is_checked(name);  // in whatever state
  return those(a, [&](AxisName other) {
    return checked ? other / states != name / states || other % states == 0 : other != name;
  });
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
  const std::size_t head = index(type.dtype) * 2 + (type.weak ? 1 : 0);
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

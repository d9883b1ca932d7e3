// callables/transforms/axes.h - in_axes and out_axes, the sizes they imply, and the names of mapped
// axes.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "callables/call.h"
#include "trace/trace.h"

namespace shardax::callables {

// A mapped dimension for each leaf, as the user counts (negative from the end), or `unmapped`.
using LeafAxes = std::vector<std::int64_t>;
inline constexpr std::int64_t unmapped = std::numeric_limits<std::int64_t>::min();

// `in_axes` over the arguments of a call: an int, None, or a tuple or list with an entry, a tree
// prefix, per positional argument. Entries of static arguments may be left out. Arguments passed by
// keyword are mapped over axis 0. Throws ValueError in JAX's words for `api` if it does not fit.
LeafAxes input_axes(const char* api, PyObject* in_axes, PyObject* fun, const CallForm& form);
// `out_axes` over a result: a tree prefix of it.
LeafAxes output_axes(const char* api, PyObject* out_axes, const TreeDefPtr& out_tree);

// The size of the mapped axis. All mapped leaves must agree on it, and with `axis_size` (-1: not
// given); -1 if no leaf is mapped. Makes the axes non-negative. Values that are not mapped may be
// null.
std::int64_t mapped_size(const char* api, const Values& values, LeafAxes& axes,
                         std::int64_t axis_size, PyObject* fun, const CallForm& form);

// Dimension `axis` of a result that has rank `rank` with the mapped axis in it, made non-negative;
// throws ValueError where it is out of bounds.
std::int64_t checked_axis(std::int64_t axis, std::size_t rank);

// The text of an axis name: strings are their own, other hashable objects get one of theirs.
std::string axis_name_text(PyObject* name);
// The interned name for an axis about to be bound. An axis of the same text that is in scope
// already has another name: the two never mix.
AxisName new_axis(const std::string& text, bool checked = false);
// The user's text for the name of an axis.
const std::string& written_axis(AxisName name);
// The axis in scope that the user means by `text`, innermost first. If there is none, the name of
// `text` itself, whose size is then an error.
AxisName axis_in_scope(const std::string& text);
// The axis in scope that programs print as `text`; else as above.
AxisName shown_axis(const std::string& text);
bool is_axis_in_scope(const std::string& text);

}  // namespace shardax::callables

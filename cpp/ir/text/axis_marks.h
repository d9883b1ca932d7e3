// ir/text/axis_marks.h - the states of axes (array/checked_axis.h) as letters, for texts and files.
//
// "" an axis that is not checked, "V" varying, "U" unreduced, "R" reduced.
#pragma once

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "array/checked_axis.h"
#include "base/index.h"

namespace shardax {

// In the order of AxisState.
inline constexpr std::array<std::string_view, 4> axis_marks{"", "V", "U", "R"};

inline std::string_view mark_of(AxisName axis) {
  const AxisState state = state_over(AxisSet{axis}, in_state(axis, AxisState::varying));
  return axis_marks[index(state)];
}

// The axis of that name in the state that has the mark; nothing where none has it.
inline std::optional<AxisName> marked_axis(std::string_view mark, const std::string& name) {
  const auto at = std::find(axis_marks.begin(), axis_marks.end(), mark);
  if (at == axis_marks.end()) return {};
  return in_state(intern_axis(name), static_cast<AxisState>(at - axis_marks.begin()));
}

}  // namespace shardax

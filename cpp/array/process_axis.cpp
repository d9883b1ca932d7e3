// array/process_axis.cpp - names of process axes, and the groups that they list.
#include "array/process_axis.h"

#include <algorithm>
#include <charconv>
#include <numeric>

#include "base/errors.h"
#include "base/index.h"
#include "runtime/processes.h"

namespace shardax {
namespace {

constexpr std::string_view mark = "@process";

ProcessGroups groups_of(std::string_view text) {
  const std::size_t at = text.rfind(mark) + mark.size();
  ProcessGroups groups(1);
  if (at == text.size()) {
    groups[0].resize(index(runtime::process_count()));
    std::iota(groups[0].begin(), groups[0].end(), 0);
    return groups;
  }
  for (const char* next = text.data() + at + 1; next < text.data() + text.size();) {
    int rank = 0;
    next = std::from_chars(next, text.data() + text.size(), rank).ptr;
    groups.back().push_back(rank);
    if (*next++ == '|') groups.emplace_back();
  }
  return groups;
}

const std::vector<int>& group_with(const ProcessGroups& groups, int rank) {
  for (const std::vector<int>& group : groups) {
    if (std::find(group.begin(), group.end(), rank) != group.end()) return group;
  }
  throw InternalError(concat("process ", rank, " is in no group of a process axis"));
}

AxisSet those(const AxisSet& axes, bool across) {
  AxisSet out;
  for (const AxisName name : axes) {
    if (is_process_axis(name) == across) out.push_back(name);
  }
  return out;
}

}  // namespace

std::string process_axis_text(std::string_view text, const ProcessGroups& groups) {
  std::string out = concat(text, mark);
  std::vector<int> all(index(runtime::process_count()));
  std::iota(all.begin(), all.end(), 0);
  if (groups.empty() || (groups.size() == 1 && groups[0] == all)) return out;
  std::string_view before = "[";
  for (const std::vector<int>& group : groups) {
    for (const int rank : group) {
      out += concat(before, rank);
      before = ",";
    }
    before = "|";
  }
  return out + ']';
}

bool is_process_axis(AxisName name) {
  return runtime::process_count() > 1 && name >= 0 &&
         axis_text(name).find(mark) != std::string::npos;
}

std::int64_t process_axis_size(AxisName name) {
  return static_cast<std::int64_t>(groups_of(axis_text(name))[0].size());
}

std::string_view device_axis_text(std::string_view text) { return text.substr(0, text.find(mark)); }

std::vector<int> process_group(const AxisSet& axes) {
  std::vector<int> ranks{runtime::process_index()};
  for (const AxisName name : axes) {
    const ProcessGroups groups = groups_of(axis_text(name));
    std::vector<int> further;
    for (const int rank : ranks) {
      const std::vector<int>& group = group_with(groups, rank);
      further.insert(further.end(), group.begin(), group.end());
    }
    ranks = std::move(further);
  }
  return ranks;
}

std::vector<int> process_ranks(AxisName name) {
  std::vector<int> ranks;
  for (const std::vector<int>& group : groups_of(axis_text(name)))
    ranks.insert(ranks.end(), group.begin(), group.end());
  return ranks;
}

AxisSet process_axes(const AxisSet& axes) { return those(axes, true); }
AxisSet local_axes(const AxisSet& axes) { return those(axes, false); }

}  // namespace shardax

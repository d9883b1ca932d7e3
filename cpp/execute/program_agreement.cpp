// execute/program_agreement.cpp - digests and first differences of programs that send messages.
#include "execute/program_agreement.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "array/process_axis.h"
#include "base/errors.h"
#include "base/hash.h"
#include "base/index.h"
#include "ir/op.h"
#include "ops/collectives/family.h"
#include "ops/collectives/process_ops.h"
#include "runtime/processes.h"

namespace shardax {
namespace {

// The text of a parameter that processes compare; "": none. Devices and functions are of one
// process.
std::string compared(const ParamValue& value) {
  if (std::holds_alternative<ProgramPtr>(value) || std::holds_alternative<Programs>(value) ||
      std::holds_alternative<FunctionPtr>(value) || std::holds_alternative<ShardingPtr>(value))
    return "";
  return to_string(value);
}

bool calls_host(const Equation& eqn) {
  return !eqn.op->regions && std::ranges::any_of(eqn.params, [](const Params::Entry& entry) {
    return std::holds_alternative<FunctionPtr>(entry.second);
  });
}

std::string text_of(const Program& program, const Equation& eqn) {
  std::string text = concat(eqn.op->name, "[");
  for (const auto& [name, value] : eqn.params) {
    const std::string shown = compared(value);
    if (!shown.empty()) text += concat(text.back() == '[' ? "" : " ", name, "=", shown);
  }
  text += "]";
  for (const Var v : eqn.outputs) text += concat(" ", short_string(program.type(v)));
  return text;
}

// f(program, equation), in order, those of carried programs behind the one that carries them.
template <class F>
void for_each_equation(const Program& program, F&& f) {
  for (const Equation& eqn : program.equations) {
    if (calls_host(eqn)) continue;
    f(program, eqn);
    for_each_program(eqn.params, [&](const ProgramPtr& within) { for_each_equation(*within, f); });
  }
}

// An equation a line: its text, and after a tab its place in the user's source.
std::string lines_of(const Program& program) {
  std::string lines = "inputs";
  for (const Type& type : program.input_types()) lines += concat(" ", short_string(type));
  lines += "\t\n";
  for_each_equation(program, [&](const Program& within, const Equation& eqn) {
    lines += text_of(within, eqn) + "\t";
    if (eqn.location) lines += short_string(*eqn.location);
    lines += "\n";
  });
  return lines;
}

std::string_view take_line(std::string_view& lines) {
  const std::size_t end = std::min(lines.find('\n'), lines.size());
  const std::string_view line = lines.substr(0, end);
  lines.remove_prefix(std::min(end + 1, lines.size()));
  return line;
}

std::string with_place(std::string_view line) {
  if (line.empty()) return "its end";
  const std::size_t tab = line.find('\t');
  const std::string_view place = line.substr(tab + 1);
  return concat("'", line.substr(0, tab), "'", place.empty() ? "" : " at ", place);
}

// "process 0 has 'a' at file.py:3, but process 1 has 'b' at file.py:4"
std::string first_difference(std::string_view a, int rank_a, std::string_view b, int rank_b) {
  for (std::size_t number = 0;; ++number) {
    const std::string_view line_a = take_line(a), line_b = take_line(b);
    const bool ended = line_a.empty() && line_b.empty();
    if (!ended && line_a.substr(0, line_a.find('\t')) == line_b.substr(0, line_b.find('\t')))
      continue;
    return concat(number == 0 ? "" : concat("at equation ", number, ", "), "process ", rank_a,
                  " has ", with_place(line_a), ", but process ", rank_b, " has ",
                  with_place(line_b));
  }
}

runtime::MessageLabel label_of(const Program& program) {
  std::string text = concat("the first run of ", program.name);
  bool found = false;
  for_each_equation(program, [&](const Program& within, const Equation& eqn) {
    if (found || !ops::is_between_processes(eqn)) return;
    found = true;
    text += concat(", whose first collective is ", text_of(within, eqn));
    if (eqn.location) text += concat(" at ", short_string(*eqn.location));
  });
  return {static_cast<std::uint32_t>(hash_bytes("first run")), std::move(text)};
}

std::uint64_t digest_of(const Program& program) {
  std::uint64_t digest = 0;
  for (const Type& type : program.input_types())
    digest = mix(digest, hash_bytes(short_string(type)));
  for_each_equation(program, [&](const Program& within, const Equation& eqn) {
    digest = mix(digest, hash_bytes(text_of(within, eqn)));
  });
  return digest;
}

}  // namespace

AgreedProgram::AgreedProgram(ProgramPtr program, std::vector<int> group)
    : program_(std::move(program)), group_(std::move(group)), digest_(digest_of(*program_)) {
  for (const int rank : group_) digest_ = mix(digest_, index(rank));
}

void AgreedProgram::compare() {
  if (compared_.load(std::memory_order_relaxed)) return;
  // A program that one process has traced anew was compared when it was first run.
  static std::mutex mutex;
  static std::set<std::uint64_t> compared;
  {
    const std::lock_guard lock(mutex);
    compared_ = compared.contains(digest_);
  }
  if (compared_) return;
  const runtime::MessageLabel label = label_of(*program_);
  const auto bytes_of = [](std::string_view text) {
    return std::as_bytes(std::span(text.data(), text.size()));
  };
  const std::string own(reinterpret_cast<const char*>(&digest_), sizeof digest_);
  const auto digests = runtime::gather_bytes(bytes_of(own), group_, label);
  if (std::ranges::all_of(digests, [&](const auto& other) { return other == digests[0]; })) {
    const std::lock_guard lock(mutex);
    compared.insert(digest_);
    compared_ = true;
    return;
  }
  const auto lines = runtime::gather_bytes(bytes_of(lines_of(*program_)), group_, label);
  std::size_t k = 1;
  while (digests[k] == digests[0]) ++k;
  const auto text = [&](std::size_t i) {
    return std::string_view(reinterpret_cast<const char*>(lines[i].data()), lines[i].size());
  };
  fail(ErrorKind::runtime_error, "message: before the first run of '", program_->name,
       "' the programs of the processes differ: ",
       first_difference(text(0), group_[0], text(k), group_[k]),
       "; all processes run the same programs in the same order. Look for functions, shapes or "
       "branches that differ between processes.");
}

std::shared_ptr<AgreedProgram> agreed_program(const ProgramPtr& program) {
  if (runtime::process_count() == 1) return nullptr;
  std::set<int> ranks;
  for_each_equation(*program, [&](const Program&, const Equation& eqn) {
    if (!ops::is_between_processes(eqn)) return;
    for (const AxisName axis : process_axes(ops::collective_axes(eqn.params))) {
      const std::vector<int> all = process_ranks(axis);
      ranks.insert(all.begin(), all.end());
    }
  });
  if (ranks.empty()) return nullptr;
  return std::make_shared<AgreedProgram>(program, std::vector<int>(ranks.begin(), ranks.end()));
}

}  // namespace shardax

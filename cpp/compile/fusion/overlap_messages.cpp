// compile/fusion/overlap_messages.cpp - fusion groups that run while messages are under way.
#include "compile/fusion/overlap_messages.h"

#include <algorithm>
#include <iterator>

#include "base/index.h"
#include "ir/op.h"
#include "runtime/transfer.h"

namespace shardax {
namespace {

class Order {
 public:
  explicit Order(const Program& program) : program_(program), awaits_(program.types.size()) {}

  std::vector<FusionGroup> run(std::vector<FusionGroup> groups) {
    for (FusionGroup& group : groups) {
      if (begins_message(program_, group)) {
        send(std::move(group));
      } else if (has_effects(group)) {
        end_segment();
        out_.push_back(std::move(group));
      } else {
        segment_.push_back(std::move(group));
      }
    }
    end_segment();
    return std::move(out_);
  }

 private:
  using Groups = std::vector<FusionGroup>;

  template <class F>
  void for_each_equation(const FusionGroup& group, F&& f) const {
    for (const int e : group.equations) f(program_.equations[index(e)]);
  }
  bool has_effects(const FusionGroup& group) const {
    bool found = false;
    for_each_equation(group, [&](const Equation& eqn) { found |= shardax::has_effects(eqn); });
    return found;
  }
  // Does the group use one of these variables?
  bool uses(const FusionGroup& group, const std::vector<bool>& variables) const {
    bool found = false;
    for_each_equation(group, [&](const Equation& eqn) {
      for (const Var v : eqn.inputs) found |= variables[index(v)];
    });
    return found;
  }
  void add_results(const FusionGroup& group, std::vector<bool>& variables) const {
    for_each_equation(group, [&](const Equation& eqn) {
      for (const Var v : eqn.outputs) variables[index(v)] = true;
    });
  }
  void add_operands(const FusionGroup& group, std::vector<bool>& variables) const {
    for_each_equation(group, [&](const Equation& eqn) {
      for (const Var v : eqn.inputs) variables[index(v)] = true;
    });
  }

  // Takes the groups that give none of the needed variables. `needed` grows by the variables that
  // the other groups need.
  Groups take_unneeded(Groups& groups, std::vector<bool>& needed) const {
    std::vector<bool> stays(groups.size());
    for (std::size_t i = groups.size(); i-- > 0;) {
      bool gives = false;
      for_each_equation(groups[i], [&](const Equation& eqn) {
        for (const Var v : eqn.outputs) gives |= needed[index(v)];
      });
      stays[i] = gives;
      if (gives) add_operands(groups[i], needed);
    }
    Groups kept, taken;
    for (std::size_t i = 0; i < groups.size(); ++i)
      (stays[i] ? kept : taken).push_back(std::move(groups[i]));
    groups = std::move(kept);
    return taken;
  }

  void send(FusionGroup message) {
    std::vector<bool> needed(program_.types.size());
    add_operands(message, needed);
    Groups unneeded = take_unneeded(segment_, needed);
    // A message that needs none of those under way goes along with them, and overtakes the groups
    // that they have overtaken.
    const bool joins =
        under_way_ < runtime::most_under_way && !awaits_any(segment_) && !uses(message, awaits_);
    Groups overtaken = joins ? take_unneeded(left_, needed) : Groups();
    place(left_);
    place(segment_);
    if (!joins) {
      awaits_.assign(awaits_.size(), false);
      under_way_ = 0;
    }
    ++under_way_;
    add_results(message, awaits_);
    out_.push_back(std::move(message));
    left_ = std::move(overtaken);
    std::ranges::move(unneeded, std::back_inserter(left_));
  }

  bool awaits_any(const Groups& groups) const {
    return std::ranges::any_of(groups, [&](const FusionGroup& g) { return uses(g, awaits_); });
  }

  // Puts groups that wait for no message under way first.
  void place(Groups& groups) {
    Groups awaiting;
    for (FusionGroup& group : groups) {
      const bool awaits = uses(group, awaits_);
      if (awaits) add_results(group, awaits_);
      (awaits ? awaiting : out_).push_back(std::move(group));
    }
    std::ranges::move(awaiting, std::back_inserter(out_));
    groups.clear();
  }
  void end_segment() {
    std::ranges::move(segment_, std::back_inserter(left_));
    segment_.clear();
    place(left_);
  }

  const Program& program_;
  Groups out_;
  Groups segment_;             // groups since the last message or effect
  Groups left_;                // groups that the messages under way have overtaken
  std::vector<bool> awaits_;   // variables that need messages under way
  std::size_t under_way_ = 0;  // messages that began together
};

}  // namespace

bool begins_message(const Program& program, const FusionGroup& group) {
  return group.equations.size() == 1 &&
         program.equations[index(group.equations[0])].op->message != nullptr;
}

std::size_t end_of_message(const Program& program, const std::vector<FusionGroup>& groups,
                           std::size_t message) {
  const Vars& results = program.equations[index(groups[message].equations[0])].outputs;
  for (std::size_t g = message + 1; g < groups.size(); ++g) {
    for (const int e : groups[g].equations) {
      for (const Var v : program.equations[index(e)].inputs) {
        if (std::ranges::find(results, v) != results.end()) return g;
      }
    }
  }
  return groups.size();
}

std::vector<FusionGroup> overlap_messages(const Program& program, std::vector<FusionGroup> groups) {
  const auto begins = [&](const FusionGroup& group) { return begins_message(program, group); };
  if (std::ranges::none_of(groups, begins)) return groups;
  return Order(program).run(std::move(groups));
}

}  // namespace shardax

// compile/simplify/combine_all_reduces.cpp - sums over processes that do not need each other travel
// as one message.
//
// The pass runs on the program as staged, before any dependence on the layout or the values of
// inputs. From here on messages are effects, the same in all processes.
#include <algorithm>
#include <map>

#include "array/process_axis.h"
#include "base/index.h"
#include "compile/passes.h"
#include "compile/simplify/agree_on_branches.h"
#include "ir/regions.h"
#include "ops/collectives/collective.h"
#include "ops/collectives/process_ops.h"
#include "ops/collectives/sum_groups.h"
#include "ops/ops.h"
#include "runtime/processes.h"
#include "trace/eval_program.h"
#include "trace/stage.h"
#include "transform/inline_calls.h"

namespace shardax {
namespace {

// A sum, maximum or minimum of all devices of its axes, some of which are process axes.
bool is_all_reduce(const Equation& eqn) {
  return eqn.op->kind == Kind::collective && !ops::computation_of(*eqn.op).empty() &&
         !ops::has_sum_groups(eqn.params) && !eqn.params.has("stacked") &&
         std::holds_alternative<std::monostate>(eqn.params.has("axis_index_groups")
                                                    ? *eqn.params.find("axis_index_groups")
                                                    : ParamValue()) &&
         !process_axes(eqn.params.axes(param::collective_axes)).empty();
}

// All-reduces of one message.
struct Message {
  AxisSet axes;
  std::string_view computation;
  DType dtype;
  LocationPtr location;
  Values values;                               // one of each process
  std::vector<std::pair<Var, DType>> outputs;  // and of which dtype they are to be
};

class Combiner {
 public:
  explicit Combiner(const Program& program)
      : program_(program),
        env_(program.types.size()),
        same_(same_in_processes(program, std::vector<bool>(program.inputs.size(), false))) {}

  Values run(const Values& inputs) {
    for (std::size_t i = 0; i < inputs.size(); ++i) at(program_.inputs[i]) = inputs[i];
    for (const Constant& c : program_.constants) at(c.var) = constant_operand(c.value);
    // Round r has the sums that depend on r messages, one after the other.
    for (const std::vector<const Equation*>& round : rounds()) {
      for (const Equation* eqn : round) step(*eqn);
      for (const Message& message : messages_) send(message);
      messages_.clear();
    }
    Values outputs;
    for (const Var v : program_.outputs) outputs.push_back(at(v));
    return outputs;
  }

 private:
  Value& at(Var v) { return env_[index(v)]; }

  std::vector<std::vector<const Equation*>> rounds() const {
    std::vector<std::size_t> known(program_.types.size(), 0);  // the first round that may use it
    std::vector<std::vector<const Equation*>> out(1);
    std::size_t in_order = 0;  // effects keep theirs
    for (const Equation& eqn : program_.equations) {
      std::size_t round = 0;
      for (const Var v : eqn.inputs) round = std::max(round, known[index(v)]);
      const bool reduces = is_all_reduce(eqn);
      if (!reduces && (has_effects(eqn) || any_equation(eqn, ops::is_between_processes)))
        round = in_order = std::max(round, in_order);
      for (const Var v : eqn.outputs) known[index(v)] = round + (reduces ? 1 : 0);
      out.resize(std::max(out.size(), round + (reduces ? 2 : 1)));
      out[round].push_back(&eqn);
    }
    return out;
  }

  void step(const Equation& eqn) {
    const LocationScope location(eqn.location);
    const NamesScope names(nested(current_names(), eqn.names));
    Values in;
    for (const Var v : eqn.inputs) in.push_back(at(v));
    if (is_all_reduce(eqn)) return reduce(eqn, in[0]);
    const Values out = bound(eqn, std::move(in));
    for (std::size_t i = 0; i < out.size(); ++i) at(eqn.outputs[i]) = out[i];
  }

  Values bound(const Equation& eqn, Values in) {
    if (!eqn.op->regions || !any_equation(eqn, ops::is_between_processes))
      return shardax::bind(*eqn.op, eqn.params, in);
    Regions regions = regions_of(*eqn.op, eqn.params);
    std::vector<bool> same;
    for (const Var v : eqn.inputs) same.push_back(same_[index(v)]);
    agree_on_branches(same, regions, in);
    for (ProgramPtr& program : regions.programs) program = combine_all_reduces(program);
    return shardax::bind(*eqn.op, eqn.op->with_regions(eqn.params, regions), in);
  }

  // The devices of this process first.
  void reduce(const Equation& eqn, const Value& value) {
    const AxisSet& axes = eqn.params.axes(param::collective_axes);
    const std::string_view computation = ops::computation_of(*eqn.op);
    Value term = ops::as_sent(value, computation);
    const AxisSet local = local_axes(axes);
    if (!local.empty()) term = bind1(*eqn.op, eqn.params.with("axes", AxisNames{local}), {term});
    const AxisSet across = process_axes(axes);
    auto message = std::ranges::find_if(messages_, [&](const Message& m) {
      return m.axes == across && m.computation == computation && m.dtype == term->dtype();
    });
    if (message == messages_.end())
      message =
          messages_.insert(message, {across, computation, term->dtype(), eqn.location, {}, {}});
    message->values.push_back(term);
    message->outputs.emplace_back(eqn.outputs[0], value->dtype());
  }

  void send(const Message& message) {
    const LocationScope location(message.location);
    const Values sums = ops::process_all_reduce(message.values, message.axes, message.computation);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const auto [output, dtype] = message.outputs[i];
      at(output) = ops::convert(sums[i], dtype);
    }
  }

  const Program& program_;
  Values env_;
  std::vector<bool> same_;  // in all processes, of each variable
  std::vector<Message> messages_;
};

}  // namespace

ProgramPtr combine_all_reduces(const ProgramPtr& program) {
  if (runtime::process_count() == 1) return program;
  return *program->derived<ProgramPtr>("combine_all_reduces", [&] {
    if (std::ranges::none_of(program->equations, [](const Equation& eqn) {
          return any_equation(eqn, ops::is_between_processes);
        }))
      return std::make_shared<ProgramPtr>(program);
    const ProgramPtr flat = inlined(program);
    return std::make_shared<ProgramPtr>(stage_closed(
        flat->input_types(), [&](const Values& in) { return Combiner(*flat).run(in); },
        program->name));
  });
}

}  // namespace shardax

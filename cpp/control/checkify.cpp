// control/checkify.cpp - evaluating programs with their checks.
#include "control/checkify.h"

#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/index.h"
#include "control/automatic_checks.h"
#include "ir/core_ops.h"
#include "ops/ops.h"
#include "trace/eval_program.h"

namespace shardax {
namespace {

Value number_scalar(std::size_t number) {
  return ops::scalar(DType::int32, static_cast<double>(number));
}

Value without_tangent(const Value& value) {
  const Op* stop_gradient = &core_ops().stop_gradient;
  return is_inexact(value->dtype()) ? bind1(*stop_gradient, {}, {value}) : value;
}

// Some checks of a table.
struct Range {
  std::size_t first;
  std::size_t count;
};

class Checkify {
 public:
  Checkify(const ProgramPtr& program, CheckKinds enabled) : enabled_(enabled) {
    std::vector<Check> checks;
    collect(*program, checks);
    table_ = new CheckTable(std::move(checks));
  }

  const CheckTablePtr& table() const { return table_; }

  Failure nothing() const {
    Failure failure{number_scalar(0), {}};
    for (const Type& type : table_->payload()) failure.payload.push_back(ops::zeros(type));
    return failure;
  }

  Values run(const Program& program, const Values& inputs, Failure& failure) {
    return eval_program(program, inputs, [&](const Equation& eqn, const Values& in) {
      return step(eqn, in, failure);
    });
  }

 private:
  // Numbers all checks, those of regions where their equation stands.
  void collect(const Program& program, std::vector<Check>& checks) {
    for (const Equation& eqn : program.equations) {
      if (numbers_.count(&eqn)) continue;
      std::vector<Check> own = is_check(*eqn.op) ? enabled_checks(table_of(eqn.params))
                                                 : automatic_checks(program, eqn, enabled_);
      if (!own.empty() || is_check(*eqn.op)) numbers_[&eqn] = {checks.size(), own.size()};
      checks.insert(checks.end(), own.begin(), own.end());
      for_each_program(eqn.params, [&](const ProgramPtr& body) { collect(*body, checks); });
    }
  }

  bool is_enabled(const Check& check) const { return (enabled_ & bit(check.kind)) != 0; }
  std::vector<Check> enabled_checks(const CheckTable& table) const {
    std::vector<Check> out;
    for (const Check& check : table.checks()) {
      if (is_enabled(check)) out.push_back(check);
    }
    return out;
  }

  bool concerned(const Equation& eqn) const {
    return (quiet_ && has_effects(eqn)) ||
           any_equation(eqn, [&](const Equation& e) { return numbers_.count(&e) > 0; });
  }
  bool concerned(const Program& program) const {
    return std::any_of(program.equations.begin(), program.equations.end(),
                       [&](const Equation& eqn) { return concerned(eqn); });
  }

  // ---- equations ---------------------------------------------------------------------------

  Values step(const Equation& eqn, const Values& in, Failure& failure) {
    const Op& op = *eqn.op;
    if (is_check(op)) {
      absorb(eqn, in, failure);
      return {};
    }
    if (quiet_ && !op.effect.empty() && eqn.outputs.empty()) return {};
    if (!concerned(eqn)) return shardax::bind(op, eqn.params, in);
    if (op.regions) {
      const Regions regions = regions_of(op, eqn.params);
      if (const ProgramPtr whole = mesh_program(op, eqn.params)) return run(*whole, in, failure);
      if (regions.fixed) return call_with_rules(eqn, regions, in, failure);
      return regions.runs == ExecutionKind::looped ? loop(eqn, regions, in, failure)
                                                   : carry_through(eqn, regions, in, failure);
    }
    const Values out = shardax::bind(op, eqn.params, in);
    const auto found = numbers_.find(&eqn);
    if (found == numbers_.end()) return out;
    const Range numbers = found->second;
    for (std::size_t k = numbers.first; k < numbers.first + numbers.count; ++k) {
      const Finding finding = make_check(table_->checks()[k], op, eqn.params, in, out);
      Failure next{ops::where(finding.failed, number_scalar(k + 1), number_scalar(0)), {}};
      next.payload.resize(table_->payload().size());
      place(k, finding.payload, next);
      join(failure, std::move(next));
    }
    return out;
  }

  // Checks that share a place take their payload from one array; the first one puts it there.
  void place(std::size_t check, const Values& payload, Failure& failure) const {
    for (std::size_t i = 0; i < payload.size(); ++i) {
      Value& at = failure.payload[table_->place(check) + i];
      if (!at) at = ops::convert(without_tangent(payload[i]), payload[i]->dtype());
    }
  }

  // An equation `check`: numbers of its table become numbers of this one, 0 for those left out.
  void absorb(const Equation& eqn, const Values& in, Failure& failure) {
    const CheckTable& own = table_of(eqn.params);
    const Range numbers = numbers_.at(&eqn);
    if (numbers.count == 0) return;
    Value number = number_scalar(0);
    if (numbers.count == own.checks().size()) {
      number =
          ops::where(ops::eq(in[0], number), number, ops::add(in[0], number_scalar(numbers.first)));
    } else {
      for (std::size_t k = 0, next = numbers.first; k < own.checks().size(); ++k) {
        if (!is_enabled(own.checks()[k])) continue;
        number = ops::where(ops::eq(in[0], number_scalar(k + 1)), number_scalar(++next), number);
      }
    }
    // Checks that share a place in their own table share one in this table.
    Failure next{number, Values(table_->payload().size())};
    for (std::size_t k = 0, at = numbers.first; k < own.checks().size(); ++k) {
      if (!is_enabled(own.checks()[k])) continue;
      place(at++, part(in, 1 + own.place(k), own.checks()[k].payload.size()), next);
    }
    join(failure, std::move(next));
  }

  // Takes over `next` if nothing has failed before. Its payload is null where it has none. Either
  // may be stacked along the devices of a pmap.
  static void join(Failure& failure, Failure next) {
    const auto stacked = [](const Failure& f) { return !f.number->shape().empty(); };
    if (stacked(failure) && stacked(next) && failure.number->shape() != next.number->shape())
      next = joined_failure(next);
    const bool first = stacked(failure), second = stacked(next);
    const std::int64_t devices = (first ? failure : next).number->type().size();
    const auto lifted = [&](const Value& value, bool already) {
      return (first || second) && !already ? ops::broadcast_leading(value, devices) : value;
    };
    const Value none = number_scalar(0);
    const Value fresh = ops::logical_and(ops::eq(failure.number, none), ops::ne(next.number, none));
    const auto chosen = [&](const Value& old, const Value& value) {
      const Value before = lifted(old, first);
      if (!value) return before;
      const bool spread = !fresh->shape().empty() && fresh->shape() != before->shape();
      return ops::where(spread ? ops::broadcast_in_dim(fresh, before->shape(), {0}) : fresh,
                        lifted(value, second), before);
    };
    for (std::size_t i = 0; i < next.payload.size(); ++i)
      failure.payload[i] = chosen(failure.payload[i], next.payload[i]);
    failure.number = chosen(failure.number, next.number);
  }

  // ---- programs of equations ---------------------------------------------------------------

  std::size_t width() const { return 1 + table_->payload().size(); }
  static Values flat(const Failure& failure) { return joined({failure.number}, failure.payload); }
  Failure failure_in(const Values& values, std::size_t from = 0) const {
    return {values[from], part(values, from + 1, width() - 1)};
  }
  Types failure_types() const {
    Types types{Type{DType::int32, false, {}, {}}};
    types.insert(types.end(), table_->payload().begin(), table_->payload().end());
    return types;
  }
  // Programs take a failure that is not stacked, and go on from it.
  Values entering(const Failure& failure) const {
    return flat(failure.number->shape().empty() ? failure : nothing());
  }
  // Takes the failure off the front of results.
  Values leaving(const Values& results, Failure& failure) const {
    Failure after = failure_in(results);
    if (failure.number->shape().empty()) {
      failure = std::move(after);
    } else {
      join(failure, std::move(after));
    }
    return part(results, width(), results.size() - width());
  }

  // `body` with the failure behind its first `before` inputs, and in front of its outputs.
  // `one`: it comes out as one even where the body contains a pmap.
  ProgramPtr checked(const ProgramPtr& body, bool one = true, std::size_t before = 0) {
    ProgramPtr& known = checked_[{body.get(), one, quiet_, before}];
    if (known) return known;
    Types types = body->input_types();
    const Types more = failure_types();
    types.insert(types.begin() + static_cast<std::ptrdiff_t>(before), more.begin(), more.end());
    known = stage_closed(
        types,
        [&](const Values& v) {
          Failure failure = failure_in(v, before);
          const std::size_t rest = before + width();
          const Values in = joined(part(v, 0, before), part(v, rest, v.size() - rest));
          const Values out = run(*body, in, failure);
          return joined(flat(one ? as_one(failure) : failure), out);
        },
        body->name);
    return known;
  }

  static Failure as_one(const Failure& failure) {
    return failure.number->shape().empty() ? failure : joined_failure(failure);
  }

  static ProgramPtr without_checks(const ProgramPtr& body) {
    Checkify none(body, 0);
    return stage_closed(
        body->input_types(),
        [&](const Values& v) {
          Failure failure = none.nothing();
          return none.run(*body, v, failure);
        },
        body->name);
  }

  // A failure goes into the programs of an op with the operands, and comes out in front of the
  // results. In loops it is a carry. Each device has a failure of its own. They stay so, but for
  // where the pmap is part of a loop, a branch or another pmap.
  Values carry_through(const Equation& eqn, Regions regions, const Values& in, Failure& failure) {
    const bool loops = regions.runs == ExecutionKind::counted,
               mapped = regions.runs == ExecutionKind::mapped;
    const bool calls = regions.runs == ExecutionKind::once;
    const PortKind flow = loops ? PortKind::carried : PortKind::whole;
    const auto first = index(std::find_if(regions.operands.begin(), regions.operands.end(),
                                          [&](const RegionPort& port) {
                                            return port.flow != PortKind::choice &&
                                                   !(loops && port.flow == PortKind::whole);
                                          }) -
                             regions.operands.begin());
    const std::size_t choices = regions.operands_of(PortKind::choice).size();
    for (ProgramPtr& program : regions.programs)
      program = checked(program, !calls, first - choices);
    regions.operands.insert(regions.operands.begin() + static_cast<std::ptrdiff_t>(first), width(),
                            RegionPort{flow});
    regions.results.insert(regions.results.begin(), width(),
                           RegionPort{mapped ? PortKind::sliced : flow});
    const Values operands =
        joined(joined(part(in, 0, first), entering(failure)), part(in, first, in.size() - first));
    return leaving(shardax::bind(*eqn.op, eqn.op->with_regions(eqn.params, regions), operands),
                   failure);
  }

  // The user's rules know nothing of failures, so the function is called as it is. A second call
  // makes its checks, and shares its computation once compiled.
  Values call_with_rules(const Equation& eqn, Regions regions, const Values& in, Failure& failure) {
    const ProgramPtr body = regions.programs[0];
    regions.programs[0] = without_checks(body);
    const Values out = shardax::bind(*eqn.op, eqn.op->with_regions(eqn.params, regions), in);
    Values operands = entering(failure);
    for (const Value& value : in) operands.push_back(without_tangent(value));
    const bool outer = std::exchange(quiet_, true);
    const ProgramPtr checks = checked(body, false);
    quiet_ = outer;
    leaving(bind_jit(checks, operands), failure);
    return out;
  }

  // The condition is checked before the loop and, for the next time, at the end of its body.
  Values loop(const Equation& eqn, Regions regions, const Values& in, Failure& failure) {
    if (eqn.params.has("batched")) {
      value_error(
          "Checkify does not support batched while-loops (checkify-of-vmap-of-while). \nHint: if "
          "possible, move the vmap to the outer level to get vmap-of-checkify-of-while.");
    }
    const ProgramPtr cond = regions.programs[0], body = regions.programs[1];
    const std::size_t carry = regions.results.size();
    const std::size_t cond_consts = cond->inputs.size() - carry;
    const std::size_t body_consts = body->inputs.size() - carry;
    const std::size_t consts = cond_consts + body_consts;
    const bool checks_cond = concerned(*cond);
    const Values of_cond = part(in, 0, cond_consts), state = part(in, consts, carry);
    if (checks_cond) run(*cond, joined(of_cond, state), failure);

    Types types = part(cond->input_types(), 0, cond_consts);
    const Types body_types = body->input_types(), more = failure_types();
    types.insert(types.end(), body_types.begin(), body_types.end());
    types.insert(types.begin() + static_cast<std::ptrdiff_t>(consts), more.begin(), more.end());
    const ProgramPtr new_body = stage_closed(
        types,
        [&](const Values& v) {
          Failure inner = failure_in(v, consts);
          const Values now = part(v, consts + width(), carry);
          const Values next = run(*body, joined(part(v, cond_consts, body_consts), now), inner);
          if (checks_cond) run(*cond, joined(part(v, 0, cond_consts), next), inner);
          return joined(flat(as_one(inner)), next);
        },
        body->name);
    Types cond_types = cond->input_types();
    cond_types.insert(cond_types.begin() + static_cast<std::ptrdiff_t>(cond_consts), more.begin(),
                      more.end());
    const ProgramPtr silent = checks_cond ? without_checks(cond) : cond;
    const ProgramPtr new_cond = stage_closed(
        cond_types,
        [&](const Values& v) {
          return evaluate(*silent,
                          joined(part(v, 0, cond_consts), part(v, cond_consts + width(), carry)));
        },
        cond->name);
    // The body takes the constants of the condition too.
    regions.programs = {new_cond, new_body};
    regions.operands.clear();
    for (std::size_t i = 0; i < cond_consts; ++i) regions.operands.push_back({.program = 0});
    for (std::size_t i = 0; i < consts; ++i) regions.operands.push_back({.program = 1});
    regions.operands.resize(regions.operands.size() + width() + carry, {PortKind::carried});
    regions.results.resize(width() + carry, {PortKind::carried});
    const Values operands =
        joined(joined(joined(of_cond, part(in, 0, consts)), entering(failure)), state);
    return leaving(shardax::bind(*eqn.op, eqn.op->with_regions(eqn.params, regions), operands),
                   failure);
  }

  CheckKinds enabled_;
  CheckTablePtr table_;
  std::unordered_map<const Equation*, Range> numbers_;  // of each equation that has checks
  std::map<std::tuple<const Program*, bool, bool, std::size_t>, ProgramPtr> checked_;
  bool quiet_ = false;  // effects without results are left out: they happen elsewhere
};

}  // namespace

Checked checkify(const ProgramPtr& program, CheckKinds enabled, const Values& in) {
  Checkify checks(program, enabled);
  Failure failure = checks.nothing();
  Values out = checks.run(*program, in, failure);
  return {checks.table(), std::move(failure), std::move(out)};
}

}  // namespace shardax

// ir/verify.cpp - definitions before uses, types by the rules, programs within programs.
#include "ir/verify.h"

#include <algorithm>
#include <memory>

#include "base/errors.h"
#include "base/index.h"
#include "ir/regions.h"
#include "ir/sharding_given.h"
#include "ir/text/text_form.h"

namespace shardax {
namespace {

template <class... Args>
[[noreturn]] void invalid(const Args&... args) {
  value_error(args...);
}

// The equation as it stands: how ops show theirs takes for granted that it is one.
std::string plain_text(const Program& program, const Equation& eqn) {
  const auto vars = [&](const Vars& list) {
    std::string text;
    for (const Var v : list) {
      const bool known = v >= 0 && index(v) < program.types.size();
      text += concat(text.empty() ? "" : " ", v, ":", known ? short_string(program.type(v)) : "?");
    }
    return text;
  };
  std::string params;
  for (const auto& [name, value] : eqn.params) {
    const bool carried =
        std::holds_alternative<ProgramPtr>(value) || std::holds_alternative<Programs>(value);
    const bool split = std::holds_alternative<ShardingPtr>(value);
    params += concat(params.empty() ? "" : " ", name, "=",
                     carried ? "{ lambda }"
                     : split ? "Sharding"
                             : to_string(value));
  }
  return concat(vars(eqn.outputs), " = ", eqn.op->name, "[", params, "] ", vars(eqn.inputs));
}

class Verifier {
 public:
  explicit Verifier(bool closed) : closed_(closed) {}

  // Once for each program and the axes in scope: programs do not change.
  void check(const Program& program) {
    std::string key = concat("verified", closed_);
    for (const AxisExtent& axis : axes_) key += concat(",", axis.name, "=", axis.size);
    program.derived<bool>(key, [&] {
      check_parts(program);
      return std::make_shared<bool>(true);
    });
  }

 private:
  void check_parts(const Program& program) {
    std::vector<bool> defined(program.types.size(), false);
    const auto known = [&](Var v) {
      if (v < 0 || index(v) >= defined.size())
        invalid("there is no variable ", v, "; the program has ", defined.size());
    };
    const auto define = [&](Var v) {
      known(v);
      if (defined[index(v)]) invalid("variable ", v, " is defined twice");
      defined[index(v)] = true;
    };
    const auto use = [&](Var v) {
      known(v);
      if (!defined[index(v)]) invalid("variable ", v, " is used before it is defined");
    };
    for (const Type& type : program.types) check_axes(type);
    for (const Var v : program.inputs) define(v);
    for (const Constant& c : program.constants) {
      define(c.var);
      if (!same_shape_and_dtype(c.value->type(), program.type(c.var)))
        invalid("a constant is ", to_string(c.value->type()), ", its variable ",
                to_string(program.type(c.var)));
    }
    for (const Equation& eqn : program.equations) {
      try {
        for (const Var v : eqn.inputs) use(v);
        check(program, eqn);
        for (const Var v : eqn.outputs) define(v);
      } catch (const UserError& error) {
        if (error.kind() == ErrorKind::recursion_error) throw;
        rethrow(program, eqn, error);
      }
    }
    for (const Var v : program.outputs) use(v);
  }

  void check_axes(const Type& type) const {
    for (const AxisName name : type.varying) {
      const auto same = [&](const AxisExtent& axis) { return axis.name == name; };
      if (closed_ && std::none_of(axes_.begin(), axes_.end(), same))
        invalid("a value varies over the axis '", axis_text(name), "', which is not in scope");
    }
  }

  // The innermost of nested equations is shown.
  struct Shown final : UserError {
    using UserError::UserError;
  };
  [[noreturn]] static void rethrow(const Program& program, const Equation& eqn,
                                   const UserError& error) {
    if (const auto* shown = dynamic_cast<const Shown*>(&error)) throw Shown(*shown);
    throw Shown(ErrorKind::value_error,
                concat(error.what(), "\nin the equation  ", plain_text(program, eqn),
                       eqn.location ? "  at " + to_string(*eqn.location) : ""));
  }

  void check(const Program& program, const Equation& eqn) {
    Types in;
    for (const Var v : eqn.inputs) in.push_back(program.type(v));
    const Types out = infer_types(*eqn.op, in, eqn.params);
    if (out.size() != eqn.outputs.size()) {
      invalid(eqn.op->name, " gives ", out.size(), " results; the equation has ",
              eqn.outputs.size());
    }
    for (std::size_t i = 0; i < out.size(); ++i) {
      const Var v = eqn.outputs[i];
      if (v < 0 || index(v) >= program.types.size()) continue;
      if (!same_shape_and_dtype(out[i], program.type(v))) {
        invalid(eqn.op->name, " gives ", to_string(out[i]), ", not ", to_string(program.type(v)));
      }
    }
    if (eqn.op->check_axes) eqn.op->check_axes(*eqn.op, eqn.params, in, {axes_, closed_});
    check_programs(eqn);
  }

  // Checks the programs that the op carries, over the axes whose devices run them.
  void check_programs(const Equation& eqn) {
    const std::size_t outside = axes_.size();
    if (eqn.op->regions) {
      const Regions regions = regions_of(*eqn.op, eqn.params);
      axes_.insert(axes_.end(), regions.axes.begin(), regions.axes.end());
    }
    for_each_program(eqn.params, [&](const ProgramPtr& program) { check(*program); });
    axes_.resize(outside);
  }

  const bool closed_;
  std::vector<AxisExtent> axes_;  // in scope, the innermost last
};

}  // namespace

void verify(const Program& program, const std::string& stage) {
  const ShardingGiven asked_already;
  try {
    Verifier(false).check(program);
  } catch (const UserError& error) {
    throw InternalError(concat("after ", stage, ": ", error.what(), " in\n", text_form(program)));
  }
}

void check_program(const Program& program, const std::string& user, bool closed) {
  const ShardingGiven asked_already;
  try {
    Verifier(closed).check(program);
  } catch (const UserError& error) {
    if (error.kind() == ErrorKind::recursion_error) throw;
    value_error(user, ": ", error.what());
  }
}

}  // namespace shardax

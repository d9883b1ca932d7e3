// trace/stage.cpp - recording equations.
#include "trace/stage.h"

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "base/per_thread.h"
#include "ir/regions.h"
#include "trace/captures.h"

namespace shardax {

JitTracer::JitTracer(const StagingTrace& trace, Type type, Var var, LocationPtr location)
    : Tracer(trace, std::move(type)),
      var_(var),
      location_(std::move(location)),
      linear_(!trace.staging()) {}

std::string JitTracer::text() const {
  const std::string type = concat(type_.weak ? "~" : "", to_string(type_));
  return linear_ ? concat("Traced<", type, ":JaxprTrace>") : concat("JitTracer(", type, ")");
}

bool same_value(const Value& a, const Value& b) {
  if (a == b) return true;
  if (a->is_tracer() || b->is_tracer()) return false;
  const Array &x = as_array(a), &y = as_array(b);
  if (x.slab() || y.slab())
    return x.slab() == y.slab() && x.type() == y.type() && x.sharding() == y.sharding();
  return x.data() == y.data() && x.strides() == y.strides() && x.type() == y.type() &&
         x.sharding() == y.sharding() && x.deleted() == y.deleted();
}

namespace {

// The names inside of `outside`.
NamesPtr since(const NamesPtr& names, const NamesPtr& outside) {
  if (!names || names == outside) return nullptr;
  if (!outside) return names;
  return std::make_shared<const Names>(
      Names{since(names->outside, outside), names->name, names->transformation});
}

}  // namespace

StagingTrace::StagingTrace(bool everything)
    : Trace(everything), program_(new Program), names_(current_names()) {}

Value StagingTrace::input(Type type) {
  const Var var = program_->add(type);
  program_->inputs.push_back(var);
  return new JitTracer(*this, std::move(type), var);
}

Values StagingTrace::inputs(const Types& types) {
  Values out;
  for (const Type& type : types) out.push_back(input(type));
  return out;
}

Var StagingTrace::lift(const Value& value) {
  if (owns(value)) return static_cast<const JitTracer&>(*value).var();
  if (const auto it = lifted_.find(value.get()); it != lifted_.end()) return it->second;
  if (!value->is_tracer() && value->type().rank() > 0) {  // scalars are literals
    for (const auto& [var, other] : captured_) {
      if (same_value(value, other)) return var;
    }
  }
  const Var var = program_->add(value->type());
  lifted_[value.get()] = var;  // an address of its own as long as captured_ holds the value
  captured_.emplace_back(var, value);
  return var;
}

namespace {

// The place of a call that is replaced by the equations of its program.
LocationPtr& call_site() { return per_thread<LocationPtr, struct CallSite>(); }

// A program of a library's function knows one place of the user's: that of the call that staged it.
bool lies_elsewhere(const Program& program) {
  const auto& equations = program.equations;
  return std::all_of(equations.begin(), equations.end(),
                     [&](const Equation& eqn) { return eqn.location == equations[0].location; });
}

Values inlined(const Program& program, const Values& in) {
  struct Restored {
    LocationPtr before = call_site();
    ~Restored() { call_site() = before; }
  } const restored;
  if (!call_site() && lies_elsewhere(program)) call_site() = current_location();
  return evaluate(program, in);
}

}  // namespace

Values StagingTrace::process(const Op& op, const Params& params, const Values& in) {
  if (params.has("inline")) return inlined(*called_program(op, params), in);
  if (op.stage) {
    const StagedCall call = op.stage(params, in);
    return record(op, call.params, call.in);
  }
  return record(op, params, in);
}

Values StagingTrace::record(const Op& op, const Params& params, const Values& in) {
  const LocationPtr location = call_site() ? call_site() : current_location();
  Equation eqn{&op, params, {}, {}, location, since(current_names(), names_)};
  Types types;
  for (const Value& value : in) {
    types.push_back(value->type());
    eqn.inputs.push_back(lift(value));
  }
  Values out;
  for (Type& type : infer_types(op, types, params)) {
    const Var var = program_->add(type);
    eqn.outputs.push_back(var);
    out.push_back(new JitTracer(*this, std::move(type), var, eqn.location));
  }
  program_->equations.push_back(std::move(eqn));
  return out;
}

int StagingTrace::input_position(Var var) const {
  const auto& inputs = program_->inputs;
  const auto it = std::find(inputs.begin(), inputs.end(), var);
  return it == inputs.end() ? -1 : static_cast<int>(it - inputs.begin());
}

namespace {

// The array as a program keeps it: its memory, also once the user has deleted the array.
ArrayPtr constant_of(const Array& array) {
  if (array.deleted()) {
    fail(ErrorKind::runtime_error, "Array has been deleted with shape=", to_string(array.type()),
         ": it was deleted or donated by the function that uses it.");
  }
  ArrayPtr constant = view_of(array);
  constant->set_sharding(array.sharding());
  constant->set_terms(array.terms());
  constant->remember_uniformity(array.leading_uniformity());
  return constant;
}

}  // namespace

namespace {

// Casts of numbers are numbers.
void fold_casts(Program& program) {
  const EagerScope at_once;
  std::erase_if(program.equations, [&](const Equation& eqn) {
    if (eqn.op->name != "convert_element_type") return false;
    const auto it = std::find_if(program.constants.begin(), program.constants.end(),
                                 [&](const Constant& c) { return c.var == eqn.inputs[0]; });
    if (it == program.constants.end()) return false;
    const Value cast = bind1(*eqn.op, eqn.params, {it->value});
    program.constants.push_back({eqn.outputs[0], constant_of(as_array(cast))});
    return true;
  });
}

constinit thread_local bool innermost_captures = false;

}  // namespace

CapturesArrays::CapturesArrays(bool captures)
    : outer_(std::exchange(innermost_captures, captures)) {}
CapturesArrays::~CapturesArrays() { innermost_captures = outer_; }
bool captures_arrays() { return innermost_captures; }

StagingTrace::Result StagingTrace::finish(const Values& outputs, bool arrays_captured) {
  for (const Value& value : outputs) program_->outputs.push_back(lift(value));
  Result result;
  for (auto& [var, value] : captured_) {
    if (value->is_tracer()) {
      program_->inputs.push_back(var);
      result.captured.push_back(value);
      continue;
    }
    const bool literal =
        value->type().rank() == 0 &&
        (value->unique() || std::find(outputs.begin(), outputs.end(), value) != outputs.end());
    const ArrayPtr constant = constant_of(as_array(value));
    if (arrays_captured && !literal) {
      program_->inputs.push_back(var);
      result.captured.push_back(constant);
    } else {
      program_->constants.push_back({var, constant});
    }
  }
  if (arrays_captured) fold_casts(*program_);
  result.program = program_;
  return result;
}

StagingTrace::Result stage(const Types& types, const std::function<Values(const Values&)>& f,
                           const std::string& name) {
  StagingTrace trace(true);
  trace.name(name);
  const CapturesArrays captures(false);
  const Values outputs = f(trace.inputs(types));
  for (const Value& value : outputs) {
    if (value->is_tracer()) static_cast<const Tracer&>(*value).trace();
  }
  return trace.finish(outputs);
}

ProgramPtr stage_closed(const Types& types, const std::function<Values(const Values&)>& f,
                        const std::string& name) {
  StagingTrace::Result result = stage(types, f, name);
  if (!result.captured.empty()) {
    fail(
        ErrorKind::unexpected_tracer_error,
        "A rule of custom_jvp, custom_vjp or the like, within '", name,
        "', closes over a value of type ", to_string(result.captured[0]->type()),
        " that is traced outside of '", name,
        "'. Pass the value as an argument of the function that has the rule; closure_convert finds "
        "what a function closes over.");
  }
  return result.program;
}

}  // namespace shardax

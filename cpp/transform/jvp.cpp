// transform/jvp.cpp - forward-mode tracing.
#include "transform/jvp.h"

#include <algorithm>

#include "base/errors.h"
#include "ops/ops.h"

namespace shardax {
namespace {

std::string (*array_text)(const Value& value) = nullptr;

std::string value_text(const Value& value) {
  if (value->is_tracer()) return static_cast<const Tracer&>(*value).text();
  if (value->type().rank() == 0) return scalar_text(as_array(value));
  return array_text ? array_text(value) : to_string(value->type());
}

class DifferentiatedTracer : public Tracer {
 public:
  DifferentiatedTracer(const Trace& trace, Value primal, Value tangent)
      : Tracer(trace, primal->type()), primal_(std::move(primal)), tangent_(std::move(tangent)) {}
  const Value& primal() const { return primal_; }
  const Value& tangent() const { return tangent_; }
  Value underlying() const override { return primal_; }
  Value part(Part part) const override {
    return part == Part::primal ? primal_ : part == Part::tangent ? tangent_ : nullptr;
  }

 private:
  Value primal_;
  Value tangent_;
};

class JvpTracer final : public DifferentiatedTracer {
 public:
  using DifferentiatedTracer::DifferentiatedTracer;
  std::string text() const override {
    return concat("JVPTracer(primal=", value_text(primal()), ", tangent=", value_text(tangent()),
                  ")");
  }
  std::string_view class_name() const override { return "JVPTracer"; }
};

// A value whose tangent is a variable of the linear program being recorded.
class GradTracer final : public DifferentiatedTracer {
 public:
  using DifferentiatedTracer::DifferentiatedTracer;
  std::string text() const override {
    return concat("GradTracer(primal=", value_text(primal()),
                  ", typeof(tangent)=", short_string(type_), ")");
  }
  std::string_view class_name() const override { return "LinearizeTracer"; }
};

// Primal and tangent of `value` for `trace`; values of outer traces are constants to it.
std::pair<Value, Value> split(const Trace& trace, const Value& value) {
  if (!trace.owns(value)) return {value, nullptr};
  const auto& tracer = static_cast<const DifferentiatedTracer&>(*value);
  return {tracer.primal(), tracer.tangent()};
}

// Tangents of ops that are not inexact do not exist; broadcast those of rank-0 operands.
void tidy_tangents(const Op& op, const Values& out, Values& t) {
  for (std::size_t i = 0; i < t.size(); ++i) {
    if (!t[i]) continue;
    if (!differentiable(out[i]->type())) {
      t[i] = nullptr;
    } else if (t[i]->shape() != out[i]->shape() || t[i]->dtype() != out[i]->dtype()) {
      throw InternalError(concat("the tangent of '", op.name, "' is ", to_string(t[i]->type()),
                                 ", its output ", to_string(out[i]->type())));
    }
  }
}

bool any_known(const Values& values) {
  return std::any_of(values.begin(), values.end(), [](const Value& v) { return bool(v); });
}

// Applies an op's own rule to primals and tangents, at any level of these.
JvpResult jvp_rule(const Op& op, const Params& params, const Values& in, const Values& t) {
  JvpResult result;
  if (op.jvp_body && any_known(t)) {
    result = op.jvp_body(params, in, t);
  } else {
    result.out = shardax::bind(op, params, in);
    if (op.no_gradient || !any_known(t)) {
      result.t.resize(result.out.size());
    } else if (op.jvp) {
      result.t = op.jvp({params, in, result.out, t});
    } else {
      fail(ErrorKind::not_implemented_error, "Differentiation rule for '", op.name,
           "' not implemented.");
    }
  }
  tidy_tangents(op, result.out, result.t);
  return result;
}

// A rule of the user's own that closes over a differentiated value computes with it as with any
// other. Its results would be taken for constants.
void check_not_closed_over(const Trace& trace, const Op& op, const Params& params,
                           const JvpResult& result) {
  const auto own = [&](const Value& value) { return value && trace.owns(value); };
  if (std::none_of(result.out.begin(), result.out.end(), own) &&
      std::none_of(result.t.begin(), result.t.end(), own))
    return;
  fail_closed_over(op, params);
}

class JvpTrace final : public Trace {
 public:
  JvpTrace() : Trace(false) {}
  Values process(const Op& op, const Params& params, const Values& in) override {
    Values primals, tangents;
    for (const Value& value : in) {
      auto [primal, tangent] = split(*this, value);
      primals.push_back(std::move(primal));
      tangents.push_back(std::move(tangent));
    }
    JvpResult result = jvp_rule(op, params, primals, tangents);
    check_not_closed_over(*this, op, params, result);
    for (std::size_t i = 0; i < result.out.size(); ++i) {
      if (result.t[i]) result.out[i] = new JvpTracer(*this, result.out[i], result.t[i]);
    }
    return std::move(result.out);
  }
};

// A rule of the user's own may compute primal outputs together with tangents, as jvp of a loop
// does. They are then known only once the rule itself has been linearised, by the tangents.
JvpResult separated(const Op& op, const Params& params, const Values& primals,
                    const Values& tangents) {
  const std::size_t count = primals.size();
  Values zeros, moving;
  for (const Value& t : tangents) {
    if (!t) continue;
    zeros.push_back(ops::zeros(t->type()));
    moving.push_back(t);
  }
  std::vector<bool> has_tangent;
  const auto rule = [&](const Values& some) {
    Values t(count);
    for (std::size_t i = 0, next = 0; i < count; ++i) {
      if (tangents[i]) t[i] = some[next++];
    }
    JvpResult both = op.jvp_body(params, primals, t);
    Values out = both.out;
    for (const Value& value : both.t) {
      has_tangent.push_back(bool(value));
      if (value) out.push_back(value);
    }
    return out;
  };
  const LinearMap map = linearize(rule, zeros, std::vector<bool>(zeros.size(), true));
  const Values moved = shardax::apply(map, moving);
  JvpResult result;
  const std::size_t outputs = has_tangent.size();
  result.out.assign(map.out.begin(), map.out.begin() + static_cast<std::ptrdiff_t>(outputs));
  for (std::size_t i = 0, next = outputs; i < outputs; ++i)
    result.t.push_back(has_tangent[i] ? moved[next++] : Value());
  return result;
}

class LinearizeTrace final : public Trace {
 public:
  explicit LinearizeTrace(const Trace& recorder) : Trace(false), recorder_(recorder) {}
  Values process(const Op& op, const Params& params, const Values& in) override {
    Values primals, tangents;
    std::vector<bool> nonzero;
    for (const Value& value : in) {
      auto [primal, tangent] = split(*this, value);
      primals.push_back(std::move(primal));
      nonzero.push_back(bool(tangent));
      tangents.push_back(std::move(tangent));
    }
    JvpResult result;
    if (op.linearize && any_known(tangents)) {
      Linearized split = op.linearize(params, primals, nonzero);
      result.out = std::move(split.out);
      result.t = split.linear(tangents);
      tidy_tangents(op, result.out, result.t);
    } else {
      result = jvp_rule(op, params, primals, tangents);
      const auto unknown = [&](const Value& value) { return recorder_.owns(value); };
      if (op.jvp_body && std::any_of(result.out.begin(), result.out.end(), unknown)) {
        result = separated(op, params, primals, tangents);
        tidy_tangents(op, result.out, result.t);
      }
    }
    check_not_closed_over(*this, op, params, result);
    for (std::size_t i = 0; i < result.out.size(); ++i) {
      if (result.t[i]) result.out[i] = new GradTracer(*this, result.out[i], result.t[i]);
    }
    return std::move(result.out);
  }

 private:
  const Trace& recorder_;
};

}  // namespace

void set_array_text(std::string (*text)(const Value& array)) { array_text = text; }

void fail_closed_over(const Op& op, const Params& params) {
  const std::string_view called = op.name;
  const std::string_view what = called.substr(0, called.rfind("_call"));
  fail(ErrorKind::unexpected_tracer_error, "Detected differentiation of a ", what, " function ('",
       params.text(param::name),
       "') with respect to a closed-over value. That's not supported because the custom rule only "
       "specifies how to differentiate with respect to explicit input parameters. Try passing the "
       "closed-over value into the ",
       what, " function as an argument, and adapting the rule.");
}

bool is_differentiated(const Value& value) {
  return dynamic_cast<const JvpTracer*>(value.get()) ||
         dynamic_cast<const GradTracer*>(value.get());
}

bool differentiable(const Type& type) { return is_inexact(type.dtype); }

Type tangent_type(const Type& type) {
  return with_dtype(type, differentiable(type) ? type.dtype : DType::float0, type.weak);
}

JvpResult jvp(const ValueFunction& f, const Values& primals, const Values& tangents) {
  JvpTrace trace;
  Values in;
  for (std::size_t i = 0; i < primals.size(); ++i) {
    in.push_back(tangents[i] ? Value(new JvpTracer(trace, primals[i], tangents[i])) : primals[i]);
  }
  JvpResult result;
  for (const Value& value : f(in)) {
    auto [primal, tangent] = split(trace, value);
    result.out.push_back(std::move(primal));
    result.t.push_back(std::move(tangent));
  }
  return result;
}

LinearMap linearize(const ValueFunction& f, const Values& primals,
                    const std::vector<bool>& nonzero) {
  StagingTrace recorder(false);
  LinearMap map;
  Values tangents_out;
  {
    LinearizeTrace trace(recorder);
    Values in;
    for (std::size_t i = 0; i < primals.size(); ++i) {
      if (!nonzero[i]) {
        in.push_back(primals[i]);
        continue;
      }
      map.in_types.push_back(tangent_type(primals[i]->type()));
      in.push_back(new GradTracer(trace, primals[i], recorder.input(map.in_types.back())));
    }
    for (const Value& value : f(in)) {
      auto [primal, tangent] = split(trace, value);
      map.out.push_back(std::move(primal));
      map.nonzero.push_back(bool(tangent));
      if (tangent) tangents_out.push_back(std::move(tangent));
    }
  }
  StagingTrace::Result recorded = recorder.finish(tangents_out);
  map.program = std::move(recorded.program);
  map.residuals = std::move(recorded.captured);
  return map;
}

Values apply(const LinearMap& map, const Values& tangents) {
  Values in = tangents;
  in.insert(in.end(), map.residuals.begin(), map.residuals.end());
  const Values some = evaluate(*map.program, in);
  Values out;
  std::size_t next = 0;
  for (bool nonzero : map.nonzero) out.push_back(nonzero ? some[next++] : Value());
  return out;
}

bool covers(const std::vector<bool>& found, const std::vector<bool>& wanted) {
  return std::equal(wanted.begin(), wanted.end(), found.begin(),
                    [](bool w, bool f) { return f || !w; });
}

JvpProgram jvp_program(const ProgramPtr& program, const std::vector<bool>& nonzero,
                       const std::vector<bool>* wanted) {
  if (wanted) {
    const JvpProgram plain = jvp_program(program, nonzero);
    if (covers(plain.nonzero, *wanted)) return plain;
  }
  std::string key = mask_key("jvp", nonzero);
  if (wanted) key = mask_key(key, *wanted);
  return *program->derived<JvpProgram>(key, [&] {
    auto result = std::make_shared<JvpProgram>();
    Types types = program->input_types();
    const std::size_t count = types.size();
    for (std::size_t i = 0; i < count; ++i) {
      if (nonzero[i]) types.push_back(tangent_type(types[i]));
    }
    result->program = stage_closed(
        types,
        [&](const Values& in) {
          const Values primals(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(count));
          Values tangents(count);
          for (std::size_t i = 0, next = count; i < count; ++i) {
            if (nonzero[i]) tangents[i] = in[next++];
          }
          JvpResult both =
              jvp([&](const Values& v) { return evaluate(*program, v); }, primals, tangents);
          Values out = both.out;
          for (std::size_t i = 0; i < both.t.size(); ++i) {
            const bool force = wanted && (*wanted)[i];
            if (force && !both.t[i]) both.t[i] = ops::zeros(tangent_type(both.out[i]->type()));
            result->nonzero.push_back(bool(both.t[i]));
            if (both.t[i]) out.push_back(both.t[i]);
          }
          return out;
        },
        program->name);
    return result;
  });
}

LinearizedProgram linearize_program(const ProgramPtr& program, const std::vector<bool>& nonzero,
                                    const std::vector<bool>* wanted) {
  if (wanted) {
    const LinearizedProgram plain = linearize_program(program, nonzero);
    if (covers(plain.nonzero, *wanted)) return plain;
  }
  std::string key = mask_key("linearize", nonzero);
  if (wanted) key = mask_key(key, *wanted);
  return *program->derived<LinearizedProgram>(key, [&] {
    auto result = std::make_shared<LinearizedProgram>();
    LinearMap map;
    result->known = stage_closed(
        program->input_types(),
        [&](const Values& in) {
          map = linearize([&](const Values& v) { return evaluate(*program, v); }, in, nonzero);
          Values out = map.out;
          out.insert(out.end(), map.residuals.begin(), map.residuals.end());
          return out;
        },
        program->name);
    result->residual_count = map.residuals.size();
    for (const Value& residual : map.residuals) result->residual_types.push_back(residual->type());
    result->nonzero = map.nonzero;
    Types types = result->residual_types;
    types.insert(types.end(), map.in_types.begin(), map.in_types.end());
    result->linear = stage_closed(
        types,
        [&](const Values& in) {
          const auto middle = in.begin() + static_cast<std::ptrdiff_t>(result->residual_count);
          Values inner(middle, in.end());
          inner.insert(inner.end(), in.begin(), middle);
          const Values some = evaluate(*map.program, inner);
          Values out;
          for (std::size_t i = 0, next = 0; i < map.nonzero.size(); ++i) {
            const bool force = wanted && (*wanted)[i];
            if (map.nonzero[i]) {
              out.push_back(some[next++]);
            } else if (force) {
              out.push_back(ops::zeros(tangent_type(map.out[i]->type())));
              result->nonzero[i] = true;
            }
          }
          return out;
        },
        program->name);
    return result;
  });
}

}  // namespace shardax

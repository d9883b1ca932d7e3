// control/pmap.cpp - pmap: a per-device program, run over a device axis.
//
// The body has one device's shapes. Transformations act on it as on any body; the device axis
// becomes an array axis only when the op is compiled (compile/simplify/pattern_driver.cpp).
#include "array/checked_axis.h"
#include "base/errors.h"
#include "base/index.h"
#include "control/control.h"
#include "ops/collectives/process_ops.h"
#include "ops/ops.h"
#include "runtime/processes.h"
#include "trace/stage.h"

namespace shardax {
namespace {

extern const Op pmap_op;

Params params_with(const Params& params, const ProgramPtr& body, const Ints& in_axes,
                   const Ints& out_axes) {
  return params.with("jaxpr", body).with("in_axes", in_axes).with("out_axes", out_axes);
}

// The axis, in scope while the body is transformed: rules of the user's own may name it.
BoundAxis axis_of(const Params& params) {
  return {params.axes(param::axis_name)[0], params.integer(param::axis_size), true};
}

Types pmap_type(const Op&, const Types&, const Params& params) {
  Types out = params.program(param::jaxpr)->output_types();
  const Ints& out_axes = params.ints(param::out_axes);
  const std::size_t names = params.axes(param::axis_name).size();
  if (names != 1 || params.integer(param::axis_size) < 0 || out_axes.size() != out.size()) {
    value_error("pmap: ", names, " axes of size ", params.integer(param::axis_size), ", and ",
                out_axes.size(), " out_axes for ", out.size(),
                " results; one axis and an entry for each result were expected.");
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out_axes[i] > static_cast<std::int64_t>(out[i].rank())) {
      value_error("pmap: out_axes ", to_string(out_axes), " do not go with result ", i, " of type ",
                  to_string(out[i]), ".");
    }
    if (out_axes[i] >= 0) {
      out[i].insert_dimension(index(out_axes[i]), params.integer(param::axis_size));
    }
    out[i].varying = without(out[i].varying, params.axes(param::axis_name)[0]);
  }
  return out;
}

JvpResult pmap_jvp(const Params& params, const Values& in, const Values& t) {
  const std::vector<bool> nonzero = nonnull(t);
  const ProgramPtr& body = params.program(param::jaxpr);
  const JvpProgram derivative = [&] {
    const AxisScope scope(axis_of(params));
    return jvp_program(body, nonzero);
  }();
  const Ints& in_axes = params.ints(param::in_axes);
  const Ints& out_axes = params.ints(param::out_axes);
  const Params outer =
      params_with(params, derivative.program, joined(in_axes, select(in_axes, nonzero)),
                  joined(out_axes, select(out_axes, derivative.nonzero)));
  const Values both = shardax::bind(pmap_op, outer, joined(in, select(t, nonzero)));
  const auto middle = both.begin() + static_cast<std::ptrdiff_t>(body->outputs.size());
  return {Values(both.begin(), middle), spread(Values(middle, both.end()), derivative.nonzero)};
}

// Over a checked axis, whether the devices have values of their own is a matter of types.
bool follows_types(const Params& params) { return is_checked(params.axes(param::axis_name)[0]); }

// The axis of a result without a given axis: stacked along a leading axis, or none if types say
// that all devices share the value.
std::int64_t free_axis(const Params& params, const Type& type) {
  const bool shared =
      follows_types(params) && !contains(type.varying, params.axes(param::axis_name)[0]);
  return shared ? -1 : 0;
}

// Residuals that are inputs of the body pass by outside, with the input's own axis.
Linearized pmap_linearize(const Params& params, const Values& in,
                          const std::vector<bool>& nonzero) {
  const ProgramPtr& body = params.program(param::jaxpr);
  const LinearizedProgram parts = [&] {
    const AxisScope scope(axis_of(params));
    return linearize_program(body, nonzero);
  }();
  const Ints& in_axes = params.ints(param::in_axes);
  const Ints& out_axes = params.ints(param::out_axes);
  const std::size_t outputs = body->outputs.size();
  MutableProgram known = copy_of(*parts.known);
  known->outputs.resize(outputs);
  Ints known_axes = out_axes;
  Ints residual_axes;
  std::vector<int> passed;  // per residual: the input it is, or -1
  for (std::size_t r = 0; r < parts.residual_count; ++r) {
    const Var var = parts.known->outputs[outputs + r];
    const auto& inputs = parts.known->inputs;
    const auto at = std::find(inputs.begin(), inputs.end(), var);
    if (at != inputs.end()) {
      passed.push_back(static_cast<int>(at - inputs.begin()));
      residual_axes.push_back(in_axes[index(at - inputs.begin())]);
    } else {
      passed.push_back(-1);
      known->outputs.push_back(var);
      known_axes.push_back(free_axis(params, parts.known->type(var)));
      residual_axes.push_back(known_axes.back());
    }
  }
  const ProgramPtr known_body = *body->derived<ProgramPtr>(
      mask_key("pmap_known", nonzero), [&] { return std::make_shared<ProgramPtr>(known); });
  const Values results =
      shardax::bind(pmap_op, params_with(params, known_body, in_axes, known_axes), in);
  Linearized result;
  result.out = Values(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(outputs));
  Values residuals;
  for (std::size_t r = 0, next = outputs; r < parts.residual_count; ++r) {
    residuals.push_back(passed[r] >= 0 ? in[index(passed[r])] : results[next++]);
  }
  const Params linear =
      params_with(params, parts.linear, joined(residual_axes, select(in_axes, nonzero)),
                  select(out_axes, parts.nonzero));
  result.linear = [linear, residuals, nonzero, mask = parts.nonzero](const Values& t) {
    return spread(shardax::bind(pmap_op, linear, joined(residuals, select(t, nonzero))), mask);
  };
  return result;
}

std::string text_of(const Types& types) {
  std::string text;
  for (const Type& type : types) {
    text += concat("|", short_string(type), type.weak ? "~" : "");
    for (AxisName name : type.varying) text += concat(",", name);
  }
  return text;
}

// Sums the outputs that `sum` selects of the pmap op with these params over their leading device
// axis. It is one program, which need not keep a slice for each device.
Values bind_summed(const Params& params, const std::vector<bool>& sum, const Values& in) {
  const Types types = types_of(in);
  const ProgramPtr& body = params.program(param::jaxpr);
  const std::string key =
      mask_key(concat("pmap_summed", params.integer(param::axis_size), ",",
                      params.axes(param::axis_name)[0], to_string(params.ints(param::in_axes)),
                      to_string(params.ints(param::out_axes)), text_of(types)),
               sum);
  const auto program = body->derived<ProgramPtr>(key, [&] {
    return std::make_shared<ProgramPtr>(stage_closed(
        types,
        [&](const Values& inputs) {
          Values out = shardax::bind(pmap_op, params, inputs);
          for (std::size_t i = 0; i < out.size(); ++i) {
            if (sum[i]) out[i] = ops::reduce_sum(out[i], {0});
          }
          return out;
        },
        body->name));
  });
  return bind_jit(*program, in);
}

// An unmapped linear input collects the cotangents of all devices: they come out stacked and are
// summed. An unmapped output stands for the first device's value; its cotangent is shared out
// equally, as every device computed it. Over a checked axis the body does both: all devices share
// an unmapped value, and so its cotangent. Each process has the cotangents of its own devices'
// results alone.
void refuse_between_processes(const Program& body) {
  if (runtime::process_count() == 1) return;
  for (const Equation& eqn : body.equations) {
    if (!any_equation(eqn, ops::is_between_processes)) continue;
    fail(
        ErrorKind::not_implemented_error,
        "gradient of a pmapped function that communicates with other processes: each process would "
        "have the gradient of the results of its own devices. Take the gradient within the mapped "
        "function and average it with lax.pmean, or map with shard_map over the devices of all "
        "processes.");
  }
}

Values pmap_transpose(const TransposeArgs& a) {
  refuse_between_processes(*a.params.program(param::jaxpr));
  const Ints& in_axes = a.params.ints(param::in_axes);
  const Ints& out_axes = a.params.ints(param::out_axes);
  const std::int64_t size = a.params.integer(param::axis_size);
  std::vector<bool> linear, known_mask;
  Values known;
  for (const Value& value : a.in) {
    linear.push_back(!value);
    known_mask.push_back(bool(value));
    if (value) known.push_back(value);
  }
  const std::vector<bool> nonzero = nonnull(a.ct);
  Values cts;
  for (std::size_t i = 0; i < a.ct.size(); ++i) {
    if (!a.ct[i]) continue;
    const bool shared = out_axes[i] < 0 && !follows_types(a.params);
    cts.push_back(shared
                      ? ops::div(a.ct[i], ops::scalar(a.ct[i]->dtype(), static_cast<double>(size)))
                      : a.ct[i]);
  }
  const ProgramPtr backward = [&] {
    const AxisScope scope(axis_of(a.params));
    return transpose_program(a.params.program(param::jaxpr), linear, nonzero);
  }();
  Ints ct_axes = select(in_axes, linear);
  std::vector<bool> sum;
  for (std::int64_t& axis : ct_axes) {
    sum.push_back(axis < 0 && !follows_types(a.params));
    if (sum.back()) axis = 0;
  }
  const Params outer = params_with(
      a.params, backward, joined(select(in_axes, known_mask), select(out_axes, nonzero)), ct_axes);
  const Values in = joined(known, cts);
  return spread(any(sum) ? bind_summed(outer, sum, in) : shardax::bind(pmap_op, outer, in), linear);
}

// The batch becomes the body's leading axis; mapped axes move one up.
Batched pmap_batch(const BatchArgs& a) {
  const BatchedProgram body = [&] {
    const AxisScope scope(axis_of(a.params));
    return batch_program(a.params.program(param::jaxpr), a.batched, a.axis);
  }();
  Ints in_axes = a.params.ints(param::in_axes);
  Ints out_axes = a.params.ints(param::out_axes);
  Values in = a.in;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (a.batched[i] && in_axes[i] >= 0) ++in_axes[i];
  }
  for (std::size_t i = 0; i < body.batched.size(); ++i) {
    if (body.batched[i] && out_axes[i] >= 0) ++out_axes[i];
  }
  return {shardax::bind(pmap_op, params_with(a.params, body.program, in_axes, out_axes), in),
          body.batched};
}

// An axis of -1 says that the value is not mapped.
std::vector<RegionPort> ports_of(const Ints& axes) {
  std::vector<RegionPort> out;
  for (const std::int64_t axis : axes)
    out.push_back(axis < 0 ? RegionPort{PortKind::whole} : RegionPort{PortKind::sliced, axis});
  return out;
}
Ints axes_of(const std::vector<RegionPort>& ports) {
  Ints out;
  for (const RegionPort& port : ports)
    out.push_back(port.flow == PortKind::sliced ? port.axis : -1);
  return out;
}

Regions pmap_regions(const Params& params) {
  Regions out;
  out.runs = ExecutionKind::mapped;
  out.programs = {params.program(param::jaxpr)};
  out.operands = ports_of(params.ints(param::in_axes));
  out.results = ports_of(params.ints(param::out_axes));
  out.length = params.integer(param::axis_size);
  out.axis = params.axes(param::axis_name)[0];
  out.axes = {{out.axis, out.length}};
  return out;
}

Params pmap_with_regions(const Params& params, const Regions& regions) {
  return params_with(params, regions.programs[0], axes_of(regions.operands),
                     axes_of(regions.results));
}

const Op pmap_op{{.name = "pmap",
                  .doc = "Runs a per-device program over a mapped axis.",
                  .kind = Kind::control,
                  .type = pmap_type,
                  .jvp_body = pmap_jvp,
                  .linearize = pmap_linearize,
                  .transpose = pmap_transpose,
                  .batch = pmap_batch,
                  .regions = pmap_regions,
                  .with_regions = pmap_with_regions}};

}  // namespace

Values mapped_first(const Values& in, const Ints& axes) {
  Values out;
  for (std::size_t i = 0; i < in.size(); ++i)
    out.push_back(axes[i] > 0 ? ops::moveaxis(in[i], axes[i], 0) : in[i]);
  return out;
}

Value place_mapped(const Value& value, bool mapped, std::int64_t axis, std::int64_t size) {
  if (axis < 0) return mapped ? ops::index_in_dim(value, 0, 0) : value;
  const Value leading = mapped ? value : ops::broadcast_leading(value, size);
  return axis == 0 ? leading : ops::moveaxis(leading, 0, axis);
}

Values run_mapped(const ValueFunction& body, const Regions& regions, const Values& in) {
  std::vector<bool> mapped;
  for (const RegionPort& port : regions.operands) mapped.push_back(port.flow == PortKind::sliced);
  Batched out = batch(body, mapped_first(in, axes_of(regions.operands)), mapped,
                      {regions.length, regions.axis, true});
  const Ints out_axes = axes_of(regions.results);
  for (std::size_t i = 0; i < out.out.size(); ++i)
    out.out[i] = place_mapped(out.out[i], out.batched[i], out_axes[i], regions.length);
  return out.out;
}

}  // namespace shardax

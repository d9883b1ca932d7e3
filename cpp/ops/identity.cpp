// ops/identity.cpp - ops that give their operand and mean something to transformations only.
#include <algorithm>
#include <atomic>

#include "array/sharding_text.h"
#include "base/errors.h"
#include "base/lists.h"
#include "ops/dim_rules.h"
#include "ops/family.h"
#include "ops/param_checks.h"
#include "ops/sharding_rules/sharding_rules.h"

namespace shardax::ops {
namespace {

bool same_view(const Params&, const Type&, const Shape& strides, const Type&, ViewLayout& result) {
  result.strides = strides;
  return true;
}

extern const Op optimization_barrier_op, name_op, sharding_constraint_op, reshard_op, move_op,
    layout_constraint_op;

const Op stop_gradient_op{
    {.name = "stop_gradient",
     .operands = 1,
     .doc = "The operand, whose derivative is taken to be zero.",
     .kind = Kind::layout,
     .dtypes = any_dtype,
     .type = [](const Op&, const Types& in, const Params&) -> Types { return {in[0]}; },
     .batch = [](const BatchArgs& a) -> Batched { return batched1(bind1(a.op, a.params, a.in)); },
     .no_gradient = true,
     .half_native = true,
     .view = same_view,
     .dims = dims_elementwise}};

Types type_of_operand(const Op&, const Types& in, const Params&) { return {in[0]}; }

Batched batch_identity(const BatchArgs& a) { return batched1(bind1(a.op, a.params, a.in)); }

// Equal barriers with different `id` are never merged, and nothing is moved through them. Values
// computed from a barrier's result are computed anew.
const Op optimization_barrier_op{
    {.name = "optimization_barrier",
     .operands = 1,
     .doc = "The operand, opaque to optimisation.",
     .kind = Kind::layout,
     .dtypes = any_dtype,
     .type = type_of_operand,
     .jvp = [](const JvpArgs& a) -> Values { return {optimization_barrier(a.t[0])}; },
     .transpose = [](const TransposeArgs& a) -> Values { return {optimization_barrier(a.ct[0])}; },
     .batch = batch_identity,
     .half_native = true,
     .view = same_view,
     .dims = dims_elementwise,
     .show = [](const Params&) { return std::vector<std::string>(); }}};

const Op name_op{
    {.name = "name",
     .operands = 1,
     .doc = "The operand, named for the policies of checkpoint.",
     .kind = Kind::layout,
     .dtypes = any_dtype,
     .type = type_of_operand,
     .jvp = [](const JvpArgs& a) -> Values { return {bind1(name_op, a.params, {a.t[0]})}; },
     .transpose = [](const TransposeArgs& a) -> Values { return {a.ct[0]}; },
     .batch = batch_identity,
     .half_native = true,
     .view = same_view,
     .dims = dims_elementwise}};

// The new dimension stays split as it is.
Batched batch_sharding_constraint(const BatchArgs& a) {
  const ShardingPtr& given = a.params.get(param::sharding);
  std::vector<std::vector<std::string>> spec = given->spec;
  if (!given->named && !a.axis.split.empty())
    value_error(
        "If you are using spmd_axis_name parameter of jax.vmap, please make sure to run your "
        "jitted function inside the mesh context manager, and to name a NamedSharding. Got ",
        to_string(*given));
  const bool split = std::all_of(a.axis.split.begin(), a.axis.split.end(),
                                 [&](const auto& name) { return has(given->mesh_axes, name); });
  for (const std::vector<std::string>& names : spec) {
    for (const std::string& name : names) {
      if (split && has(a.axis.split, name))
        value_error("with_sharding_constraint: the mesh axis '", name,
                    "' is vmap's spmd_axis_name, which splits the mapped dimension, and cannot "
                    "split another; got ",
                    to_string(*given));
    }
  }
  spec.insert(spec.begin(), split ? a.axis.split : std::vector<std::string>());
  Ints free;
  if (spec[0].empty()) free.push_back(0);
  for (const std::int64_t d : a.params.ints(param::unconstrained_dims)) free.push_back(d + 1);
  return batched1(sharding_constraint(a.in[0], with_spec(*given, std::move(spec)), free));
}

std::vector<std::string> show_sharding_constraint(const Params& params) {
  const Ints& dims = params.ints(param::unconstrained_dims);
  std::string open;
  for (const std::int64_t d : dims) open += concat(open.empty() ? "" : ", ", d);
  return {"context_mesh=Mesh()", "layout=None",
          concat("sharding=", open_text(*params.get(param::sharding), dims)),
          concat("unconstrained_dims=frozenset({", open, "})")};
}

// Does it take the splitting of `x` out of its type, which stays as it is?
bool frees(const Params& params, const Type& x) {
  return x.sharding && !params.get(param::sharding)->is_explicit() &&
         params.ints(param::unconstrained_dims).size() == x.rank();
}

// Over explicit axes the label is part of the type.
Types type_of_constrained(const Op& op, const Types& in, const Params& params) {
  Type out = in[0];
  const ShardingPtr& given = checked_sharding(op, params, "sharding", out.rank());
  check_dims(op, "unconstrained_dims", params.ints(param::unconstrained_dims), out.rank());
  if (params.has("from")) checked_sharding(op, params, "from", out.rank());
  out.host = given->on_host();
  if (!out.sharding && given->is_explicit()) {
    Split spec = given->spec;
    spec.resize(out.rank());
    out.sharding = with_spec(*given, std::move(spec));
  }
  return {out};
}

// Over axes that types show, a constraint is the op `reshard`.
Value constrained(const Params& params, const Value& x) {
  const bool typed =
      params.get(param::sharding)->is_explicit() && params.ints(param::unconstrained_dims).empty();
  return bind1(typed || frees(params, x->type()) ? reshard_op : sharding_constraint_op, params,
               {x});
}

// An array that the constraint brings to other devices says where its cotangent goes: back
// ("from").
Values jvp_constrained(const JvpArgs& a) {
  const ShardingPtr& given = a.params.get(param::sharding);
  if (a.in[0]->is_tracer()) return {constrained(a.params, a.t[0])};
  const ShardingPtr& own = as_array(a.in[0]).sharding();
  const bool placed = own && !own->axis_types.starts_with('p');
  const bool moves = placed && !given->devices.empty() && own->devices != given->devices;
  return {constrained(moves ? a.params.with("from", own) : a.params, a.t[0])};
}

// The kind of memory that types show.
constexpr std::string_view host_memory = "pinned_host";
std::string memory_of(const Type& type) { return std::string(type.host ? host_memory : ""); }

// Over axes that types show, a cotangent takes the operand's split from its consumer. For an
// operand without a sharding, it becomes whole.
Value split_back(const Params& params, const Type& operand, const Value& ct) {
  const ShardingPtr& given = params.get(param::sharding);
  if (operand.host != given->on_host())
    return constrained(params.with("sharding", with_memory(*given, memory_of(operand))), ct);
  if (!given->is_explicit() || !params.ints(param::unconstrained_dims).empty())
    return constrained(params, ct);
  if (operand.sharding) return ct;
  const ShardingPtr whole = with_sums(*with_spec(*given, Split(operand.rank())), {}, {});
  return constrained(params.with("sharding", whole), ct);
}

Values transpose_constrained(const TransposeArgs& a) {
  const ParamValue* from = a.params.find("from");
  if (!from) return {split_back(a.params, a.in_types[0], a.ct[0])};
  const Params back = a.params.with("from", a.params.get(param::sharding));
  return {constrained(back.with("sharding", *from), a.ct[0])};
}

// The shardings of arrays follow programs as they were written (analysis/shardings.h).
OpSpec constraint(OpSpec own) {
  own.kind = Kind::layout;
  own.dtypes = any_dtype;
  own.type = type_of_constrained;
  own.jvp = jvp_constrained;
  own.transpose = transpose_constrained;
  own.batch = batch_sharding_constraint;
  own.half_native = true;
  own.view = same_view;
  own.dims = dims_elementwise;
  own.split = split_constrained;
  return own;
}

const Op sharding_constraint_op{constraint({.name = "sharding_constraint",
                                            .operands = 1,
                                            .doc = "The operand, labelled with a sharding.",
                                            .show = show_sharding_constraint})};

// Users know the sharding by the name that it has in JAX, too.
const Op reshard_op{
    constraint({.name = "reshard",
                .operands = 1,
                .doc = "The operand, split as `sharding` says over axes that types show.",
                .show = [](const Params&) { return std::vector<std::string>(); },
                .shown_params = [](const Params& params) -> Params {
                  return params.with("dst_sharding", params.get(param::sharding));
                }})};

// A cotangent goes back to where the operand lies.
Values jvp_moved(const JvpArgs& a) { return {bind1(move_op, a.params, {a.t[0]})}; }

Values transpose_moved(const TransposeArgs& a) {
  return {moved(a.ct[0], memory_of(a.in_types[0]), a.params.get(param::otherwise))};
}

const Op move_op{{.name = "device_put",
                  .operands = 1,
                  .doc = "The operand, labelled with another kind of memory.",
                  .kind = Kind::layout,
                  .dtypes = any_dtype,
                  .type = [](const Op&, const Types& in, const Params& params) -> Types {
                    Type out = in[0];
                    out.host = params.text(param::memory) == host_memory;
                    params.get(param::otherwise);
                    return {out};
                  },
                  .jvp = jvp_moved,
                  .transpose = transpose_moved,
                  .batch = batch_identity,
                  .half_native = true,
                  .view = same_view,
                  .dims = dims_elementwise,
                  .show = [](const Params& params) -> std::vector<std::string> {
                    const bool host = !params.text(param::memory).empty();
                    return {"copy_semantics=(ArrayCopySemantics.REUSE_INPUT,)",
                            concat("devices=(MemorySpace.", host ? "Host" : "Device", ",)"),
                            "srcs=(None,)"};
                  }}};

// A new leading dimension comes first.
Batched batch_layout(const BatchArgs& a) {
  Ints layout{0};
  for (const std::int64_t dimension : a.params.ints(param::layout)) layout.push_back(dimension + 1);
  return batched1(bind1(a.op, a.params.with("layout", layout), a.in));
}

std::vector<std::string> show_layout(const Params& params) {
  const Ints& layout = params.ints(param::layout);
  std::string order;
  for (const std::int64_t dimension : layout) order += concat(order.empty() ? "" : ", ", dimension);
  return {concat("layout=Layout(major_to_minor=(", order, layout.size() == 1 ? "," : "",
                 "), tiling=None, sub_byte_element_size_in_bits=0)")};
}

const Op layout_constraint_op{
    {.name = "layout_constraint",
     .operands = 1,
     .doc = "The operand, labelled with an order of dimensions, from major to minor.",
     .kind = Kind::layout,
     .dtypes = any_dtype,
     .type = [](const Op& op, const Types& in, const Params& params) -> Types {
       check_dims(op, "layout", params.ints(param::layout), in[0].rank());
       return {in[0]};
     },
     .jvp = [](const JvpArgs& a) -> Values { return {bind1(layout_constraint_op, a.params, a.t)}; },
     .transpose = [](const TransposeArgs& a) -> Values {
       return {bind1(layout_constraint_op, a.params, a.ct)};
     },
     .batch = batch_layout,
     .half_native = true,
     .view = same_view,
     .dims = dims_elementwise,
     .show = show_layout}};

}  // namespace

Value moved(const Value& a, const std::string& memory, const ShardingPtr& otherwise) {
  return bind1(move_op, {{"memory", memory}, {"otherwise", otherwise}}, {a});
}

Value sharding_constraint(const Value& a, ShardingPtr sharding, const Ints& unconstrained) {
  return constrained({{"sharding", std::move(sharding)}, {"unconstrained_dims", unconstrained}}, a);
}

Value optimization_barrier(const Value& a) {
  static std::atomic<std::int64_t> next{0};
  return bind1(optimization_barrier_op, {{"id", next++}}, {a});
}

}  // namespace shardax::ops

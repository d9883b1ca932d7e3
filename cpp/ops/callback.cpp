// ops/callback.cpp - calls of the host's functions while a program runs.
//
// A callback is a step on the calling thread. Over a mapped axis it is called once per slice, in
// order. Over a device axis it always is, whether or not its operands vary, unless it is pure. The
// innermost of nested batches is the outer loop, as it is in JAX.
#include "ops/callback.h"

#include "base/per_thread.h"
#include "kernels/copy/copy.h"
#include "ops/family.h"

namespace shardax {
namespace {

std::string& slice_in_progress() { return per_thread<std::string, struct SliceInProgress>(); }

}  // namespace

const std::string& callback_slice() { return slice_in_progress(); }

CallbackSlice::CallbackSlice(std::string text) : outer_(slice_in_progress()) {
  std::string& slice = slice_in_progress();
  slice = outer_.empty() ? std::move(text) : concat(outer_, ", ", text);
}
CallbackSlice::~CallbackSlice() { slice_in_progress() = std::move(outer_); }

namespace ops {
namespace {

// The role of a leading dimension of the operands: a callback is called once along it, or takes it
// whole.
enum Axis : std::int64_t { whole = 0, batch_loop = 1, device_loop = 2 };

Types callback_type(const Op&, const Types&, const Params& params) {
  params.function(param::callback);
  return params.get(param::result_types);
}

// One slice of a window, in memory of its own.
Value slice_copy(const View& view, bool weak, const Ints& axes, const Shape& index) {
  Type type;
  type.dtype = view.dtype;
  type.weak = weak;
  Shape strides;
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < view.shape.size(); ++d) {
    if (d < axes.size() && axes[d] != whole) {
      offset += index[d] * view.strides[d];
    } else {
      type.shape.push_back(view.shape[d]);
      strides.push_back(view.strides[d]);
    }
  }
  const ArrayPtr out = empty_array(type);
  kernels::copy_strided(out->data(), out->strides(), view.data + offset * itemsize(view.dtype),
                        strides, type.shape, itemsize(view.dtype));
  return out;
}

// A function of the host may break its promise of types and shapes.
void check_result(const Array& value, DType dtype, const Shape& shape) {
  if (value.shape() == shape && value.dtype() == dtype) return;
  fail(ErrorKind::runtime_error, "Incorrect output shape: the callback returned an array of shape ",
       to_string(value.shape()), " and dtype ", name(value.dtype()), " where shape ",
       to_string(shape), " and dtype ", name(dtype),
       " were expected; under vmap with vmap_method 'expand_dims' or 'broadcast_all', results "
       "have a leading dimension of the batch's size.");
}

void store_slice(const View& view, const Ints& axes, const Shape& index, const Array& value) {
  Shape shape, strides;
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < view.shape.size(); ++d) {
    if (d < axes.size() && axes[d] != whole) {
      offset += index[d] * view.strides[d];
    } else {
      shape.push_back(view.shape[d]);
      strides.push_back(view.strides[d]);
    }
  }
  check_result(value, view.dtype, shape);
  kernels::copy_strided(view.data + offset * itemsize(view.dtype), strides, value.data(),
                        value.strides(), value.shape(), itemsize(view.dtype));
}

std::string slice_text(const Ints& axes, const Shape& index) {
  std::string out;
  for (std::size_t d = 0; d < axes.size(); ++d) {
    if (axes[d] == whole) continue;
    out += concat(out.empty() ? "" : ", ", axes[d] == device_loop ? "device " : "batch element ",
                  index[d]);
  }
  return out;
}

// The looped dimensions, those that go fastest first: batches, from the outermost; then devices.
SmallVector<std::size_t, 4> turning(const Ints& axes) {
  SmallVector<std::size_t, 4> out;
  for (std::size_t d = 0; d < axes.size(); ++d)
    if (axes[d] == batch_loop) out.push_back(d);
  for (std::size_t d = axes.size(); d-- > 0;)
    if (axes[d] == device_loop) out.push_back(d);
  return out;
}

Kernel calls(std::vector<bool> weak, const Params& params) {
  return [weak = std::move(weak), function = params.get(param::callback),
          axes = params.ints(param::axes), sizes = params.ints(param::axis_sizes)](
             std::span<const View> in, std::span<const View> out) {
    const EagerScope eager;  // the callback's own ops compute at once, under no mapped axis
    const AxisEnvironment no_axes({});
    Shape index(axes.size(), 0);
    std::int64_t count = 1;
    const auto loops = turning(axes);
    for (const std::size_t d : loops) count *= sizes[d];
    for (std::int64_t n = 0; n < count; ++n) {
      Values operands;
      for (std::size_t i = 0; i < in.size(); ++i)
        operands.push_back(slice_copy(in[i], weak[i], axes, index));
      const CallbackSlice scope(slice_text(axes, index));
      const Values results = function->call(operands).at(0);
      for (std::size_t i = 0; i < out.size(); ++i)
        store_slice(out[i], axes, index, as_array(results.at(i)));
      for (const std::size_t d : loops) {
        if (++index[d] < sizes[d]) break;
        index[d] = 0;
      }
    }
  };
}

// Operands of a callback in a program have no weak type.
Kernel callback_kernel(const Types& in_types, const Types&, const Params& params) {
  return calls(std::vector<bool>(in_types.size(), false), params);
}

template <bool keeps_weak>
Values callback_eager(const Params& params, const Values& in) {
  std::vector<View> views;
  std::vector<bool> weak;
  for (const Value& value : in) {
    weak.push_back(keeps_weak && value->type().weak);
    const Array& array = as_array(value);
    views.push_back({array.data(), array.dtype(), array.shape(), array.strides()});
  }
  Values out;
  for (const Type& type : params.get(param::result_types)) {
    const ArrayPtr result = empty_array(type);
    views.push_back({result->data(), result->dtype(), result->shape(), result->strides()});
    out.push_back(result);
  }
  const std::span<const View> all(views);
  calls(std::move(weak), params)(all.first(in.size()), all.subspan(in.size()));
  return out;
}

// The new axis comes first. The method says how a callback is called over a batch.
Batched callback_batch(const BatchArgs& a) {
  const std::string& method = a.params.text(param::vmap_method);
  Axis axis = a.axis.devices ? device_loop : batch_loop;
  if (!a.axis.devices) {
    if (method == "ordered") value_error("Cannot `vmap` ordered IO callback.");
    if (method == "none") {
      fail(ErrorKind::not_implemented_error, "vmap is only supported for the ", a.op.name,
           " primitive when vmap_method is one of 'sequential', 'sequential_unrolled', "
           "'expand_dims', 'broadcast_all', or 'legacy_vectorized'. Got vmap_method=None.");
    }
    if (method != "sequential") axis = whole;
  }
  Values in = a.in;
  Ints axes = a.params.ints(param::axes), sizes = a.params.ints(param::axis_sizes);
  // The oldest method hands operands on as they are. The axes of a loop are those of all operands.
  const bool as_they_are = axis == whole && method == "legacy_vectorized" &&
                           std::all_of(axes.begin(), axes.end(), [](auto a) { return a == whole; });
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (a.batched[i] || as_they_are) continue;
    in[i] = broadcast_leading(in[i], axis == whole && method == "expand_dims" ? 1 : a.axis.size);
  }
  Types types = a.params.get(param::result_types);
  for (Type& type : types) type.insert_dimension(0, a.axis.size, a.axis.split);
  axes.insert(0, axis);
  sizes.insert(0, a.axis.size);
  Params params = a.params;
  params.set("result_types", types);
  params.set("axes", axes);
  params.set("axis_sizes", sizes);
  Values out = shardax::bind(a.op, params, in);
  std::vector<bool> mask(out.size(), true);
  return {std::move(out), std::move(mask)};
}

std::vector<std::string> show_callback(const Params& params) {
  const std::string& method = params.text(param::vmap_method);
  std::vector<std::string> out{"callback=" + params.function(param::callback).text()};
  const Types& types = params.get(param::result_types);
  if (!types.empty()) out.push_back("result_avals=" + to_string(ParamValue(types)));
  out.push_back("vmap_method=" + (method == "none" ? "None" : method));
  return out;
}

constexpr OpSpec callback(std::string_view name, std::string_view doc) {
  return {.name = name,
          .doc = doc,
          .dtypes = any_dtype,
          .type = callback_type,
          .batch = callback_batch,
          .eager = callback_eager<false>,
          .kernel = callback_kernel,
          .show = show_callback,
          .keys = KeyUse::reads};
}

constexpr OpSpec effectful(std::string_view effect, OpSpec spec) {
  spec.effect = effect;
  return spec;
}
constexpr OpSpec without_gradient(OpSpec spec) {
  spec.no_gradient = true;
  return spec;
}
constexpr OpSpec as_given(OpSpec spec) {
  spec.eager = callback_eager<true>;
  return spec;
}
// Derivatives are refused before the function is called.
constexpr OpSpec with_jvp(OpSpec spec, JvpBodyRule rule) {
  spec.jvp_body = rule;
  return spec;
}

[[noreturn]] JvpResult pure_jvp(const Params&, const Values&, const Values&) {
  value_error(
      "Pure callbacks do not support JVP. Please use `jax.custom_jvp` to use callbacks while "
      "taking gradients.");
}
[[noreturn]] JvpResult io_jvp(const Params&, const Values&, const Values&) {
  value_error(
      "IO callbacks do not support JVP. Wrap the function that calls them with `custom_jvp` or "
      "`custom_vjp`.");
}

[[noreturn]] Values io_transpose(const TransposeArgs&) {
  value_error("IO callbacks do not support transpose. Transpose a function without io_callback.");
}
constexpr OpSpec with_transpose(OpSpec spec, TransposeRule rule) {
  spec.transpose = rule;
  return spec;
}

const Op debug_callback_op{as_given(without_gradient(effectful(
    "Debug", callback("debug_callback", "Calls a function of the host for its effect."))))};
const Op io_callback_op{with_transpose(
    with_jvp(
        effectful("IO", callback("io_callback", "Calls a function of the host that has effects.")),
        io_jvp),
    io_transpose)};
const Op pure_callback_op{
    with_jvp(callback("pure_callback", "Calls a pure function of the host."), pure_jvp)};

// Nothing is left to do when the program runs: analysis/shardings.h has called the function.
Kernel no_kernel(const Types&, const Types&, const Params&) {
  return [](std::span<const View>, std::span<const View>) {};
}

const Op inspect_op{without_gradient(effectful(
    "Debug", {.name = "inspect_sharding",
              .operands = 1,
              .doc = "Tells a function of the host how its operand is split over devices.",
              .dtypes = any_dtype,
              .type = callback_type,
              .batch = [](const BatchArgs& a) -> Batched {
                return {shardax::bind(a.op, a.params, a.in), {}};
              },
              .eager = [](const Params& params, const Values& in) -> Values {
                params.function(param::callback).call(in);
                return {};
              },
              .kernel = no_kernel,
              .show = show_callback}))};

}  // namespace
}  // namespace ops

bool does_io(const Program& program) {
  const auto test = [](const Equation& eqn) { return eqn.op == &ops::io_callback_op; };
  return std::any_of(program.equations.begin(), program.equations.end(),
                     [&](const Equation& eqn) { return any_equation(eqn, test); });
}

namespace ops {

Values call_host(std::string_view op, const FunctionPtr& function, const Types& results,
                 const std::string& vmap_method, const Values& in) {
  return shardax::bind(*find_op(op),
                       {{"callback", function},
                        {"result_types", results},
                        {"vmap_method", vmap_method},
                        {"axes", Ints()},
                        {"axis_sizes", Ints()}},
                       in);
}

}  // namespace ops
}  // namespace shardax

// numpy/promote.cpp - common dtypes and shapes of operands; compositions that run as one op.
#include "numpy/promote.h"

#include <atomic>
#include <unordered_map>

#include "base/errors.h"
#include "base/per_thread.h"
#include "control/control.h"
#include "ir/core_ops.h"
#include "numpy/casts.h"
#include "trace/captures.h"
#include "trace/stage.h"

namespace shardax::numpy {

using namespace ops;

namespace {

std::atomic<bool> x64_default{false};
constinit thread_local int x64_of_thread = -1;
std::atomic<ExplicitX64> explicit_rule{ExplicitX64::warn};
std::atomic<bool> strict_dtypes{false};
std::atomic<RankPromotion> rank_promotion{RankPromotion::allow};
Warner warn = nullptr;
bool (*is_user_code)() = nullptr;
constinit thread_local int user_operands = 0;

bool settings_hold() { return user_operands > 0 || !is_user_code || is_user_code(); }

}  // namespace

bool x64_enabled() {
  return x64_of_thread < 0 ? x64_default.load(std::memory_order_relaxed) : x64_of_thread > 0;
}
void set_x64_default(bool enabled) { x64_default = enabled; }
int x64_override() { return x64_of_thread; }
void set_x64_override(int enabled) { x64_of_thread = enabled; }

ExplicitX64 explicit_x64() { return explicit_rule.load(std::memory_order_relaxed); }
void set_explicit_x64(ExplicitX64 rule) { explicit_rule = rule; }

void set_strict_dtypes(bool strict) { strict_dtypes = strict; }
void set_rank_promotion(RankPromotion rule, Warner warner) {
  rank_promotion = rule;
  warn = warner;
}

void set_promotion_scope(bool (*test)()) { is_user_code = test; }
UserOperands::UserOperands() { ++user_operands; }
UserOperands::~UserOperands() { --user_operands; }

DType default_int() { return x64_enabled() ? DType::int64 : DType::int32; }
DType default_float() { return x64_enabled() ? DType::float64 : DType::float32; }
DType default_complex() { return x64_enabled() ? DType::complex128 : DType::complex64; }

WeakDType lattice_type(const Value& value) { return {value->dtype(), value->type().weak}; }

// ValueError or TypeError: see join_types.
[[noreturn]] static void refuse_keys(std::span<const WeakDType> types, std::string_view function) {
  std::string dtypes;
  for (const WeakDType& type : types)
    dtypes += concat(dtypes.empty() ? "" : ", ", name(canonical_dtype(type.dtype)));
  const std::string text =
      concat(function.empty() ? "promotion" : function, " does not accept dtype",
             types.size() > 1 ? "s " : " ", dtypes,
             ". PRNG keys are no numbers; jax.random.key_data gives their words.");
  if (function.empty()) value_error(text);
  type_error(text);
}

WeakDType join_types(std::span<const WeakDType> types, std::string_view function) {
  bool all_weak = true, same = true;
  for (const WeakDType& type : types) {
    all_weak = all_weak && type.weak;
    same = same && type.dtype == types[0].dtype;
  }
  for (const WeakDType& type : types) {
    if (!same && is_key(type.dtype)) refuse_keys(types, function);
  }
  WeakDType out = types[0];
  if (same && !all_weak) {  // nothing is converted: 64 bits stay where they are not the default
    out.weak = false;
    return out;
  }
  if (same) {
    out.weak = out.dtype != DType::boolean;
  } else if (all_weak) {
    // The join of the strong counterparts, weak again.
    for (const WeakDType& type : types) {
      out = promote({out.dtype, false}, {type.dtype, false});
    }
    out.weak = out.dtype != DType::boolean;
  } else {
    const bool strict = strict_dtypes && settings_hold();
    for (const WeakDType& type : types.subspan(1)) out = promote(out, type, strict);
  }
  if (out.weak || explicit_x64() != ExplicitX64::allow) out.dtype = canonical_dtype(out.dtype);
  return out;
}

WeakDType result_type(const Values& values, std::string_view function) {
  SmallVector<WeakDType, 6> types;
  for (const Value& value : values) types.push_back(lattice_type(value));
  return join_types({types.data(), types.size()}, function);
}

// The float that numbers of another dtype become: of 64 bits for integers of 64.
DType inexact_of(DType dtype) {
  return dtype == DType::boolean || itemsize(dtype) < 8 ? DType::float32 : DType::float64;
}

WeakDType adjusted(WeakDType type, Promote rule) {
  if (rule == Promote::numeric && type.dtype == DType::boolean) return {DType::int32, type.weak};
  if (rule == Promote::inexact && is_key(type.dtype)) {
    refuse_keys({&type, 1}, "a function of numbers");
  }
  if (rule == Promote::inexact && !is_inexact(type.dtype))
    return {inexact_of(type.dtype), type.weak};
  return type;
}

Value as_type(const Value& value, WeakDType type) {
  if (value->dtype() != type.dtype) return convert(value, type.dtype, type.weak);
  if (value->type().weak == type.weak) return value;
  if (value->is_tracer()) return convert(value, type.dtype, type.weak);
  const Array& array = as_array(value);
  ArrayPtr view =
      view_of(array, with_dtype(array.type(), type.dtype, type.weak), array.strides(), 0);
  view->set_sharding(array.sharding());
  return view;
}

Value cast(const Value& value, WeakDType type) {
  const bool same = value->dtype() == type.dtype && value->type().weak == type.weak;
  if (same || value->is_tracer() || !captures_arrays()) return as_type(value, type);
  const Op& convert = core_ops().convert_element_type;
  return bind1(convert, {{"new_dtype", type.dtype}, {"weak_type", type.weak}}, {value});
}

Values promote_dtypes(const Values& values, Promote rule, std::string_view function) {
  if (values.empty()) return values;
  const WeakDType type = adjusted(result_type(values, function), rule);
  Values out;
  out.reserve(values.size());
  for (const Value& value : values) out.push_back(cast(value, type));
  return out;
}

namespace {

std::string shape_list(std::span<const Shape> shapes) {
  std::string text;
  for (const Shape& shape : shapes) text += (text.empty() ? "" : ", ") + to_string(shape);
  return text;
}

// The broadcast shape; false where there is none.
bool join_shapes(std::span<const Shape> shapes, Shape& out) {
  std::size_t rank = 0;
  for (const Shape& shape : shapes) rank = std::max(rank, shape.size());
  out.assign(rank, 1);
  for (const Shape& shape : shapes) {
    const std::size_t lead = rank - shape.size();
    for (std::size_t d = 0; d < shape.size(); ++d) {
      std::int64_t& size = out[lead + d];
      if (shape[d] == 1 || shape[d] == size) continue;
      if (size != 1) return false;
      size = shape[d];
    }
  }
  return true;
}

std::vector<Shape> shapes_of(const Values& values) {
  std::vector<Shape> shapes;
  for (const Value& value : values) shapes.push_back(value->shape());
  return shapes;
}

}  // namespace

Shape broadcast_shapes(std::span<const Shape> shapes) {
  Shape out;
  if (!join_shapes(shapes, out)) {
    value_error("Incompatible shapes for broadcasting: shapes=[", shape_list(shapes), "]");
  }
  return out;
}

bool broadcasts_to(const Shape& from, const Shape& to) {
  const Shape shapes[] = {from, to};
  Shape joined;
  return join_shapes(shapes, joined) && joined == to;
}

namespace {

// Operands of different ranks are broadcast as NumPy does it, if the user lets them.
void check_rank_promotion(std::span<const Shape> shapes, std::string_view op) {
  const RankPromotion rule = rank_promotion;
  if (rule == RankPromotion::allow || !settings_hold()) return;
  std::string list;
  for (const Shape& shape : shapes) list.append(" ").append(to_string(shape));
  if (rule == RankPromotion::raise) {
    value_error("Operands could not be broadcast together for ", op, " on shapes", list,
                " and with the config option jax_numpy_rank_promotion='raise'. Give them the same "
                "rank, with x[None] say, or set the option to 'allow'.");
  }
  warn(concat("Following NumPy automatic rank promotion for ", op, " on shapes", list,
              ". Set the jax_numpy_rank_promotion config option to 'allow' to disable this "
              "warning."));
}

}  // namespace

Values promote_ranks(const Values& values, std::string_view op) {
  std::size_t rank = 0;
  bool equal = true, same_rank = true;
  for (const Value& value : values) {
    const Shape& shape = value->shape();
    if (shape.empty()) continue;
    equal = equal && (rank == 0 || shape == values[0]->shape() || values[0]->shape().empty());
    same_rank = same_rank && (rank == 0 || rank == shape.size());
    rank = std::max(rank, shape.size());
  }
  if (equal && same_rank) return values;
  const std::vector<Shape> shapes = shapes_of(values);
  Shape wanted;
  if (!join_shapes(shapes, wanted)) {
    if (!same_rank) {
      value_error("Incompatible shapes for broadcasting: shapes=[", shape_list(shapes), "]");
    }
    type_error(op, " got incompatible shapes for broadcasting: ", shape_list(shapes), ".");
  }
  if (same_rank) return values;
  check_rank_promotion(shapes, op);
  Values out;
  for (const Value& value : values) {
    Shape shape = value->shape();
    if (shape.empty() || shape.size() == rank) {
      out.push_back(value);
      continue;
    }
    const std::size_t lead = rank - shape.size();
    const Ints dims = iota_ints(shape.size(), static_cast<std::int64_t>(lead));
    for (std::size_t d = 0; d < lead; ++d) shape.insert(0, 1);
    out.push_back(broadcast_in_dim(value, shape, dims));
  }
  return out;
}

Values promote_shapes(const Values& values, std::string_view op) {
  const Values ranked = promote_ranks(values, op);
  Shape wanted;
  if (!join_shapes(shapes_of(ranked), wanted)) throw InternalError("ranks were promoted");
  Values out;
  for (const Value& value : values)
    out.push_back(value->shape().empty() ? value : broadcast_to(value, wanted));
  return out;
}

Values broadcast_arrays(const Values& values) {
  const std::vector<Shape> shapes = shapes_of(values);
  const Shape wanted = broadcast_shapes(shapes);
  Values out;
  for (const Value& value : values) out.push_back(broadcast_to(value, wanted));
  return out;
}

namespace {

// Types as bytes: equal keys mean equal types.
std::string types_key(const std::string& name, const std::string& key, const Values& args) {
  std::string text = name + '\0' + key + '\0' + (x64_enabled() ? '1' : '0');
  for (const Value& value : args) {
    const Type& type = value->type();
    text += static_cast<char>(type.dtype);
    text += static_cast<char>(type.weak ? 1 : 0);
    text += static_cast<char>(type.rank());
    text += static_cast<char>(type.varying.size());
    text.append(reinterpret_cast<const char*>(type.shape.data()),
                type.rank() * sizeof(std::int64_t));
    text.append(reinterpret_cast<const char*>(type.varying.data()),
                type.varying.size() * sizeof(AxisName));
    if (!type.sharding) continue;
    text += to_string(*type.sharding);
    for (const int device : type.sharding->devices) text += concat(device, ' ');
  }
  return text;
}

}  // namespace

Values jitted(const std::string& name, const Values& args, const Composition& f,
              const std::string& key) {
  constexpr std::size_t most_programs = 4096;
  auto& programs = per_thread<std::unordered_map<std::string, ProgramPtr>, struct Jitted>();
  const std::string id = types_key(name, key, args);
  const auto known = programs.find(id);
  if (known != programs.end()) return bind_jit(ProgramPtr(known->second), args);
  const ProgramPtr staged = stage_closed(types_of(args), f, name);
  if (programs.size() >= most_programs) programs.clear();
  programs.emplace(id, staged);
  return bind_jit(staged, args);
}

Value jitted1(const std::string& name, const Values& args,
              const std::function<Value(const Values&)>& f, const std::string& key) {
  return jitted(name, args, [&](const Values& in) -> Values { return {f(in)}; }, key)[0];
}

Value jitted_at_once(const std::string& name, const Values& args,
                     const std::function<Value(const Values&)>& f, const std::string& key) {
  bool traced = staging_in_progress();
  for (const Value& value : args) traced = traced || value->is_tracer();
  return traced ? f(args) : jitted1(name, args, f, key);
}

}  // namespace shardax::numpy

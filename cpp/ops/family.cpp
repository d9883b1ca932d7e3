// ops/family.cpp - type and batch rules that families share.
#include "ops/family.h"

#include "ops/batch_axis.h"
#include "ops/dim_rules.h"

namespace shardax::ops {

void check_dtype(const Op& op, DType dtype) {
  if (op.dtypes & bit(dtype)) return;
  if (dtype == DType::float0) float0_error(op.name);
  std::string known;
  for (int d = 0; d < dtype_count; ++d) {
    const auto accepted = static_cast<DType>(d);
    if (!(op.dtypes & bit(accepted)) || is_narrow(accepted) || is_defined_key(accepted)) continue;
    known += (known.empty() ? "" : ", ") + std::string(name(accepted));
  }
  type_error(op.name, " does not accept dtype ", name(dtype), ". Accepted dtypes are: ", known,
             "; convert the argument with .astype.");
}

Shape elementwise_shape(const Op& op, const Types& in) {
  Shape shape;
  for (const Type& type : in) {
    if (type.rank() == 0) continue;
    if (shape.empty()) {
      shape = type.shape;
      continue;
    }
    if (shape == type.shape) continue;
    if (shape.size() != type.rank()) {
      type_error(op.name, ": arrays must have the same number of dimensions, got {",
                 std::min(shape.size(), type.rank()), ", ", std::max(shape.size(), type.rank()),
                 "}; shapes are ", to_string(shape), " and ", to_string(type.shape), ".");
    }
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (type.shape[d] == 1 || type.shape[d] == shape[d]) continue;
      if (shape[d] != 1) {
        std::string shapes;
        for (const Type& t : in) {
          if (t.rank() > 0) shapes += (shapes.empty() ? "" : ", ") + to_string(t.shape);
        }
        type_error(op.name, " got incompatible shapes for broadcasting: ", shapes, ".");
      }
      shape[d] = type.shape[d];
    }
  }
  return shape;
}

namespace {

Type result(const Op& op, const Types& in) {
  Type out = in[0];
  for (const Type& type : in) {
    check_dtype(op, type.dtype);
    if (type.dtype != out.dtype) {
      std::string dtypes;
      for (const Type& t : in) dtypes += (dtypes.empty() ? "" : ", ") + std::string(name(t.dtype));
      type_error("lax.", op.name, " requires arguments to have the same dtypes, got ", dtypes,
                 ". (Tip: jnp.", op.name,
                 " is a similar function that does automatic type promotion on inputs).");
    }
    out.weak = out.weak && type.weak;
  }
  out.shape = elementwise_shape(op, in);
  return out;
}

}  // namespace

Types type_same(const Op& op, const Types& in, const Params&) { return {result(op, in)}; }

Types type_predicate(const Op& op, const Types& in, const Params&) {
  const Type type = result(op, in);
  return {with_dtype(type, DType::boolean, type.weak)};
}

Types type_real(const Op& op, const Types& in, const Params&) {
  Type type = result(op, in);
  return {with_dtype(type, real_dtype(type.dtype), type.weak)};
}

Values all_batched(const BatchArgs& args) {
  Values out;
  for (std::size_t i = 0; i < args.in.size(); ++i) {
    out.push_back(args.batched[i] ? args.in[i] : repeated(args.in[i], args.axis, args.in));
  }
  return out;
}

Batched batch_elementwise(const BatchArgs& args) {
  std::size_t rank = 1;  // of the batched result
  for (std::size_t i = 0; i < args.in.size(); ++i) {
    const std::size_t own = args.in[i]->shape().size();
    rank = std::max(rank, own == 0 || args.batched[i] ? own : own + 1);
  }
  Values in;
  for (std::size_t i = 0; i < args.in.size(); ++i) {
    const Value& value = args.in[i];
    Shape shape = value->shape();
    if (args.batched[i] && shape.size() < rank) {
      while (shape.size() < rank) shape.push_back(1);
      in.push_back(broadcast_in_dim(value, shape, {0}));
    } else if (!args.batched[i] && !shape.empty()) {
      shape.insert(0, 1);
      in.push_back(broadcast_in_dim(value, shape, iota_ints(shape.size() - 1, 1)));
    } else {
      in.push_back(value);
    }
  }
  return batched1(bind1(args.op, args.params, in));
}

OpSpec elementwise(OpSpec spec) {
  spec.kind = Kind::elementwise;
  if (!spec.type) spec.type = type_same;
  if (!spec.batch) spec.batch = batch_elementwise;
  if (!spec.dims) spec.dims = dims_elementwise;
  return spec;
}

void no_derivative(std::string_view op) {
  fail(ErrorKind::not_implemented_error, "Differentiation rule for '", op, "' not implemented");
}

OpSpec elementwise_no_gradient(OpSpec spec) {
  spec.no_gradient = true;
  return elementwise(spec);
}

OpSpec comparison(OpSpec spec) {
  spec.cheap = true;
  spec.type = type_predicate;
  return elementwise_no_gradient(spec);
}

}  // namespace shardax::ops

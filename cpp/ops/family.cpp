// ops/family.cpp - type and batch rules that families share.
#include "ops/family.h"

namespace shardax::ops {

void check_dtype(const Op& op, DType dtype) {
  if (op.dtypes & bit(dtype)) return;
  std::string known;
  for (int d = 0; d < dtype_count; ++d) {
    if (!(op.dtypes & bit(static_cast<DType>(d)))) continue;
    known += (known.empty() ? "" : ", ") + std::string(name(static_cast<DType>(d)));
  }
  type_error(op.name, " does not accept dtype ", name(dtype), ". Accepted dtypes are: ", known,
             "; convert the argument with .astype.");
}

Shape elementwise_shape(const Op& op, const Types& in) {
  const Shape* shape = nullptr;
  for (const Type& type : in) {
    if (type.rank() == 0) continue;
    if (!shape) {
      shape = &type.shape;
    } else if (*shape != type.shape) {
      if (shape->size() != type.rank()) {
        type_error(op.name, ": arrays must have the same number of dimensions, got {",
                   std::min(shape->size(), type.rank()), ", ", std::max(shape->size(), type.rank()),
                   "}; shapes are ", to_string(*shape), " and ", to_string(type.shape), ".");
      }
      type_error(op.name, " got incompatible shapes for broadcasting: ", to_string(*shape), ", ",
                 to_string(type.shape), ".");
    }
  }
  return shape ? *shape : Shape{};
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
    out.push_back(args.batched[i] ? args.in[i] : broadcast_leading(args.in[i], args.axis.size));
  }
  return out;
}

Values align_batched(const BatchArgs& args) {
  Shape shape;  // of the batched result
  for (std::size_t i = 0; i < args.in.size(); ++i) {
    const Shape& own = args.in[i]->shape();
    const std::size_t rank = own.size() + (args.batched[i] ? 0 : 1);
    if (rank > shape.size() && rank > 1) {
      shape = own;
      if (!args.batched[i]) shape.insert(0, args.axis.size);
    }
  }
  if (shape.empty()) shape.push_back(args.axis.size);
  Values out;
  for (std::size_t i = 0; i < args.in.size(); ++i) {
    const Value& value = args.in[i];
    const std::size_t rank = value->shape().size();
    if (args.batched[i]) {
      out.push_back(rank == shape.size() ? value : broadcast_in_dim(value, shape, {0}));
    } else {
      out.push_back(rank == 0 ? value : broadcast_leading(value, args.axis.size));
    }
  }
  return out;
}

Batched batch_elementwise(const BatchArgs& args) {
  return batched1(bind1(args.op, args.params, align_batched(args)));
}

OpSpec elementwise(OpSpec spec) {
  spec.kind = Kind::elementwise;
  if (!spec.type) spec.type = type_same;
  if (!spec.batch) spec.batch = batch_elementwise;
  return spec;
}

OpSpec elementwise_no_gradient(OpSpec spec) {
  spec.no_gradient = true;
  return elementwise(spec);
}

OpSpec comparison(OpSpec spec) {
  spec.type = type_predicate;
  return elementwise_no_gradient(spec);
}

}  // namespace shardax::ops

// ops/random/keys.h - shared parts of ops on PRNG keys: shapes, generators, repetition.
#pragma once

#include <string>

#include "ops/family.h"

namespace shardax::ops {

inline std::int64_t product(const Shape& shape) {
  std::int64_t n = 1;
  for (std::int64_t d : shape) n *= d;
  return n;
}

inline std::int64_t key_words(DType impl) { return itemsize(impl) / 4; }
// "fry" of key<fry>.
inline std::string impl_text(DType impl) {
  const std::string_view text = name(impl);
  return std::string(text.substr(4, text.size() - 5));
}

inline void check_key_data(const Type& type, DType impl = DType::key) {
  if (type.dtype != DType::uint32) {
    type_error(
        "JAX encountered invalid PRNG key data: expected key_data.dtype = uint32; got dtype=",
        name(type.dtype));
  }
  if (type.rank() < 1 || type.shape.back() != key_words(impl)) {
    type_error("JAX encountered invalid PRNG key data: expected key_data.shape to end with (",
               key_words(impl), ",); got shape=", to_string(type.shape),
               " for impl=", impl_text(impl));
  }
}

// The shape of an array of keys of either kind; those of users' generators are no operands.
inline void check_not_defined(DType impl) {
  if (is_defined_key(impl)) {
    type_error("Keys of dtype ", name(impl),
               " belong to functions of Python: use those of jax.random, not primitives.");
  }
}
inline Shape keys_shape(const Type& type) {
  Shape shape = type.shape;
  check_not_defined(type.dtype);
  if (is_key(type.dtype)) return shape;
  check_key_data(type);
  shape.pop_back();
  return shape;
}
inline Type keys_like(const Type& type, Shape shape) {
  if (!is_key(type.dtype)) shape.push_back(2);
  return with_shape(type, std::move(shape));
}

inline DType unsigned_of_width(std::int64_t bits) {
  switch (bits) {
    case 8: return DType::uint8;
    case 16: return DType::uint16;
    case 32: return DType::uint32;
    case 64: return DType::uint64;
    default: type_error("requires 8-, 16-, 32- or 64-bit field width, got ", bits, ".");
  }
}

// The generator of the keys that an op makes.
inline DType impl_of(const Params& params) {
  const DType impl = params.has("impl") ? params.dtype(param::impl) : DType::key;
  if (!is_key(impl)) type_error("impl ", name(impl), " is no dtype of PRNG keys.");
  return impl;
}

// A view repeated to `shape` where its dimensions have size 1 or are missing.
inline View spread(View view, const Shape& shape) {
  if (view.shape.empty()) view.strides.assign(shape.size(), 0);
  for (std::size_t d = 0; d < view.shape.size(); ++d) {
    if (view.shape[d] == 1) view.strides[d] = 0;
  }
  view.shape = shape;
  return view;
}

}  // namespace shardax::ops

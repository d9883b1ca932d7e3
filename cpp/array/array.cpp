// array/array.cpp - buffers, new arrays and views.
#include "array/array.h"

#include <cstring>

#include "array/half.h"
#include "array/narrow.h"
#include "base/errors.h"
#include "base/index.h"
#include "runtime/allocator.h"

namespace shardax {

Types types_of(const Values& values) {
  Types types;
  types.reserve(values.size());
  for (const Value& value : values) types.push_back(value->type());
  return types;
}

Buffer::Buffer(std::size_t bytes)
    : data_(runtime::allocate(bytes == 0 ? 1 : bytes)), bytes_(bytes == 0 ? 1 : bytes) {}

Buffer::Buffer(std::byte* data, std::size_t bytes, void (*release)(void*), void* owner)
    : data_(data), bytes_(bytes), release_(release), owner_(owner) {}

Buffer::~Buffer() {
  if (release_) {
    release_(owner_);
  } else {
    runtime::deallocate(data_, bytes_);
  }
}

ArrayPtr empty_array(Type type) {
  Shared<Buffer> buffer(new Buffer(index(type.bytes())));
  std::byte* data = buffer->data();
  Shape strides = row_major_strides(type.shape);
  return new Array(std::move(type), std::move(strides), std::move(buffer), data);
}

Array::Array(Type whole, ShardingPtr sharding, Shared<Array> slab)
    : ValueBase(std::move(whole), false),
      strides_(row_major_strides(type_.shape)),
      data_(nullptr),
      slab_(std::move(slab)) {
  set_sharding(std::move(sharding));
}

void Array::refuse_other_processes() {
  fail(ErrorKind::runtime_error,
       "Fetching value for `jax.Array` that spans non-addressable (non process local) devices is "
       "not possible. You can use `jax.experimental.multihost_utils.process_allgather` to print "
       "the global array or use `.addressable_shards` method of jax.Array to inspect the "
       "addressable (process local) shards.");
}

namespace {

template <class Source>
ArrayPtr make_scalar(DType dtype, Source value, bool weak) {
  ArrayPtr array = empty_array(Type{dtype, weak, {}, {}});
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    T stored{};
    if constexpr (std::is_same_v<T, bfloat16_t>) {
      stored = to_bfloat16(static_cast<float>(value));
    } else if constexpr (std::is_same_v<T, float16_t>) {
      stored = to_float16(static_cast<float>(value));
    } else if constexpr (std::is_same_v<T, narrow_t>) {
      if constexpr (std::is_integral_v<Source>)
        stored = to_narrow(dtype, std::int64_t{value});
      else
        stored = to_narrow(dtype, static_cast<float>(value));
    } else if constexpr (is_opaque<T>) {
      stored.words[sizeof(T) / 4 - 1] = static_cast<std::uint32_t>(value);
    } else if constexpr (std::is_same_v<T, bool>) {
      stored = value != 0;
    } else if constexpr (std::is_arithmetic_v<T>) {
      stored = static_cast<T>(value);
    } else {
      stored = T(static_cast<typename T::value_type>(value));
    }
    std::memcpy(array->data(), &stored, sizeof stored);
  });
  return array;
}

}  // namespace

ArrayPtr scalar_array(DType dtype, double value, bool weak) {
  return make_scalar(dtype, value, weak);
}
ArrayPtr scalar_array_int(DType dtype, std::int64_t value, bool weak) {
  return make_scalar(dtype, value, weak);
}

bool is_contiguous(const Shape& shape, const Shape& strides) {
  std::int64_t expected = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 0) return true;
    if (shape[i] != 1 && strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

ArrayPtr view_of(const Array& array, Type type, Shape strides, std::int64_t offset) {
  std::byte* data = array.data() + offset * itemsize(type.dtype);
  return new Array(std::move(type), std::move(strides), array.buffer(), data);
}

ArrayPtr view_of(const Array& array) {
  if (array.slab()) return new Array(array.type(), array.sharding(), array.slab());
  return view_of(array, array.type(), array.strides(), 0);
}

namespace {

bool same_elements(const std::byte* a, const std::byte* b, const Shape& shape, const Shape& strides,
                   int width, std::size_t dimension) {
  if (dimension == shape.size()) return std::memcmp(a, b, index(width)) == 0;
  const std::int64_t step = strides[dimension] * width;
  for (std::int64_t i = 0; i < shape[dimension]; ++i) {
    if (!same_elements(a + i * step, b + i * step, shape, strides, width, dimension + 1))
      return false;
  }
  return true;
}

}  // namespace

bool slices_equal(const Array& array, std::int64_t axis) {
  const auto a = index(axis);
  const int width = itemsize(array.dtype());
  const std::int64_t count = array.shape()[a], step = array.strides()[a] * width;
  if (step == 0) return true;
  Shape shape, strides;  // of a slice
  for (std::size_t d = 0; d < array.shape().size(); ++d) {
    if (d == a) continue;
    shape.push_back(array.shape()[d]);
    strides.push_back(array.strides()[d]);
  }
  std::int64_t size = width;
  for (std::int64_t d : shape) size *= d;
  const bool contiguous = is_contiguous(shape, strides);
  for (std::int64_t i = 1; i < count; ++i) {
    const std::byte* slice = array.data() + i * step;
    const bool same = contiguous ? std::memcmp(array.data(), slice, index(size)) == 0
                                 : same_elements(array.data(), slice, shape, strides, width, 0);
    if (!same) return false;
  }
  return true;
}

}  // namespace shardax

// array/type.h - abstract values: dtype, shape, varying axes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "array/dtype.h"
#include "array/sharding.h"
#include "base/hash.h"
#include "base/small_vector.h"

namespace shardax {

using Shape = SmallVector<std::int64_t, 6>;
// Arrays have at most as many dimensions as NumPy's.
inline constexpr std::size_t max_rank = 64;

// An interned name of a mapped axis; axis_text gives the user's text.
using AxisName = std::int32_t;
AxisName intern_axis(const std::string& text);
const std::string& axis_text(AxisName name);

// The mapped axes over which a value may vary, sorted.
using AxisSet = SmallVector<AxisName, 2>;
AxisSet join(const AxisSet& a, const AxisSet& b);
AxisSet without(const AxisSet& a, AxisName name);
bool contains(const AxisSet& a, AxisName name);

struct Type {
  DType dtype = DType::float32;
  bool weak = false;  // stands for a Python scalar in promotion
  Shape shape;
  AxisSet varying;  // or is in another state (array/checked_axis.h)
  // Over a mesh with explicit axes, how an array is split; else null.
  ShardingPtr sharding = {};
  bool host = false;  // said to lie in the host's memory (array/sharding.h, `memory`)

  std::size_t rank() const { return shape.size(); }
  std::int64_t size() const {
    std::int64_t n = 1;
    for (std::int64_t d : shape) n *= d;
    return n;
  }
  std::int64_t bytes() const { return size() * itemsize(dtype); }
  // The mapped axes, and explicit axes of the mesh, over which it is still to be summed, and those
  // over which its cotangents are.
  std::vector<std::string> unreduced() const;
  std::vector<std::string> reduced() const;
  // One more dimension, or one less; the others stay split as they are.
  void insert_dimension(std::size_t at, std::int64_t extent,
                        const std::vector<std::string>& split = {});
  void erase_dimension(std::size_t at);
  friend bool operator==(const Type& a, const Type& b) {
    return a.dtype == b.dtype && a.weak == b.weak && a.shape == b.shape && a.varying == b.varying &&
           a.host == b.host && same_sharding(a.sharding, b.sharding);
  }
};
using Types = std::vector<Type>;

// The same type with another dtype or shape; `varying` is kept, `weak` is dropped with a new dtype,
// the sharding with a new shape.
inline Type with_dtype(Type type, DType dtype, bool weak = false) {
  type.dtype = dtype;
  type.weak = weak;
  return type;
}
inline Type with_shape(Type type, Shape shape) {
  type.shape = std::move(shape);
  type.sharding = nullptr;
  return type;
}
inline bool same_shape_and_dtype(const Type& a, const Type& b) {
  return a.dtype == b.dtype && a.shape == b.shape;
}

std::size_t hash(const Type& type);
std::string to_string(const Shape& shape);   // "(2, 3)", "(4,)", "()"
std::string to_string(const Type& type);     // "float32[2,3]", as errors show it
std::string short_string(const Type& type);  // "f32[2,3]", as programs show it

Shape row_major_strides(const Shape& shape);

}  // namespace shardax

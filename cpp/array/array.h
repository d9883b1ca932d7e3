// array/array.h - Value, the base of arrays and tracers; Array over a shared, strided buffer.
//
// A Value has a Type. An Array is a Value whose elements exist: a pointer into a shared Buffer,
// with a stride (in elements) for each dimension. Stride 0 repeats one element: a replicated value
// is kept once. Arrays are immutable once they leave the step that fills them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "array/type.h"
#include "base/ref_counted.h"

namespace shardax {

class ValueBase : public RefCounted {
 public:
  const Type& type() const { return type_; }
  const Shape& shape() const { return type_.shape; }
  DType dtype() const { return type_.dtype; }
  bool is_tracer() const { return is_tracer_; }

 protected:
  ValueBase(Type type, bool is_tracer) : type_(std::move(type)), is_tracer_(is_tracer) {}
  Type type_;
  bool is_tracer_;
};

// Null stands for a symbolic zero where a tangent or cotangent is meant.
using Value = Shared<ValueBase>;
using Values = std::vector<Value>;
Types types_of(const Values& values);

// Storage. `owner`, where set, is called on destruction instead of the allocator.
class Buffer final : public RefCounted {
 public:
  explicit Buffer(std::size_t bytes);  // from the caching allocator, uninitialised
  Buffer(std::byte* data, std::size_t bytes, void (*release)(void*), void* owner);
  ~Buffer() override;
  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  // Memory of ours, rather than another library's.
  bool own() const { return release_ == nullptr; }

 private:
  std::byte* data_;
  std::size_t bytes_;
  void (*release_)(void*) = nullptr;
  void* owner_ = nullptr;
};

class Array final : public ValueBase {
 public:
  Array(Type type, Shape strides, Shared<Buffer> buffer, std::byte* data)
      : ValueBase(std::move(type), false),
        strides_(std::move(strides)),
        buffer_(std::move(buffer)),
        data_(data) {
    type_.sharding = nullptr;  // until it is labelled
    type_.host = false;
  }

  // An array that several processes have: the type is that of the whole, `slab` is this process's
  // part of it (array/process_mesh.h).
  Array(Type whole, ShardingPtr sharding, Shared<Array> slab);

  // Throws RuntimeError where other processes have some of the elements.
  std::byte* data() const {
    if (slab_) [[unlikely]]
      refuse_other_processes();
    return data_;
  }
  const Shared<Array>& slab() const { return slab_; }
  const Shape& strides() const { return strides_; }
  const Shared<Buffer>& buffer() const {
    if (slab_) [[unlikely]]
      refuse_other_processes();
    return buffer_;
  }
  bool deleted() const { return deleted_; }
  void mark_deleted() {
    deleted_ = true;
    buffer_ = nullptr;
    slab_ = nullptr;
  }
  const ShardingPtr& sharding() const { return sharding_; }
  void set_sharding(ShardingPtr sharding) {
    type_.sharding = sharding && sharding->is_explicit() ? with_layout(sharding, {}) : nullptr;
    type_.host = sharding && sharding->on_host();
    sharding_ = std::move(sharding);
  }

  // The devices' values, stacked along leading dimensions. A sum over mesh axes has a dimension for
  // each; null: nobody knows, the first device may have all of it. A result that pmap returned once
  // is the first of its terms.
  const Shared<Array>& terms() const { return terms_; }
  void set_terms(Shared<Array> terms) { terms_ = std::move(terms); }

  // The result of comparing the slices along axis 0; Uniformity::unknown until someone looks.
  enum class Uniformity : std::uint8_t { unknown, uniform, varying };
  Uniformity leading_uniformity() const { return uniformity_; }
  void remember_uniformity(Uniformity verdict) { uniformity_ = verdict; }

  // The elements, PRNG keys, that have been used up; empty: none. Kept while that is watched
  // (analysis/key_reuse.h).
  const std::vector<bool>& used_keys() const { return used_keys_; }
  void set_used_keys(std::vector<bool> used) { used_keys_ = std::move(used); }

 private:
  [[noreturn]] static void refuse_other_processes();

  Shape strides_;
  Shared<Buffer> buffer_;
  std::byte* data_;
  Shared<Array> slab_;
  ShardingPtr sharding_;
  Shared<Array> terms_;
  bool deleted_ = false;
  Uniformity uniformity_ = Uniformity::unknown;
  std::vector<bool> used_keys_;
};
using ArrayPtr = Shared<Array>;

inline Array& as_array(const Value& value) { return static_cast<Array&>(*value); }

// A new row-major array, uninitialised.
ArrayPtr empty_array(Type type);
// A rank-0 array that holds `value` converted to the dtype as JAX converts (bool: non-zero).
ArrayPtr scalar_array(DType dtype, double value, bool weak = false);
ArrayPtr scalar_array_int(DType dtype, std::int64_t value, bool weak = false);

bool is_contiguous(const Shape& shape, const Shape& strides);
// The same bytes seen with another shape and strides, starting `offset` elements further.
ArrayPtr view_of(const Array& array, Type type, Shape strides, std::int64_t offset);
// The same elements, also of an array that several processes have; its label is another's matter.
ArrayPtr view_of(const Array& array);

// Are all slices along `axis` the same bits? Stops at the first difference.
bool slices_equal(const Array& array, std::int64_t axis);

}  // namespace shardax

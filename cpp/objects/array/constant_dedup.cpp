// objects/array/constant_dedup.cpp - the NumPy arrays of the traces in progress.
#include "objects/array/constant_dedup.h"

#include <cstring>
#include <unordered_map>

#include "base/index.h"
#include "base/per_thread.h"
#include "objects/array/convert.h"
#include "trace/trace.h"

namespace shardax::objects {
namespace {

// By address, which another array may have once the first is gone: elements are compared.
std::unordered_map<PyObject*, Value>& traced_arrays() {
  return per_thread<std::unordered_map<PyObject*, Value>, struct TracedArrays>();
}

bool same_elements(const Array& a, const Array& b) {
  return a.type() == b.type() && is_contiguous(a.type().shape, a.strides()) &&
         is_contiguous(b.type().shape, b.strides()) &&
         std::memcmp(a.data(), b.data(), index(a.type().bytes())) == 0;
}

}  // namespace

Value deduplicated_constant(PyObject* object) {
  Value value = from_numpy(object);
  if (!staging_in_progress() || value->type().rank() == 0) return value;
  Value& known = traced_arrays()[object];
  if (!known || as_array(known).deleted() || !same_elements(as_array(known), as_array(value)))
    known = std::move(value);
  return known;
}

void forget_numpy_arrays() { traced_arrays().clear(); }

}  // namespace shardax::objects

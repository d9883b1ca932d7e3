// objects/indexing/index_plan.h - analysis of the index object of x[...].
#pragma once

#include <string>
#include <vector>

#include "objects/array/array_type.h"

namespace shardax::objects {

// One entry of an index after the ellipsis has been expanded: every dimension of x has exactly one
// that is not `added`.
struct Selector {
  enum class Kind {
    added,    // None: a new dimension of size 1
    slice,    // count elements: start, start + step, ...
    integer,  // one element; start may lie out of bounds
    array,    // the elements that an integer array names; a traced scalar has rank 0. For a bool
              // scalar index, start is -1: it stands for a new dimension of size 1, of which all or
              // none is taken
  };
  Kind kind;
  std::int64_t size = 1;  // of the dimension of x
  std::int64_t start = 0;
  std::int64_t step = 1;
  std::int64_t count = 1;
  Value index;
  bool applied = false;  // an integer whose dimension x no longer has

  bool whole() const { return kind == Kind::slice && step == 1 && count == size; }
  bool advanced() const { return kind == Kind::array || kind == Kind::integer; }
};

struct IndexPlan {
  std::vector<Selector> selectors;
  bool arrays = false;  // some selector is an array of rank 1 or more
  bool traced_scalars = false;
  bool wrap_negative = true;
  std::size_t ellipsis = 0;  // the selector before which `...` stood: it parts advanced ones
  // A text that is equal for indices that differ only in the values of arrays.
  std::string key() const;
};

// Understands `index` for an array of `shape`; throws what JAX throws. Negative integers count from
// the end, unless `wrap_negative` is false: then they lie out of bounds. Arrays can select elements
// of a dimension of size 0 only for `updating`, which drops them.
IndexPlan parse_index(PyObject* index, const Shape& shape, bool wrap_negative = true,
                      bool updating = false);

// Indices as int32 (int64 under x64), with negative ones counted from the end of `size`.
Value normalised(const Value& index, std::int64_t size);

}  // namespace shardax::objects

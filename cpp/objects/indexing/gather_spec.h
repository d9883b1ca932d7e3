// objects/indexing/gather_spec.h - an index as dimension numbers of gather and scatter.
#pragma once

#include "objects/indexing/index_plan.h"
#include "ops/indexing/index.h"

namespace shardax::objects {

// The layout of the selected elements. `result` is x[index] without its added dimensions, before
// dimensions taken backwards are reversed.
struct GatherSpec {
  Shape result;
  Ints reversed;     // dimensions of `result` to reverse
  Ints added;        // positions of added dimensions in the final result
  Ints window_dims;  // dimensions of `result` that run along x (offset dims, update window dims)
  Ints collapsed;    // dimensions of x that an index names one element of
  Ints start_index_map;  // the dimension of x that each index component counts along
  Ints slice_sizes;      // per dimension of x
  Shape batch;           // the other dimensions of `result`

  // The source of each component: a constant, a range, or an array of `selectors`.
  struct Component {
    std::int64_t start = 0, step = 0,
                 count = 0;  // a range along batch dimension `dims[0]` if count > 0
    int array = -1;          // the position among the arrays
    std::int64_t size = 0;   // of the dimension of x, for negative indices
    Ints dims;               // batch dimensions that it varies along
  };
  std::vector<Component> components;
  Shape array_shape;  // to which the arrays broadcast
};

GatherSpec make_gather_spec(const IndexPlan& plan);

// The index operand: an array of shape batch + (number of components,).
Value start_indices(const GatherSpec& spec, const Values& arrays);
// The index arrays of a plan, in order.
Values index_arrays(const IndexPlan& plan);

// x[index] by one gather. `mode` is "clip", "fill" or "promise_in_bounds".
Value gather(const Value& x, const GatherSpec& spec, const Values& arrays, const std::string& mode,
             const ParamValue& fill);
// The final result from that of gather: reversed and with added dimensions; and back again.
Value finish_result(Value gathered, const GatherSpec& spec);
Value prepare_updates(const Value& updates, const GatherSpec& spec);
// The shape of x[index].
Shape final_shape(const GatherSpec& spec);

// x with updates scattered: `kind` is "scatter", "scatter-add", "scatter-sub", "scatter-mul",
// "scatter-min" or "scatter-max".
Value scatter(const std::string& kind, const Value& x, const GatherSpec& spec, const Values& arrays,
              const Value& updates, const ops::IndexOptions& options);
// The dimension numbers as the ops take them.
ops::WindowDims window_dims(const GatherSpec& spec);

}  // namespace shardax::objects

// objects/indexing/gather_spec.cpp - dimension numbers of an index, and the ops that use them.
#include "objects/indexing/gather_spec.h"

#include <algorithm>
#include <utility>

#include "base/index.h"
#include "numpy/promote.h"

namespace shardax::objects {
namespace {

using Kind = Selector::Kind;

// Array indices next to each other put their dimensions in their place, others in front. An
// ellipsis parts them also where it stands for no dimension.
bool adjacent(const IndexPlan& plan) {
  bool seen = false, ended = false;
  for (std::size_t i = 0; i < plan.selectors.size(); ++i) {
    const Selector& s = plan.selectors[i];
    if (i == plan.ellipsis) ended = seen;
    if (!s.advanced()) {
      ended = seen;
    } else if (ended) {
      return false;
    } else {
      seen = true;
    }
  }
  return true;
}

// Fills the spec selector by selector, in the order of the result.
struct Builder {
  GatherSpec spec;
  std::int64_t x_dimension = 0;
  std::int64_t added_position = 0;  // in the final result
  Ints array_dims;                  // batch dimensions of the index arrays
  int arrays = 0;

  std::int64_t new_batch_dim(std::int64_t size) {
    spec.result.push_back(size);
    spec.batch.push_back(size);
    return static_cast<std::int64_t>(spec.batch.size()) - 1;
  }
  void place_arrays() {
    for (std::int64_t size : spec.array_shape) array_dims.push_back(new_batch_dim(size));
    added_position += static_cast<std::int64_t>(spec.array_shape.size());
  }
  void component(GatherSpec::Component c) {
    spec.components.push_back(std::move(c));
    spec.start_index_map.push_back(x_dimension);
  }
  void add_slice(const Selector& s) {
    const auto at = static_cast<std::int64_t>(spec.result.size());
    if (s.step < 0) spec.reversed.push_back(at);
    const std::int64_t step = s.step < 0 ? -s.step : s.step;
    const std::int64_t lowest = s.step < 0 ? s.start + (s.count - 1) * s.step : s.start;
    if (step == 1) {
      spec.result.push_back(s.count);
      spec.window_dims.push_back(at);
      spec.slice_sizes.push_back(s.count);
      if (!s.whole() && !(s.step < 0 && s.count == s.size)) component({lowest, 0, 0, -1, 0, {}});
    } else {
      const std::int64_t dim = new_batch_dim(s.count);
      spec.slice_sizes.push_back(1);
      spec.collapsed.push_back(x_dimension);
      component({lowest, step, s.count, -1, 0, {dim}});
    }
    ++x_dimension;
    ++added_position;
  }
  void add_advanced(const Selector& s) {
    if (s.kind == Kind::integer && s.applied) return;
    spec.slice_sizes.push_back(1);
    spec.collapsed.push_back(x_dimension);
    if (s.kind == Kind::integer) {
      component({s.start, 0, 0, -1, 0, {}});
    } else {
      component({0, 0, 0, arrays++, s.start == -1 ? 0 : s.size, {}});
    }
    ++x_dimension;
  }
};

}  // namespace

Values index_arrays(const IndexPlan& plan) {
  Values out;
  for (const Selector& s : plan.selectors) {
    if (s.kind == Kind::array) out.push_back(s.index);
  }
  return out;
}

GatherSpec make_gather_spec(const IndexPlan& plan) {
  Builder builder;
  std::vector<Shape> shapes;
  for (const Value& index : index_arrays(plan)) shapes.push_back(index->shape());
  builder.spec.array_shape = numpy::broadcast_shapes(shapes);
  bool placed = !adjacent(plan);
  if (placed) builder.place_arrays();
  for (const Selector& s : plan.selectors) {
    if (s.kind == Kind::added) {
      builder.spec.added.push_back(builder.added_position++);
    } else if (s.kind == Kind::slice) {
      builder.add_slice(s);
    } else {
      if (!placed) builder.place_arrays();
      placed = true;
      builder.add_advanced(s);
    }
  }
  for (GatherSpec::Component& c : builder.spec.components) {
    if (c.array >= 0) c.dims = builder.array_dims;
  }
  return std::move(builder.spec);
}

Value start_indices(const GatherSpec& spec, const Values& arrays) {
  DType dtype = DType::int32;
  for (const Value& array : arrays) {
    if (itemsize(array->dtype()) == 8) dtype = DType::int64;
  }
  for (const GatherSpec::Component& c : spec.components)
    if (!std::in_range<std::int32_t>(c.start)) dtype = DType::int64;
  Shape column = spec.batch;
  column.push_back(1);
  if (spec.components.empty()) {
    column.back() = 0;
    return ops::zeros(Type{dtype, false, column, {}});
  }
  Values columns;
  for (const GatherSpec::Component& c : spec.components) {
    Value part;
    Ints dims = c.dims;
    if (c.array >= 0) {
      const Value& array = arrays[index(c.array)];
      part = numpy::as_type(c.size ? normalised(array, c.size) : array, {dtype, false});
      // The array's dimensions are the last of those that all arrays broadcast to.
      const std::size_t skip = dims.size() - part->shape().size();
      dims = Ints(dims.begin() + skip, dims.end());
    } else if (c.count > 0) {
      part = ops::iota(dtype, {c.count}, 0);
      part = ops::add(ops::mul(part, ops::scalar(dtype, static_cast<double>(c.step))),
                      ops::scalar(dtype, static_cast<double>(c.start)));
    } else {
      part = ops::scalar(dtype, static_cast<double>(c.start));
    }
    columns.push_back(ops::broadcast_in_dim(part, column, dims));
  }
  return ops::concatenate(columns, static_cast<std::int64_t>(spec.batch.size()));
}

Shape final_shape(const GatherSpec& spec) {
  Shape shape = spec.result;
  for (std::int64_t at : spec.added) shape.insert(index(at), 1);
  return shape;
}

ops::WindowDims window_dims(const GatherSpec& spec) {
  ops::WindowDims dims;
  dims.window_dims = spec.window_dims;
  dims.collapsed = spec.collapsed;
  dims.index_map = spec.start_index_map;
  return dims;
}

Value finish_result(Value gathered, const GatherSpec& spec) {
  if (!spec.reversed.empty()) gathered = ops::rev(gathered, spec.reversed);
  return ops::expand_dims(gathered, spec.added);
}

Value prepare_updates(const Value& updates, const GatherSpec& spec) {
  const Shape shape = final_shape(spec);
  const Value full = ops::broadcast_to(updates, shape);
  const Value plain = ops::squeeze(full, spec.added);
  return spec.reversed.empty() ? plain : ops::rev(plain, spec.reversed);
}

Value gather(const Value& x, const GatherSpec& spec, const Values& arrays, const std::string& mode,
             const ParamValue& fill) {
  return ops::gather(x, start_indices(spec, arrays), window_dims(spec), spec.slice_sizes,
                     {.mode = mode}, fill);
}

Value scatter(const std::string& kind, const Value& x, const GatherSpec& spec, const Values& arrays,
              const Value& updates, const ops::IndexOptions& options) {
  return ops::scatter(kind, x, start_indices(spec, arrays), updates, window_dims(spec), options);
}

}  // namespace shardax::objects

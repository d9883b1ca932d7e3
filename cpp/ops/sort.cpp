// ops/sort.cpp - sort and top_k.
#include <complex>
#include <cstring>

#include "base/errors.h"
#include "base/index.h"
#include "base/per_thread.h"
#include "ir/core_ops.h"
#include "kernels/aligned_buffer.h"
#include "kernels/sort/radix_sort.h"
#include "kernels/sort/vector_sort.h"
#include "ops/contiguous.h"
#include "ops/dim_rules.h"
#include "ops/family.h"
#include "ops/indexing/index.h"
#include "ops/param_checks.h"
#include "ops/sharding_rules/ambiguity.h"
#include "ops/sharding_rules/sharding_rules.h"
#include "ops/sharding_rules/spmd_partition_rules.h"
#include "runtime/pool.h"

namespace shardax::ops {
namespace {

using kernels::AlignedBuffer;
using kernels::KeyOf;
using kernels::Ranked;

// Rows of n elements: the axis is the last dimension, see rows_of.
struct Rows {
  std::int64_t count, n;
  Rows(const Shape& shape, std::int64_t axis) : count(1), n(shape[index(axis)]) {
    for (std::size_t d = 0; d < shape.size(); ++d)
      count *= static_cast<std::int64_t>(d) == axis ? 1 : shape[d];
  }
};

// The same elements with `axis` last, so that rows lie together once they are dense.
View rows_of(View view, std::int64_t axis) {
  for (Shape* ints : {&view.shape, &view.strides}) {
    const std::int64_t own = (*ints)[index(axis)];
    ints->erase(index(axis));
    ints->push_back(own);
  }
  return view;
}

// Tasks of about 100 us of sorting.
template <class F>
void for_tasks(const Rows& rows, F&& body) {
  const std::int64_t each = std::max<std::int64_t>(1, 4096 / std::max<std::int64_t>(rows.n, 1));
  runtime::parallel_for((rows.count + each - 1) / each, [&](std::int64_t task) {
    body(task * each, std::min((task + 1) * each, rows.count));
  });
}

// Rows may be huge: memory is given back at the end of each.
using Order = AlignedBuffer<std::uint32_t>;

// body(i) for i < n.
template <class F>
void in_stretches(std::int64_t n, F&& body) {
  runtime::in_stretches(n, kernels::sort_stretch, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t i = from; i < to; ++i) body(i);
  });
}

// The same in any order, by several threads.
template <class F>
void in_parts(std::int64_t n, F&& body) {
  kernels::in_sort_parts(n, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t i = from; i < to; ++i) body(i);
  });
}

// Moves elements of `width` bytes: to[i] = from[order[i]].
template <class T>
void permute(const std::byte* from, std::byte* to, const Order& order) {
  const T* a = reinterpret_cast<const T*>(from);
  T* b = reinterpret_cast<T*>(to);
  in_parts(order.size(), [&](std::int64_t i) { b[i] = a[order[i]]; });
}
void permute(int width, const std::byte* from, std::byte* to, const Order& order) {
  switch (width) {
    case 1: return permute<std::uint8_t>(from, to, order);
    case 2: return permute<std::uint16_t>(from, to, order);
    case 4: return permute<std::uint32_t>(from, to, order);
    case 8: return permute<std::uint64_t>(from, to, order);
    default: return permute<std::complex<double>>(from, to, order);
  }
}

// ---- sort ----------------------------------------------------------------------------------

// Refines `order`: stably by key(position) of the elements it names. `first`: no order was there.
template <class K, class Key>
void refine(const Order& order, bool first, Key key) {
  const std::int64_t n = order.size();
  const AlignedBuffer<Ranked<K>> items(n), scratch(n);
  in_parts(n, [&](std::int64_t i) {
    const auto at = static_cast<std::uint32_t>(i);
    items[i] = {key(first ? at : order[i]), at};
  });
  kernels::sort_ranked<K>(items.data(), scratch.data(), n);
  if (first) return in_parts(n, [&](std::int64_t i) { order[i] = items[i].position(); });
  // The scratch memory is free for the order of before.
  auto* before = reinterpret_cast<std::uint32_t*>(scratch.data());
  std::memcpy(before, order.data(), index(n) * sizeof *before);
  in_parts(n, [&](std::int64_t i) { order[i] = before[items[i].position()]; });
}

template <class T>
void refine_by(const Order& order, bool first, const T* row) {
  if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
    using Real = typename T::value_type;
    refine<KeyOf<Real>>(order, first,
                        [=](std::uint32_t i) { return kernels::sortable(row[i].imag()); });
    refine<KeyOf<Real>>(order, false,
                        [=](std::uint32_t i) { return kernels::sortable(row[i].real()); });
  } else if constexpr (is_opaque<T> && !std::is_same_v<T, key_t>) {
    throw InternalError("sort: keys that cannot be ordered");
  } else if constexpr (std::is_same_v<T, key_t>) {
    refine<std::uint64_t>(order, first,
                          [=](std::uint32_t i) { return std::bit_cast<std::uint64_t>(row[i]); });
  } else {
    refine<KeyOf<T>>(order, first, [=](std::uint32_t i) { return kernels::sortable(row[i]); });
  }
}

// One array sorted by itself needs no positions, as equal keys are equal bits; rows that hold -0 or
// NaN are left to the general case. Gives false for those. `keys` has room for 2 n.
template <class T>
bool sort_values(const T* row, T* out, std::int64_t n, KeyOf<T>* keys) {
  if constexpr (kernels::sorts_in_vectors<T>) {
    if (kernels::sort_in_vectors(row, out, n, keys)) return true;
  }
  bool plain = true;
  in_stretches(n, [&](std::int64_t i) {
    keys[i] = kernels::sortable(row[i]);
    if constexpr (kernels::is_float_key<T>) plain &= keys[i] == kernels::total_order(row[i]);
  });
  if (!plain) return false;
  kernels::sort_keys(keys, keys + n, n);
  in_stretches(n, [&](std::int64_t i) { out[i] = kernels::from_sortable<T>(keys[i]); });
  return true;
}

bool sort_single(DType dtype, const std::byte* row, std::byte* out, std::int64_t n, void* work) {
  bool done = false;
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (sizeof(T) <= 8 && !std::is_same_v<T, std::complex<float>> && !is_opaque<T>) {
      done = sort_values(reinterpret_cast<const T*>(row), reinterpret_cast<T*>(out), n,
                         static_cast<KeyOf<T>*>(work));
    }
  });
  return done;
}

void sort_rows(const std::vector<const std::byte*>& in, const std::vector<std::byte*>& out,
               const std::vector<DType>& dtypes, std::size_t keys, std::int64_t n,
               std::int64_t from, std::int64_t to) {
  const Order order(n);
  const AlignedBuffer<std::byte> work(in.size() == 1 ? 2 * n * itemsize(dtypes[0]) : 0);
  for (std::int64_t row = from; row < to; ++row) {
    const auto at = [&](auto* base, std::size_t i) { return base + row * n * itemsize(dtypes[i]); };
    if (in.size() == 1 && sort_single(dtypes[0], at(in[0], 0), at(out[0], 0), n, work.data()))
      continue;
    for (std::size_t k = keys; k-- > 0;) {
      visit_dtype(dtypes[k], [&](auto zero) {
        refine_by(order, k + 1 == keys, reinterpret_cast<const decltype(zero)*>(at(in[k], k)));
      });
    }
    for (std::size_t i = 0; i < in.size(); ++i)
      permute(itemsize(dtypes[i]), at(in[i], i), at(out[i], i), order);
  }
}

Kernel sort_kernel(const Types& in, const Types&, const Params& params) {
  std::vector<DType> dtypes;
  for (const Type& type : in) dtypes.push_back(type.dtype);
  const auto keys = index(params.integer(param::num_keys));
  const std::int64_t axis = params.integer(param::dimension);
  return [dtypes, keys, axis, size = in[0].size(), rows = Rows(in[0].shape, axis)](
             std::span<const View> views, std::span<const View> outs) {
    if (size == 0) return;
    std::vector<std::unique_ptr<DenseInput>> inputs;
    std::vector<std::unique_ptr<DenseOutput>> outputs;
    std::vector<const std::byte*> from;
    std::vector<std::byte*> to;
    for (std::size_t i = 0; i < views.size(); ++i) {
      inputs.push_back(std::make_unique<DenseInput>(rows_of(views[i], axis)));
      outputs.push_back(std::make_unique<DenseOutput>(rows_of(outs[i], axis)));
      from.push_back(inputs.back()->as<std::byte>());
      to.push_back(outputs.back()->as<std::byte>());
    }
    for_tasks(rows, [&](std::int64_t first, std::int64_t last) {
      sort_rows(from, to, dtypes, keys, rows.n, first, last);
    });
    for (const auto& output : outputs) output->finish();
  };
}

Types sort_type(const Op&, const Types& in, const Params& params) {
  std::string shapes;
  bool equal = true;
  for (const Type& type : in) {
    equal = equal && type.shape == in.at(0).shape;
    shapes += concat(" ", to_string(type.shape));
  }
  if (!equal) type_error("Arguments to sort must have equal shapes, got:", shapes);
  const std::int64_t keys = params.integer(param::num_keys), dim = params.integer(param::dimension);
  if (keys < 1 || keys > static_cast<std::int64_t>(in.size())) {
    value_error("num_keys=", keys, " must be between 1 and len(operand)=", in.size());
  }
  if (dim < 0 || dim >= static_cast<std::int64_t>(in[0].rank())) {
    value_error("axis ", dim, " is out of bounds for array of dimension ", in[0].rank());
  }
  return in;
}

Values with_order(const Values& in, std::int64_t dim) {
  check_places("the derivative of sort", in[0]->shape()[index(dim)], DType::int32);
  Values operands = in;
  operands.push_back(iota(DType::int32, in[0]->shape(), dim));
  return operands;
}

// Sorts once, positions included; tangents follow the positions.
JvpResult sort_jvp(const Params& params, const Values& in, const Values& t) {
  const std::int64_t dim = params.integer(param::dimension);
  const Op& op = core_ops().sort;
  JvpResult result;
  if (std::none_of(t.begin(), t.end(), [](const Value& v) { return bool(v); })) {
    return {shardax::bind(op, params, in), Values(in.size())};
  }
  result.out = shardax::bind(op, params, with_order(in, dim));
  const Value order = result.out.back();
  result.out.pop_back();
  for (const Value& tangent : t)
    result.t.push_back(tangent ? take_along(tangent, order, dim) : nullptr);
  return result;
}

// Results are split as operand 0, and so are the others.
Parts parts_as_first(const SplitArgs& a) {
  return by_split_of(0, a, [](const SplitArgs& own) { return parts_by_dims(own); });
}

const Op sort_op{
    {.name = "sort",
     .operands = at_least(1),
     .doc = "Arrays of one shape sorted together along `dimension`, ascending and stably, by the "
            "first "
            "`num_keys` of them. -0 equals 0; NaN comes last.",
     .type = sort_type,
     .jvp_body = sort_jvp,
     .batch = [](const BatchArgs& a) -> Batched {
       const Params params = a.params.with("dimension", a.params.integer(param::dimension) + 1);
       return {shardax::bind(a.op, params, all_batched(a)), std::vector<bool>(a.in.size(), true)};
     },
     .half_native = true,
     .multiple_results = true,
     .dims =
         [](const Params& params, const Types& in, const Type& out) {
           return dims_along({params.integer(param::dimension)}, in, out, FactorUse::whole);
         },
     .split = split_same_shape,
     .check_split = check_split_sorted,
     .parts = parts_as_first,
     .kernel = sort_kernel}};

// ---- top_k ---------------------------------------------------------------------------------

// The k largest in the total order of bits (a positive NaN above all), earlier ones first on ties.
// Candidates that may be among them are collected; when there are too many, all but the k best go.
template <class T>
void top_of_row(const T* row, std::int64_t n, std::int64_t k, T* values, std::int32_t* positions) {
  using K = KeyOf<T>;
  auto& best = per_thread<std::vector<Ranked<K>>, struct TopOfRow>();  // complemented keys
  best.clear();
  const std::size_t limit = index(std::max<std::int64_t>(2 * k, 64));
  K worst = static_cast<K>(~K{0});  // a later candidate must be better than this
  bool bounded = false;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto key = static_cast<K>(~kernels::total_order(row[i]));
    if (bounded && key >= worst) continue;
    best.push_back({key, static_cast<std::uint32_t>(i)});
    if (best.size() < limit) continue;
    std::nth_element(best.begin(), best.begin() + (k - 1), best.end());
    best.resize(index(k));
    worst = best.back().key();
    bounded = true;
  }
  std::sort(best.begin(), best.end());
  for (std::int64_t i = 0; i < k; ++i) {
    const std::uint32_t position = best[index(i)].position();
    values[i] = row[position];
    positions[i] = static_cast<std::int32_t>(position);
  }
}

// The last axis, unless the parameter names another.
std::int64_t top_k_axis(const Params& params, const Shape& shape) {
  return params.has("axis") ? params.integer(param::axis)
                            : static_cast<std::int64_t>(shape.size()) - 1;
}

Kernel top_k_kernel(const Types& in, const Types& out, const Params& params) {
  const std::int64_t axis = top_k_axis(params, in[0].shape);
  return [k = params.integer(param::k), axis, size = out[0].size(), rows = Rows(in[0].shape, axis)](
             std::span<const View> views, std::span<const View> outs) {
    if (size == 0) return;
    const DenseInput input(rows_of(views[0], axis));
    const DenseOutput values(rows_of(outs[0], axis)), positions(rows_of(outs[1], axis));
    for_tasks(rows, [&](std::int64_t first, std::int64_t last) {
      visit_dtype(views[0].dtype, [&](auto zero) {
        using T = decltype(zero);
        if constexpr (kernels::is_float_key<T> || std::is_integral_v<T>) {
          for (std::int64_t row = first; row < last; ++row) {
            top_of_row(input.as<T>() + row * rows.n, rows.n, k, values.as<T>() + row * k,
                       positions.as<std::int32_t>() + row * k);
          }
        }
      });
    });
    values.finish();
    positions.finish();
  };
}

// The largest elements of a line may come from anywhere in it.
DimFactors top_k_dims(const Params& params, const Types& in, const Type& out) {
  const std::int64_t axis = top_k_axis(params, in[0].shape);
  DimFactors dims = dims_along({axis}, in, in[0], FactorUse::whole);
  dims.result[index(axis)] = {dims.add(FactorUse::whole, out.shape[index(axis)])};
  return dims;
}

const Op top_k_op{
    {.name = "top_k",
     .operands = 1,
     .doc = "The k largest elements along `axis`, descending, and their positions; on ties the "
            "earlier one.",
     .dtypes = any_dtype & ~complexes,
     .type = [](const Op& op, const Types& in, const Params& params) -> Types {
       check_dtype(op, in[0].dtype);
       const std::int64_t k = params.integer(param::k), axis = top_k_axis(params, in[0].shape);
       if (k < 0) value_error("k argument to top_k must be nonnegative, got ", k);
       if (axis < 0 || axis >= static_cast<std::int64_t>(in[0].rank())) {
         type_error("top_k operand must have >= 1 dimension, got ", to_string(in[0].shape),
                    " and axis ", axis);
       }
       Type out = in[0];
       check_places("top_k", out.shape[index(axis)], DType::int32);
       if (out.shape[index(axis)] < k) {
         value_error("k argument to top_k must be no larger than size along axis; got k=", k,
                     " with shape=", to_string(out.shape), " and axis=", axis);
       }
       out.shape[index(axis)] = k;
       return {out, with_dtype(out, DType::int32)};
     },
     .jvp = [](const JvpArgs& a) -> Values {
       return {take_along(a.t[0], a.out[1], top_k_axis(a.params, a.in[0]->shape())), nullptr};
     },
     .batch = [](const BatchArgs& a) -> Batched {
       Params params = a.params;
       if (params.has("axis")) params.set("axis", params.integer(param::axis) + 1);
       return {shardax::bind(a.op, params, a.in), {true, true}};
     },
     .half_native = true,
     .multiple_results = true,
     .dims = top_k_dims,
     .check_split =
         [](const Op&, const Params& params, const Types& in, const Types&) {
           check_split_largest(in[0], top_k_axis(params, in[0].shape));
         },
     .kernel = top_k_kernel}};

}  // namespace
}  // namespace shardax::ops

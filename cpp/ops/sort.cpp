// ops/sort.cpp - sort and top_k.
#include <complex>
#include <numeric>

#include "kernels/radix_sort.h"
#include "ops/dense.h"
#include "ops/family.h"
#include "ops/index.h"
#include "ops/lines.h"
#include "runtime/pool.h"

namespace shardax::ops {
namespace {

using kernels::KeyOf;
using kernels::Ranked;

// Lines handed to one task: about 100 us of sorting.
std::int64_t lines_per_task(const Lines& lines) {
  return std::max<std::int64_t>(1, 4096 / std::max<std::int64_t>(lines.n, 1));
}

template <class F>
void for_tasks(const Lines& lines, F&& body) {
  const std::int64_t each = lines_per_task(lines);
  runtime::parallel_for((lines.count() + each - 1) / each, [&](std::int64_t task) {
    body(task * each, std::min((task + 1) * each, lines.count()));
  });
}

// Moves elements of `width` bytes: to[i * stride] = from[order[i] * stride].
template <class T>
void permute(const std::byte* from, std::byte* to, const std::uint32_t* order, std::int64_t n,
             std::int64_t stride) {
  const T* a = reinterpret_cast<const T*>(from);
  T* b = reinterpret_cast<T*>(to);
  for (std::int64_t i = 0; i < n; ++i) b[i * stride] = a[order[i] * stride];
}
void permute(int width, const std::byte* from, std::byte* to, const std::uint32_t* order, std::int64_t n,
             std::int64_t stride) {
  switch (width) {
    case 1: return permute<std::uint8_t>(from, to, order, n, stride);
    case 2: return permute<std::uint16_t>(from, to, order, n, stride);
    case 4: return permute<std::uint32_t>(from, to, order, n, stride);
    case 8: return permute<std::uint64_t>(from, to, order, n, stride);
    default: return permute<std::complex<double>>(from, to, order, n, stride);
  }
}

// ---- sort ----------------------------------------------------------------------------------------

// Refines `order`: stably by key(position) of the elements it names.
template <class K, class Key>
void refine(std::vector<std::uint32_t>& order, Key key) {
  thread_local std::vector<Ranked<K>> items, scratch;
  const std::size_t n = order.size();
  items.resize(n);
  scratch.resize(n);
  for (std::size_t i = 0; i < n; ++i) items[i] = {key(order[i]), static_cast<std::uint32_t>(i)};
  kernels::sort_ranked<K>(items.data(), scratch.data(), static_cast<std::int64_t>(n));
  thread_local std::vector<std::uint32_t> before;
  before = order;
  for (std::size_t i = 0; i < n; ++i) order[i] = before[items[i].position()];
}

template <class T>
void refine_by(std::vector<std::uint32_t>& order, const T* line, std::int64_t stride) {
  if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
    using Real = typename T::value_type;
    refine<KeyOf<Real>>(order, [=](std::uint32_t i) { return kernels::sortable(line[i * stride].imag()); });
    refine<KeyOf<Real>>(order, [=](std::uint32_t i) { return kernels::sortable(line[i * stride].real()); });
  } else if constexpr (std::is_same_v<T, key_t>) {
    refine<std::uint64_t>(order, [=](std::uint32_t i) { return std::bit_cast<std::uint64_t>(line[i * stride]); });
  } else {
    refine<KeyOf<T>>(order, [=](std::uint32_t i) { return kernels::sortable(line[i * stride]); });
  }
}

// One array sorted by itself needs no positions, as equal keys are equal bits; lines that hold -0 or
// NaN are left to the general case. Gives false for those.
template <class T>
bool sort_values(const T* line, T* out, std::int64_t n, std::int64_t stride) {
  using K = KeyOf<T>;
  thread_local std::vector<K> keys, scratch;
  keys.resize(static_cast<std::size_t>(n));
  scratch.resize(static_cast<std::size_t>(n));
  bool plain = true;
  for (std::int64_t i = 0; i < n; ++i) {
    keys[static_cast<std::size_t>(i)] = kernels::sortable(line[i * stride]);
    if constexpr (kernels::is_float_key<T>) {
      plain &= keys[static_cast<std::size_t>(i)] == kernels::total_order(line[i * stride]);
    }
  }
  if (!plain) return false;
  kernels::sort_keys(keys.data(), scratch.data(), n);
  for (std::int64_t i = 0; i < n; ++i) out[i * stride] = kernels::from_sortable<T>(keys[static_cast<std::size_t>(i)]);
  return true;
}

bool sort_single(DType dtype, const std::byte* line, std::byte* out, std::int64_t n, std::int64_t stride) {
  bool done = false;
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (sizeof(T) <= 8 && !std::is_same_v<T, std::complex<float>> && !std::is_same_v<T, key_t>) {
      done = sort_values(reinterpret_cast<const T*>(line), reinterpret_cast<T*>(out), n, stride);
    }
  });
  return done;
}

void sort_lines(const std::vector<const std::byte*>& in, const std::vector<std::byte*>& out,
                const std::vector<DType>& dtypes, std::size_t keys, const Lines& lines, std::int64_t from,
                std::int64_t to) {
  std::vector<std::uint32_t> order(static_cast<std::size_t>(lines.n));
  for (std::int64_t line = from; line < to; ++line) {
    const std::int64_t start = lines.start(line);
    const auto at = [&](auto* base, std::size_t i) { return base + start * itemsize(dtypes[i]); };
    if (in.size() == 1 && sort_single(dtypes[0], at(in[0], 0), at(out[0], 0), lines.n, lines.inner)) continue;
    std::iota(order.begin(), order.end(), 0u);
    for (std::size_t k = keys; k-- > 0;) {
      visit_dtype(dtypes[k], [&](auto zero) {
        refine_by(order, reinterpret_cast<const decltype(zero)*>(at(in[k], k)), lines.inner);
      });
    }
    for (std::size_t i = 0; i < in.size(); ++i) {
      permute(itemsize(dtypes[i]), at(in[i], i), at(out[i], i), order.data(), lines.n, lines.inner);
    }
  }
}

Kernel sort_kernel(const Types& in, const Types&, const Params& params) {
  std::vector<DType> dtypes;
  for (const Type& type : in) dtypes.push_back(type.dtype);
  const auto keys = static_cast<std::size_t>(params.integer("num_keys"));
  return [dtypes, keys, size = in[0].size(), lines = Lines(in[0].shape, params.integer("dimension"))](
             std::span<const View> views, std::span<const View> outs) {
    if (size == 0) return;
    std::vector<std::unique_ptr<DenseInput>> inputs;
    std::vector<std::unique_ptr<DenseOutput>> outputs;
    std::vector<const std::byte*> from;
    std::vector<std::byte*> to;
    for (std::size_t i = 0; i < views.size(); ++i) {
      inputs.push_back(std::make_unique<DenseInput>(views[i]));
      outputs.push_back(std::make_unique<DenseOutput>(outs[i]));
      from.push_back(inputs.back()->as<std::byte>());
      to.push_back(outputs.back()->as<std::byte>());
    }
    for_tasks(lines, [&](std::int64_t first, std::int64_t last) {
      sort_lines(from, to, dtypes, keys, lines, first, last);
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
  const std::int64_t keys = params.integer("num_keys"), dim = params.integer("dimension");
  if (keys < 1 || keys > static_cast<std::int64_t>(in.size())) {
    value_error("num_keys=", keys, " must be between 1 and len(operand)=", in.size());
  }
  if (dim < 0 || dim >= static_cast<std::int64_t>(in[0].rank())) {
    value_error("axis ", dim, " is out of bounds for array of dimension ", in[0].rank());
  }
  return in;
}

Values with_order(const Values& in, std::int64_t dim) {
  Values operands = in;
  operands.push_back(iota(DType::int32, in[0]->shape(), dim));
  return operands;
}

// Sorts once, positions included; tangents follow the positions.
JvpResult sort_jvp(const Params& params, const Values& in, const Values& t) {
  const std::int64_t dim = params.integer("dimension");
  const Op& op = *find_op("sort");
  JvpResult result;
  if (std::none_of(t.begin(), t.end(), [](const Value& v) { return bool(v); })) {
    return {shardax::bind(op, params, in), Values(in.size())};
  }
  result.out = shardax::bind(op, params, with_order(in, dim));
  const Value order = result.out.back();
  result.out.pop_back();
  for (const Value& tangent : t) result.t.push_back(tangent ? take_along(tangent, order, dim) : nullptr);
  return result;
}

const Op sort_op{{
    .name = "sort",
    .doc = "Arrays of one shape sorted together along `dimension`, ascending and stably, by the first "
           "`num_keys` of them. -0 equals 0; NaN comes last.",
    .type = sort_type,
    .jvp_body = sort_jvp,
    .batch = [](const BatchArgs& a) -> Batched {
      const Params params = a.params.with("dimension", a.params.integer("dimension") + 1);
      return {shardax::bind(a.op, params, all_batched(a)), std::vector<bool>(a.in.size(), true)};
    },
    .half_native = true,
    .kernel = sort_kernel}};

// ---- top_k ---------------------------------------------------------------------------------------

// The k largest in the total order of bits (a positive NaN above all), earlier ones first on ties.
template <class T>
void top_of_line(const T* line, std::int64_t n, std::int64_t k, std::int64_t stride, T* values,
                 std::int32_t* positions) {
  using K = KeyOf<T>;
  thread_local std::vector<Ranked<K>> items;
  items.resize(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    items[static_cast<std::size_t>(i)] = {static_cast<K>(~kernels::total_order(line[i * stride])),
                                          static_cast<std::uint32_t>(i)};
  }
  if (k < n) std::nth_element(items.begin(), items.begin() + k, items.end());
  std::sort(items.begin(), items.begin() + k);
  for (std::int64_t i = 0; i < k; ++i) {
    const std::uint32_t position = items[static_cast<std::size_t>(i)].position();
    values[i * stride] = line[position * stride];
    positions[i * stride] = static_cast<std::int32_t>(position);
  }
}

// The last axis, unless the parameter names another.
std::int64_t top_k_axis(const Params& params, const Shape& shape) {
  return params.has("axis") ? params.integer("axis") : static_cast<std::int64_t>(shape.size()) - 1;
}

Kernel top_k_kernel(const Types& in, const Types& out, const Params& params) {
  return [k = params.integer("k"), size = out[0].size(), lines = Lines(in[0].shape, top_k_axis(params, in[0].shape))](
             std::span<const View> views, std::span<const View> outs) {
    if (size == 0) return;
    const DenseInput input(views[0]);
    const DenseOutput values(outs[0]), positions(outs[1]);
    for_tasks(lines, [&](std::int64_t first, std::int64_t last) {
      visit_dtype(views[0].dtype, [&](auto zero) {
        using T = decltype(zero);
        if constexpr (kernels::is_float_key<T> || std::is_integral_v<T>) {
          for (std::int64_t line = first; line < last; ++line) {
            const std::int64_t to = line / lines.inner * k * lines.inner + line % lines.inner;
            top_of_line(input.as<T>() + lines.start(line), lines.n, k, lines.inner, values.as<T>() + to,
                        positions.as<std::int32_t>() + to);
          }
        }
      });
    });
    values.finish();
    positions.finish();
  };
}

const Op top_k_op{{
    .name = "top_k",
    .doc = "The k largest elements along `axis`, descending, and their positions; on ties the earlier one.",
    .dtypes = any_dtype & ~complexes,
    .type = [](const Op& op, const Types& in, const Params& params) -> Types {
      check_dtype(op, in[0].dtype);
      const std::int64_t k = params.integer("k"), axis = top_k_axis(params, in[0].shape);
      if (k < 0) value_error("k argument to top_k must be nonnegative, got ", k);
      if (axis < 0 || axis >= static_cast<std::int64_t>(in[0].rank())) {
        type_error("top_k operand must have >= 1 dimension, got ", to_string(in[0].shape), " and axis ", axis);
      }
      Type out = in[0];
      if (out.shape[static_cast<std::size_t>(axis)] < k) {
        value_error("k argument to top_k must be no larger than size along axis; got k=", k, " with shape=",
                    to_string(out.shape), " and axis=", axis);
      }
      out.shape[static_cast<std::size_t>(axis)] = k;
      return {out, with_dtype(out, DType::int32)};
    },
    .jvp = [](const JvpArgs& a) -> Values {
      return {take_along(a.t[0], a.out[1], top_k_axis(a.params, a.in[0]->shape())), nullptr};
    },
    .batch = [](const BatchArgs& a) -> Batched {
      Params params = a.params;
      if (params.has("axis")) params.set("axis", params.integer("axis") + 1);
      return {shardax::bind(a.op, params, a.in), {true, true}};
    },
    .half_native = true,
    .kernel = top_k_kernel}};

}  // namespace
}  // namespace shardax::ops

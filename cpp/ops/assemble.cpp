// ops/assemble.cpp - ops that build arrays: concatenate, pad, iota, and constants.
#include <limits>

#include "array/narrow.h"
#include "base/index.h"
#include "ir/core_ops.h"
#include "kernels/copy/copy.h"
#include "ops/dim_rules.h"
#include "ops/family.h"
#include "ops/param_checks.h"
#include "ops/sharding_rules/ambiguity.h"
#include "ops/sharding_rules/sharding_rules.h"
#include "ops/sharding_rules/unreduced_rules.h"
#include "runtime/pool.h"

namespace shardax::ops {
namespace {

// ---- concatenate -----------------------------------------------------------------------------

Types concatenate_type(const Op&, const Types& in, const Params& params) {
  const auto dim = index(params.integer(param::dimension));
  if (in.empty()) value_error("concatenate: no operands; at least one array was expected.");
  Type out = in[0];
  std::int64_t total = 0;
  for (const Type& type : in) {
    bool fits = type.rank() == out.rank() && dim < type.rank() && type.dtype == out.dtype;
    for (std::size_t d = 0; fits && d < out.rank(); ++d) {
      fits = d == dim || type.shape[d] == out.shape[d];
    }
    if (!fits) {
      std::string shapes;
      for (const Type& t : in) shapes += (shapes.empty() ? "" : ", ") + to_string(t.shape);
      type_error(
          "Cannot concatenate arrays with shapes that differ in dimensions other than the one "
          "being concatenated: concatenating along dimension ",
          dim, " for shapes ", shapes, ".");
    }
    if (__builtin_add_overflow(total, type.shape[dim], &total))
      value_error("concatenate: the sizes along dimension ", dim, " have too large a sum.");
    out.weak = out.weak && type.weak;
  }
  out.shape[dim] = total;
  return {out};
}

Kernel concatenate_kernel(const Types&, const Types&, const Params& params) {
  return [dim = index(params.integer(param::dimension))](std::span<const View> in,
                                                         std::span<const View> out) {
    const int width = itemsize(out[0].dtype);
    std::byte* at = out[0].data;
    for (const View& part : in) {
      kernels::copy_strided(at, out[0].strides, part.data, part.strides, part.shape, width);
      at += part.shape[dim] * out[0].strides[dim] * width;
    }
  };
}

const Op concatenate_op{
    {.name = "concatenate",
     .doc = "Arrays joined end to end along one dimension.",
     .type = concatenate_type,
     .jvp = [](const JvpArgs& a) -> Values {
       Values parts;
       for (std::size_t i = 0; i < a.in.size(); ++i) {
         parts.push_back(a.t[i] ? a.t[i] : full_like(a.in[i], 0));
       }
       return {concatenate(parts, a.params.integer(param::dimension))};
     },
     .transpose = [](const TransposeArgs& a) -> Values {
       const std::int64_t dim = a.params.integer(param::dimension);
       Values out(a.in.size());
       std::int64_t start = 0;
       for (std::size_t i = 0; i < a.in.size(); ++i) {
         const std::int64_t size = a.in_types[i].shape[index(dim)];
         if (a.linear(i)) out[i] = slice_in_dim(a.ct[0], start, start + size, dim);
         start += size;
       }
       return out;
     },
     .batch = [](const BatchArgs& a) -> Batched {
       return batched1(concatenate(all_batched(a), a.params.integer(param::dimension) + 1));
     },
     .half_native = true,
     .dims =
         [](const Params& params, const Types& in, const Type& out) {
           const Ints joined = in.size() == 1 ? Ints{} : Ints{params.integer(param::dimension)};
           return dims_along(joined, in, out, FactorUse::windowed);
         },
     .split = split_grown,
     .check_split = check_split_joined,
     .sums = sums_added,
     .kernel = concatenate_kernel,
     .keys = KeyUse::splits}};

// ---- pad -------------------------------------------------------------------------------------

std::int64_t padded_size(std::int64_t n, std::int64_t low, std::int64_t high,
                         std::int64_t interior) {
  std::int64_t gaps = 0, size = n;
  bool over = n > 0 && __builtin_mul_overflow(n - 1, interior, &gaps);
  over |= __builtin_add_overflow(size, gaps, &size);
  over |= __builtin_add_overflow(size, low, &size);
  over |= __builtin_add_overflow(size, high, &size);
  if (over)
    value_error("pad: low ", low, ", high ", high, " and interior ", interior,
                " are too large for a dimension of ", n, ".");
  return size;
}

Types pad_type(const Op&, const Types& in, const Params& params) {
  const Ints& low = params.ints(param::low);
  const Ints& high = params.ints(param::high);
  const Ints& interior = params.ints(param::interior);
  if (in[0].dtype != in[1].dtype) {
    type_error("lax.pad requires arguments to have the same dtypes, got ", name(in[0].dtype), ", ",
               name(in[1].dtype), ".");
  }
  if (in[1].rank() != 0)
    value_error("pad: padding_value must be a scalar; got shape ", to_string(in[1].shape), ".");
  if (low.size() != in[0].rank() || high.size() != low.size() || interior.size() != low.size()) {
    value_error("length of padding_config must equal the rank of operand: got ", low.size(),
                " entries for shape ", to_string(in[0].shape), ".");
  }
  Type out = in[0];
  for (std::size_t d = 0; d < out.rank(); ++d) {
    if (interior[d] < 0) value_error("interior padding in padding_config must be nonnegative.");
    out.shape[d] = padded_size(in[0].shape[d], low[d], high[d], interior[d]);
    if (out.shape[d] < 0) {
      value_error("Dimension size after padding is not at least 0, got result shape ",
                  to_string(out.shape), " for operand shape ", to_string(in[0].shape), ".");
    }
  }
  return {out};
}

Kernel pad_kernel(const Types&, const Types&, const Params& params) {
  return [low = params.ints(param::low), interior = params.ints(param::interior)](
             std::span<const View> in, std::span<const View> out) {
    const View& operand = in[0];
    const View& target = out[0];
    const int width = itemsize(target.dtype);
    kernels::fill_strided(target.data, target.strides, target.shape, in[1].data, width);
    std::byte* to = target.data;
    const std::byte* from = operand.data;
    Shape shape, to_strides, from_strides;
    for (std::size_t d = 0; d < low.size(); ++d) {
      // Negative padding drops elements at the start (skip) and beyond the end.
      const std::int64_t step = interior[d] + 1;
      const std::int64_t skip = low[d] < 0 ? (-low[d] + step - 1) / step : 0;
      const std::int64_t first = low[d] + skip * step;
      const std::int64_t room =
          target.shape[d] > first ? (target.shape[d] - first + step - 1) / step : 0;
      const std::int64_t count = std::max<std::int64_t>(0, std::min(operand.shape[d] - skip, room));
      if (count == 0) return;
      to += first * target.strides[d] * width;
      from += skip * operand.strides[d] * width;
      shape.push_back(count);
      to_strides.push_back(target.strides[d] * step);
      from_strides.push_back(operand.strides[d]);
    }
    kernels::copy_strided(to, to_strides, from, from_strides, shape, width);
  };
}

Values pad_transpose(const TransposeArgs& a) {
  const Ints& low = a.params.ints(param::low);
  const Ints& high = a.params.ints(param::high);
  const Ints& interior = a.params.ints(param::interior);
  Ints minus_low, minus_high, none(low.size(), 0), steps, zeros_at(low.size(), 0);
  for (std::size_t d = 0; d < low.size(); ++d) {
    minus_low.push_back(-low[d]);
    minus_high.push_back(-high[d]);
    steps.push_back(interior[d] + 1);
  }
  Values out(2);
  Value inner;
  const Value zero = scalar(a.ct[0]->dtype(), 0);
  const Value unpadded = pad(a.ct[0], zero, minus_low, minus_high, none);
  inner = slice(unpadded, zeros_at, unpadded->shape(), steps);
  if (a.linear(0)) out[0] = inner;
  if (a.linear(1)) {
    out[1] =
        sub(reduce_sum(a.ct[0], iota_ints(low.size())), reduce_sum(inner, iota_ints(low.size())));
  }
  return out;
}

Ints with_zero(const Ints& ints) {
  Ints out{0};
  out.append(ints.begin(), ints.end());
  return out;
}

const Op pad_op{
    {.name = "pad",
     .operands = 2,
     .doc = "Adds (or, where negative, removes) `low` and `high` elements at the ends of each "
            "dimension and `interior` ones between neighbours.",
     .checks = makes_nan,
     .type = pad_type,
     .jvp = [](const JvpArgs& a) -> Values {
       const Value t = a.t[0] ? a.t[0] : full_like(a.in[0], 0);
       const Value padding = a.t[1] ? a.t[1] : scalar(a.in[1]->dtype(), 0);
       return {bind1(core_ops().pad, a.params, {t, padding})};
     },
     .transpose = pad_transpose,
     .batch = [](const BatchArgs& a) -> Batched {
       const Ints low = with_zero(a.params.ints(param::low));
       const Ints high = with_zero(a.params.ints(param::high));
       const Ints interior = with_zero(a.params.ints(param::interior));
       if (!a.batched[1]) return batched1(pad(a.in[0], a.in[1], low, high, interior));
       // A padding value per slice: pad with a marker of truth values and choose.
       const Value x = all_batched(a)[0];
       const Value padded = pad(x, scalar(x->dtype(), 0), low, high, interior);
       const Value inside = pad(full(with_dtype(x->type(), DType::boolean), 1),
                                scalar(DType::boolean, 0), low, high, interior);
       return batched1(where(inside, padded, broadcast_in_dim(a.in[1], padded->shape(), {0})));
     },
     .half_native = true,
     .dims =
         [](const Params& params, const Types& in, const Type& out) {
           Ints padded;
           for (std::size_t d = 0; d < out.rank(); ++d) {
             const bool same = params.ints(param::low)[d] == 0 &&
                               params.ints(param::high)[d] == 0 &&
                               params.ints(param::interior)[d] == 0;
             if (!same) padded.push_back(static_cast<std::int64_t>(d));
           }
           return dims_along(padded, in, out, FactorUse::windowed);
         },
     .split = split_grown,
     .check_split = [](const Op&, const Params&, const Types& in,
                       const Types& out) { check_comes_out_even("padding", in[0], out[0]); },
     .sums = sums_kept,
     .kernel = pad_kernel,
     .show = [](const Params& p) -> std::vector<std::string> {
       std::string config;
       for (std::size_t d = 0; d < p.ints(param::low).size(); ++d) {
         config += concat(d ? ", (" : "(", p.ints(param::low)[d], ", ", p.ints(param::high)[d],
                          ", ", p.ints(param::interior)[d], ")");
       }
       return {"padding_config=(" + config + (p.ints(param::low).size() == 1 ? ",)" : ")")};
     }}};

// ---- iota ------------------------------------------------------------------------------------

// Numbers of a chunk.
constexpr std::int64_t counted_together = std::int64_t{1} << 16;

// Element i is i, for i in [from, to).
template <class T>
void count(DType dtype, T* out, std::int64_t stride, std::int64_t from, std::int64_t to) {
  if constexpr (std::is_arithmetic_v<T>) {
    if (stride == 1 && to <= std::numeric_limits<std::int32_t>::max()) {  // in vectors
      const auto end = static_cast<std::int32_t>(to);
      for (auto i = static_cast<std::int32_t>(from); i < end; ++i) out[i] = static_cast<T>(i);
      return;
    }
  }
  for (std::int64_t i = from; i < to; ++i) {
    T value{};
    if constexpr (std::is_same_v<T, bfloat16_t>)
      value = to_bfloat16(static_cast<float>(i));
    else if constexpr (std::is_same_v<T, float16_t>)
      value = to_float16(static_cast<float>(i));
    else if constexpr (std::is_same_v<T, narrow_t>)
      value = to_narrow(dtype, i);
    else if constexpr (is_opaque<T>)
      value = T{};
    else if constexpr (std::is_arithmetic_v<T>)
      value = static_cast<T>(i);
    else
      value = T(static_cast<typename T::value_type>(i));
    out[i * stride] = value;
  }
}

Kernel iota_kernel(const Types&, const Types& out, const Params& params) {
  const auto dim = index(params.integer(param::dimension));
  return [dim, type = out[0]](std::span<const View>, std::span<const View> views) {
    const View& view = views[0];
    if (type.size() == 0) return;
    const std::int64_t n = type.shape[dim];
    const Shape line_shape{n};
    // One line of numbers along `dim`, repeated over the others.
    Shape first(type.rank(), 0);
    runtime::parallel_for((n + counted_together - 1) / counted_together, [&](std::int64_t part) {
      const std::int64_t from = part * counted_together;
      const std::int64_t to = std::min(n, from + counted_together);
      visit_dtype(type.dtype, [&](auto zero) {
        using T = decltype(zero);
        count(type.dtype, reinterpret_cast<T*>(view.data), view.strides[dim], from, to);
      });
    });
    const int width = itemsize(type.dtype);
    for (std::size_t d = 0; d < type.rank(); ++d) {
      if (d == dim || type.shape[d] == 1) continue;
      // Everything filled so far is the first of `shape[d]` copies.
      Shape shape = first;
      for (std::size_t e = 0; e < type.rank(); ++e) {
        shape[e] = e == dim || (e < d) ? type.shape[e] : 1;
      }
      shape[d] = type.shape[d] - 1;
      Shape from = view.strides;
      from[d] = 0;
      kernels::copy_strided(view.data + view.strides[d] * width, view.strides, view.data, from,
                            shape, width);
    }
  };
}

// Numbers of the whole, exactly; of those that are rounded a part is cut out.
Value part_of_iota(const PartArgs& a) {
  if (!is_integer(a.whole.dtype)) return nullptr;
  const std::int64_t dim = a.params.integer(param::dimension);
  return add(iota(a.whole.dtype, a.part, dim), convert(a.starts[index(dim)], a.whole.dtype));
}

const Op iota_op{
    {.name = "iota",
     .operands = 0,
     .doc = "0, 1, 2, ... along one dimension of the given shape.",
     .type = [](const Op& op, const Types&, const Params& params) -> Types {
       checked_axis(op, params, "dimension", params.ints(param::shape).size());
       for (std::int64_t n : params.ints(param::shape)) {
         if (n < 0)
           value_error("iota: shape ", to_string(params.ints(param::shape)),
                       " has a negative size.");
       }
       return {Type{params.dtype(param::dtype), false, params.ints(param::shape), {}}};
     },
     .batch = [](const BatchArgs& a) -> Batched { return {{bind1(a.op, a.params, {})}, {false}}; },
     .no_gradient = true,
     .half_native = true,
     .part = part_of_iota,
     .kernel = iota_kernel,
     .show = [](const Params& p) -> std::vector<std::string> {
       return {concat("dimension=", p.integer(param::dimension)),
               concat("dtype=", name(p.dtype(param::dtype))),
               "shape=" + to_string(p.ints(param::shape)), "sharding=None"};
     }}};

}  // namespace

Value concatenate(const Values& parts, std::int64_t dim) {
  return parts.size() == 1 ? parts[0] : bind1(concatenate_op, {{"dimension", dim}}, parts);
}

Value pad(const Value& a, const Value& padding, const Ints& low, const Ints& high,
          const Ints& interior) {
  return bind1(pad_op, {{"low", low}, {"high", high}, {"interior", interior}}, {a, padding});
}

Value iota(DType dtype, const Shape& shape, std::int64_t dimension) {
  return bind1(iota_op, {{"dtype", dtype}, {"shape", shape}, {"dimension", dimension}}, {});
}

Value scalar(DType dtype, double value, bool weak) { return scalar_array(dtype, value, weak); }

Value full(const Type& type, double value) {
  const Value element = scalar(type.dtype, value, type.weak);
  if (!type.sharding) return type.rank() == 0 ? element : broadcast_in_dim(element, type.shape, {});
  const ShardingPtr split = with_sums(*type.sharding, {}, {});
  const bool sums = !type.sharding->unreduced.empty() || !type.sharding->reduced.empty();
  const Value out = type.rank() == 0 ? element : broadcast_in_dim(element, type.shape, {}, split);
  return type.rank() == 0 || sums ? sharding_constraint(out, type.sharding, {}) : out;
}

Value full_like(const Value& like, double value) { return full(like->type(), value); }
Value zeros(const Type& type) { return full(type, 0); }

}  // namespace shardax::ops

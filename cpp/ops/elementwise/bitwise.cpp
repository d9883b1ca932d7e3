// ops/elementwise/bitwise.cpp - shifts, bit counts, bitcasts, reduced precision.
//
// `and`, `or`, `xor` and `not` stand with the comparisons (compare.cpp).
#include <algorithm>
#include <bit>

#include "array/narrow.h"
#include "base/target.h"
#include "ir/core_ops.h"
#include "ir/dim_factors.h"
#include "ops/family.h"
#include "ops/sharding_rules/sharding_rules.h"
#include "ops/sharding_rules/unreduced_rules.h"

namespace shardax::ops {
namespace {

// ---- shifts: by the width or more (a negative count is a huge unsigned one), all bits leave

template <class T>
bool leaves_all(T count) {
  return static_cast<std::make_unsigned_t<T>>(count) >= sizeof(T) * 8;
}

template <class T>
inline constexpr bool is_lane = !std::is_same_v<T, codegen::number_of<T>>;

constexpr auto shift_left_kernel = [](auto x, auto count) {
  using T = decltype(x);
  if constexpr (is_lane<T>) {
    return shifted_left(x, count);
  } else {
    using U = std::make_unsigned_t<T>;
    return leaves_all(count) ? T(0) : static_cast<T>(static_cast<U>(x) << count);
  }
};
constexpr auto shift_right_logical_kernel = [](auto x, auto count) {
  using T = decltype(x);
  if constexpr (is_lane<T>) {
    return shifted_right(x, count);
  } else {
    using U = std::make_unsigned_t<T>;
    return leaves_all(count) ? T(0) : static_cast<T>(static_cast<U>(x) >> count);
  }
};
constexpr auto shift_right_arithmetic_kernel = [](auto x, auto count) {
  using T = decltype(x);
  if constexpr (is_lane<T>) {
    return shifted_right_arithmetic(x, count);
  } else {
    using S = std::make_signed_t<T>;
    constexpr int last = sizeof(T) * 8 - 1;
    return static_cast<T>(static_cast<S>(x) >>
                          (leaves_all(count) ? last : static_cast<int>(count)));
  }
};
constexpr DTypeSet lane_words = bit(DType::int32) | bit(DType::uint32);

const Op shift_left_op{
    elementwise_no_gradient({.name = "shift_left",
                             .operands = 2,
                             .doc = "Elementwise x << y; 0 where y is the width or more.",
                             .dtypes = integers,
                             .map = map_binary<integers, shift_left_kernel, lane_integers>})};
const Op shift_right_logical_op{elementwise_no_gradient(
    {.name = "shift_right_logical",
     .operands = 2,
     .doc = "Elementwise x >> y with zeros coming in; 0 where y is the width or more.",
     .dtypes = full_integers,
     .map = map_binary<integers, shift_right_logical_kernel, lane_integers>})};
const Op shift_right_arithmetic_op{elementwise_no_gradient(
    {.name = "shift_right_arithmetic",
     .operands = 2,
     .doc = "Elementwise x >> y with copies of the top bit coming in.",
     .dtypes = integers,
     .map = map_binary<integers, shift_right_arithmetic_kernel, lane_words>})};

// The same bits without a sign, of at least 32.
template <class T>
auto as_bits(T x) {
  if constexpr (is_lane<T>)
    return x.template as<std::make_unsigned_t<codegen::number_of<T>>>();
  else if constexpr (sizeof(T) == 8)
    return static_cast<std::uint64_t>(x);
  else
    return static_cast<std::uint32_t>(static_cast<std::make_unsigned_t<T>>(x));
}
template <class T, class U>
T from_bits_of(U bits) {
  if constexpr (is_lane<T>)
    return bits.template as<codegen::number_of<T>>();
  else
    return static_cast<T>(bits);
}

// Sums of ever wider groups of bits, which vectors have where they lack a count.
template <int width, class U>
U count_of(U bits) {
  using Word = codegen::number_of<U>;
  const Word pairs = static_cast<Word>(0x3333333333333333);
  bits = bits - (bits >> 1 & static_cast<Word>(0x5555555555555555));
  bits = (bits & pairs) + (bits >> 2 & pairs);
  bits = (bits + (bits >> 4)) & static_cast<Word>(0x0f0f0f0f0f0f0f0f);
  for (int group = 8; group < width; group *= 2) bits = bits + (bits >> group);
  return bits & static_cast<Word>(2 * width - 1);
}
template <class T>
inline constexpr int width_in_bits = sizeof(codegen::number_of<T>) * 8;

constexpr auto count_kernel = [](auto x) {
  using T = decltype(x);
  return from_bits_of<T>(count_of<width_in_bits<T>>(as_bits(x)));
};
// The bits above the highest 1 and all below it.
constexpr auto leading_zeros_kernel = [](auto x) {
  using T = decltype(x);
  if constexpr (is_lane<T>) {
    auto filled = as_bits(x);
    for (int step = 1; step < width_in_bits<T>; step *= 2) filled = filled | filled >> step;
    return from_bits_of<T>(count_of<width_in_bits<T>>(~filled));
  } else {
    return static_cast<T>(std::countl_zero(static_cast<std::make_unsigned_t<T>>(x)));
  }
};

// Numbers of fewer bits than a byte, `extra` is the dtype: as XLA has them. Leading zeros count in
// the number's own bits. Ones do too, but those of 4-bit numbers count in the byte that holds the
// number with its sign. Counts wrap.
template <bool leading_zeros>
void count_narrow(void* out, const void* const* in, std::int64_t n, std::int64_t extra) {
  const auto dtype = static_cast<DType>(extra);
  const auto* x = static_cast<const narrow_t*>(in[0]);
  for (std::int64_t i = 0; i < n; ++i) {
    const auto byte = static_cast<std::uint8_t>(leading_zeros || bit_width(dtype) == 4
                                                    ? narrow_integer(dtype, x[i])
                                                    : x[i].bits & ((1 << bit_width(dtype)) - 1));
    const int count = leading_zeros ? std::max(0, std::countl_zero(byte) - (8 - bit_width(dtype)))
                                    : std::popcount(byte);
    static_cast<narrow_t*>(out)[i] = to_narrow(dtype, std::int64_t{count});
  }
}

template <bool leading_zeros, auto kernel>
MapKernel map_count(const Types& in, const Type&, const Params&) {
  const DType dtype = in[0].dtype;
  if (is_narrow(dtype)) return {count_narrow<leading_zeros>, static_cast<std::int64_t>(dtype)};
  return select_map<full_integers, kernel, 1, lane_integers>(dtype);
}

const Op population_count_op{
    elementwise_no_gradient({.name = "population_count",
                             .operands = 1,
                             .doc = "Elementwise number of bits that are 1.",
                             .dtypes = integers,
                             .half_native = true,
                             .map = map_count<false, count_kernel>})};
const Op clz_op{
    elementwise_no_gradient({.name = "clz",
                             .operands = 1,
                             .doc = "Elementwise number of zero bits above the highest 1.",
                             .dtypes = integers,
                             .half_native = true,
                             .map = map_count<true, leading_zeros_kernel>})};

// ---- bitcast_convert_type ------------------------------------------------------------------

Types bitcast_type(const Op& op, const Types& in, const Params& params) {
  const DType from = in[0].dtype, to = params.dtype(param::new_dtype);
  check_dtype(op, from);
  check_dtype(op, to);
  const bool whole =
      from == DType::boolean || to == DType::boolean || is_complex(from) || is_complex(to);
  if (whole && from != to) {
    type_error(
        "lax.bitcast_convert_type does not support bool or complex values unless the operand "
        "and destination types match. Got operand dtype=",
        name(from), ", new_dtype=", name(to), ". Consider using the arr.view() method instead.");
  }
  Type out = with_dtype(in[0], to);
  const int old_bits = bit_width(from), new_bits = bit_width(to);
  if (old_bits != new_bits && std::min(old_bits, new_bits) < 8) {
    type_error("bitcast_convert_type: ", name(from), " and ", name(to),
               " have different widths, and numbers of fewer than 8 bits are stored one a byte; "
               "convert with .astype.");
  }
  if (old_bits > new_bits) {
    out.shape.push_back(old_bits / new_bits);
  } else if (old_bits < new_bits) {
    const std::int64_t last = out.rank() ? out.shape.back() : 1;
    if (last * old_bits != new_bits) {
      value_error("Attempting to convert array of shape ", to_string(in[0].shape), " from ",
                  name(from), " of size ", old_bits, " bits to ", name(to), " of size ", new_bits,
                  ", bits but ", last, " * ", old_bits, " != ", new_bits);
    }
    out.shape.pop_back();
  }
  return {out};
}

bool bitcast_view(const Params&, const Type& in, const Shape& strides, const Type& out,
                  ViewLayout& result) {
  const int old_size = itemsize(in.dtype), new_size = itemsize(out.dtype);
  result.strides = strides;
  if (old_size > new_size) {
    for (std::int64_t& s : result.strides) s *= old_size / new_size;
    result.strides.push_back(1);
  } else if (old_size < new_size) {
    if (strides.back() != 1) return false;
    result.strides.pop_back();
    for (std::int64_t& s : result.strides) {
      if (s % (new_size / old_size) != 0) return false;
      s /= new_size / old_size;
    }
  }
  return true;
}

// With different widths one has a last dimension more.
DimFactors bitcast_dims(const Params&, const Types& in, const Type& out) {
  DimFactors dims;
  const std::size_t shared = std::min(in[0].rank(), out.rank());
  dims.result = dims.add_each(Shape(out.shape.begin(), out.shape.begin() + shared));
  dims.operands = {dims.result};
  for (ArrayFactors* array : {&dims.result, &dims.operands[0]}) {
    const Shape& shape = array == &dims.result ? out.shape : in[0].shape;
    if (shape.size() > shared) array->push_back({dims.add(FactorUse::whole, shape.back())});
  }
  return dims;
}

const Op bitcast_op{
    {.name = "bitcast_convert_type",
     .operands = 1,
     .doc = "The same bits seen as another dtype. A wider dtype joins the elements of the last "
            "dimension, a narrower one adds a dimension.",
     .kind = Kind::layout,
     .dtypes = any_dtype,
     .type = bitcast_type,
     .batch = [](const BatchArgs& a) -> Batched { return batched1(bind1(a.op, a.params, a.in)); },
     .no_gradient = true,
     .half_native = true,
     .view = bitcast_view,
     .dims = bitcast_dims}};

// ---- mulhi ---------------------------------------------------------------------------------

template <class T>
T high_word(T a, T b) {
  if constexpr (sizeof(T) == 8) {
    __extension__ using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
    return static_cast<T>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> 64);
  } else {
    using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    return static_cast<T>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> (8 * sizeof(T)));
  }
}

const Op mulhi_op{elementwise_no_gradient(
    {.name = "mulhi",
     .operands = 2,
     .doc = "Elementwise upper half of the bits of the product of two integers.",
     .dtypes = full_integers,
     .map = map_binary<integers, [](auto a, auto b) { return high_word(a, b); }>})};

// ---- reduce_precision ----------------------------------------------------------------------

struct Format {
  int exponent_bits;
  int mantissa_bits;
};

// Rounds to the nearest even of `to` in the format `from`; too large becomes infinite, too small
// (subnormal in `to`) zero, and NaN stays.
template <class Bits>
Bits reduced(Bits bits, Format from, Format to) {
  const int dropped = from.mantissa_bits - to.mantissa_bits;
  const Bits sign = bits & (Bits{1} << (from.exponent_bits + from.mantissa_bits));
  const Bits infinity = ((Bits{1} << from.exponent_bits) - 1) << from.mantissa_bits;
  if ((bits & ~sign) > infinity) return bits;
  if (dropped > 0) {
    const Bits unit = Bits{1} << dropped;
    bits += (unit >> 1) - 1 + ((bits >> dropped) & 1);
    bits &= ~(unit - 1);
  }
  if (to.exponent_bits < from.exponent_bits) {
    const Bits bias = (Bits{1} << (from.exponent_bits - 1)) - 1;
    const Bits range = (Bits{1} << (to.exponent_bits - 1)) - 1;
    const Bits exponent = (bits & infinity) >> from.mantissa_bits;
    if (exponent > bias + range) return sign | infinity;
    if (exponent <= bias - range) return sign;
  }
  return bits;
}

template <class Bits, int exponent, int mantissa>
void reduce_tile(void* out, const void* const* in, std::int64_t n, std::int64_t extra) {
  dispatch([=] {
    const Format to{static_cast<int>(extra / 64), static_cast<int>(extra % 64)};
    const Bits* a = static_cast<const Bits*>(in[0]);
    for (std::int64_t i = 0; i < n; ++i) {
      static_cast<Bits*>(out)[i] = reduced<Bits>(a[i], {exponent, mantissa}, to);
    }
  });
}

Types reduce_precision_type(const Op& op, const Types& in, const Params& params) {
  const std::int64_t exponent = params.integer(param::exponent_bits),
                     mantissa = params.integer(param::mantissa_bits);
  if (exponent < 1) {
    value_error("reduce_precision: exponent_bits must be positive; got ", exponent);
  }
  if (mantissa < 0) {
    value_error("reduce_precision: mantissa_bits must be non-negative; got ", mantissa);
  }
  return type_same(op, in, params);
}

const Op reduce_precision_op{
    elementwise({.name = "reduce_precision",
                 .operands = 1,
                 .doc = "Elementwise rounding to a float of so many exponent and mantissa bits.",
                 .dtypes = floats,
                 .type = reduce_precision_type,
                 .jvp = [](const JvpArgs& a) -> Values {
                   return {bind1(core_ops().reduce_precision, a.params, {a.t[0]})};
                 },
                 .transpose = [](const TransposeArgs& a) -> Values {
                   return {bind1(core_ops().reduce_precision, a.params, {a.ct[0]})};
                 },
                 .map = [](const Types& in, const Type&, const Params& params) -> MapKernel {
                   // Formats wider than the operand's change nothing.
                   const std::int64_t extra =
                       std::min<std::int64_t>(params.integer(param::exponent_bits), 11) * 64 +
                       std::min<std::int64_t>(params.integer(param::mantissa_bits), 52);
                   if (in[0].dtype == DType::float64)
                     return {reduce_tile<std::uint64_t, 11, 52>, extra};
                   return {reduce_tile<std::uint32_t, 8, 23>, extra};
                 },
                 .sums = sums_kept})};

}  // namespace
}  // namespace shardax::ops

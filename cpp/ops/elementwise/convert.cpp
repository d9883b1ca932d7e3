// ops/elementwise/convert.cpp - elements converted to another dtype.
#include <algorithm>
#include <limits>
#include <optional>

#include "array/narrow.h"
#include "base/target.h"
#include "codegen/vector/bfloat16_fits.h"
#include "ops/family.h"
#include "ops/sharding_rules/unreduced_rules.h"

namespace shardax::ops {
namespace {

// As XLA converts: NaN becomes 0 and out-of-range values saturate when floats become integers;
// complex numbers lose their imaginary part. It takes plain real numbers and lanes.
template <class To, class T>
auto convert_real(T x) {
  using From = codegen::number_of<T>;
  using codegen::cast, codegen::select;
  if constexpr (std::is_same_v<To, From>) {
    return x;
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (std::is_same_v<From, bool>) {
    return select(x, codegen::like<T>(To(1)), codegen::like<T>(To(0)));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> &&
                       std::numeric_limits<To>::digits <= std::numeric_limits<From>::digits) {
    constexpr From low = static_cast<From>(std::numeric_limits<To>::min());
    constexpr From high = static_cast<From>(std::numeric_limits<To>::max());
    const T above = select(x > low, x, low);  // makes NaN the lowest
    const T held = select(above < high, above, high);
    return cast<To>(low == 0 ? held : select(x == x, held, From(0)));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    constexpr From low = static_cast<From>(std::numeric_limits<To>::min());
    constexpr From high = static_cast<From>(std::numeric_limits<To>::max());
    const auto inside = cast<To>(select((x > low) && (x < high), x, T(From(0))));
    const auto capped = select(x <= low, std::numeric_limits<To>::min(), inside);
    return select(x >= high, std::numeric_limits<To>::max(), capped);
  } else {
    return cast<To>(x);
  }
}
template <class To, class From>
To convert_one(From x) {
  if constexpr (std::is_arithmetic_v<From> && std::is_arithmetic_v<To>) {
    return convert_real<To>(x);
  } else if constexpr (std::is_arithmetic_v<From>) {
    return To(static_cast<typename To::value_type>(x));
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (std::is_arithmetic_v<To>) {
    return convert_one<To>(x.real());
  } else {
    return To(static_cast<typename To::value_type>(x.real()),
              static_cast<typename To::value_type>(x.imag()));
  }
}

template <class T>
inline constexpr bool is_half_v = std::is_same_v<T, bfloat16_t> || std::is_same_v<T, float16_t>;

template <class From, class To>
void convert_tile(void* out, const void* const* in, std::int64_t n, std::int64_t) {
  dispatch([=] {
    To* o = static_cast<To*>(out);
    const From* a = static_cast<const From*>(in[0]);
    SHARDAX_IVDEP
    for (std::int64_t i = 0; i < n; ++i) {
      if constexpr (std::is_same_v<From, To>) {
        o[i] = a[i];
      } else if constexpr (is_half_v<From>) {
        o[i] = to_float(a[i]);
      } else if constexpr (std::is_same_v<To, bfloat16_t>) {
        o[i] = to_bfloat16(a[i]);
      } else if constexpr (std::is_same_v<To, float16_t>) {
        o[i] = to_float16(a[i]);
      } else {
        o[i] = convert_one<To>(a[i]);
      }
    }
  });
}
// Complex numbers, part by part.
template <class From, class To>
void convert_parts(void* out, const void* const* in, std::int64_t n, std::int64_t) {
  convert_tile<From, To>(out, in, 2 * n, 0);
}

// Pairs with a kernel of their own; others go by way of a third dtype.
template <class From, class To>
constexpr bool is_direct() {
  if constexpr (std::is_same_v<From, To>) {
    return !is_half_v<From>;
  } else if constexpr (is_half_v<From> || is_half_v<To>) {
    return std::is_same_v<From, float> || std::is_same_v<To, float>;
  } else if constexpr (is_complex_v<From>) {
    return is_complex_v<To> || std::is_same_v<To, bool> ||
           std::is_same_v<To, typename From::value_type>;
  } else if constexpr (is_complex_v<To>) {
    return std::is_same_v<From, typename To::value_type>;
  } else {
    return true;
  }
}

// An integer's bits, which are all that decides in either direction unless it becomes a wider one.
template <class T, bool same_bits = std::is_integral_v<T> && !std::is_same_v<T, bool>>
struct Bits {
  using type = T;
};
template <class T>
struct Bits<T, true> {
  using type = std::make_unsigned_t<T>;
};

template <class From, class To>
constexpr MapFunction direct_function() {
  if constexpr (is_complex_v<From> && is_complex_v<To>) {
    return convert_parts<typename From::value_type, typename To::value_type>;
  } else if constexpr (!std::is_integral_v<From> || !std::is_integral_v<To>) {
    return convert_tile<From, To>;
  } else if constexpr (sizeof(From) >= sizeof(To) || std::is_same_v<From, bool>) {
    return convert_tile<typename Bits<From>::type, typename Bits<To>::type>;
  } else {
    return convert_tile<From, typename Bits<To>::type>;
  }
}

// The layout of integers in the low bits of a byte.
struct LowBits {
  explicit LowBits(std::int64_t dtype)
      : mask((1 << bit_width(static_cast<DType>(dtype))) - 1),
        sign(is_signed_integer(static_cast<DType>(dtype)) ? (mask + 1) / 2 : 0) {}
  int value(narrow_t stored) const { return ((stored.bits & mask) ^ sign) - sign; }
  template <class T>
  narrow_t stored(T value) const {
    return {static_cast<std::uint8_t>(static_cast<int>(value) & mask)};
  }
  int mask, sign;
};

// Narrow integers from and to integers of which nothing but the low bits is kept.
template <class To>
void from_low_bits(void* out, const void* const* in, std::int64_t n, std::int64_t dtype) {
  dispatch([=] {
    const LowBits from(dtype);
    To* o = static_cast<To*>(out);
    const auto* a = static_cast<const narrow_t*>(in[0]);
    SHARDAX_IVDEP
    for (std::int64_t i = 0; i < n; ++i) o[i] = static_cast<To>(from.value(a[i]));
  });
}
template <class From>
void to_low_bits(void* out, const void* const* in, std::int64_t n, std::int64_t dtype) {
  dispatch([=] {
    const LowBits to(dtype);
    auto* o = static_cast<narrow_t*>(out);
    const From* a = static_cast<const From*>(in[0]);
    SHARDAX_IVDEP
    for (std::int64_t i = 0; i < n; ++i) o[i] = to.stored(a[i]);
  });
}
// `dtypes` is the one given plus 256 times the one wanted.
void low_bits_again(void* out, const void* const* in, std::int64_t n, std::int64_t dtypes) {
  const LowBits from(dtypes % 256), to(dtypes / 256);
  auto* o = static_cast<narrow_t*>(out);
  const auto* a = static_cast<const narrow_t*>(in[0]);
  for (std::int64_t i = 0; i < n; ++i) o[i] = to.stored(from.value(a[i]));
}

// Narrow numbers become float32; float32, and integers, become any narrow number.
void from_narrow(void* out, const void* const* in, std::int64_t n, std::int64_t dtype) {
  const auto* a = static_cast<const narrow_t*>(in[0]);
  for (std::int64_t i = 0; i < n; ++i)
    static_cast<float*>(out)[i] = narrow_float(static_cast<DType>(dtype), a[i]);
}
void from_narrow_float(void* out, const void* const* in, std::int64_t n, std::int64_t dtype) {
  const auto* a = static_cast<const narrow_t*>(in[0]);
  const float* values = narrow_values(static_cast<DType>(dtype));
  for (std::int64_t i = 0; i < n; ++i) static_cast<float*>(out)[i] = values[a[i].bits];
}
void narrowed(void* out, const void* const* in, std::int64_t n, std::int64_t dtype) {
  const auto* a = static_cast<const float*>(in[0]);
  for (std::int64_t i = 0; i < n; ++i)
    static_cast<narrow_t*>(out)[i] = to_narrow(static_cast<DType>(dtype), a[i]);
}
void narrow_coded(void* out, const void* const* in, std::int64_t n, std::int64_t dtype) {
  dispatch([=] {
    const NarrowFormat format = narrow_format(static_cast<DType>(dtype));
    const auto* a = static_cast<const float*>(in[0]);
    auto* o = static_cast<narrow_t*>(out);
    SHARDAX_IVDEP
    for (std::int64_t i = 0; i < n; ++i) o[i] = {narrow_code(format, a[i])};
  });
}

// Calls f(T{}) with the type of a dtype that is float32 or, without its sign, an integer that is
// not narrow.
template <class F>
void visit_plain(DType dtype, F&& f) {
  visit_dtype(dtype, [&](auto x) {
    using T = decltype(x);
    if constexpr (std::is_same_v<T, float> || (std::is_integral_v<T> && !std::is_same_v<T, bool>))
      f(typename Bits<T>::type{});
  });
}
MapKernel narrow_kernel(DType from, DType to) {
  MapKernel found{};
  const auto source = static_cast<std::int64_t>(from), target = static_cast<std::int64_t>(to);
  if (is_narrow_integer(from) && is_narrow_integer(to)) {
    found = {low_bits_again, source + 256 * target};
  } else if (is_narrow_integer(from)) {
    visit_plain(to, [&](auto x) { found = {from_low_bits<decltype(x)>, source}; });
  } else if (is_narrow(from) && to == DType::float32) {
    found = {is_narrow_float(from) ? from_narrow_float : from_narrow, source};
  } else if (is_narrow_integer(to) && is_integer(from)) {
    visit_plain(from, [&](auto x) { found = {to_low_bits<decltype(x)>, target}; });
  } else if (is_narrow(to) && from == DType::float32) {
    const bool coded = is_narrow_float(to) && to != DType::float8_e8m0fnu;
    found = {coded ? narrow_coded : narrowed, target};
  }
  return found;
}

// A pair's own kernel, if it has one.
MapFunction direct_kernel(DType from, DType to) {
  MapFunction found = nullptr;
  visit_dtype(from, [&](auto x) {
    visit_dtype(to, [&](auto y) {
      using From = decltype(x);
      using To = decltype(y);
      if constexpr (!is_opaque<From> && !is_opaque<To>) {
        if constexpr (is_direct<From, To>()) found = direct_function<From, To>();
      }
    });
  });
  return found;
}

MapKernel convert_kernel(DType from, DType to);

// `dtypes`: the one given, 256 times the one in between and 65536 times the one wanted.
void convert_in_two(void* out, const void* const* in, std::int64_t n, std::int64_t dtypes) {
  constexpr std::int64_t block = 256;
  const auto from = static_cast<DType>(dtypes % 256), to = static_cast<DType>(dtypes / 65536);
  const auto between = static_cast<DType>(dtypes / 256 % 256);
  const MapKernel first = convert_kernel(from, between), second = convert_kernel(between, to);
  alignas(64) std::byte held[block * sizeof(double)];
  const void* const operand = held;
  for (std::int64_t start = 0; start < n; start += block) {
    const std::int64_t count = std::min(block, n - start);
    const void* const a = static_cast<const std::byte*>(in[0]) + start * itemsize(from);
    first.function(held, &a, count, first.extra);
    second.function(static_cast<std::byte*>(out) + start * itemsize(to), &operand, count,
                    second.extra);
  }
}
// By way of the type of a complex number's parts, and of float32 for those of 16 bits. The two
// 16-bit floats have no kernel: a loop converts them in two instructions.
MapKernel convert_kernel(DType from, DType to) {
  if (is_narrow(from) || is_narrow(to)) return narrow_kernel(from, to);
  if (is_half(from) && is_half(to)) return {};
  if (const MapFunction found = direct_kernel(from, to)) return {found};
  const DType between = is_complex(from) ? real_dtype(from)
                        : is_complex(to) ? real_dtype(to)
                                         : DType::float32;
  const auto code = [](DType d) { return static_cast<std::int64_t>(d); };
  return {convert_in_two, code(from) + 256 * code(between) + 65536 * code(to)};
}

// The same by lanes. bfloat16 is rounded as array/half.h does.
using codegen::Lane, codegen::lane;
Lane<float> wide_lane(Lane<bfloat16_t> x) {
  return (codegen::cast<std::uint32_t>(x) << 16).as<float>();
}
Lane<float> wide_lane(Lane<float16_t> x) { return codegen::cast<float>(x); }
Lane<float16_t> narrow_lane(Lane<float> x, float16_t) { return codegen::cast<float16_t>(x); }
Lane<bfloat16_t> narrow_lane(Lane<float> x, bfloat16_t) {
  const auto& program = codegen::Recording::current();
  const auto bits = codegen::bits(x);
  const auto high = [](auto word) { return codegen::cast<bfloat16_t>(word >> 16); };
  const auto nans_or = [&](auto word) { return codegen::select(x != x, bits | 0x400000u, word); };
  if (codegen::fits_bfloat16(program, x.id)) return high(nans_or(bits));
  const auto rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
  return high(codegen::makes_bfloat16_nans(program, x.id) ? rounded : nans_or(rounded));
}

template <class To, class From>
Lane<To> convert_lane(Lane<From> x) {
  if constexpr (is_complex_v<From> && std::is_same_v<To, bool>) {
    return x != Lane<From>(From(0));
  } else if constexpr (is_complex_v<To>) {
    using Part = typename To::value_type;
    if constexpr (is_complex_v<From>)
      return {convert_lane<Part>(x.real()), convert_lane<Part>(x.imag())};
    else
      return {convert_lane<Part>(x), Lane<Part>(Part(0))};
  } else if constexpr (is_complex_v<From>) {
    return convert_lane<To>(x.real());
  } else if constexpr (is_half_v<From>) {
    return convert_lane<To>(wide_lane(x));
  } else if constexpr (is_half_v<To>) {
    return narrow_lane(convert_real<float>(x), To{});
  } else if constexpr (std::is_integral_v<From> && std::is_integral_v<To> &&
                       sizeof(From) == sizeof(To)) {
    return x.template as<To>();
  } else {
    return convert_real<To>(x);
  }
}

template <class From, class To>
int record_conversion(codegen::VectorProgram& program, const int* in, std::int64_t) {
  const codegen::Recording recording(program);
  return convert_lane<To>(lane<From>(in[0])).id;
}

codegen::EmitKernel record_convert(DType from_dtype, DType to_dtype) {
  if (from_dtype == to_dtype)
    return [](codegen::VectorProgram&, const int* in, std::int64_t) { return in[0]; };
  codegen::EmitKernel found = nullptr;
  visit_dtype(from_dtype, [&](auto from) {
    visit_dtype(to_dtype, [&](auto to) {
      using From = decltype(from);
      using To = decltype(to);
      if constexpr (codegen::kind_of<From> != codegen::Kind::none &&
                    codegen::kind_of<To> != codegen::Kind::none && !std::is_same_v<From, To> &&
                    !(is_half_v<From> && is_half_v<To>))
        found = record_conversion<From, To>;
    });
  });
  return found;
}

MapKernel convert_map_rule(const Types& in, const Type& out, const Params&) {
  MapKernel found = convert_kernel(in[0].dtype, out.dtype);
  if (!is_narrow(in[0].dtype) && !is_narrow(out.dtype))
    found.record = record_convert(in[0].dtype, out.dtype);
  return found;
}

[[noreturn]] void refuse_keys(DType from, DType to) {
  value_error("Cannot convert_element_type from ", name(from), " to ", name(to),
              ". PRNG keys are no numbers; make keys with jax.random.wrap_key_data, and take their "
              "words with jax.random.key_data.");
}

const Op convert_op{
    elementwise({.name = "convert_element_type",
                 .operands = 1,
                 .doc = "Elements converted to another dtype.",
                 .dtypes = any_dtype,
                 .type = [](const Op& op, const Types& in, const Params& params) -> Types {
                   const DType from = in[0].dtype, wanted = params.dtype(param::new_dtype);
                   if (is_key(from) || is_key(wanted)) refuse_keys(from, wanted);
                   check_dtype(op, from);
                   return {with_dtype(in[0], wanted, params.flag(param::weak_type))};
                 },
                 .jvp = [](const JvpArgs& a) -> Values {
                   if (!is_inexact(a.out[0]->dtype())) return {nullptr};
                   return {convert(a.t[0], a.out[0]->dtype(), a.out[0]->type().weak)};
                 },
                 .transpose = [](const TransposeArgs& a) -> Values {
                   return {convert(a.ct[0], a.in_types[0].dtype, a.in_types[0].weak)};
                 },
                 .half_native = true,
                 .map = convert_map_rule,
                 .sums = sums_kept})};

// A number that a function states itself: programs show it, converted, as a literal.
bool is_literal(const Value& a) {
  return !a->is_tracer() && a->type().rank() == 0 && !is_key(a->dtype()) && !as_array(a).deleted();
}

}  // namespace

Value convert(const Value& a, DType dtype, bool weak) {
  if (a->dtype() == dtype && a->type().weak == weak) return a;
  std::optional<EagerScope> at_once;
  if (staging_in_progress() && is_literal(a)) at_once.emplace();
  return bind1(convert_op, {{"new_dtype", dtype}, {"weak_type", weak}}, {a});
}

}  // namespace shardax::ops

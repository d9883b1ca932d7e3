// ops/convert.cpp - elements converted to another dtype.
#include <limits>

#include "array/narrow.h"
#include "ops/family.h"

namespace shardax::ops {
namespace {

// As XLA converts: NaN becomes 0 and out-of-range values saturate when floats become integers;
// complex numbers lose their imaginary part.
template <class To, class From>
To convert_one(From x) {
  if constexpr (!std::is_arithmetic_v<From>) {
    if constexpr (std::is_same_v<To, bool>)
      return x != From(0);
    else if constexpr (std::is_arithmetic_v<To>)
      return convert_one<To>(x.real());
    else
      return To(static_cast<typename To::value_type>(x.real()),
                static_cast<typename To::value_type>(x.imag()));
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (!std::is_arithmetic_v<To>) {
    return To(static_cast<typename To::value_type>(x));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    constexpr From low = static_cast<From>(std::numeric_limits<To>::min());
    constexpr From high = static_cast<From>(std::numeric_limits<To>::max());
    const To inside = static_cast<To>(x > low && x < high ? x : From(0));
    return x >= high  ? std::numeric_limits<To>::max()
           : x <= low ? std::numeric_limits<To>::min()
                      : inside;
  } else {
    return static_cast<To>(x);
  }
}

template <class From, class To>
SHARDAX_CLONES void convert_tile(void* out, const void* const* in, std::int64_t n, std::int64_t) {
  To* o = static_cast<To*>(out);
  const From* a = static_cast<const From*>(in[0]);
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) {
    if constexpr (std::is_same_v<From, bfloat16_t> || std::is_same_v<From, float16_t>) {
      o[i] = convert_one<To>(to_float(a[i]));
    } else if constexpr (std::is_same_v<To, bfloat16_t>) {
      o[i] = to_bfloat16(convert_one<float>(a[i]));
    } else if constexpr (std::is_same_v<To, float16_t>) {
      o[i] = to_float16(convert_one<float>(a[i]));
    } else {
      o[i] = convert_one<To>(a[i]);
    }
  }
}

// 16-bit floats convert to and from float; other pairs involving them take two steps there.
template <class T>
inline constexpr bool is_half_v = std::is_same_v<T, bfloat16_t> || std::is_same_v<T, float16_t>;

// Narrow numbers and the types in which they are computed; `dtype` is the narrow one.
template <class To>
void from_narrow(void* out, const void* const* in, std::int64_t n, std::int64_t dtype) {
  const auto from = static_cast<DType>(dtype);
  const auto* a = static_cast<const narrow_t*>(in[0]);
  for (std::int64_t i = 0; i < n; ++i) {
    if constexpr (std::is_integral_v<To>)
      static_cast<To*>(out)[i] = static_cast<To>(narrow_integer(from, a[i]));
    else
      static_cast<To*>(out)[i] = narrow_float(from, a[i]);
  }
}
template <class From>
void narrowed(void* out, const void* const* in, std::int64_t n, std::int64_t dtype) {
  using Wide = std::conditional_t<std::is_integral_v<From>, std::int64_t, float>;
  const auto* a = static_cast<const From*>(in[0]);
  for (std::int64_t i = 0; i < n; ++i) {
    static_cast<narrow_t*>(out)[i] = to_narrow(static_cast<DType>(dtype), Wide{a[i]});
  }
}

// As convert_one.
template <class From, class To>
int record_conversion(codegen::VectorProgram& program, const int* in, std::int64_t) {
  using codegen::Lane, codegen::convert;
  const codegen::Recording recording(program);
  const Lane<From> x = codegen::lane<From>(in[0]);
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    using Limits = std::numeric_limits<To>;
    constexpr From low = static_cast<From>(Limits::min());
    constexpr From high = static_cast<From>(Limits::max());
    const Lane<To> inside = convert<To>(select(x > low && x < high, x, Lane<From>(0)));
    const Lane<To> least(Limits::min()), greatest(Limits::max());
    return select(x >= high, greatest, select(x <= low, least, inside)).id;
  } else {
    return convert<To>(x).id;
  }
}

// Conversions that are an instruction, or a few, or none.
codegen::Record record_convert(DType from, DType to) {
  using codegen::lane, codegen::select;
  using Program = codegen::VectorProgram;
  if (from == to) return [](Program&, const int* in, std::int64_t) { return in[0]; };
  if (from == DType::int32 && to == DType::float32) {
    return [](Program& program, const int* in, std::int64_t) {
      const codegen::Recording recording(program);
      return codegen::to_float(lane<std::int32_t>(in[0])).id;
    };
  }
  if (from == DType::int64 && to == DType::float64) {
    return [](Program& program, const int* in, std::int64_t) {
      const codegen::Recording recording(program);
      return codegen::to_float(lane<std::int64_t>(in[0])).id;
    };
  }
  codegen::Record found = nullptr;
  if ((bit(from) & lane_numbers) && (bit(to) & lane_numbers) &&
      !((bit(from) & lane_integers) && (bit(to) & lane_integers) &&
        itemsize(from) == itemsize(to))) {
    visit_dtype(from, [&](auto x) {
      visit_dtype(to, [&](auto y) {
        using From = decltype(x);
        using To = decltype(y);
        constexpr bool numbers = codegen::kind_of<From> != codegen::Kind::none &&
                                 codegen::kind_of<To> != codegen::Kind::none &&
                                 !std::is_same_v<From, bool> && !std::is_same_v<To, bool>;
        // Between floats and uint64 there is no instruction.
        constexpr bool wide = std::is_same_v<From, std::uint64_t> && std::is_floating_point_v<To>;
        constexpr bool back = std::is_same_v<To, std::uint64_t> && std::is_floating_point_v<From>;
        if constexpr (numbers && !wide && !back) found = record_conversion<From, To>;
      });
    });
    return found;
  }
  // Integers of one width: the bits stay.
  if ((bit(from) & lane_integers) && (bit(to) & lane_integers) && itemsize(from) == itemsize(to)) {
    visit_dtype(to, [&](auto zero) {
      if constexpr ((lane_integers & bit(kernels::dtype_of<decltype(zero)>)) != 0)
        found = [](Program& program, const int* in, std::int64_t) {
          return program.add({codegen::Code::view, codegen::kind_of<decltype(zero)>, {in[0]}});
        };
    });
    return found;
  }
  visit_dtype(from == DType::boolean ? to : from, [&](auto zero) {
    using T = decltype(zero);
    if constexpr ((lane_numbers & bit(kernels::dtype_of<T>)) != 0) {
      if (from == DType::boolean) {
        found = [](Program& program, const int* in, std::int64_t) {
          const codegen::Recording recording(program);
          return select(lane<bool>(in[0]), codegen::Lane<T>(T(1)), codegen::Lane<T>(T(0))).id;
        };
      } else if (to == DType::boolean) {
        found = [](Program& program, const int* in, std::int64_t) {
          const codegen::Recording recording(program);
          return (lane<T>(in[0]) != T(0)).id;
        };
      }
    }
  });
  return found;
}

MapKernel convert_map_rule(const Types& in, const Type& out, const Params&) {
  MapFunction found = nullptr;
  if (is_narrow(in[0].dtype)) {
    const bool whole = out.dtype == DType::int32;
    if (!whole && out.dtype != DType::float32) return {};
    return {whole ? from_narrow<std::int32_t> : from_narrow<float>,
            static_cast<std::int64_t>(in[0].dtype)};
  }
  if (is_narrow(out.dtype)) {
    const bool whole = in[0].dtype == DType::int32;
    if (!whole && in[0].dtype != DType::float32) return {};
    return {whole ? narrowed<std::int32_t> : narrowed<float>, static_cast<std::int64_t>(out.dtype)};
  }
  visit_dtype(in[0].dtype, [&](auto from) {
    visit_dtype(out.dtype, [&](auto to) {
      using From = decltype(from);
      using To = decltype(to);
      if constexpr (!is_opaque<From> && !is_opaque<To> && !(is_half_v<From> && is_half_v<To>)) {
        found = convert_tile<From, To>;
      }
    });
  });
  return {found, 0, record_convert(in[0].dtype, out.dtype)};
}

const Op convert_op{
    elementwise({.name = "convert_element_type",
                 .doc = "Elements converted to another dtype.",
                 .dtypes = any_dtype,
                 .type = [](const Op& op, const Types& in, const Params& params) -> Types {
                   check_dtype(op, in[0].dtype);
                   const DType wanted = params.dtype("new_dtype");
                   if (is_key(wanted)) {
                     type_error("convert_element_type: numbers of dtype ", name(in[0].dtype),
                                " are no PRNG keys; make keys with jax.random.wrap_key_data.");
                   }
                   return {with_dtype(in[0], wanted, params.flag("weak_type"))};
                 },
                 .jvp = [](const JvpArgs& a) -> Values {
                   if (!is_inexact(a.out[0]->dtype())) return {nullptr};
                   return {convert(a.t[0], a.out[0]->dtype(), a.out[0]->type().weak)};
                 },
                 .transpose = [](const TransposeArgs& a) -> Values {
                   return {convert(a.ct[0], a.in_types[0].dtype, a.in_types[0].weak)};
                 },
                 .half_native = true,
                 .map = convert_map_rule})};

}  // namespace

Value convert(const Value& a, DType dtype, bool weak) {
  if (a->dtype() == dtype && a->type().weak == weak) return a;
  return bind1(convert_op, {{"new_dtype", dtype}, {"weak_type", weak}}, {a});
}

}  // namespace shardax::ops

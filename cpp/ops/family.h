// ops/family.h - constructors that fill the fields a family of ops shares.
//
// An elementwise op takes three places: a record like the one below in its family's file, its name
// in python/shardax, and a sample line (tests/ops/samples.py).
//
//   const Op sin{elementwise({.name = "sin", .doc = "Elementwise sine.", .dtypes = inexacts,
//                       .jvp = [](const JvpArgs& a) -> Values { return {mul(a.t[0], cos(a.in[0]))};
//                       }, .map = map_unary<inexacts, [](auto x) { return simd::sin(x); }>})};
#pragma once

#include <array>
#include <complex>
#include <type_traits>

#include "array/half.h"
#include "base/errors.h"
#include "codegen/vector/complex_lane.h"
#include "ir/op.h"
#include "kernels/tiles/dispatch.h"
#include "ops/ops.h"

namespace shardax::ops {

template <class T>
inline constexpr bool is_complex_v = false;
template <class T>
inline constexpr bool is_complex_v<std::complex<T>> = true;
template <class T>
inline constexpr bool is_complex_v<codegen::Lane<T>> = is_complex_v<T>;

// Sets of dtypes.
inline constexpr DTypeSet booleans = bit(DType::boolean);
constexpr DTypeSet range(DType first, DType last) { return (bit(last) << 1) - bit(first); }
inline constexpr DTypeSet signed_integers = range(DType::int1, DType::int64);
inline constexpr DTypeSet unsigned_integers = range(DType::uint1, DType::uint64);
inline constexpr DTypeSet integers = signed_integers | unsigned_integers;
// The dtypes with a C++ type of their width, for ops on the bits of a number.
inline constexpr DTypeSet full_integers =
    range(DType::int8, DType::int64) | range(DType::uint8, DType::uint64);
inline constexpr DTypeSet halves = bit(DType::bfloat16) | bit(DType::float16);
inline constexpr DTypeSet full_floats = bit(DType::float32) | bit(DType::float64);
inline constexpr DTypeSet narrow_floats = range(DType::float4_e2m1fn, DType::float8_e8m0fnu);
inline constexpr DTypeSet floats = narrow_floats | halves | full_floats;
inline constexpr DTypeSet complexes = bit(DType::complex64) | bit(DType::complex128);
inline constexpr DTypeSet inexacts = floats | complexes;
inline constexpr DTypeSet numbers = integers | inexacts;
inline constexpr DTypeSet any_dtype = numbers | booleans;
inline constexpr DTypeSet keys = range(DType::key, DType::key_last);

// Throws JAX's TypeError unless `dtype` is in the record's set.
void check_dtype(const Op& op, DType dtype);
// The common shape of operands of one rank, along whose dimensions of size 1 they repeat; rank 0
// goes with any shape. Throws TypeError.
Shape elementwise_shape(const Op& op, const Types& in);

// Type rules: operands of one dtype out of the record's set; the result has it too, is bool, or is
// the real part's type.
Types type_same(const Op& op, const Types& in, const Params& params);
Types type_predicate(const Op& op, const Types& in, const Params& params);
Types type_real(const Op& op, const Types& in, const Params& params);

// Batch rule of every elementwise op: unbatched operands gain a leading dimension of size 1, unless
// they have rank 0.
Batched batch_elementwise(const BatchArgs& args);
// Every operand with the leading axis, broadcast where it was missing.
Values all_batched(const BatchArgs& args);

inline Batched batched1(Value out) { return {{std::move(out)}, {true}}; }

// ---- kernels -------------------------------------------------------------------------------

// The numbers that machine code computes with (codegen/vector/lane.h): a record that lists some of
// these beside its function has machine code for them.
inline constexpr DTypeSet lane_single = bit(DType::float32);
inline constexpr DTypeSet lane_floats = full_floats;
inline constexpr DTypeSet lane_integers =
    bit(DType::int32) | bit(DType::int64) | bit(DType::uint32) | bit(DType::uint64);
inline constexpr DTypeSet lane_numbers = lane_floats | lane_integers;
inline constexpr DTypeSet lane_complexes = lane_numbers | complexes;

// A function that gives integers the same bits with and without a sign, which share its kernels.
template <class F>
struct Signless : F {
  using F::operator();
};
template <class F>
Signless(F) -> Signless<F>;
template <class F>
inline constexpr bool is_signless = false;
template <class F>
inline constexpr bool is_signless<const Signless<F>> = true;

// The type whose kernel of F numbers of type T have.
template <class T, auto F, bool shares = is_signless<const decltype(F)>>
struct KernelType {
  using type = T;
};
template <class T, auto F>
  requires(std::is_integral_v<T> && !std::is_same_v<T, bool>)
struct KernelType<T, F, true> {
  using type = std::make_unsigned_t<T>;
};

// The kernel for the dtype of operand `I`, out of those instantiated for `set`.
// F is called with C++ scalars; 16-bit floats and narrower numbers never reach it (the compiler
// widens them). For the dtypes in `lanes` it is called with lanes too.
template <DTypeSet set, auto F, int arity, DTypeSet lanes = 0>
MapKernel select_map(DType dtype) {
  MapKernel found;
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (kernels::is_computed<T> && (set & bit(kernels::dtype_of<T>)) != 0) {
      using K = typename KernelType<T, F>::type;
      if constexpr (arity == 1) found.function = kernels::map1<K, F>;
      if constexpr (arity == 2) found.function = kernels::map2<K, F>;
      if constexpr (arity == 3) found.function = kernels::map3<K, F>;
      if constexpr ((lanes & bit(kernels::dtype_of<T>)) != 0)
        found.record = codegen::record_map<T, F, arity>;
    }
  });
  return found;
}

template <DTypeSet set, auto F, DTypeSet lanes = 0>
MapKernel map_unary(const Types& in, const Type&, const Params&) {
  return select_map<set, F, 1, lanes>(in[0].dtype);
}
template <DTypeSet set, auto F, DTypeSet lanes = 0>
MapKernel map_binary(const Types& in, const Type&, const Params&) {
  return select_map<set, F, 2, lanes>(in[0].dtype);
}

// ---- constructors ---------------------------------------------------------------------------

// Fills the fields that elementwise ops share. `type` is type_same unless given.
OpSpec elementwise(OpSpec spec);
// The same for ops with zero derivative (comparisons, floor, bitwise).
OpSpec elementwise_no_gradient(OpSpec spec);
// The derivative rule of an op that has none: throws JAX's NotImplementedError.
[[noreturn]] void no_derivative(std::string_view op);
// Comparisons: bool results, zero derivative.
OpSpec comparison(OpSpec spec);

}  // namespace shardax::ops

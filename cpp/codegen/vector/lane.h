// codegen/vector/lane.h - numbers that record what is done with them.
//
// The kernels of elementwise ops are generic functions of C++ numbers. Called with Lane<T> in place
// of T, they write the nodes of a vector program, as a traced function writes a program's
// equations. An op thus has one source for its tile kernel and its machine code, which compute the
// same bits. A kernel that branches says `select`, which both kinds of number have.
#pragma once

#include <bit>
#include <complex>
#include <type_traits>
#include <vector>

#include "array/dtype.h"
#include "codegen/vector/emit_kernel.h"
#include "codegen/vector/program.h"

namespace shardax::codegen {

class ScalarProgram;

template <class T>
inline constexpr Kind kind_of = Kind::none;
template <>
inline constexpr Kind kind_of<float> = Kind::f32;
template <>
inline constexpr Kind kind_of<double> = Kind::f64;
template <>
inline constexpr Kind kind_of<std::int32_t> = Kind::i32;
template <>
inline constexpr Kind kind_of<std::uint32_t> = Kind::u32;
template <>
inline constexpr Kind kind_of<std::int64_t> = Kind::i64;
template <>
inline constexpr Kind kind_of<std::uint64_t> = Kind::u64;
template <>
inline constexpr Kind kind_of<bfloat16_t> = Kind::bf16;
template <>
inline constexpr Kind kind_of<float16_t> = Kind::f16;
template <>
inline constexpr Kind kind_of<bool> = Kind::truth;
template <>
inline constexpr Kind kind_of<std::complex<float>> = Kind::c64;
template <>
inline constexpr Kind kind_of<std::complex<double>> = Kind::c128;

// The program that lanes of this thread write, while it lives.
class Recording {
 public:
  explicit Recording(VectorProgram& program);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  static VectorProgram& current();

 private:
  VectorProgram* outer_;
};

// Kernels that are recorded for this program of single numbers may branch, while it lives.
class Branching {
 public:
  explicit Branching(ScalarProgram& program);
  ~Branching();
  Branching(const Branching&) = delete;
  Branching& operator=(const Branching&) = delete;
  static bool possible();
  // As in a ScalarProgram.
  static void branch(int condition);
  static void otherwise(const std::vector<int>& results);
  static std::vector<int> join(const std::vector<int>& results);

 private:
  ScalarProgram* outer_;
};

template <class T>
std::uint64_t bits_of(T x) {
  if constexpr (std::is_same_v<T, bool>)
    return x ? ~std::uint64_t{0} : 0;
  else if constexpr (sizeof(T) == 4)
    return std::bit_cast<std::uint32_t>(x);
  else
    return std::bit_cast<std::uint64_t>(x);
}

template <class T>
class Lane {
 public:
  struct Place {
    int node;
  };
  explicit Lane(Place place) : id(place.node) {}
  Lane(T x) : id(Recording::current().add({Code::constant, kind_of<T>, {}, bits_of(x)})) {}

  // The same bits as a U.
  template <class U>
  Lane<U> as() const;

  int id;
};

template <class T>
Lane<T> lane(int id) {
  return Lane<T>(typename Lane<T>::Place{id});
}

template <class R, class... Lanes>
Lane<R> record(Code code, std::uint64_t bits, Lanes... in) {
  Node node{code, kind_of<R>, {}, bits};
  std::size_t i = 0;
  ((node.in[i++] = in.id), ...);
  return lane<R>(Recording::current().add(node));
}

template <class T>
template <class U>
Lane<U> Lane<T>::as() const {
  return record<U>(Code::view, 0, *this);
}

// The number that a generic kernel computes with: T itself, or that of a lane.
template <class T>
struct NumberOf {
  using type = T;
};
template <class T>
struct NumberOf<Lane<T>> {
  using type = T;
};
template <class T>
using number_of = typename NumberOf<T>::type;

// x as a number of the kind that Like is: plain, or a lane.
template <class Like, class T>
auto like(T x) {
  if constexpr (std::is_same_v<Like, number_of<Like>>)
    return x;
  else
    return Lane<T>(x);
}

// Operands of which one may be a plain number.
#define SHARDAX_LANE_OPERATOR(symbol, code, result)                    \
  template <class T>                                                   \
  Lane<result> operator symbol(Lane<T> a, Lane<T> b) {                 \
    return record<result>(code, 0, a, b);                              \
  }                                                                    \
  template <class T>                                                   \
  Lane<result> operator symbol(Lane<T> a, std::type_identity_t<T> b) { \
    return a symbol Lane<T>(b);                                        \
  }                                                                    \
  template <class T>                                                   \
  Lane<result> operator symbol(std::type_identity_t<T> a, Lane<T> b) { \
    return Lane<T>(a) symbol b;                                        \
  }
SHARDAX_LANE_OPERATOR(+, Code::add, T)
SHARDAX_LANE_OPERATOR(-, Code::sub, T)
SHARDAX_LANE_OPERATOR(*, Code::mul, T)
SHARDAX_LANE_OPERATOR(/, Code::div, T)
SHARDAX_LANE_OPERATOR(&, Code::bit_and, T)
SHARDAX_LANE_OPERATOR(|, Code::bit_or, T)
SHARDAX_LANE_OPERATOR(^, Code::bit_xor, T)
SHARDAX_LANE_OPERATOR(==, Code::equal, bool)
#undef SHARDAX_LANE_OPERATOR

inline Lane<bool> operator!(Lane<bool> a) { return a ^ Lane<bool>(true); }
inline Lane<bool> operator&&(Lane<bool> a, Lane<bool> b) { return a & b; }
inline Lane<bool> operator||(Lane<bool> a, Lane<bool> b) { return a | b; }

// Instructions compare signed integers only: the sign bits of others are flipped.
template <class T>
Lane<bool> below(Lane<T> a, Lane<T> b) {
  if constexpr (std::is_unsigned_v<T>) {
    using Signed = std::make_signed_t<T>;
    constexpr T sign = T{1} << (sizeof(T) * 8 - 1);
    return below((a ^ sign).template as<Signed>(), (b ^ sign).template as<Signed>());
  } else {
    return record<bool>(Code::less, 0, a, b);
  }
}

#define SHARDAX_LANE_COMPARISON(symbol, floats, others)              \
  template <class T>                                                 \
  Lane<bool> operator symbol(Lane<T> a, Lane<T> b) {                 \
    if constexpr (std::is_floating_point_v<T>)                       \
      return floats;                                                 \
    else                                                             \
      return others;                                                 \
  }                                                                  \
  template <class T>                                                 \
  Lane<bool> operator symbol(Lane<T> a, std::type_identity_t<T> b) { \
    return a symbol Lane<T>(b);                                      \
  }                                                                  \
  template <class T>                                                 \
  Lane<bool> operator symbol(std::type_identity_t<T> a, Lane<T> b) { \
    return Lane<T>(a) symbol b;                                      \
  }
SHARDAX_LANE_COMPARISON(<, record<bool>(Code::less, 0, a, b), below(a, b))
SHARDAX_LANE_COMPARISON(!=, record<bool>(Code::not_equal, 0, a, b), !(a == b))
SHARDAX_LANE_COMPARISON(<=, record<bool>(Code::less_equal, 0, a, b), !(b < a))
SHARDAX_LANE_COMPARISON(>, b < a, b < a)
SHARDAX_LANE_COMPARISON(>=, b <= a, !(a < b))
#undef SHARDAX_LANE_COMPARISON

template <class T>
Lane<T> operator<<(Lane<T> a, int n) {
  return record<T>(Code::shift_left, static_cast<std::uint64_t>(n), a);
}
template <class T>
Lane<T> operator>>(Lane<T> a, int n) {
  constexpr Code code = std::is_signed_v<T> ? Code::shift_right_arithmetic : Code::shift_right;
  return record<T>(code, static_cast<std::uint64_t>(n), a);
}
// By as many bits as the other number says.
template <class T>
Lane<T> shifted_left(Lane<T> a, Lane<T> count) {
  return record<T>(Code::shift_left_by, 0, a, count);
}
template <class T>
Lane<T> shifted_right(Lane<T> a, Lane<T> count) {
  return record<T>(Code::shift_right_by, 0, a, count);
}
template <class T>
Lane<T> shifted_right_arithmetic(Lane<T> a, Lane<T> count) {
  return record<T>(Code::shift_right_arithmetic_by, 0, a, count);
}
template <class T>
  requires std::is_integral_v<T>
Lane<T> operator~(Lane<T> a) {
  return a ^ Lane<T>(static_cast<T>(~T{0}));
}

template <class T>
using Word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
template <class T>
inline constexpr Word<T> sign_bit = Word<T>{1} << (sizeof(T) * 8 - 1);
template <class T>
Lane<T> masked(Lane<T> a, Word<T> mask) {
  return record<T>(Code::bit_and, 0, a, Lane<T>(std::bit_cast<T>(mask)));
}

template <class T>
Lane<T> operator-(Lane<T> a) {
  if constexpr (std::is_floating_point_v<T>)
    return record<T>(Code::bit_xor, 0, a, Lane<T>(std::bit_cast<T>(sign_bit<T>)));
  else
    return Lane<T>(T{0}) - a;
}

// ---- the functions that kernels/special/math_base.h has for plain numbers
// --------------------------------

template <class T>
Lane<Word<T>> bits(Lane<T> x) {
  return x.template as<Word<T>>();
}
inline Lane<float> from_bits(Lane<std::uint32_t> x) { return x.as<float>(); }
inline Lane<double> from_bits(Lane<std::uint64_t> x) { return x.as<double>(); }
template <class T>
Lane<T> fma(Lane<T> a, Lane<T> b, Lane<T> c) {
  return record<T>(Code::fma, 0, a, b, c);
}
// a 2^n for a whole number n, rounded once; `normal`: 2^n is a normal number.
template <class T>
Lane<T> scaled(Lane<T> a, Lane<T> n, bool normal) {
  return record<T>(Code::scale, normal ? 1 : 0, a, n);
}
template <class T>
Lane<T> abs(Lane<T> x) {
  return masked(x, static_cast<Word<T>>(~sign_bit<T>));
}
template <class T>
Lane<T> copysign(Lane<T> x, Lane<T> s) {
  return record<T>(Code::bit_or, 0, abs(x), masked(s, sign_bit<T>));
}
template <class T>
Lane<T> sqrt(Lane<T> x) {
  return record<T>(Code::sqrt, 0, x);
}
template <class T>
Lane<T> floor(Lane<T> x) {
  return record<T>(Code::round, 1, x);
}
template <class T>
Lane<T> ceil(Lane<T> x) {
  return record<T>(Code::round, 2, x);
}
template <class T>
Lane<T> trunc(Lane<T> x) {
  return record<T>(Code::round, 3, x);
}
template <class T>
Lane<T> rint(Lane<T> x) {
  return record<T>(Code::round, 0, x);
}
// The number as a To.
template <class To, class From>
Lane<To> cast(Lane<From> x) {
  return record<To>(Code::convert, 0, x);
}
template <class To, class From>
  requires std::is_arithmetic_v<From>
[[gnu::always_inline]] constexpr To cast(From x) {
  return static_cast<To>(x);
}
template <class T>
Lane<T> quotient(Lane<T> a, Lane<T> b) {
  return record<T>(Code::quotient, 0, a, b);
}
template <class T>
Lane<T> remainder(Lane<T> a, Lane<T> b) {
  return record<T>(Code::remainder, 0, a, b);
}
inline Lane<float> signed_to_float(Lane<std::uint32_t> x) {
  return cast<float>(x.as<std::int32_t>());
}
inline Lane<std::uint32_t> shift_right_signed(Lane<std::uint32_t> x, int n) {
  return (x.as<std::int32_t>() >> n).as<std::uint32_t>();
}

// The same for plain numbers.
template <class T>
[[gnu::always_inline]] constexpr T select(bool condition, T yes, T no) {
  return condition ? yes : no;
}
template <class T>
Lane<T> select(Lane<bool> condition, Lane<T> yes, Lane<T> no) {
  return record<T>(Code::select, 0, condition, yes, no);
}
template <class T>
Lane<T> select(Lane<bool> condition, Lane<T> yes, std::type_identity_t<T> no) {
  return select(condition, yes, Lane<T>(no));
}
template <class T>
Lane<T> select(Lane<bool> condition, std::type_identity_t<T> yes, Lane<T> no) {
  return select(condition, Lane<T>(yes), no);
}

// Numbers of far(), which are right anywhere; where the condition holds those of near() are the
// same. A branch in programs of single numbers.
template <class Near, class Far>
[[gnu::always_inline]] inline auto with_slow_path(bool, Near&&, Far&& far) {
  return far();
}
template <class Near, class Far>
auto with_slow_path(Lane<bool> condition, Near&& near, Far&& far) {
  if (!Branching::possible()) return far();
  const auto ids = [](const auto& numbers) {
    std::vector<int> out;
    for (const auto& number : numbers) out.push_back(number.id);
    return out;
  };
  Branching::branch(condition.id);
  Branching::otherwise(ids(near()));
  auto numbers = far();
  const std::vector<int> joined = Branching::join(ids(numbers));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i].id = joined[i];
  return numbers;
}

// The number of a table that the low three bits of `which` say: by masks, which loops over plain
// numbers become vector instructions with.
[[gnu::always_inline]] inline float table_lookup(const Table& table, std::uint32_t which) {
  const auto mask = [&](int bit) { return 0u - (which >> bit & 1u); };
  const auto either = [](std::uint32_t mask, std::uint32_t yes, std::uint32_t no) {
    return no ^ ((yes ^ no) & mask);
  };
  const auto number = [&](std::size_t k) { return std::bit_cast<std::uint32_t>(table[k]); };
  const auto pair = [&](std::size_t k) { return either(mask(0), number(k + 1), number(k)); };
  const std::uint32_t lower = either(mask(1), pair(2), pair(0));
  return std::bit_cast<float>(either(mask(2), either(mask(1), pair(6), pair(4)), lower));
}
inline Lane<float> table_lookup(const Table& table, Lane<std::uint32_t> which) {
  return record<float>(Code::table_lookup, Recording::current().add(table), which);
}

// ---- kernels as records ------------------------------------------------------------------------

template <class T, auto F, int arity>
int record_map(VectorProgram& program, const int* in, std::int64_t) {
  const Recording recording(program);
  const auto out = [&] {
    if constexpr (arity == 1)
      return F(lane<T>(in[0]));
    else if constexpr (arity == 2)
      return F(lane<T>(in[0]), lane<T>(in[1]));
    else
      return F(lane<T>(in[0]), lane<T>(in[1]), lane<T>(in[2]));
  }();
  return out.id;
}

}  // namespace shardax::codegen

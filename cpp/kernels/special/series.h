// kernels/special/series.h - continued fractions and series of doubles.
#pragma once

#include <cmath>
#include <complex>

namespace shardax::kernels {

// Large parameters take some multiple of their root.
inline constexpr int most_terms = 100'000;

template <class T>
T away_from_zero(T x) {
  constexpr double tiny = 1e-300;
  return std::abs(x) < tiny ? T(tiny) : x;
}

// Is a continued fraction done when this is what its value is multiplied by?
template <class T>
bool changes_nothing(T factor, T, double tolerance) {
  return std::abs(factor - T(1)) < tolerance;
}

// first + a_1 / (b_1 + a_2 / (b_2 + ...)), terms(i) = (a_i, b_i), by Lentz's method.
template <class T>
struct Term {
  T a, b;
};
template <class T, class F>
T continued_fraction(T first, F terms, double tolerance = 1e-16) {
  T value = away_from_zero(first), c = value, d = 0;
  for (int i = 1; i < most_terms; ++i) {
    const Term<T> t = terms(i);
    d = T(1) / away_from_zero(t.b + t.a * d);
    c = away_from_zero(t.b + t.a / c);
    const T factor = c * d;
    value *= factor;
    if (changes_nothing(factor, value, tolerance)) break;
  }
  return value;
}

// A number and its derivative; of Duals, the second derivative by another variable too.
template <class N>
struct DualOf {
  N value, slope;
  DualOf(N v = 0, N s = 0) : value(v), slope(s) {}
  DualOf& operator+=(const DualOf& o) { return *this = {value + o.value, slope + o.slope}; }
  DualOf& operator*=(const DualOf& o) {
    return *this = {value * o.value, slope * o.value + value * o.slope};
  }
  friend DualOf operator-(const DualOf& x) { return {-x.value, -x.slope}; }
  friend DualOf operator+(DualOf x, const DualOf& y) { return x += y; }
  friend DualOf operator-(const DualOf& x, const DualOf& y) { return x + -y; }
  friend DualOf operator*(DualOf x, const DualOf& y) { return x *= y; }
  friend DualOf operator/(const DualOf& x, const DualOf& y) {
    const N quotient = x.value / y.value;
    return {quotient, (x.slope - quotient * y.slope) / y.value};
  }
};
using Dual = DualOf<double>;

inline bool is_zero(double x) { return x == 0; }
template <class N>
bool is_zero(const DualOf<N>& x) {
  return is_zero(x.value) && is_zero(x.slope);
}

inline Dual exp(const Dual& x) {
  const double value = std::exp(x.value);
  return {value, value * x.slope};
}
// The same for a positive number.
template <class N>
DualOf<N> pow(double x, const DualOf<N>& y) {
  using std::pow;
  const N value = pow(x, y.value);
  return {value, is_zero(y.slope) ? N(0) : value * N(std::log(x)) * y.slope};
}

inline Dual away_from_zero(const Dual& x) { return {away_from_zero(x.value), x.slope}; }
inline bool changes_nothing(const Dual& factor, const Dual& value, double) {
  return std::abs(factor.value - 1) < 1e-15 &&
         std::abs(factor.slope * value.value) <= 1e-15 * std::abs(value.slope);
}

inline double value_of(double x) { return x; }
template <class N>
double value_of(const DualOf<N>& x) {
  return value_of(x.value);
}
// Is the term too small to change the sum, and its derivative?
inline bool negligible(double term, double sum) { return std::abs(term) <= 1e-17 * std::abs(sum); }
template <class N>
bool negligible(const DualOf<N>& term, const DualOf<N>& sum) {
  return negligible(term.value, sum.value) && negligible(term.slope, sum.slope);
}

}  // namespace shardax::kernels

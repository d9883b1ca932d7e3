// kernels/special/integrals.h - functions that are defined as integrals: exponential, sine and
// cosine, Fresnel's, Spence's, Owen's, Dawson's, and Faddeeva's function of complex numbers.
//
// Functions of doubles, to about 1e-15 of the result (absolute near zeros other than 0).
#pragma once

#include <complex>

namespace shardax::kernels {

// The principal value of the integral of e^t / t up to x.
double exponential_integral(double x);
// E_n(x), the integral of e^(-x t) t^-n from 1 on, for n >= 0 and x >= 0; else NaN.
double exponential_integral_of_order(double n, double x);

double sine_integral(double x);
// The cosine integral of |x|; NaN at -inf.
double cosine_integral(double x);

// The integrals of sin and cos of pi t^2 / 2 from 0 to x.
double fresnel_sine(double x);
double fresnel_cosine(double x);

// The integral of log t / (1 - t) from 1 to x, for x >= 0.
double spence(double x);

// The probability that a standard normal X is above h and an independent one in (0, a X).
double owens_t(double h, double a);

// e^(-z^2) erfc(-i z).
std::complex<double> faddeeva(std::complex<double> z);
// e^(x^2) erfc(x).
double erfcx(double x);
// e^(-x^2) times the integral of e^(t^2) from 0 to x.
double dawson(double x);

// The derivative of this order of the logarithm of gamma (order 0), whose cut is the negative axis.
std::complex<double> log_gamma_derivative(int order, std::complex<double> z);

}  // namespace shardax::kernels

// kernels/special/hypergeometric.h - the confluent and Gauss's hypergeometric functions of doubles,
// and their derivatives by parameters.
#pragma once

namespace shardax::kernels {

// 1F1(a; b; x), the sum of (a)_k / (b)_k x^k / k!; infinite at b = 0, -1, ..., 1 for a = 0.
double hypergeometric_1f1(double a, double b, double x);
double hypergeometric_1f1_by_a(double a, double b, double x);
double hypergeometric_1f1_by_b(double a, double b, double x);
// Second derivatives, by the parameters of numbers i and j.
double hypergeometric_1f1_by_two(double a, double b, double x, int i, int j);

// 2F1(a, b; c; x), the sum of (a)_k (b)_k / (c)_k x^k / k!; infinite beyond 1 unless it ends, and
// at c = 0, -1, ...
double hypergeometric_2f1(double a, double b, double c, double x);
double hypergeometric_2f1_by_a(double a, double b, double c, double x);
double hypergeometric_2f1_by_c(double a, double b, double c, double x);
double hypergeometric_2f1_by_two(double a, double b, double c, double x, int i, int j);

}  // namespace shardax::kernels

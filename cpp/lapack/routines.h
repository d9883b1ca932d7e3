// lapack/routines.h - LAPACK's routines as C++ functions of the element type.
//
// Matrices lie in columns, without gaps: the leading dimension is the number of rows. Each gives
// LAPACK's `info`: 0, or what failed. `work` keeps the memory that a routine asks for, from one
// call to the next of the same sizes. Netlib's documentation of the routine says the rest.
#pragma once

#include <algorithm>
#include <complex>
#include <string>
#include <type_traits>
#include <vector>

#include "base/index.h"
#include "lapack/library.h"
#include "runtime/scratch.h"

namespace shardax::lapack {

template <class T>
inline constexpr bool is_complex = !std::is_floating_point_v<T>;
template <class T>
struct RealOf {
  using type = T;
};
template <class T>
struct RealOf<std::complex<T>> {
  using type = T;
};
template <class T>
using Real = typename RealOf<T>::type;

// "geqrf" -> "sgeqrf_", "dgeqrf_", "cgeqrf_" or "zgeqrf_".
template <class T>
std::string name_of(const char* routine) {
  constexpr bool wide = sizeof(Real<T>) == 8;
  constexpr char letter = is_complex<T> ? (wide ? 'z' : 'c') : (wide ? 'd' : 's');
  return letter + std::string(routine) + "_";
}

// Routines take pointers only, and after them the lengths of their strings, which are all 1.
template <class T, class... Args>
class Routine {
 public:
  explicit Routine(const char* name) : f_(reinterpret_cast<F>(address(name_of<T>(name)))) {}
  Int operator()(Args*... args) const {
    Int info = 0;
    f_(args..., &info, 1, 1, 1);
    return info;
  }

 private:
  using F = void (*)(Args*..., Int*, std::size_t, std::size_t, std::size_t);
  F f_;
};

template <class T>
struct Work {
  runtime::Scratch<T> main;
  runtime::Scratch<Real<T>> real;
  std::vector<Int> integer;
};

inline Int atleast1(Int n) { return std::max<Int>(n, 1); }

// Calls f(address, size) of a work array of the best size, which f says in its first element when
// asked with size -1.
template <class T, class F>
Int with_work(runtime::Scratch<T>& work, const F& f) {
  if (work.empty()) {
    T best{};
    Int query = -1;
    if (const Int info = f(&best, &query)) return info;
    work.resize(index(atleast1(static_cast<Int>(std::real(best)))));
  }
  Int size = static_cast<Int>(work.size());
  return f(work.data(), &size);
}

template <class T>
Int potrf(char uplo, Int n, T* a) {
  static const Routine<T, char, Int, T, Int> f("potrf");
  Int ld = atleast1(n);
  return f(&uplo, &n, a, &ld);
}

template <class T>
Int getrf(Int m, Int n, T* a, Int* pivots) {
  static const Routine<T, Int, Int, T, Int, Int> f("getrf");
  Int ld = atleast1(m);
  return f(&m, &n, a, &ld, pivots);
}

template <class T>
Int geqrf(Int m, Int n, T* a, T* taus, Work<T>& work) {
  static const Routine<T, Int, Int, T, Int, T, T, Int> f("geqrf");
  Int ld = atleast1(m);
  return with_work(work.main, [&](T* w, Int* size) { return f(&m, &n, a, &ld, taus, w, size); });
}

template <class T>
Int geqp3(Int m, Int n, T* a, Int* columns, T* taus, Work<T>& work) {
  Int ld = atleast1(m);
  if constexpr (is_complex<T>) {
    static const Routine<T, Int, Int, T, Int, Int, T, T, Int, Real<T>> f("geqp3");
    work.real.resize(index(2 * atleast1(n)));
    return with_work(work.main, [&](T* w, Int* size) {
      return f(&m, &n, a, &ld, columns, taus, w, size, work.real.data());
    });
  } else {
    static const Routine<T, Int, Int, T, Int, Int, T, T, Int> f("geqp3");
    return with_work(work.main,
                     [&](T* w, Int* size) { return f(&m, &n, a, &ld, columns, taus, w, size); });
  }
}

// The first n columns of the product of k reflectors.
template <class T>
Int orgqr(Int m, Int n, Int k, T* a, const T* taus, Work<T>& work) {
  static const Routine<T, Int, Int, Int, T, Int, const T, T, Int> f(is_complex<T> ? "ungqr"
                                                                                  : "orgqr");
  Int ld = atleast1(m);
  return with_work(work.main,
                   [&](T* w, Int* size) { return f(&m, &n, &k, a, &ld, taus, w, size); });
}

// c times the product of k reflectors of `rows` elements.
template <class T>
Int ormqr(char side, char trans, Int m, Int n, Int k, Int rows, const T* a, const T* taus, T* c,
          Work<T>& work) {
  static const Routine<T, char, char, Int, Int, Int, const T, Int, const T, T, Int, T, Int> f(
      is_complex<T> ? "unmqr" : "ormqr");
  Int lda = atleast1(rows), ldc = atleast1(m);
  return with_work(work.main, [&](T* w, Int* size) {
    return f(&side, &trans, &m, &n, &k, a, &lda, taus, c, &ldc, w, size);
  });
}

// Eigenvalues, and in place of `a` eigenvectors (jobz 'V'), of a Hermitian matrix, by divide and
// conquer.
template <class T>
Int heevd(char jobz, char uplo, Int n, T* a, Real<T>* w, Work<T>& work) {
  Int ld = atleast1(n), query = -1;
  if constexpr (is_complex<T>) {
    static const Routine<T, char, char, Int, T, Int, Real<T>, T, Int, Real<T>, Int, Int, Int> f(
        "heevd");
    if (work.main.empty()) {
      T best{};
      Real<T> best_real{};
      Int best_integer = 0;
      f(&jobz, &uplo, &n, a, &ld, w, &best, &query, &best_real, &query, &best_integer, &query);
      work.main.resize(index(atleast1(static_cast<Int>(best.real()))));
      work.real.resize(index(atleast1(static_cast<Int>(best_real))));
      work.integer.resize(index(atleast1(best_integer)));
    }
    Int size = static_cast<Int>(work.main.size()), reals = static_cast<Int>(work.real.size());
    Int integers = static_cast<Int>(work.integer.size());
    return f(&jobz, &uplo, &n, a, &ld, w, work.main.data(), &size, work.real.data(), &reals,
             work.integer.data(), &integers);
  } else {
    static const Routine<T, char, char, Int, T, Int, T, T, Int, Int, Int> f("syevd");
    if (work.main.empty()) {
      T best{};
      Int best_integer = 0;
      f(&jobz, &uplo, &n, a, &ld, w, &best, &query, &best_integer, &query);
      work.main.resize(index(atleast1(static_cast<Int>(best))));
      work.integer.resize(index(atleast1(best_integer)));
    }
    Int size = static_cast<Int>(work.main.size()), integers = static_cast<Int>(work.integer.size());
    return f(&jobz, &uplo, &n, a, &ld, w, work.main.data(), &size, work.integer.data(), &integers);
  }
}

// Singular values and, as jobz says, vectors ('A', 'S' or 'N'), by divide and conquer; u has ldu
// rows, vt ldvt.
template <class T>
Int gesdd(char jobz, Int m, Int n, T* a, Real<T>* s, T* u, Int ldu, T* vt, Int ldvt,
          Work<T>& work) {
  Int lda = atleast1(m);
  const auto least = index(std::min(m, n)), most = index(std::max(m, n));
  work.integer.resize(8 * least + 1);
  if constexpr (is_complex<T>) {
    static const Routine<T, char, Int, Int, T, Int, Real<T>, T, Int, T, Int, T, Int, Real<T>, Int>
        f("gesdd");
    work.real.resize(
        std::max(5 * least * least + 5 * least, 2 * most * least + 2 * least * least + least) + 1);
    return with_work(work.main, [&](T* w, Int* size) {
      return f(&jobz, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, w, size, work.real.data(),
               work.integer.data());
    });
  } else {
    static const Routine<T, char, Int, Int, T, Int, T, T, Int, T, Int, T, Int, Int> f("gesdd");
    return with_work(work.main, [&](T* w, Int* size) {
      return f(&jobz, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, w, size, work.integer.data());
    });
  }
}

// The same by QR iterations.
template <class T>
Int gesvd(char jobu, char jobvt, Int m, Int n, T* a, Real<T>* s, T* u, Int ldu, T* vt, Int ldvt,
          Work<T>& work) {
  Int lda = atleast1(m);
  if constexpr (is_complex<T>) {
    static const Routine<T, char, char, Int, Int, T, Int, Real<T>, T, Int, T, Int, T, Int, Real<T>>
        f("gesvd");
    work.real.resize(index(5 * atleast1(std::min(m, n))));
    return with_work(work.main, [&](T* w, Int* size) {
      return f(&jobu, &jobvt, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, w, size, work.real.data());
    });
  } else {
    static const Routine<T, char, char, Int, Int, T, Int, T, T, Int, T, Int, T, Int> f("gesvd");
    return with_work(work.main, [&](T* w, Int* size) {
      return f(&jobu, &jobvt, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, w, size);
    });
  }
}

// Eigenvalues of a general matrix; those of a real one as real and imaginary parts.
template <class T>
Int geev(char jobvl, char jobvr, Int n, T* a, T* w, Real<T>* imaginary, T* vl, T* vr,
         Work<T>& work) {
  Int ld = atleast1(n);
  if constexpr (is_complex<T>) {
    static const Routine<T, char, char, Int, T, Int, T, T, Int, T, Int, T, Int, Real<T>> f("geev");
    work.real.resize(index(2 * ld));
    return with_work(work.main, [&](T* memory, Int* size) {
      return f(&jobvl, &jobvr, &n, a, &ld, w, vl, &ld, vr, &ld, memory, size, work.real.data());
    });
  } else {
    static const Routine<T, char, char, Int, T, Int, T, T, T, Int, T, Int, T, Int> f("geev");
    return with_work(work.main, [&](T* memory, Int* size) {
      return f(&jobvl, &jobvr, &n, a, &ld, w, imaginary, vl, &ld, vr, &ld, memory, size);
    });
  }
}

// The Schur form in place of `a`, and with jobvs 'V' the vectors.
template <class T>
Int gees(char jobvs, Int n, T* a, T* w, Real<T>* imaginary, T* vs, Work<T>& work) {
  Int ld = atleast1(n), sorted = 0;
  char sort = 'N';
  void* none = nullptr;
  if constexpr (is_complex<T>) {
    static const Routine<T, char, char, void, Int, T, Int, Int, T, T, Int, T, Int, Real<T>, Int> f(
        "gees");
    work.real.resize(index(ld));
    return with_work(work.main, [&](T* memory, Int* size) {
      return f(&jobvs, &sort, none, &n, a, &ld, &sorted, w, vs, &ld, memory, size, work.real.data(),
               nullptr);
    });
  } else {
    static const Routine<T, char, char, void, Int, T, Int, Int, T, T, T, Int, T, Int, Int> f(
        "gees");
    return with_work(work.main, [&](T* memory, Int* size) {
      return f(&jobvs, &sort, none, &n, a, &ld, &sorted, w, imaginary, vs, &ld, memory, size,
               nullptr);
    });
  }
}

template <class T>
Int gehrd(Int n, T* a, T* taus, Work<T>& work) {
  static const Routine<T, Int, Int, Int, T, Int, T, T, Int> f("gehrd");
  Int ld = atleast1(n), low = 1, high = n;
  return with_work(work.main,
                   [&](T* w, Int* size) { return f(&n, &low, &high, a, &ld, taus, w, size); });
}

template <class T>
Int hetrd(char uplo, Int n, T* a, Real<T>* d, Real<T>* e, T* taus, Work<T>& work) {
  static const Routine<T, char, Int, T, Int, Real<T>, Real<T>, T, T, Int> f(
      is_complex<T> ? "hetrd" : "sytrd");
  Int ld = atleast1(n);
  return with_work(work.main,
                   [&](T* w, Int* size) { return f(&uplo, &n, a, &ld, d, e, taus, w, size); });
}

template <class T>
Int gtsv(Int n, Int columns, T* below, T* diagonal, T* above, T* b) {
  static const Routine<T, Int, Int, T, T, T, T, Int> f("gtsv");
  Int ld = atleast1(n);
  return f(&n, &columns, below, diagonal, above, b, &ld);
}

// b (m, n) becomes op(a)^-1 b or b op(a)^-1.
template <class T>
void trsm(char side, char uplo, char trans, char unit, Int m, Int n, const T* a, Int lda, T* b) {
  using F = void (*)(char*, char*, char*, char*, Int*, Int*, T*, const T*, Int*, T*, Int*,
                     std::size_t, std::size_t, std::size_t, std::size_t);
  static const auto f = reinterpret_cast<F>(address(name_of<T>("trsm")));
  T one(1);
  Int ldb = atleast1(m);
  f(&side, &uplo, &trans, &unit, &m, &n, &one, a, &lda, b, &ldb, 1, 1, 1, 1);
}

// x (n) becomes op(a)^-1 x.
template <class T>
void trsv(char uplo, char trans, char unit, Int n, const T* a, Int lda, T* x) {
  using F = void (*)(char*, char*, char*, Int*, const T*, Int*, T*, Int*, std::size_t, std::size_t,
                     std::size_t);
  static const auto f = reinterpret_cast<F>(address(name_of<T>("trsv")));
  Int step = 1;
  f(&uplo, &trans, &unit, &n, a, &lda, x, &step, 1, 1, 1);
}

}  // namespace shardax::lapack

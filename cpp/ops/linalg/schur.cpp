// ops/linalg/schur.cpp - schur and hessenberg.
#include "kernels/small_linalg/hessenberg.h"
#include "ops/linalg/interleaved_schur.h"

namespace shardax::ops {
namespace {

// ---- schur -----------------------------------------------------------------------------------

template <class T>
struct Schur {
  explicit Schur(const JobArgs& args)
      : in(args.in[0]),
        form(args.out[0]),
        n(in.rows()),
        a(elements(n, n)),
        w(elements(n, 1)),
        imaginary(elements(n, 1)) {
    if (!args.params.flag(param::compute_schur_vectors)) return;
    vectors.emplace_back(args.out[1]);
    v.resize(elements(n, n));
  }

  std::int64_t count() const { return in.count(); }
  double flops() const { return flops_of<T>(25.0 * static_cast<double>(n * n * n)); }

  void load(std::int64_t i) { in.load(i, a); }
  void compute() {
    good = all_finite(a) && lapack::gees(vectors.empty() ? 'N' : 'V', lapack_size(n), a.data(),
                                         w.data(), imaginary.data(), v.data(), work) == 0;
  }
  void store(std::int64_t i) {
    if (!good) {
      form.fill(i, nan_of<T>());
      for (const Stack& out : vectors) out.fill(i, nan_of<T>());
      return;
    }
    form.store(i, a);
    for (const Stack& out : vectors) out.store(i, v);
  }

  Stack in, form;
  std::vector<Stack> vectors;  // one, or none
  std::int64_t n;
  bool good = false;
  Scratch<T> a, w, v;
  std::vector<lapack::Real<T>> imaginary;
  lapack::Work<T> work;
};

template <class L>
struct SchurLanes {
  using T = lanes::Number<L>;
  static bool takes(const JobArgs& args) {
    return fits_lanes<T>(Stack(args.in[0])) && columns_of(args.in[0].shape) > 1;
  }
  explicit SchurLanes(const JobArgs& args) : one(args), form(one.in, !one.vectors.empty()) {}
  std::int64_t count() const { return one.count(); }
  double flops() const { return one.flops(); }
  void load(const Group<L>& group) { form.load(group); }
  void compute() {
    form.compute();
    for (auto& cell : form.a) lanes::multiply_real(cell, form.scale);
  }
  void store(const Group<L>& group) {
    store_group(one.form, group, form.a);
    for (const Stack& out : one.vectors) store_group(out, group, form.z);
    form.store_others(group, one);
  }

  Schur<T> one;
  SchurForm<L> form;
};

const Op schur_op{stacked(
    {.name = "schur",
     .operands = 1,
     .doc =
         "The Schur form of stacks of square matrices (of real ones the real form, with blocks of "
         "size 2) and, where asked for, the Schur vectors in columns.",
     .dtypes = matrix_dtypes,
     .type = [](const Op& op, const Types& in, const Params& params) -> Types {
       check_operands(op, in, {2});
       if (rows_of(in[0].shape) != columns_of(in[0].shape)) {
         value_error("The input to schur must be a square matrix. Got shape ",
                     to_string(in[0].shape), ".");
       }
       if (params.flag(param::compute_schur_vectors)) return {in[0], in[0]};
       return {in[0]};
     },
     .jvp = [](const JvpArgs&) -> Values { no_derivative("schur"); },
     .multiple_results = true,
     .kernel = small_stack_kernel<Schur, SchurLanes>})};

// ---- hessenberg ------------------------------------------------------------------------------

template <class T>
struct Hessenberg {
  explicit Hessenberg(const JobArgs& args)
      : in(args.in[0]),
        out(args.out[0]),
        taus_out(args.out[1], 1),
        n(in.rows()),
        a(elements(n, n)),
        taus(elements(n, 1)) {}

  std::int64_t count() const { return in.count(); }
  double flops() const { return flops_of<T>(static_cast<double>(n * n * n) * 10 / 3); }

  void load(std::int64_t i) { in.load(i, a); }
  void compute() { lapack::gehrd(lapack_size(n), a.data(), taus.data(), work); }
  void store(std::int64_t i) {
    out.store(i, a);
    taus_out.store(i, taus);
  }

  Stack in, out, taus_out;
  std::int64_t n;
  Scratch<T> a, taus;
  lapack::Work<T> work;
};

template <class L>
struct HessenbergLanes {
  using T = lanes::Number<L>;
  static bool takes(const JobArgs& args) { return fits_lanes<T>(Stack(args.in[0])); }
  explicit HessenbergLanes(const JobArgs& args)
      : one(args), a(one.a.size()), taus(one.taus.size()) {}
  std::int64_t count() const { return one.count(); }
  double flops() const { return one.flops(); }
  void load(const Group<L>& group) { load_group(one.in, group, a); }
  void compute() { lanes::hessenberg(a.data(), taus.data(), one.n); }
  void store(const Group<L>& group) {
    store_group(one.out, group, a);
    store_group(one.taus_out, group, taus);
  }

  Hessenberg<T> one;
  Cells<L> a, taus;
};

const Op hessenberg_op{stacked(
    {.name = "hessenberg",
     .operands = 1,
     .doc = "Stacks of square matrices in upper Hessenberg form, below it the reflectors that make "
            "it; and the reflectors' factors.",
     .dtypes = matrix_dtypes,
     .type = [](const Op& op, const Types& in, const Params&) -> Types {
       check_operands(op, in, {2});
       const std::int64_t n = columns_of(in[0].shape);
       if (rows_of(in[0].shape) != n) {
         value_error("Argument to Hessenberg reduction must have shape [..., n, n], got shape ",
                     to_string(in[0].shape));
       }
       return {in[0], with_vector(in[0], std::max<std::int64_t>(n - 1, 0))};
     },
     .jvp = [](const JvpArgs&) -> Values { no_derivative("hessenberg"); },
     .multiple_results = true,
     .kernel = small_stack_kernel<Hessenberg, HessenbergLanes>})};

}  // namespace
}  // namespace shardax::ops

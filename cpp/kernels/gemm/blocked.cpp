// kernels/gemm/blocked.cpp - blocks and chunks of the float product, and the packing of operands.
//
// A block of at most block_rows x block_columns of c goes through k one k-block at a time. Rows of
// a, packed unless they are well placed, stay in the second-level cache, one panel of b at a time
// in the first-level one. Small products read their operands in place, large ones pack the parts
// that many chunks see once (prepacked.h).
#include <algorithm>
#include <memory>
#include <new>
#include <numeric>

#include "base/per_thread.h"
#include "kernels/gemm/prepacked.h"
#include "runtime/pool.h"

namespace shardax::kernels {
namespace {

// 256 x 256 floats of a are half of a 512 KB second-level cache.
constexpr std::int64_t block_rows = 256;
constexpr std::int64_t block_columns = 512;
// Panels of b packed at a time: rows of b are read in runs of 256 bytes.
constexpr std::int64_t panel_group = 16;
// As many elements of b stay in a 32 KB first-level cache while rows of a go by.
constexpr std::int64_t resident_bytes = 32 << 10;
// The same of fewer columns than a vector has elements, and of a second-level cache: a packed panel
// would be mostly zeros.
constexpr std::int64_t narrow_bytes = 256 << 10;

// Blocks of k of a dot product that are handed out together.
constexpr std::int64_t dot_part = 128;

// A product that takes so long packs each operand once, for all of its chunks.
constexpr double packed_nanoseconds = 400e3;

struct Aligned {
  void operator()(std::byte* p) const { ::operator delete[](p, std::align_val_t(64)); }
};

// AlignedBuffer for the packed operands and for sums that c cannot hold, kept by each thread.
template <class T>
struct Scratch {
  static constexpr std::int64_t a_size = (block_rows + 32) * matmul_k_block;  // whole panels
  static constexpr std::int64_t b_size = panel_group * 32 * matmul_k_block;
  static constexpr std::int64_t c_size = block_rows * block_columns / 2;
  T* a;
  T* b;
  T* c;

  static Scratch get() {
    constexpr std::size_t bytes = (a_size + b_size + c_size) * sizeof(T);
    auto& memory = per_thread<std::unique_ptr<std::byte[], Aligned>, Scratch<T>>();
    if (!memory) memory.reset(new (std::align_val_t(64)) std::byte[bytes]);
    T* start = reinterpret_cast<T*>(memory.get());
    return {start, start + a_size, start + a_size + b_size};
  }
};

// Part of one product: rows [i, i + m) and columns [j, j + n) of item `batch`.
struct Part {
  std::int64_t batch, i, j, m, n;
};

// A kernel that computes a whole part, if there is one.
template <class T>
struct KernelCall {
  void (*direct)(const Product<T>& p) = nullptr;
  void (*dots)(const Product<T>& p, bool add) = nullptr;

  explicit operator bool() const { return direct || dots; }
  void operator()(const Product<T>& p) const { direct ? direct(p) : dots(p, false); }
};

template <class T>
class KernelProduct final : public SmallProduct {
 public:
  KernelProduct(KernelCall<T> call, const Product<T>& product, bool transposed)
      : call_(call), product_(product), transposed_(transposed) {}
  void run(const void* a, const void* b, void* c) const override {
    Product<T> p = product_;
    p.a = static_cast<const T*>(transposed_ ? b : a);
    p.b = static_cast<const T*>(transposed_ ? a : b);
    p.c = static_cast<T*>(c);
    call_(p);
  }

 private:
  KernelCall<T> call_;
  Product<T> product_;
  bool transposed_;
};

template <class T>
class FloatProduct {
 public:
  FloatProduct(const MatmulArgs& args, const FloatKernels<T>& kernels)
      : args_(args),
        kernels_(kernels),
        native_(args.dtype == dtype() && args.out_dtype == dtype()),
        pack_(kernels.pack(args.dtype)) {}

  void run(ParallelFor parallel_for) const {
    if (is_long_dot()) return long_dot(parallel_for);
    const MatmulChunks plan = chunks();
    if (is_long_sum(plan)) return long_sum(parallel_for);
    if (plan.count == 1) return chunk(plan, 0);
    if (is_large()) {
      const PackedProduct<T> packed(args_, kernels_, plan);
      if (packed.shares()) return packed.run(parallel_for);
    }
    const auto body = [&](std::int64_t index) { chunk(plan, index); };
    parallel_for(plan.count, body);
  }

  // The whole product, where it is one call of a kernel.
  std::unique_ptr<const SmallProduct> small(bool transposed) const;

 private:
  static constexpr DType dtype() {
    return std::is_same_v<T, float> ? DType::float32 : DType::float64;
  }

  MatmulChunks chunks() const {
    return plan_chunks(args_, nanoseconds(), args_.n <= 3 ? 64 : kernels_.tile_rows,
                       args_.m <= 3 ? 128 : kernels_.panel_columns);
  }

  // At the speeds of one core of a common server.
  double nanoseconds() const {
    const MatmulArgs& p = args_;
    const double size = static_cast<double>(sizeof(T));
    const double flops = 2.0 * static_cast<double>(p.m) * static_cast<double>(p.n * p.k);
    const double bytes = size * static_cast<double>(p.m * p.k + p.k * p.n + p.m * p.n);
    return flops * size / 320 + bytes / 20;
  }

  // One dot product that is worth sharing.
  bool is_long_dot() const {
    return args_.batch == 1 && args_.m == 1 && args_.n == 1 && native_ && args_.a_k == 1 &&
           args_.k >= 2 * dot_part * matmul_k_block;
  }
  void long_dot(ParallelFor parallel_for) const {
    const Product<T> p = in_place({0, 0, 0, 1, 1});
    const std::int64_t blocks = parts_of(p.k, matmul_k_block);
    const AlignedBuffer<T> sums(blocks);
    const auto part = [&](std::int64_t i) {
      const std::int64_t first = i * dot_part, from = first * matmul_k_block;
      kernels_.dot_sums(p.a + from, p.b + from * p.b_k, p.b_k,
                        std::min(p.k - from, dot_part * matmul_k_block), sums.data() + first);
    };
    parallel_for(parts_of(blocks, dot_part), part);
    *p.c = std::accumulate(sums.data() + 1, sums.data() + blocks, sums[0]);
  }

  // Few elements of so long sums that threads had better share these. Chunks of c would be few, or
  // each would pack much for few sums.
  bool is_long_sum(const MatmulChunks& plan) const {
    constexpr std::int64_t most_sums = 1 << 20, enough = 4;
    const MatmulArgs& p = args_;
    const std::int64_t blocks = parts_of(p.k, matmul_k_block);
    const bool thin = plan.count > 1 && p.m * p.n <= 64 * (p.m + p.n) && blocks >= plan.count;
    return p.batch == 1 && !p.adds && p.m <= block_rows && p.n <= block_columns / 2 &&
           blocks >= (thin ? 8 : 64) && p.m * p.n * blocks <= most_sums &&
           (thin || plan.count < runtime::enough_chunks(enough));
  }
  // The sums of each k-block, which are then added in order.
  void long_sum(ParallelFor parallel_for) const {
    constexpr double shortest = 12e3;
    const Part whole{0, 0, 0, args_.m, args_.n};
    const std::int64_t blocks = parts_of(args_.k, matmul_k_block), size = args_.m * args_.n;
    const double each = nanoseconds() / static_cast<double>(blocks);
    const std::int64_t group = is_few_dots() ? dot_group : 1;
    const auto together = std::clamp(static_cast<std::int64_t>(shortest / each) / group + 1,
                                     std::int64_t{1}, most_dots / group) *
                          group;
    const AlignedBuffer<T> sums(blocks * size);
    const auto part = [&](std::int64_t i) {
      const std::int64_t first = i * together, end = std::min(blocks, first + together);
      if (is_few_dots()) return dot_blocks(first, end, sums.data() + first * size);
      for (std::int64_t b = first; b < end; ++b)
        k_block(whole, b * matmul_k_block, sums.data() + b * size);
    };
    parallel_for(parts_of(blocks, together), part);
    T* const total = sums.data();
    for (std::int64_t b = 1; b < blocks; ++b) {
      for (std::int64_t i = 0; i < size; ++i) total[i] += total[b * size + i];
    }
    write_sums(whole, total);
  }

  // Dot products of rows that lie along k: as many of their blocks as a vector has lanes go at a
  // time.
  static constexpr std::int64_t dot_group = 16, most_dots = 128;
  bool is_few_dots() const {
    constexpr std::int64_t most = 16;
    return native_ && args_.a_k == 1 && args_.b_k == 1 && args_.m * args_.n <= most;
  }
  void dot_blocks(std::int64_t first, std::int64_t end, T* sums) const {
    const Product<T> p = in_place({0, 0, 0, args_.m, args_.n});
    const std::int64_t from = first * matmul_k_block,
                       count = std::min(p.k, end * matmul_k_block) - from;
    T row[most_dots];
    for (std::int64_t e = 0; e < p.m * p.n; ++e) {
      const T *a = p.a + e / p.n * p.a_m + from, *b = p.b + e % p.n * p.b_n + from;
      kernels_.dot_sums(a, b, 1, count, row);
      for (std::int64_t i = 0; i < end - first; ++i) sums[i * p.m * p.n + e] = row[i];
    }
  }

  // c = the sums of the k-block from k on, row after row.
  void k_block(const Part& w, std::int64_t k, T* c) const {
    const std::int64_t length = std::min(matmul_k_block, args_.k - k);
    MatmulArgs here = args_;
    here.k = length;
    here.a = a_at(w, k);
    here.b = b_at(w, k, 0);
    here.c = c;
    here.out_dtype = dtype();
    here.c_m = args_.n;
    here.c_n = 1;
    FloatProduct(here, kernels_).compute(w);
  }

  bool is_large() const {
    return args_.batch == 1 && args_.m > 3 && args_.n > 3 && !needs_sums() &&
           !call_for(args_.m, args_.n) && nanoseconds() >= packed_nanoseconds;
  }

  void chunk(const MatmulChunks& plan, std::int64_t index) const {
    if (plan.products != 1 || plan.count == 1) {
      const std::int64_t first = index * plan.products;
      const std::int64_t end = std::min(args_.batch, first + plan.products);
      if (is_stack_of_dots()) return stacked_dots(first, end);
      for (std::int64_t b = first; b < end; ++b) compute({b, 0, 0, args_.m, args_.n});
      return;
    }
    const std::int64_t j = index % plan.column_chunks * plan.columns;
    const std::int64_t i = index / plan.column_chunks % plan.row_chunks * plan.rows;
    compute({index / plan.column_chunks / plan.row_chunks, i, j, std::min(plan.rows, args_.m - i),
             std::min(plan.columns, args_.n - j)});
  }

  // Dot products of rows. Longer ones have chains enough for themselves.
  bool is_stack_of_dots() const {
    const MatmulArgs& p = args_;
    return p.batch > 1 && p.m == 1 && p.n == 1 && native_ && !p.adds && p.a_k == 1 && p.b_k == 1 &&
           p.k < 4 * dot_group * matmul_k_block;
  }
  void stacked_dots(std::int64_t first, std::int64_t end) const {
    const Product<T> p = in_place({first, 0, 0, 1, 1});
    kernels_.stacked_dots(
        {end - first, p.k, p.a, args_.a_batch, p.b, args_.b_batch, p.c, args_.c_batch});
  }

  // The part as a product of T, where operands and result are read and written in place.
  Product<T> in_place(const Part& w) const {
    const MatmulArgs& p = args_;
    return {w.m,
            w.n,
            p.k,
            static_cast<const T*>(p.a) + w.batch * p.a_batch + w.i * p.a_m,
            p.a_m,
            p.a_k,
            static_cast<const T*>(p.b) + w.batch * p.b_batch + w.j * p.b_n,
            p.b_k,
            p.b_n,
            static_cast<T*>(p.c) + w.batch * p.c_batch + w.i * p.c_m + w.j * p.c_n,
            p.c_m};
  }

  // One column of many rows, or few columns of many more: column by column.
  bool by_columns(std::int64_t rows) const {
    const MatmulArgs& p = args_;
    return p.a_k == 1 && (p.n == 1 ? rows >= kernels_.vector_size || p.k > matmul_k_block
                                   : p.n <= 3 && rows >= 64 && p.k >= 64);
  }

  // The call for so many rows and columns, with operands read and a result written in place.
  KernelCall<T> call_for(std::int64_t rows, std::int64_t columns) const {
    const MatmulArgs& p = args_;
    if (by_columns(rows)) {
      const bool once = native_ && p.n == 1 && p.c_m == 1;
      return {nullptr, once ? kernels_.dots : nullptr};
    }
    if (!native_ || p.adds || p.c_n != 1 || p.b_n != 1 || p.b_panel != 0) return {};
    const std::int64_t b_bytes = p.k * columns * static_cast<std::int64_t>(sizeof(T));
    if (b_bytes <= (columns < kernels_.vector_size ? narrow_bytes : resident_bytes))
      return {kernels_.direct};
    if (rows <= 4) return {kernels_.stream};
    if (rows <= kernels_.tile_rows) return {kernels_.direct};
    return {};
  }

  void compute(const Part& w) const {
    if (const KernelCall<T> call = call_for(w.m, w.n)) return call(in_place(w));
    if (by_columns(w.m)) {
      for (std::int64_t j = 0; j < args_.n; ++j) column({w.batch, w.i, j, w.m, 1});
      return;
    }
    const std::int64_t columns = needs_sums() ? block_columns / 2 : block_columns;
    const std::int64_t row_blocks = (w.m + block_rows - 1) / block_rows;
    const std::int64_t rows = (w.m + row_blocks - 1) / row_blocks;
    for (std::int64_t i = 0; i < w.m; i += rows) {
      for (std::int64_t j = 0; j < w.n; j += columns) {
        block({w.batch, w.i + i, w.j + j, std::min(rows, w.m - i), std::min(columns, w.n - j)});
      }
    }
  }

  // One column: rows of a times a vector, in groups that are widened first where need be.
  void column(const Part& w) const {
    if (native_ && args_.c_m == 1) return kernels_.dots(in_place(w), false);
    const Scratch<T> scratch = Scratch<T>::get();
    const std::int64_t rows = native_ ? 4096 : 32;
    for (std::int64_t i = 0; i < w.m; i += rows) {
      const Part part{w.batch, w.i + i, w.j, std::min(rows, w.m - i), 1};
      if (native_) {
        Product<T> p = in_place(part);
        p.c = scratch.c;
        kernels_.dots(p, false);
      } else {
        widened_column(part, scratch);
      }
      write_sums(part, scratch.c);
    }
  }

  void widened_column(const Part& w, const Scratch<T>& scratch) const {
    Product<T> p{w.m, 1, 0, scratch.a, 0, 1, scratch.b, 1, 1, scratch.c, 1};
    for (std::int64_t k = 0; k < args_.k; k += matmul_k_block) {
      p.a_m = p.k = std::min(matmul_k_block, args_.k - k);
      pack_(a_at(w, k), args_.a_m, args_.a_k, w.m, p.k, p.k, scratch.a);
      pack_(b_at(w, k, 0), args_.b_n, args_.b_k, 1, p.k, p.k, scratch.b);
      kernels_.dots(p, k > 0);
    }
  }

  bool needs_sums() const { return args_.out_dtype != dtype() || args_.c_n != 1; }

  const void* a_at(const Part& w, std::int64_t k) const {
    const std::int64_t at = w.batch * args_.a_batch + w.i * args_.a_m + k * args_.a_k;
    return static_cast<const std::byte*>(args_.a) + at * itemsize(args_.dtype);
  }
  const void* b_at(const Part& w, std::int64_t k, std::int64_t j) const {
    const std::int64_t at = w.batch * args_.b_batch + k * args_.b_k + (w.j + j) * args_.b_n;
    return static_cast<const std::byte*>(args_.b) + at * itemsize(args_.dtype);
  }

  void block(const Part& w) const {
    const Scratch<T> scratch = Scratch<T>::get();
    Product<T> p{};
    p.m = w.m;
    p.b_k = kernels_.panel_columns;
    T* const c = needs_sums() ? scratch.c : in_place(w).c;
    p.c_m = needs_sums() ? w.n : args_.c_m;
    for (std::int64_t k = 0; k < args_.k; k += matmul_k_block) {
      p.k = std::min(matmul_k_block, args_.k - k);
      const auto multiply = place_a(w, k, scratch.a, p) ? kernels_.row_panel : kernels_.panel;
      const std::int64_t width = kernels_.panel_columns,
                         group = (w.m <= 64 ? panel_group : panel_group / 4) * width;
      for (std::int64_t first = 0; first < w.n; first += group) {
        const std::int64_t columns = std::min(group, w.n - first);
        if (args_.b_panel == 0)
          pack_(b_at(w, k, first), args_.b_k, args_.b_n, p.k, columns, width, scratch.b);
        for (std::int64_t j = 0; j < columns; j += width) {
          p.n = std::min(width, columns - j);
          p.b = args_.b_panel
                    ? panel_of<T>(args_, width, w.j + first + j, k) + w.batch * args_.b_batch
                    : scratch.b + j * p.k;
          p.c = c + first + j;
          multiply(p, k > 0 || args_.adds);
        }
      }
    }
    if (needs_sums()) write_sums(w, scratch.c);
  }

  // Sets where p reads a: in place, or packed, as rows or in panels. Is it in panels?
  bool place_a(const Part& w, std::int64_t k, T* room, Product<T>& p) const {
    constexpr std::int64_t least_columns = 512;  // fewer are not worth panels of rows
    const bool in_cache = w.m * p.k <= resident_bytes / static_cast<std::int64_t>(sizeof(T)),
               in_panels = kernels_.row_panel && w.n >= least_columns;
    if (args_.dtype == dtype() && (in_cache || w.n <= kernels_.panel_columns ||
                                   (!in_panels && reads_rows_in_place<T>(args_)))) {
      p.a = static_cast<const T*>(a_at(w, k));
      p.a_m = args_.a_m;
      p.a_k = args_.a_k;
      return false;
    }
    p.a = room;
    if (in_panels) {
      p.a_m = 1;
      p.a_k = kernels_.tile_rows;
      pack_(a_at(w, k), args_.a_k, args_.a_m, p.k, w.m, p.a_k, room);
    } else {
      p.a_m = p.k;
      p.a_k = 1;
      pack_(a_at(w, k), args_.a_m, args_.a_k, w.m, p.k, p.k, room);
    }
    return in_panels;
  }

  void write_sums(const Part& w, const T* sums) const {
    const std::int64_t at = w.batch * args_.c_batch + w.i * args_.c_m + w.j * args_.c_n;
    kernels_.round(args_.out_dtype)(
        sums, w.m, w.n, static_cast<std::byte*>(args_.c) + at * itemsize(args_.out_dtype),
        args_.c_m, args_.c_n);
  }

  MatmulArgs args_;
  const FloatKernels<T>& kernels_;
  bool native_;
  Pack<T> pack_;
};

template <class T>
std::unique_ptr<const SmallProduct> FloatProduct<T>::small(bool transposed) const {
  const MatmulChunks plan = chunks();
  if (args_.batch != 1 || is_long_dot() || is_long_sum(plan) || plan.count != 1) return {};
  const KernelCall<T> call = call_for(args_.m, args_.n);
  if (!call) return {};
  return std::make_unique<KernelProduct<T>>(call, in_place({0, 0, 0, args_.m, args_.n}),
                                            transposed);
}

// The side that kernels like better: vectors run along n, except for rows times one column.
struct Turned {
  MatmulArgs args;
  bool transposed = false;

  explicit Turned(const MatmulArgs& given) : args(given) {
    MatmulArgs& p = args;
    if (p.m == 1) p.a_m = 1, p.c_m = 1;
    if (p.n == 1) p.b_n = 1, p.c_n = 1;
    if (p.k == 1) p.a_k = 1, p.b_k = 1;
    transposed = p.n == 1   ? p.m != 1 && p.a_k != 1
                 : p.m == 1 ? p.b_k == 1 && p.b_n != 1
                            : p.c_n != 1 && p.c_m == 1;
    if (transposed) p = kernels::transposed(p);
  }
};

}  // namespace

void matmul_float(const MatmulArgs& args, Isa isa, ParallelFor parallel_for) {
  const Turned p(args);
  if (args.dtype == DType::float64 || args.out_dtype == DType::float64) {
    FloatProduct<double>(p.args, float_kernels<double>(isa)).run(parallel_for);
  } else {
    FloatProduct<float>(p.args, float_kernels<float>(isa)).run(parallel_for);
  }
}

std::unique_ptr<const SmallProduct> small_float_product(const MatmulArgs& args, Isa isa) {
  const Turned p(args);
  if (args.dtype == DType::float64)
    return FloatProduct<double>(p.args, float_kernels<double>(isa)).small(p.transposed);
  return FloatProduct<float>(p.args, float_kernels<float>(isa)).small(p.transposed);
}

}  // namespace shardax::kernels

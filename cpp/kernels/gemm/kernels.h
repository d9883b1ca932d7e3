// kernels/gemm/kernels.h - tables of the float product's inner kernels, one per instruction set.
//
// Private to kernels/gemm. All tables give the same bits.
#pragma once

#include <cstdint>

#include "array/dtype.h"
#include "kernels/gemm/matmul.h"

namespace shardax::kernels {

// One product over operands of the type it is computed in; c has unit stride along n.
template <class T>
struct Product {
  std::int64_t m, n, k;
  const T* a;
  std::int64_t a_m, a_k;
  const T* b;
  std::int64_t b_k, b_n;
  T* c;
  std::int64_t c_m;
};

// One product of at most matmul_k_block steps whose elements are found through pointers and
// offsets. Row i of c (= or, with `add`, +=) is the sum over k of a[i][a_k[k]] times row b +
// b_k[k], n columns.
template <class T>
struct FoundProduct {
  std::int64_t m, n, k;
  const T* const* a;
  const std::int64_t* a_k;
  const T* b;
  const std::int64_t* b_k;
  T* const* c;
  bool add;
};

// Panels of `width` columns, one after the other. In the first one, out[i * width + j] = in[i *
// in_i + j * in_j], widened to T, for i < rows and j < width. The last is filled up with zeros.
template <class T>
using Pack = void (*)(const void* in, std::int64_t in_i, std::int64_t in_j, std::int64_t rows,
                      std::int64_t columns, std::int64_t width, T* out);

// out[i * c_m + j * c_n] = in[i * columns + j], rounded to the type of out.
template <class T>
using Round = void (*)(const T* in, std::int64_t rows, std::int64_t columns, void* out,
                       std::int64_t c_m, std::int64_t c_n);

// A linear map of the squares of Winograd's minimal filtering, for each of n channels. in[i] and
// out[i] are element i of the squares, with channels adjacent.
template <class T>
using SquareMap = void (*)(const T* const* in, T* const* out, std::int64_t n);
// The sides of the squares, in -> out. See kernels/conv/winograd_tile.h.
template <class T>
struct WinogradMaps {
  SquareMap<T> from_operand;    // 4 -> 4
  SquareMap<T> from_kernel;     // 3 -> 4
  SquareMap<T> to_result;       // 4 -> 2
  SquareMap<T> from_cotangent;  // 2 -> 4
  SquareMap<T> to_kernel;       // 4 -> 3
};

// c[i] = the sum over k of a[i, k] b[i, k], for `count` products.
template <class T>
struct StackOfDots {
  std::int64_t count, k;
  const T* a;
  std::int64_t a_batch;
  const T* b;
  std::int64_t b_batch;
  T* c;
  std::int64_t c_batch;
};

// Outputs of one channel each: those of a row are in_column apart where they read `in`. Each is the
// sum over the taps k of in[at[k]] times the tap's weight.
template <class T>
struct Depthwise {
  std::int64_t rows, columns, lanes, taps;
  const T* in;
  std::int64_t in_row, in_column;
  const std::int64_t* at;
  const T* weights;
  const std::int64_t* weights_at;
  T* out;
  std::int64_t out_row, out_column;
};

// Sums of products of `in`, at[k] further for tap k, and a factor, over rows and columns.
template <class T>
struct DepthwiseSums {
  std::int64_t rows, columns, lanes, taps;
  const T* in;
  std::int64_t in_row, in_column;
  const std::int64_t* at;
  const T* factor;
  std::int64_t factor_row, factor_column;
  T* sums;
  const std::int64_t* sums_at;
};
constexpr std::int64_t depthwise_most_rows = 64, depthwise_most_taps = 64;
template <class T>
constexpr std::int64_t depthwise_chains = 64 / sizeof(T);

template <class T>
struct DepthwiseKernels {
  // Columns are adjacent, and weights. Up to `chains` elements past the end of a row of `in` can be
  // read.
  void (*planes)(const Depthwise<T>& p);
  // Channels are adjacent, and weights of tap k from weights_at[k] on.
  void (*lanes)(const Depthwise<T>& p);
  // Adds to sums[sums_at[k] + x % chains]. Columns are adjacent, as for planes. At most
  // depthwise_most_rows rows.
  void (*sums_of_planes)(const DepthwiseSums<T>& p);
  // Channels are adjacent. Adds to sums[sums_at[k] + channel]; at most depthwise_most_taps taps.
  void (*sums_of_lanes)(const DepthwiseSums<T>& p);
};

template <class T>
struct FloatKernels {
  std::int64_t vector_size;    // elements in a vector
  std::int64_t tile_rows;      // rows of the largest tile
  std::int64_t panel_columns;  // columns of a packed panel of b

  // The whole product, operands read in place; b_n is 1.
  void (*direct)(const Product<T>& p);
  // As direct, for few rows and a b that is out of cache: reads b once per four rows, in order.
  void (*stream)(const Product<T>& p);
  // The whole product for n = 1, a_k = 1 and c_m = 1. With `add` k is at most matmul_k_block, and
  // the sums are added to c.
  void (*dots)(const Product<T>& p, bool add);
  // The sums of the blocks of k of one dot product, a_k = 1.
  void (*dot_sums)(const T* a, const T* b, std::int64_t b_k, std::int64_t k, T* sums);
  void (*stacked_dots)(const StackOfDots<T>& p);
  // c[m, columns] (= or +=) a times a packed panel: b_k is panel_columns, k <= matmul_k_block and
  // n <= panel_columns the columns that are written.
  void (*panel)(const Product<T>& p, bool add);
  // As panel, of rows in packed panels of tile_rows, one after the other: a_m is 1, a_k is
  // tile_rows. Null: rows of a are packed one after the other.
  void (*row_panel)(const Product<T>& p, bool add);
  // Columns of b are those of a packed panel, one or two vectors wide; n of them are written. Null
  // for b_k: all steps of the panel. Else b_k is a_k + matmul_k_block.
  void (*found_panel)(const FoundProduct<T>& p, std::int64_t width);
  // Columns of b are read in place. In the second rows of a have columns too: column j of a times
  // column j of b.
  void (*found_rows)(const FoundProduct<T>& p);
  void (*found_lanes)(const FoundProduct<T>& p);
  // out[i * width + j] = in[j * in_j + i], for i < rows and j < columns.
  void (*turn)(const T* in, std::int64_t in_j, std::int64_t rows, std::int64_t columns,
               std::int64_t width, T* out);
  // The function that packs operands of type `source`.
  Pack<T> (*pack)(DType source);
  // The function that writes sums to a result of type `out`.
  Round<T> (*round)(DType out);
  WinogradMaps<T> winograd;
  DepthwiseKernels<T> depthwise;
};

// In avx512_intel, rows are packed in panels, too.
enum class Isa { baseline, avx2, avx512, avx512_intel };

// The table for `isa`, and the best one that this machine runs.
template <class T>
const FloatKernels<T>& float_kernels(Isa isa);
Isa best_isa();

// The place of b in panels: that of column j, from row k on.
template <class T>
const T* panel_of(const MatmulArgs& p, std::int64_t width, std::int64_t j, std::int64_t k) {
  return static_cast<const T*>(p.b) + j / width * p.b_panel + k * width;
}

// Are rows of a read where they lie, if they are not packed in panels? Tiles read a row after the
// other, 12 at a time: if these are 4096 bytes apart, they push each other out of the first-level
// cache. Packed, products of 2048 x 768 by 768 x 768 floats take 7 % longer, of 1024 x 784 by 784 x
// 1024 5 % (Zen 4).
template <class T>
bool reads_rows_in_place(const MatmulArgs& p) {
  constexpr std::int64_t page = 4096;
  return p.a_k == 1 && itemsize(p.dtype) == sizeof(T) &&
         p.a_m * static_cast<std::int64_t>(sizeof(T)) % page != 0;
}

// The product of floats: float32 or float64 sums of operands of `args.dtype`. In blocked.cpp.
void matmul_float(const MatmulArgs& args, Isa isa, ParallelFor parallel_for);
std::unique_ptr<const SmallProduct> small_float_product(const MatmulArgs& args, Isa isa);
// c = a b as transpose(c) = transpose(b) transpose(a): the same multiply-adds in the same order.
MatmulArgs transposed(const MatmulArgs& p);

// In complex.cpp and integer.cpp.
void matmul_complex(const MatmulArgs& args, Isa isa, ParallelFor parallel_for);
void matmul_integer(const MatmulArgs& args, ParallelFor parallel_for);
// Products of 8-bit integers and of bfloat16 that are worth packing, where `isa` has instructions
// that multiply groups of them; false for others. In packed_dot.cpp.
bool matmul_grouped(const MatmulArgs& args, Isa isa, ParallelFor parallel_for);

// Chunks of about 50 us or more that a product is cut into; see plan_chunks.
struct MatmulChunks {
  std::int64_t rows, columns;  // of a chunk, where one product has several
  std::int64_t row_chunks, column_chunks;
  std::int64_t products;  // of a chunk, where it has several
  std::int64_t count;
};
// `nanoseconds` is the estimate for one product; rows and columns are rounded up to multiples.
MatmulChunks plan_chunks(const MatmulArgs& args, double nanoseconds, std::int64_t row_multiple,
                         std::int64_t column_multiple);

}  // namespace shardax::kernels

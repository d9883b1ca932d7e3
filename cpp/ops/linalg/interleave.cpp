// ops/linalg/interleave.cpp - groups of small matrices copied between memory and cells.
#include <utility>

#include "base/index.h"
#include "base/target.h"
#include "ops/linalg/batched_small_lapack.h"

namespace shardax::ops {
namespace {

// f(lane, cell, offset) for each element of each matrix of a group, row after row, or of their
// transposes. Goes through blocks whose cells stay in the cache while each lane is copied: matrices
// may lie so far apart that few of them do.
template <class L, class F>
void for_each_cell(const Stack& stack, bool transposed, const F& f) {
  const auto [first, down, along] = stack.matrix<lanes::Number<L>>(0);
  const std::int64_t rows = transposed ? stack.columns() : stack.rows();
  const std::int64_t columns = transposed ? stack.rows() : stack.columns();
  const std::int64_t row_step = transposed ? along : down, column_step = transposed ? down : along;
  constexpr std::int64_t block = 16;
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t begin = 0; begin < columns; begin += block) {
      const std::int64_t end = std::min(begin + block, columns);
      for (std::int64_t lane = 0; lane < lanes::width<L>; ++lane) {
        for (std::int64_t c = begin; c < end; ++c) {
          f(lane, index(r * columns + c), r * row_step + c * column_step);
        }
      }
    }
  }
}

template <class L>
std::array<lanes::Number<L>*, lanes::width<L>> places(const Stack& stack, const Group<L>& group) {
  std::array<lanes::Number<L>*, lanes::width<L>> out;
  for (std::size_t lane = 0; lane < out.size(); ++lane) {
    out[lane] = stack.matrix<lanes::Number<L>>(group[lane]).first;
  }
  return out;
}

// Numbers that fill a vector.
template <class L>
inline constexpr std::int64_t run_length = lanes::width<L> / lanes::parts<L>;

// Calls f(cell, step, offset) for runs of so many numbers that are contiguous in memory, with cells
// `step` apart. The last run may overlap the one before it. False where no run fits.
template <class L, class F>
SHARDAX_INLINE bool for_each_run(const Stack& stack, bool transposed, const F& f) {
  auto [first, down, along] = stack.matrix<lanes::Number<L>>(0);
  std::int64_t rows = stack.rows(), columns = stack.columns();
  const std::int64_t step = transposed && columns > 1 ? rows : 1;
  if (columns == 1 || (step == 1 && along == 1 && down == columns)) {  // all is one run
    along = columns == 1 ? down : 1;
    columns *= std::exchange(rows, 1);
  }
  constexpr std::int64_t length = run_length<L>;
  if (along != 1 || columns < length) return false;
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t begin = 0; begin < columns; begin += length) {
      const std::int64_t c = std::min(begin, columns - length);
      f(step == 1 ? r * columns + c : c * step + r, step, r * down + c);
    }
  }
  return true;
}

// As many vectors as each has lanes, transposed. In round s, vectors that are s apart exchange
// lanes that are s apart.
template <class L>
SHARDAX_INLINE void transpose_lanes(lanes::Vector<L>* v) {
  using Place = lanes::IndexOf<lanes::Real<L>>;
  lanes::Index<L> lane;
  for (std::int64_t l = 0; l < lanes::width<L>; ++l) lane[l] = static_cast<Place>(l);
#pragma GCC unroll 4
  for (std::int64_t s = 1; s < lanes::width<L>; s *= 2) {
    const auto step = static_cast<Place>(s);
    const auto other = static_cast<Place>(lanes::width<L>);
    const lanes::Index<L> low = (lane & step) != 0 ? lane - step + other : lane;
    const lanes::Index<L> high = (lane & step) != 0 ? lane + other : lane + step;
#pragma GCC unroll 16
    for (std::int64_t i = 0; i < lanes::width<L>; ++i) {
      if ((i & s) != 0) continue;
      const lanes::Vector<L> a = v[i], b = v[i + s];
      shuffle(v[i], a, b, low);
      shuffle(v[i + s], a, b, high);
    }
  }
}

template <class L>
SHARDAX_INLINE typename L::Loose& at(lanes::Number<L>* number) {
  return *reinterpret_cast<typename L::Loose*>(number);
}

}  // namespace

template <class L>
void load_group(const Stack& stack, const Group<L>& group, Cells<L>& cells, bool transposed) {
  const auto from = places<L>(stack, group);
  bool done = false;
  lanes::in_vectors<L>([&] {
    done = for_each_run<L>(stack, transposed, [&](auto cell, auto step, auto offset) {
      lanes::Vector<L> v[lanes::width<L>];
#pragma GCC unroll 16
      for (std::size_t l = 0; l < lanes::width<L>; ++l) v[l] = at<L>(from[l] + offset).vector;
      transpose_lanes<L>(v);
#pragma GCC unroll 16
      for (std::int64_t q = 0; q < run_length<L>; ++q) {
        lanes::Cell<L>& out = cells.data()[cell + q * step];
        out.re = v[lanes::parts<L> * q];
        if constexpr (lanes::complex_cells<L>) out.im = v[lanes::parts<L> * q + 1];
      }
    });
  });
  if (done) return;
  for_each_cell<L>(stack, transposed, [&](auto lane, std::size_t cell, std::int64_t offset) {
    lanes::set(cells[cell], lane, from[index(lane)][offset]);
  });
}
template <class L>
void store_group(const Stack& stack, const Group<L>& group, const Cells<L>& cells,
                 bool transposed) {
  const auto to = places<L>(stack, group);
  bool done = false;
  lanes::in_vectors<L>([&] {
    done = for_each_run<L>(stack, transposed, [&](auto cell, auto step, auto offset) {
      lanes::Vector<L> v[lanes::width<L>];
#pragma GCC unroll 16
      for (std::int64_t q = 0; q < run_length<L>; ++q) {
        const lanes::Cell<L>& from = cells.data()[cell + q * step];
        v[lanes::parts<L> * q] = from.re;
        if constexpr (lanes::complex_cells<L>) v[lanes::parts<L> * q + 1] = from.im;
      }
      transpose_lanes<L>(v);
#pragma GCC unroll 16
      for (std::size_t l = 0; l < lanes::width<L>; ++l) at<L>(to[l] + offset).vector = v[l];
    });
  });
  if (done) return;
  for_each_cell<L>(stack, transposed, [&](auto lane, std::size_t cell, std::int64_t offset) {
    to[index(lane)][offset] = lanes::get(cells[cell], lane);
  });
}

#define SHARDAX_GROUPS(T, bytes)                                                \
  template void load_group(const Stack&, const Group<lanes::Lanes<T, bytes>>&,  \
                           Cells<lanes::Lanes<T, bytes>>&, bool);               \
  template void store_group(const Stack&, const Group<lanes::Lanes<T, bytes>>&, \
                            const Cells<lanes::Lanes<T, bytes>>&, bool);
SHARDAX_GROUPS(float, 32)
SHARDAX_GROUPS(float, 64)
SHARDAX_GROUPS(double, 32)
SHARDAX_GROUPS(double, 64)
SHARDAX_GROUPS(std::complex<float>, 32)
SHARDAX_GROUPS(std::complex<float>, 64)
SHARDAX_GROUPS(std::complex<double>, 32)
SHARDAX_GROUPS(std::complex<double>, 64)

}  // namespace shardax::ops

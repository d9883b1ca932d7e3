// ops/lane_jobs.h - jobs for stacks of small matrices, done as many at a time as a vector has
// lanes.
//
// A lane job holds the cells of one group of matrices (kernels/matrix_lanes.h):
//
//   static bool takes(const JobArgs&);            // of shapes alone: whether it pays
//   std::int64_t count() const;
//   double flops() const;                         // of one matrix
//   void load(const Group<L>&);
//   void compute();
//   void store(const Group<L>&);
#pragma once

#include <array>
#include <utility>

#include "codegen/native.h"
#include "kernels/matrix_lanes.h"
#include "ops/matrices.h"

namespace shardax::ops {

namespace lanes = kernels::matrix_lanes;
template <class L>
using Cells = std::vector<lanes::Cell<L>>;

// Beyond it a group's cells leave the cache of a core, and LAPACK's blocks are as quick.
inline constexpr std::int64_t lane_rows = 32;

// As many as the widest vectors have lanes, so that shapes alone decide on every machine.
template <class T>
bool fits_lanes(const Stack& stack) {
  return stack.count() >= lanes::width<lanes::Lanes<T, 64>> && stack.rows() > 0 &&
         stack.columns() > 0 && stack.rows() <= lane_rows && stack.columns() <= lane_rows;
}

// Which matrix is in each lane. Lanes that are left over repeat the last one.
template <class L>
using Group = std::array<std::int64_t, lanes::width<L>>;

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
          f(lane, static_cast<std::size_t>(r * columns + c), r * row_step + c * column_step);
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

// f(cell, step, offset) for runs of so many numbers that lie side by side in memory, the last of
// which may overlap the one before it: their cells are `step` apart. False where no run fits.
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

// As many vectors as each has lanes, transposed: in round s, those that are s apart exchange what
// lies s apart in them.
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
      v[i] = __builtin_shuffle(a, b, low);
      v[i + s] = __builtin_shuffle(a, b, high);
    }
  }
}

template <class L>
SHARDAX_INLINE typename L::Loose& at(lanes::Number<L>* number) {
  return *reinterpret_cast<typename L::Loose*>(number);
}

// A group of matrices into cells, row after row; or their transposes.
template <class L>
void load_group(const Stack& stack, const Group<L>& group, Cells<L>& cells,
                bool transposed = false) {
  const auto from = places<L>(stack, group);
  bool done = false;
  lanes::in_vectors<L>([&] {
    done = for_each_run<L>(stack, transposed, [&](auto cell, auto step, auto offset) {
      lanes::Vector<L> v[lanes::width<L>];
#pragma GCC unroll 16
      for (std::size_t l = 0; l < from.size(); ++l) v[l] = at<L>(from[l] + offset);
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
    lanes::set(cells[cell], lane, from[static_cast<std::size_t>(lane)][offset]);
  });
}
template <class L>
void store_group(const Stack& stack, const Group<L>& group, const Cells<L>& cells,
                 bool transposed = false) {
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
      for (std::size_t l = 0; l < to.size(); ++l) at<L>(to[l] + offset) = v[l];
    });
  });
  if (done) return;
  for_each_cell<L>(stack, transposed, [&](auto lane, std::size_t cell, std::int64_t offset) {
    to[static_cast<std::size_t>(lane)][offset] = lanes::get(cells[cell], lane);
  });
}

// Runs copies of a lane job over its stack, a group of matrices after the other.
template <class L, class Job>
void in_lanes(const Job& prototype) {
  constexpr std::int64_t width = lanes::width<L>;
  const std::int64_t count = prototype.count(), groups = (count + width - 1) / width;
  const double flops = std::max(prototype.flops(), 100.0) * width / 4;  // they are quicker
  const auto each = static_cast<std::int64_t>(std::max(1.0, task_flops / flops));
  runtime::parallel_for((groups + each - 1) / each, [&](std::int64_t task) {
    Job job = prototype;
    for (std::int64_t g = task * each; g < std::min(groups, (task + 1) * each); ++g) {
      Group<L> group;
      for (std::size_t lane = 0; lane < group.size(); ++lane) {
        group[lane] = std::min(g * width + static_cast<std::int64_t>(lane), count - 1);
      }
      job.load(group);
      lanes::in_vectors<L>([&] { job.compute(); });
      job.store(group);
    }
  });
}

// A kernel that runs LaneJob<lanes of T> where that takes the operands and the
// processor has AVX2, else Job<T>.
template <template <class> class Job, template <class> class LaneJob>
Kernel small_stack_kernel(const Types& types, const Types&, const Params& params) {
  lapack::load();
  Kernel kernel = [params](std::span<const View> in, std::span<const View> out) {
    with_type(in[0].dtype, [&](auto zero) {
      using T = decltype(zero);
      const JobArgs args{params, in, out};
      using Wide = lanes::Lanes<T, 64>;
      using Narrow = lanes::Lanes<T, 32>;
      static const bool vectors = __builtin_cpu_supports("x86-64-v3");
      if (!vectors || !LaneJob<Narrow>::takes(args)) {
        in_turns(Job<T>(args));
      } else if (codegen::instructions() == codegen::Instructions::avx512) {
        in_lanes<Wide>(LaneJob<Wide>(args));
      } else {
        in_lanes<Narrow>(LaneJob<Narrow>(args));
      }
    });
  };
  return (halves & bit(types[0].dtype)) != 0 ? widened(std::move(kernel)) : kernel;
}

}  // namespace shardax::ops

// ops/lane_jobs.h - jobs for stacks of small matrices, done as many at a time as a vector has
// lanes.
//
// A lane job holds the cells of one group of matrices (kernels/matrix_lanes.h):
//
//   static bool takes(const JobArgs&);            // of shapes alone: whether it pays
//   std::int64_t count() const;
//   double flops() const;                         // of one matrix
//   void load(const Group<T>&);
//   void compute();
//   void store(const Group<T>&);
#pragma once

#include <array>

#include "kernels/matrix_lanes.h"
#include "ops/matrices.h"

namespace shardax::ops {

namespace lanes = kernels::matrix_lanes;
template <class T>
using Cells = std::vector<lanes::Cell<T>>;

// Beyond it a group's cells leave the cache of a core, and LAPACK's blocks are as quick.
inline constexpr std::int64_t lane_rows = 32;

template <class T>
bool fits_lanes(const Stack& stack) {
  return stack.count() >= lanes::width<T> && stack.rows() > 0 && stack.columns() > 0 &&
         stack.rows() <= lane_rows && stack.columns() <= lane_rows;
}

// Which matrix is in each lane. Lanes that are left over repeat the last one.
template <class T>
using Group = std::array<std::int64_t, lanes::width<T>>;

// f(lane, cell, offset) for each element of each matrix of a group, row after row, or of their
// transposes. Goes through blocks whose cells stay in the cache while each lane is copied: matrices
// may lie so far apart that few of them do.
template <class T, class F>
void for_each_cell(const Stack& stack, bool transposed, const F& f) {
  const auto [first, down, along] = stack.matrix<T>(0);
  const std::int64_t rows = transposed ? stack.columns() : stack.rows();
  const std::int64_t columns = transposed ? stack.rows() : stack.columns();
  const std::int64_t row_step = transposed ? along : down, column_step = transposed ? down : along;
  constexpr std::int64_t block = 16;
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t begin = 0; begin < columns; begin += block) {
      const std::int64_t end = std::min(begin + block, columns);
      for (std::int64_t lane = 0; lane < lanes::width<T>; ++lane) {
        for (std::int64_t c = begin; c < end; ++c) {
          f(lane, static_cast<std::size_t>(r * columns + c), r * row_step + c * column_step);
        }
      }
    }
  }
}

template <class T>
std::array<T*, lanes::width<T>> places(const Stack& stack, const Group<T>& group) {
  std::array<T*, lanes::width<T>> out;
  for (std::size_t lane = 0; lane < out.size(); ++lane) {
    out[lane] = stack.matrix<T>(group[lane]).first;
  }
  return out;
}

// A group of matrices into cells, row after row; or their transposes.
template <class T>
void load_group(const Stack& stack, const Group<T>& group, Cells<T>& cells,
                bool transposed = false) {
  const auto from = places<T>(stack, group);
  for_each_cell<T>(stack, transposed, [&](auto lane, std::size_t cell, std::int64_t offset) {
    lanes::set(cells[cell], lane, from[static_cast<std::size_t>(lane)][offset]);
  });
}
template <class T>
void store_group(const Stack& stack, const Group<T>& group, const Cells<T>& cells,
                 bool transposed = false) {
  const auto to = places<T>(stack, group);
  for_each_cell<T>(stack, transposed, [&](auto lane, std::size_t cell, std::int64_t offset) {
    to[static_cast<std::size_t>(lane)][offset] = lanes::get(cells[cell], lane);
  });
}

// Runs copies of a lane job over its stack, a group of matrices after the other.
template <class T, class Job>
void in_lanes(const Job& prototype) {
  constexpr std::int64_t width = lanes::width<T>;
  const std::int64_t count = prototype.count(), groups = (count + width - 1) / width;
  const double flops = std::max(prototype.flops(), 100.0) * width / 4;  // they are quicker
  const auto each = static_cast<std::int64_t>(std::max(1.0, task_flops / flops));
  runtime::parallel_for((groups + each - 1) / each, [&](std::int64_t task) {
    Job job = prototype;
    for (std::int64_t g = task * each; g < std::min(groups, (task + 1) * each); ++g) {
      Group<T> group;
      for (std::size_t lane = 0; lane < group.size(); ++lane) {
        group[lane] = std::min(g * width + static_cast<std::int64_t>(lane), count - 1);
      }
      job.load(group);
      job.compute();
      job.store(group);
    }
  });
}

// A kernel that runs LaneJob<T> where that takes the operands, else Job<T>.
template <template <class> class Job, template <class> class LaneJob>
Kernel small_stack_kernel(const Types& types, const Types&, const Params& params) {
  lapack::load();
  Kernel kernel = [params](std::span<const View> in, std::span<const View> out) {
    with_type(in[0].dtype, [&](auto zero) {
      using T = decltype(zero);
      const JobArgs args{params, in, out};
      if (LaneJob<T>::takes(args)) {
        in_lanes<T>(LaneJob<T>(args));
      } else {
        in_turns(Job<T>(args));
      }
    });
  };
  return (halves & bit(types[0].dtype)) != 0 ? widened(std::move(kernel)) : kernel;
}

}  // namespace shardax::ops

// ops/linalg/batched_small_lapack.h - factorizations of stacks, one small matrix per SIMD lane.
//
// A lane job holds the cells of one group of matrices (kernels/small_linalg/interleaved_lapack.h):
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

#include "base/target.h"
#include "codegen/executable.h"
#include "kernels/small_linalg/interleaved_lapack.h"
#include "ops/linalg/matrices.h"

namespace shardax::ops {

namespace lanes = kernels::interleaved;
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

// The matrix in each lane. Lanes that are left over repeat the last one.
template <class L>
using Group = std::array<std::int64_t, lanes::width<L>>;

// A group of matrices into cells, row after row, and back; or their transposes.
template <class L>
void load_group(const Stack& stack, const Group<L>& group, Cells<L>& cells,
                bool transposed = false);
template <class L>
void store_group(const Stack& stack, const Group<L>& group, const Cells<L>& cells,
                 bool transposed = false);

// Runs a lane job over its stack, a group of matrices after the other; copies of it where threads
// share them.
template <class L, class Job>
void in_lanes(Job prototype) {
  constexpr std::int64_t width = lanes::width<L>;
  const std::int64_t count = prototype.count(), groups = (count + width - 1) / width;
  const double flops = std::max(prototype.flops(), 100.0) * width / 4;  // they are quicker
  const auto each = static_cast<std::int64_t>(std::max(1.0, task_flops / flops));
  const auto run = [&](Job& job, std::int64_t first, std::int64_t end) {
    for (std::int64_t g = first; g < end; ++g) {
      Group<L> group;
      for (std::size_t lane = 0; lane < group.size(); ++lane) {
        group[lane] = std::min(g * width + static_cast<std::int64_t>(lane), count - 1);
      }
      job.load(group);
      lanes::in_vectors<L>([&] { job.compute(); });
      job.store(group);
    }
  };
  if (groups <= each) return run(prototype, 0, groups);
  runtime::parallel_for((groups + each - 1) / each, [&](std::int64_t task) {
    Job job = prototype;
    run(job, task * each, std::min(groups, (task + 1) * each));
  });
}

// A kernel that runs InterleavedJob<lanes of T> where that takes the operands and the
// processor has AVX2, else Job<T>.
template <template <class> class Job, template <class> class InterleavedJob>
Kernel small_stack_kernel(const Types& types, const Types&, const Params& params) {
  lapack::load();
  Kernel kernel = [params](std::span<const View> in, std::span<const View> out) {
    with_type(in[0].dtype, [&](auto zero) {
      using T = decltype(zero);
      const JobArgs args{params, in, out};
      // Complex numbers, rarer and twice the code, fill the narrower vectors everywhere.
      using Narrow = lanes::Lanes<T, 32>;
      using Wide = std::conditional_t<is_complex_v<T>, Narrow, lanes::Lanes<T, 64>>;
      if (processor_level == Level::baseline || !InterleavedJob<Narrow>::takes(args)) {
        return in_turns(Job<T>(args));
      }
      // Lanes that few matrices leave empty take as long as others, and as much of the cache.
      InterleavedJob<Narrow> narrow(args);
      if (codegen::instructions() == codegen::Instructions::avx512 &&
          narrow.count() > lanes::width<Narrow>) {
        in_lanes<Wide>(InterleavedJob<Wide>(args));
      } else {
        in_lanes<Narrow>(std::move(narrow));
      }
    });
  };
  return (halves & bit(types[0].dtype)) != 0 ? widened(std::move(kernel)) : kernel;
}

}  // namespace shardax::ops

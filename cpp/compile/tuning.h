// compile/tuning.h - the thresholds of the compiler, by file.
//
// Beside the cost model (analysis/cost.h) they decide the worth of a rewrite. Comments give the
// measurements behind them. All processors share the values: no measured one wants another.
#pragma once

#include <cstddef>
#include <cstdint>

namespace shardax::tuning {

namespace fuse {
// More instructions than this would push the tiles of a group out of the first-level cache.
inline constexpr std::size_t max_equations = 64;
// Longer loops that share no array stay apart. One loop over the arrays of three leaves reads and
// writes 21 of them side by side, and no processor reads so many ahead. AdamW of 8 leaves of 4 MB
// takes 16.6 ms so, 5.7 apart (two cores of a Zen 4).
inline constexpr std::int64_t most_unrelated_bytes = std::int64_t{128} << 10;
}  // namespace fuse

namespace tile_groups {
// A group whose rows take less in all is in the cache anyway.
inline constexpr std::int64_t least_group = std::int64_t{1} << 20;
// Rows are added up in one piece while they have fewer elements (kernels/tiles/tile_loop.cpp): a
// group must give the bits that its equations give alone.
inline constexpr std::int64_t most_row_elements = std::int64_t{1} << 16;
// Rows that are shared by several threads.
inline constexpr std::int64_t least_rows = 8;
// Bounds of compile time: equations of a group, and groups that are open at once.
inline constexpr std::size_t most_equations = 256;
// A product belongs to a group where it makes much of little or little of much.
inline constexpr std::int64_t product_ratio = 2;
// More multiply-adds for each element of the largest array take more time than writing and reading
// that one.
inline constexpr std::int64_t most_multiply_adds = 128;
// Sums over rows exist once for each part of the rows.
inline constexpr std::int64_t most_sum_bytes = std::int64_t{16} << 20;
inline constexpr std::size_t most_open = 16;
}  // namespace tile_groups

namespace tiled_step {
// The bytes of the rows of a block, which stay in a second-level cache of 1 MB. Blocks of products
// nearly fill it, since rearranging the other operand costs more the fewer rows there are. The
// gradient of attention over 1024 positions takes 92 ms with 512 KB, 83 with these, 81 with twice
// as many. Half of that cache: x / rms(x) of 4 M floats in rows of 1000 takes 2.63 ms with 96 KB,
// 1.99 with 256, 1.70 with 512 (one core of a Zen 4).
inline constexpr std::int64_t block_bytes = std::int64_t{512} << 10;
inline constexpr std::int64_t product_block_bytes = std::int64_t{1} << 20;
// Blocks that add to larger sums have twice the bytes of these, up to the most. The gradient of
// causal attention over 8192 positions takes 419 ms with 1 MB, 395 with 8 (two cores of a Zen 4).
inline constexpr std::int64_t most_block_bytes = std::int64_t{8} << 20;
// Products have at least so many: to rearrange the other operand takes as long as 8.
inline constexpr std::int64_t least_product_rows = 32;
// The number of parts that threads take in turns.
inline constexpr std::int64_t most_parts = 32;
// Sums over rows: in how many pieces they are added up at least, where there are as many blocks,
// and the memory for them.
inline constexpr std::int64_t sum_pieces = 16;
inline constexpr std::int64_t part_bytes = std::int64_t{32} << 20;
}  // namespace tiled_step

namespace masked_columns {
// Fewer blocks of a line, or columns, are not worth the compilation of more programs. There are so
// many programs; with them blocks compute a sixteenth more than they need.
inline constexpr std::int64_t least_blocks = 4, least_columns = 256, widths = 8;
// Blocks become smaller for it, down to so many rows.
inline constexpr std::int64_t least_rows = 64;
// Widths are multiples, so that sums are added up as those of all columns are: in the same pieces
// (kernels/tiles/reduce_loops.h) and blocks (kernels/gemm/matmul.h).
inline constexpr std::int64_t width_multiple = 128;
}  // namespace masked_columns

namespace batch_accumulated_dots {
// The most memory for A and B if they do not exist before.
inline constexpr std::int64_t most_stacked_bytes = std::int64_t{64} << 20;
}  // namespace batch_accumulated_dots

namespace hoist_transposes {
// Fewer rows do not fill vectors; larger matrices are waited for, whichever way they lie.
inline constexpr std::int64_t fewest_transposed_rows = 16;
inline constexpr std::int64_t most_transposed_bytes = 4 << 20;
// Turns for which it is worth a copy more.
inline constexpr std::int64_t fewest_iterations = 8;
}  // namespace hoist_transposes

namespace prepack_operands {
// Smaller ones are read as they lie; products of fewer rows too.
inline constexpr std::int64_t least_panel = 32 << 10;
inline constexpr std::int64_t fewest_packed_rows = 13;
// Turns for which it is worth a copy more.
inline constexpr std::int64_t fewest_packed_iterations = 4;
}  // namespace prepack_operands

namespace sink_carry_permutes {
// Loops over less are numbers in registers.
inline constexpr std::int64_t least_moved_bytes = 4 << 10;
}  // namespace sink_carry_permutes

namespace split_accumulators {
// More of them are no less work.
inline constexpr std::size_t most_pieces = 256;
}  // namespace split_accumulators

namespace split_complex_carries {
// Fewer are numbers of a scalar program, which has them apart anyway.
inline constexpr std::int64_t least_elements = 256;
}  // namespace split_complex_carries

namespace stripmine_devices {
// Temporaries of one chunk, by types alone. Large enough that the accumulators, which each chunk
// reads and writes, do not count; small beside temporary_budget (compile/pipeline.cpp).
inline constexpr std::int64_t chunk_bytes = std::int64_t{16} << 20;
}  // namespace stripmine_devices

namespace arena {
// So many slots are held against one another; more are placed in the order of their first use.
inline constexpr std::size_t most_compared = 1024;
}  // namespace arena

namespace assign_layouts {
// The elements of the dimensions behind the long one; rows of more are long enough.
inline constexpr std::int64_t most_short = 32;
inline constexpr std::int64_t least_long = 16;
inline constexpr std::int64_t least_exchanged = 4096;
// Values this much smaller than the arrays that they are repeated into, or summed from, are not
// transposed with them.
inline constexpr std::int64_t much_smaller = 4;
// Elements in short rows that are spared, for each that is copied.
inline constexpr std::int64_t worth = 2;
}  // namespace assign_layouts

namespace elide_concat {
// Elements in a row of an operand that is written into the result.
inline constexpr std::int64_t least_run = 32;
}  // namespace elide_concat

namespace lower {
// Elements of a slice, and in a row of it, that a loop reads in place.
inline constexpr std::int64_t least_elements = 1024;
inline constexpr std::int64_t least_run = 16;
// Results that are written over a dead operand.
inline constexpr std::int64_t least_bytes = 16 << 10;
}  // namespace lower

namespace pipeline {
// If a plan's temporaries take more, its mapped functions are tried a few devices at a time.
inline constexpr std::int64_t temporary_budget = std::int64_t{64} << 20;
// If they take more than this, halving them is worth any time.
inline constexpr std::int64_t large_temporaries = std::int64_t{1} << 30;
// One core waits for the other, and reads its results (steps of a transformer on Emerald Rapids).
inline constexpr double hand_out_ns = 40'000;
}  // namespace pipeline

namespace plan {
// Handing out work to threads takes some microseconds: quicker steps are not shared.
inline constexpr double worth_sharing_ns = 20'000;
}  // namespace plan

namespace remat_into_consumers {
// Smaller values stay in a cache.
inline constexpr std::int64_t least_made = std::int64_t{128} << 10;
// An operand that repeats so often in the result counts as nothing.
inline constexpr std::int64_t small_ratio = 8;
// The most equations for one value, for one loop.
inline constexpr std::size_t most_equations = 6;
// The most of a loop in all: tiles of more leave the first-level cache (compile/fusion/fuse.cpp).
inline constexpr std::size_t most_of_loop = 64;
}  // namespace remat_into_consumers

namespace remat_long_lived {
// Smaller values may be kept.
inline constexpr std::int64_t least_kept = std::int64_t{256} << 10;
// Bytes between a value and its use after which it has left the caches. Fetching it then takes as
// long as a quick function of values at hand.
inline constexpr std::int64_t far_bytes = std::int64_t{32} << 20;
}  // namespace remat_long_lived

namespace remat_tiled_groups {
// The most recomputed equations, and the least ratio of a value's size to that of its sources.
inline constexpr std::size_t most_copies = 24;
inline constexpr std::int64_t least_ratio = 2;
// Recomputing smaller scores takes a tenth more of the time of a step than keeping them. Larger
// ones take no more (measured with 512 to 2048 positions).
inline constexpr std::int64_t least_freed = std::int64_t{64} << 20;
// Groups that leave out masked columns, which recompute half of them, and where scores that are
// kept would be kept whole.
inline constexpr std::int64_t least_freed_masked = std::int64_t{1} << 20;
}  // namespace remat_tiled_groups

namespace scalar_values {
// Plans of single equations that a scalar program calls.
inline constexpr std::size_t most_plans = 24;
inline constexpr std::size_t most_plans_of_lanes = 4;
// Arrays of more elements are not taken apart. Up to so many registers full of them are lists of
// registers, on whose lanes elementwise ops act, where a program is written so.
inline constexpr std::int64_t most_elements = 16;
inline constexpr std::int64_t most_registers = 32;
// Programs with longer lists than the first are made where their instructions take less time than
// the steps in their place, by these estimates. Steps take a time, and one for each element. Of
// 256 floats, jnp.roll takes 0.14 us as steps and 0.07 so, tanh 0.12 and 0.14 (Zen 4). The edges
// and the inside of 16 x 16 floats take 1.6 us in three steps and 0.7 so (Zen 3).
inline constexpr std::int64_t few_registers = 16;
inline constexpr double instruction_ns = 0.2, step_ns = 80, element_ns = 0.3;
}  // namespace scalar_values

namespace scalar_ops {
// Numbers that a sum or a product of small arrays consists of.
inline constexpr std::int64_t most_terms = 16 * scalar_values::most_elements;
// Of more numbers, a call finds the greatest one sooner.
inline constexpr std::int64_t most_ranked = 64;
// Larger operands of a reduction are shared by threads.
inline constexpr std::int64_t most_reduced = 2048;
}  // namespace scalar_ops

namespace scalarize {
// Programs of more nodes are not made.
inline constexpr int most_nodes = 4000;
// Stacked results of inner loops stay in the cache.
inline constexpr std::int64_t most_frame_bytes = 1 << 18;
}  // namespace scalarize

namespace fold_constants {
// Operands of the ops that are evaluated.
inline constexpr std::size_t most_operands = 4;
}  // namespace fold_constants

namespace fold_static_indices {
// A place has fewer.
inline constexpr std::int64_t most_indices = 16;
}  // namespace fold_static_indices

namespace fold_transposes {
// Equations on the way from a transpose to its users.
inline constexpr int most_steps = 8;
}  // namespace fold_transposes

namespace simplify_concat {
// Less is put together sooner than two loops are started.
inline constexpr std::int64_t least_worked_bytes = 64 << 10;
// Operands of a concatenation on whose pieces an op works.
inline constexpr std::size_t most_joined = 4;
// Padded terms of a sum that are joined.
inline constexpr std::size_t most_padded = 64;
}  // namespace simplify_concat

}  // namespace shardax::tuning

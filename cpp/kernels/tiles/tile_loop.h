// kernels/tiles/tile_loop.h - runs a fused group: a list of instructions, one tile at a time.
//
// A group iterates over one shape in row-major order. A tile is a run of at most `tile_size`
// elements; each instruction is one pre-compiled kernel over a tile. Operands are loads (memory
// seen through strides), registers (tiles in cache), or stores (memory written in place). At the
// end of a tile, reductions fold it into accumulators.
//
// Start at TileLoop, then run_tile_loop. Chunks, tiles and the order of every sum depend on the
// shape only, never on the number of threads.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "array/type.h"
#include "base/function_ref.h"
#include "base/index.h"
#include "codegen/executable.h"
#include "codegen/vector/emit_kernel.h"
#include "kernels/tiles/reduce.h"

namespace shardax::kernels {

inline constexpr std::int64_t tile_size = fold_block;
// Shorter rows share a tile.
inline constexpr std::int64_t long_row = tile_size / 2;

// Elements of a chunk, the unit handed to a thread: about 20 us of a short chain (0.26 ns an
// element and instruction).
inline constexpr std::int64_t chunk_elements = 32 * tile_size;

using ParallelFor = FunctionRef<void(std::int64_t, FunctionRef<void(std::int64_t)>)>;
using TileFunction = void (*)(void* out, const void* const* in, std::int64_t n, std::int64_t extra);

// Memory that a loop reads or writes, aligned with its dimensions. `pointer` indexes the array of
// base addresses that the caller passes.
struct TileAccess {
  int pointer = 0;
  std::int64_t offset = 0;  // in elements
  int itemsize = 4;
  codegen::Kind kind = codegen::Kind::none;  // kind of number that machine code computes with
  Shape strides;                             // per dimension of the loop, in elements
  std::optional<std::uint64_t> known = {};   // the bits of all elements: a constant integer
};

struct TileInstruction {
  TileFunction function;
  std::int64_t extra;
  SmallVector<std::int32_t, 4> in;  // operands: loads, then registers and stores
  std::int32_t out;
  codegen::EmitKernel record = nullptr;  // the same for machine code
};

// A complex operand, whose parts machine code reads or writes as operands of their own: `first`,
// and the one after it.
struct ComplexParts {
  std::int32_t whole;
  std::int32_t first;
  int bytes;  // of a part
};

// Machine code in place of all instructions and copies of a loop.
struct NativeTile {
  std::shared_ptr<const codegen::Native> code;     // null: there is none
  std::shared_ptr<const codegen::Native> streams;  // the same with stores past the caches, or null
  SmallVector<codegen::OperandForm, 16> operands;  // of those that the code reads or writes
  SmallVector<std::int32_t, 4> outputs;            // operands that it writes
  SmallVector<ComplexParts, 4> parts_in, parts_out;
  bool in_place = false;  // reads and writes memory alone, in tiles of any length
  // Rows that are shorter than `long_row`: the code is called for one after the other.
  bool by_rows = false;
};

struct TileReduction {
  ReduceKernels kernels;
  std::int32_t in;  // operand
  int itemsize;     // of `in`
  int accumulator_size;
  int pointer;  // of the results: row major over the kept dimensions
  std::int64_t offset;
  int out_itemsize;
};

struct TileLoop {
  Shape shape;  // collapsed; see `reduced`
  std::vector<TileAccess> loads;
  std::vector<TileAccess> stores;  // operand loads.size() + registers + i
  int registers = 0;               // operand loads.size() + i; parts of numbers follow
  std::vector<TileInstruction> instructions;
  std::vector<std::pair<std::int32_t, std::int32_t>>
      copies;  // operand -> store, where no instruction writes it
  std::vector<TileReduction> reductions;
  // With reductions: the shape is [kept..., reduced...] (inner) or [reduced..., kept...].
  bool reduce_inner = true;
  // In a SmallLoop also [outer..., reduced..., others kept], where `outer` is not 1.
  std::int64_t kept = 1;
  std::int64_t reduced = 1;
  std::int64_t outer = 1;
  NativeTile native;
};

// The number of loads, registers, stores and parts.
inline std::size_t operand_count(const TileLoop& loop) {
  return loop.loads.size() + index(loop.registers) + loop.stores.size() +
         2 * (loop.native.parts_in.size() + loop.native.parts_out.size());
}

std::int64_t elements_of(const TileLoop& loop);
// The same where no result depends on chunks: loops of some microseconds or more have eight.
std::int64_t free_chunk_elements(const TileLoop& loop, std::int64_t total);
// Does the operand lie in the order of the loop, one element after the other?
bool is_dense(const TileLoop& loop, const TileAccess& access);
// Is it one and the same element for all?
bool is_one(const TileLoop& loop, const TileAccess& access);

// Gives the loop machine code if all of its instructions can be recorded, and there are enough of
// them to be worth it. `name` is what `perf` calls it. `often`: the loop runs in another loop.
// `listing`, where given, gets the code as text.
void make_native(TileLoop& loop, std::string_view name, bool often, std::string* listing = nullptr);

// Computes the whole loop. `base` holds an address per pointer index.
void run_tile_loop(const TileLoop& loop, std::byte* const* base, ParallelFor parallel_for);

}  // namespace shardax::kernels

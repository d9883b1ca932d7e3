// kernels/tiles/native_tile.cpp - a loop's instructions as machine code.
#include "base/errors.h"
#include "base/index.h"
#include "codegen/vector/lower_int_division.h"
#include "kernels/tiles/row_loop.h"

namespace shardax::kernels {
namespace {

// One op of fewer vector instructions is as fast in its tile kernel: memory is waited for. Tables
// are machine code's alone.
constexpr int least_work_alone = 64;
// But for so many elements: a call of the tile kernel takes 30 ns for each tile.
constexpr std::int64_t least_elements_alone = std::int64_t{1} << 15;
// Rows of so many elements are worth a call each, if the code has few instructions and its last
// turn goes over some elements again. Writing out values that repeat along rows takes as long.
constexpr std::int64_t short_row = 48;
constexpr int most_work_by_rows = 8;

int bytes_of(codegen::Kind kind) {
  return kind == codegen::Kind::truth ? 1 : codegen::width_of(kind);
}

// The nodes of all instructions; outputs are stores, and registers that reductions read. Complex
// operands get their parts. False where something cannot be recorded.
bool record(TileLoop& loop, codegen::VectorProgram& program) {
  const auto registers = index(loop.registers);
  const std::size_t first_store = loop.loads.size() + registers;
  std::vector<int> nodes(first_store + loop.stores.size(), -1);
  auto operands = static_cast<std::int32_t>(nodes.size());
  const auto parts_of = [&](std::size_t whole, codegen::Kind kind) {
    operands += 2;
    return ComplexParts{static_cast<std::int32_t>(whole), operands - 2, codegen::width_of(kind)};
  };
  const auto input = [&](codegen::Kind kind, std::uint64_t operand) {
    return program.add({codegen::Code::input, kind, {}, operand});
  };
  for (std::size_t i = 0; i < loop.loads.size(); ++i) {
    const TileAccess& load = loop.loads[i];
    if (load.kind == codegen::Kind::none) return false;
    if (load.known) {
      nodes[i] = program.add({codegen::Code::constant, load.kind, {}, *load.known});
    } else if (codegen::is_complex(load.kind)) {
      const ComplexParts parts = parts_of(i, load.kind);
      const codegen::Kind kind =
          load.kind == codegen::Kind::c64 ? codegen::Kind::f32 : codegen::Kind::f64;
      const auto first = static_cast<std::uint64_t>(parts.first);
      const int re = input(kind, first), im = input(kind, first + 1);
      nodes[i] = program.add({codegen::Code::pair, load.kind, {re, im}});
      loop.native.parts_in.push_back(parts);
    } else {
      nodes[i] = input(load.kind, i);
    }
  }
  for (const TileInstruction& instruction : loop.instructions) {
    if (!instruction.record) return false;
    SmallVector<int, 4> in;
    for (const std::int32_t operand : instruction.in) in.push_back(nodes[index(operand)]);
    nodes[index(instruction.out)] = instruction.record(program, in.data(), instruction.extra);
  }
  for (const auto& [from, to] : loop.copies) nodes[index(to)] = nodes[index(from)];
  const auto output = [&](std::size_t operand) {
    for (const codegen::Output& other : program.outputs) {
      if (other.operand == static_cast<int>(operand)) return;
    }
    const codegen::Node& node = program.node(nodes[operand]);
    if (node.code != codegen::Code::pair) {
      program.outputs.push_back({nodes[operand], static_cast<int>(operand)});
      return;
    }
    for (const ComplexParts& other : loop.native.parts_out) {
      if (other.whole == static_cast<std::int32_t>(operand)) return;
    }
    const ComplexParts parts = parts_of(operand, node.kind);
    loop.native.parts_out.push_back(parts);
    program.outputs.push_back({node.in[0], parts.first});
    program.outputs.push_back({node.in[1], parts.first + 1});
  };
  for (std::size_t i = first_store; i < nodes.size(); ++i) output(i);
  for (const TileReduction& r : loop.reductions) {
    if (index(r.in) >= loop.loads.size()) output(index(r.in));
  }
  return true;
}

// Does no call of the code cross a row?
bool single_rows(const TileLoop& loop) {
  return loop.native.by_rows || loop.shape.back() >= long_row;
}

// Is one element all that a row has of load i, in rows that the code is called for one by one?
// Reductions take as many as there are.
bool repeats(const TileLoop& loop, std::size_t i) {
  for (const TileReduction& r : loop.reductions) {
    if (index(r.in) == i) return false;
  }
  const TileAccess& access = loop.loads[i];
  // Other numbers are read as vectors.
  if (codegen::width_of(access.kind) < 4) return false;
  const std::size_t rank = loop.shape.size();
  return is_one(loop, access) || (rank > 1 && access.strides[rank - 1] == 0 && single_rows(loop));
}

// Are all operands in memory as the code takes them?
bool works_in_place(const TileLoop& loop) {
  if (!loop.reductions.empty()) return false;
  const std::size_t rank = loop.shape.size();
  for (std::size_t i = 0; i < loop.loads.size(); ++i) {
    const TileAccess& access = loop.loads[i];
    const bool run = rank > 1 && access.strides[rank - 1] == 1 && single_rows(loop);
    if (!loop.native.operands[i].repeats && !run && !is_dense(loop, access)) return false;
  }
  for (const TileAccess& access : loop.stores) {
    if (!is_dense(loop, access)) return false;
  }
  return true;
}

// Does every row read the same row of some operand, which would be written for each of them?
bool repeats_a_row(const TileLoop& loop) {
  const std::size_t rank = loop.shape.size();
  return std::ranges::any_of(loop.loads, [&](const TileAccess& access) {
    return access.strides[rank - 1] == 1 && access.strides[rank - 2] == 0;
  });
}

bool has_parts(const NativeTile& native) {
  return !native.parts_in.empty() || !native.parts_out.empty();
}

// The forms in which the code finds its operands.
void find_forms(TileLoop& loop, const codegen::VectorProgram& program) {
  NativeTile& native = loop.native;
  native.operands.resize(operand_count(loop));
  const std::int64_t row = loop.shape.size() > 1 ? loop.shape.back() : 0;
  constexpr std::int64_t turn_bytes = 64;
  const bool whole_turns = row * program.width() % turn_bytes == 0;
  native.by_rows = row >= short_row && row < long_row && !has_parts(native) &&
                   (program.work() <= most_work_by_rows || whole_turns) &&
                   (has_rows(loop) || repeats_a_row(loop));
  for (std::size_t i = 0; i < loop.loads.size(); ++i)
    native.operands[i] = {bytes_of(loop.loads[i].kind), repeats(loop, i)};
  for (const ComplexParts& parts : native.parts_in) {
    const bool repeats = native.operands[index(parts.whole)].repeats;
    for (const std::int32_t part : {parts.first, parts.first + 1})
      native.operands[index(part)] = {parts.bytes, repeats};
  }
}

// Would some operand be written out for a tile kernel, which machine code reads as one element or
// row by row?
bool repeats_operands(const TileLoop& loop) {
  if (elements_of(loop) == 1) return false;
  const std::size_t rank = loop.shape.size();
  return std::ranges::any_of(loop.loads,
                             [&](const TileAccess& access) { return is_one(loop, access); }) ||
         (rank > 1 && loop.shape.back() >= short_row && (has_rows(loop) || repeats_a_row(loop)));
}

// False where there is no code, or it is not worth it.
bool make_code(TileLoop& loop, std::string_view name, bool often, std::string* listing) {
  NativeTile& native = loop.native;
  const bool avx512 = codegen::instructions() == codegen::Instructions::avx512;
  const bool neon = codegen::instructions() == codegen::Instructions::neon;
  codegen::VectorProgram recorded(!avx512, avx512);
  if (!record(loop, recorded)) return false;
  const codegen::VectorProgram program = codegen::lower_int_division(std::move(recorded), neon);
  const std::int64_t elements = elements_of(loop);
  const int work = program.work();
  if (loop.instructions.size() == 1 && work < least_work_alone && program.tables().empty() &&
      elements < least_elements_alone && !(often && repeats_operands(loop)))
    return false;
  find_forms(loop, program);
  std::int64_t written = 0;
  for (const codegen::Output& output : program.outputs) {
    const int bytes = bytes_of(program.node(output.node).kind);
    native.operands[index(output.operand)] = {bytes};
    native.outputs.push_back(output.operand);
    written += bytes * elements;
  }
  const std::span<const codegen::OperandForm> forms(native.operands.data(), native.operands.size());
  native.code = codegen::compile(program, forms, name, false, listing);
  if (!native.code) return false;
  native.in_place = !has_parts(native) && works_in_place(loop);
  if (!native.in_place || native.by_rows || written < codegen::least_streamed_bytes()) return true;
  std::string streaming;
  native.streams = codegen::compile(program, forms, name, true, listing ? &streaming : nullptr);
  if (listing) *listing += concat("-- machine code of: ", name, ", past the caches\n", streaming);
  return true;
}

}  // namespace

void make_native(TileLoop& loop, std::string_view name, bool often, std::string* listing) {
  if (loop.instructions.empty() || codegen::wanted() == codegen::Wanted::none) return;
  if (!make_code(loop, name, often, listing)) loop.native = {};  // the tile kernels run
}

}  // namespace shardax::kernels

// kernels/native_tile.cpp - a loop's instructions as machine code.
#include "kernels/tile_loop.h"

namespace shardax::kernels {
namespace {

// One op of fewer vector instructions is as fast in its tile kernel: memory is waited for. Tables
// are machine code's alone.
constexpr int least_work_alone = 64;
int bytes_of(codegen::Kind kind) {
  return kind == codegen::Kind::truth ? 1 : codegen::width_of(kind);
}

// The nodes of all instructions; outputs are stores, and registers that reductions read. False
// where something cannot be recorded.
bool record(const TileLoop& loop, codegen::VectorProgram& program) {
  const auto registers = static_cast<std::size_t>(loop.registers);
  const std::size_t first_store = loop.loads.size() + registers;
  std::vector<int> nodes(first_store + loop.stores.size(), -1);
  for (std::size_t i = 0; i < loop.loads.size(); ++i) {
    if (loop.loads[i].kind == codegen::Kind::none) return false;
    nodes[i] = program.add({codegen::Code::input, loop.loads[i].kind, {}, i});
  }
  for (const TileInstruction& instruction : loop.instructions) {
    if (!instruction.record) return false;
    SmallVector<int, 4> in;
    for (const std::int32_t operand : instruction.in)
      in.push_back(nodes[static_cast<std::size_t>(operand)]);
    nodes[static_cast<std::size_t>(instruction.out)] =
        instruction.record(program, in.data(), instruction.extra);
  }
  for (const auto& [from, to] : loop.copies)
    nodes[static_cast<std::size_t>(to)] = nodes[static_cast<std::size_t>(from)];
  const auto output = [&](std::size_t operand) {
    for (const codegen::Output& other : program.outputs) {
      if (other.operand == static_cast<int>(operand)) return;
    }
    program.outputs.push_back({nodes[operand], static_cast<int>(operand)});
  };
  for (std::size_t i = first_store; i < nodes.size(); ++i) output(i);
  for (const TileReduction& r : loop.reductions) {
    if (static_cast<std::size_t>(r.in) >= loop.loads.size()) output(static_cast<std::size_t>(r.in));
  }
  return true;
}

}  // namespace

void make_native(TileLoop& loop, std::string_view name, std::string* listing) {
  if (loop.instructions.empty() || codegen::wanted() == codegen::Wanted::none) return;
  codegen::VectorProgram program;
  if (!record(loop, program)) return;
  if (loop.instructions.size() == 1 && program.work() < least_work_alone &&
      program.tables().empty())
    return;
  NativeTile& native = loop.native;
  const std::size_t operands =
      loop.loads.size() + static_cast<std::size_t>(loop.registers) + loop.stores.size();
  native.item_bytes.resize(operands);
  for (std::size_t i = 0; i < loop.loads.size(); ++i)
    native.item_bytes[i] = bytes_of(loop.loads[i].kind);
  for (const codegen::Output& output : program.outputs) {
    native.item_bytes[static_cast<std::size_t>(output.operand)] =
        bytes_of(program.node(output.node).kind);
    native.outputs.push_back(output.operand);
  }
  native.code = codegen::compile(
      program, std::span<const int>(native.item_bytes.data(), native.item_bytes.size()), name,
      listing);
}

}  // namespace shardax::kernels

// codegen/tile_code.cpp - the choice of the machine.
#include "codegen/tile_code.h"

#include "codegen/assembly.h"

namespace shardax::codegen {

std::vector<std::uint8_t> tile_code(const VectorProgram& program, std::span<const int> item_bytes,
                                    Instructions instructions, std::string* listing) {
  const auto make = instructions == Instructions::avx512 ? assembly_avx512 : assembly_avx2;
  const std::unique_ptr<Assembly> assembly = make(program, item_bytes, listing);
  std::vector<std::uint8_t> code;
  if (assembly) code = assembly->run();
  if (code.empty() && listing) listing->clear();
  return code;
}

int lanes_of(const VectorProgram& program, Instructions instructions) {
  return (instructions == Instructions::avx512 ? 64 : 32) / program.width();
}

}  // namespace shardax::codegen

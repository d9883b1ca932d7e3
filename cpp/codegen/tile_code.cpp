// codegen/tile_code.cpp - the choice of the machine.
#include "codegen/tile_code.h"

#include "codegen/x86/assembly.h"
#include "codegen/x86/legalize_avx2.h"

namespace shardax::codegen {

MachineCode tile_code(const VectorProgram& given, std::span<const OperandForm> operands,
                      Instructions instructions, bool streams, std::string* listing) {
  const bool masks = instructions == Instructions::avx512;
  const VectorProgram program = masks ? given : legalize_avx2(given);
  const std::unique_ptr<Assembly> assembly =
      (masks ? assembly_avx512 : assembly_avx2)(program, operands, streams, listing);
  MachineCode code;
  code.bytes = assembly->run();
  if (!code.bytes.empty() && (streams || !masks)) code.multiple = assembly->step();
  if (code.bytes.empty() && listing) listing->clear();
  return code;
}

}  // namespace shardax::codegen

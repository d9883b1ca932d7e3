// codegen/tile_code.cpp - the choice of the machine.
#include "codegen/tile_code.h"

#include "codegen/arm64/assembly.h"
#include "codegen/arm64/legalize_neon.h"
#include "codegen/x86/assembly.h"
#include "codegen/x86/legalize_avx2.h"

namespace shardax::codegen {
namespace {

MachineCode neon_code(const VectorProgram& given, std::span<const OperandForm> operands,
                      std::string* listing) {
  const VectorProgram program = legalize_neon(given);
  arm64::Assembly assembly(program, operands, listing != nullptr);
  MachineCode code;
  code.bytes = assembly.run(listing);
  code.multiple = assembly.step();
  return code;
}

}  // namespace

MachineCode tile_code(const VectorProgram& given, std::span<const OperandForm> operands,
                      Instructions instructions, bool streams, std::string* listing) {
  if (instructions == Instructions::neon)
    return streams ? MachineCode{} : neon_code(given, operands, listing);
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

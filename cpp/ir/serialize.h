// ir/serialize.h - programs as bytes, and back: for files and other processes.
//
// Little-endian, versioned. Types, constants and params are written as they are; ops, dtypes and
// mapped axes by name, so that a file outlives the order of records.
#pragma once

#include <string>
#include <string_view>

#include "ir/program.h"

namespace shardax {

// Throws ValueError for programs that call Python functions or foreign ops. `inline_calls`
// (transform/inline_calls.h) removes such calls if possible.
std::string serialize(const Program& program);

// The same, and where in it numbers lie: integers, of 8 bytes each, and the elements of constants.
struct ArchiveMarks {
  struct Elements {
    std::size_t at, count;
    DType dtype;
  };
  std::string bytes;
  std::vector<std::size_t> integers;
  std::vector<Elements> elements;
};
ArchiveMarks serialize_marked(const Program& program);

// Throws ValueError for bytes that are no archive, are cut short, come from another version, or do
// not describe a well-typed program.
ProgramPtr deserialize(std::string_view bytes);

}  // namespace shardax

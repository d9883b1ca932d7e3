// ir/text/print_captured.h - the text of a program whose last inputs stand for captured values.
#pragma once

#include "ir/program.h"

namespace shardax {

// The last `captured` inputs are shown among the constants: "{ lambda b:f32[]; a:f32[]. let ...".
std::string to_string(const Program& program, const PrintOptions& options, std::size_t captured);

}  // namespace shardax

// ir/text/parse.h - reads programs in their textual form (ir/text/text_form.h).
#pragma once

#include <string_view>

#include "ir/program.h"

namespace shardax {

// The program, verified (ir/verify.h; `closed` as there). Throws ValueError with the line and the
// column for text that is no program. Programs that no text holds are refused as well: those with
// Python functions, elided constants or the user's own primitives.
ProgramPtr parse_program(std::string_view text, bool closed = true);

}  // namespace shardax

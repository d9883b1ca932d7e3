// transform/transpose.h - reverse-mode: the transpose of linear programs.
#pragma once

#include "trace/stage.h"

namespace shardax {

// Cotangents of the inputs of `program` that `linear` selects (null: zero), given one per output.
// `inputs` holds the values of the other inputs, null for the linear ones. Each output must be
// linear in the selected inputs.
Values backward(const Program& program, const std::vector<bool>& linear, const Values& inputs,
                const Values& cotangents);

// The same as a program. Inputs: the values of the inputs that are not linear, then cotangents of
// the outputs that `nonzero_ct` selects. Outputs: a cotangent for each linear input, zeros
// included, of the input's type. With `as_given`, those from the user's own rules keep their dtype.
ProgramPtr transpose_program(const ProgramPtr& program, const std::vector<bool>& linear,
                             const std::vector<bool>& nonzero_ct, bool as_given = false);

// Asked where a record has no transpose: libraries may have given a rule (ad.primitive_transposes).
// Null: there is no rule but those of records.
using GivenTranspose = Values (*)(const Op& op, const TransposeArgs& args);
void set_given_transpose(GivenTranspose rule);

}  // namespace shardax

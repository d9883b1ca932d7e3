// codegen/general_opcodes.h - the instructions of general registers in use.
#pragma once

#include "codegen/encoder.h"

namespace shardax::codegen::opcodes {

inline constexpr GeneralOpcode mov_load{"mov", 0x8B}, mov_store{"mov", 0x89, Form::store},
    lea{"lea", 0x8D}, add_register{"add", 0x03}, test_register{"test", 0x85, Form::store},
    clear_register{"xor", 0x31, Form::store}, multiply{"imul", 0xAF, Form::two, 0, true};
// With a number at the end.
inline constexpr GeneralOpcode multiply_by{"imul", 0x69}, add_number{"add", 0x81, Form::shift, 0},
    sub_number{"sub", 0x81, Form::shift, 5}, and_number{"and", 0x81, Form::shift, 4},
    compare_number{"cmp", 0x81, Form::shift, 7}, mov_number{"mov", 0xC7, Form::shift, 0};
inline constexpr GeneralOpcode shift_right_signed{"sar", 0xC1, Form::shift, 7};
// Of rdx:rax; quotients in rax, remainders in rdx.
inline constexpr GeneralOpcode divide{"div", 0xF7, Form::shift, 6},
    divide_signed{"idiv", 0xF7, Form::shift, 7}, negate{"neg", 0xF7, Form::shift, 3};
inline constexpr GeneralOpcode extend_sign{"movsxd", 0x63, Form::two, 0, false, true};

}  // namespace shardax::codegen::opcodes

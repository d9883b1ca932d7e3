// codegen/x86/general_opcodes.h - the instructions of general registers in use.
#pragma once

#include "codegen/x86/encoder.h"

namespace shardax::codegen::opcodes {

inline constexpr GeneralOpcode mov_load{"mov", 0x8B}, mov_store{"mov", 0x89, Form::store},
    lea{"lea", 0x8D}, add_register{"add", 0x03}, test_register{"test", 0x85, Form::store},
    clear_register{"xor", 0x31, Form::store}, multiply{"imul", 0xAF, Form::two, 0, true},
    sub_register{"sub", 0x2B}, and_register{"and", 0x23}, or_register{"or", 0x0B},
    xor_register{"xor", 0x33}, compare_register{"cmp", 0x3B};
// With a number at the end.
inline constexpr GeneralOpcode multiply_by{"imul", 0x69}, add_number{"add", 0x81, Form::shift, 0},
    sub_number{"sub", 0x81, Form::shift, 5}, and_number{"and", 0x81, Form::shift, 4},
    or_number{"or", 0x81, Form::shift, 1}, xor_number{"xor", 0x81, Form::shift, 6},
    compare_number{"cmp", 0x81, Form::shift, 7}, mov_number{"mov", 0xC7, Form::shift, 0};
inline constexpr GeneralOpcode shift_right_signed{"sar", 0xC1, Form::shift, 7},
    shift_right{"shr", 0xC1, Form::shift, 5}, shift_left{"shl", 0xC1, Form::shift, 4};
// reg = last where the condition holds.
inline constexpr GeneralOpcode move_if_equal{"cmove", 0x44, Form::two, 0, true},
    move_if_not_equal{"cmovne", 0x45, Form::two, 0, true},
    move_if_less{"cmovl", 0x4C, Form::two, 0, true},
    move_if_not_less{"cmovge", 0x4D, Form::two, 0, true},
    move_if_greater{"cmovg", 0x4F, Form::two, 0, true};
// They divide rdx:rax; quotients come in rax, remainders in rdx.
inline constexpr GeneralOpcode divide{"div", 0xF7, Form::shift, 6},
    divide_signed{"idiv", 0xF7, Form::shift, 7}, negate{"neg", 0xF7, Form::shift, 3};
inline constexpr GeneralOpcode extend_sign{"movsxd", 0x63, Form::two, 0, false, true};

}  // namespace shardax::codegen::opcodes

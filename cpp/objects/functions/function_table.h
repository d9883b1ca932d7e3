// objects/functions/function_table.h - elementwise functions of jnp and lax, one row each.
#pragma once

#include <span>

#include "objects/functions/functions.h"

namespace shardax::objects {

// jnp: operands are promoted and broadcast.
std::span<const FunctionRow> numpy_rows();
// lax: one row per elementwise record, under lax's name for it.
std::span<const FunctionRow> lax_rows();

// The `compose` of powers, which are told apart because a Python integer as exponent is static.
Value power_marker(const Values& in);

}  // namespace shardax::objects

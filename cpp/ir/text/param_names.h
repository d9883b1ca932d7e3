// ir/text/param_names.h - names of params that come from outside.
#pragma once

#include <string>
#include <string_view>

namespace shardax {

// Params keep names by reference: each of these is kept once, for the life of the process.
std::string_view param_name(const std::string& text);

}  // namespace shardax

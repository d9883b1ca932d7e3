// ops/callback.h - what the host's functions can ask while a program calls them.
#pragma once

#include <string>

namespace shardax {

// Which slice of a mapped program the callback in progress on this thread was made for: "device 3",
// "device 3, batch element 1"; "" outside of mapped axes.
const std::string& callback_slice();

}  // namespace shardax

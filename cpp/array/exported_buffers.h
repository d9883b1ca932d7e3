// array/exported_buffers.h - memory exported by DLPack, which others may write at any time.
//
// What is found out about its elements holds for one call only.
#pragma once

#include <cstddef>

namespace shardax {

// `data`: where a buffer begins. Each lending ends by its own `take_back`. Any thread.
void lend_outside(const std::byte* data);
void take_back(const std::byte* data);
bool lent_outside(const std::byte* data);

}  // namespace shardax

// array/exported_buffers.h - memory exported by DLPack, which others may write at any time.
//
// Facts about its elements hold for one call only.
#pragma once

#include <cstddef>

namespace shardax {

// `data`: where a buffer begins. Each lending ends by its own `release_buffer`. Any thread.
void export_buffer(const std::byte* data);
void release_buffer(const std::byte* data);
bool is_exported(const std::byte* data);

}  // namespace shardax

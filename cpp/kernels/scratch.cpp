// kernels/scratch.cpp - scratch memory of a thread, which it keeps.
#include <memory>

#include "base/per_thread.h"
#include "kernels/tiles/tile_iterator.h"

namespace shardax::kernels {
namespace {

struct Scratch {
  std::vector<std::unique_ptr<std::byte[]>> blocks;
  std::vector<std::size_t> sizes;
  std::size_t depth = 0;
};

Scratch& this_threads_scratch() { return per_thread<Scratch, Scratch>(); }

}  // namespace

ScratchBlock::ScratchBlock(std::size_t bytes) {
  Scratch& scratch = this_threads_scratch();
  if (scratch.depth == scratch.blocks.size()) {
    scratch.blocks.emplace_back();
    scratch.sizes.push_back(0);
  }
  auto& block = scratch.blocks[scratch.depth];
  if (scratch.sizes[scratch.depth] < bytes + 64) {
    block.reset(new std::byte[bytes + 64]);
    scratch.sizes[scratch.depth] = bytes + 64;
  }
  const auto address = reinterpret_cast<std::uintptr_t>(block.get());
  data_ = block.get() + ((64 - address % 64) % 64);
  ++scratch.depth;
}

ScratchBlock::~ScratchBlock() { --this_threads_scratch().depth; }

}  // namespace shardax::kernels

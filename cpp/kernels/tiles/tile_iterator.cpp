// kernels/tiles/tile_iterator.cpp - loads, instructions and stores of a tile.
#include "kernels/tiles/tile_iterator.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/index.h"
#include "base/target.h"
#include "kernels/copy/broadcast_fill.h"
#include "kernels/copy/transposed.h"
#include "kernels/width.h"

namespace shardax::kernels {
namespace {

std::byte* address(const TileAccess& access, std::byte* const* base) {
  return base[access.pointer] + access.offset * access.itemsize;
}

// Runs are often short: line by line, without a call.
template <class T>
void copy_run(T* out, const T* in, std::int64_t count) {
  constexpr auto line = static_cast<std::int64_t>(64 / sizeof(T));
  for (; count >= line; count -= line, out += line, in += line)
    std::memcpy(out, in, line * sizeof(T));
  if (count > 0) std::memcpy(out, in, index(count) * sizeof(T));
}

template <class T>
void fill_with(T* out, T value, std::int64_t n) {
  dispatch([=] {
    for (std::int64_t k = 0; k < n; ++k) out[k] = value;
  });
}

}  // namespace

void interpret(const TileLoop& loop, std::byte* const* pointers, std::int64_t n) {
  const std::size_t first_store = loop.loads.size() + index(loop.registers);
  for (const TileInstruction& instruction : loop.instructions) {
    const void* in[8];
    const void** operands = in;
    std::vector<const void*> many;
    if (instruction.in.size() > 8) {
      many.resize(instruction.in.size());
      operands = many.data();
    }
    for (std::size_t k = 0; k < instruction.in.size(); ++k)
      operands[k] = pointers[index(instruction.in[k])];
    instruction.function(pointers[index(instruction.out)], operands, n, instruction.extra);
  }
  for (const auto& [from, to] : loop.copies) {
    const auto store = index(to) - first_store;
    std::memcpy(pointers[index(to)], pointers[index(from)], index(n * loop.stores[store].itemsize));
  }
}

std::int64_t TileIterator::most_in_scratch(const TileLoop& loop) {
  if (!loop.native.code) return tile_size;
  int widest = 1;
  for (const TileAccess& access : loop.loads) widest = std::max(widest, access.itemsize);
  // Complex results, whose parts the code writes, are put together there.
  for (const TileAccess& access : loop.stores) {
    if (!is_dense(loop, access)) widest = std::max(widest, access.itemsize);
  }
  for (const codegen::OperandForm& form : loop.native.operands)
    widest = std::max(widest, form.bytes);
  return std::max(tile_size, (register_bytes - 2 * rest_bytes) / widest);
}

std::size_t scratch_bytes(const TileLoop& loop) {
  return operand_count(loop) * index(register_bytes);
}

TileIterator::TileIterator(const TileLoop& loop, std::byte* const* base, std::byte* scratch,
                           bool moves)
    : loop_(loop), rank_(loop.shape.size()), scratch_(scratch), moves_(moves) {
  pointers_.resize(operand_count(loop));
  index_.resize(rank_);
  filled_.resize(loop.loads.size());
  for (std::size_t i = 0; i < loop.loads.size(); ++i) {
    memory_.push_back(address(loop.loads[i], base));
    kinds_.push_back(classify(loop.loads[i]));
    const bool repeats = loop.native.code && loop.native.operands[i].repeats;
    if (kinds_[i] == Access::constant) {
      if (repeats)
        pointers_[i] = memory_[i];
      else
        fill(i, std::min(elements_of(loop), most_in_scratch(loop)));
    }
    if (kinds_[i] != Access::strided) continue;
    strided_ = true;
    blocks_.resize(loop.loads.size());
    blocks_[i] = blocks_of(loop.loads[i]);
    dense_.resize(loop.loads.size() + loop.stores.size());
    dense_[i] = dense_run(loop.loads[i]);
    if (!takes_rows(i)) continue;
    kinds_[i] = Access::rows;
    by_rows_ = true;
  }
  for (int r = 0; r < loop.registers; ++r) {
    const std::size_t slot = loop.loads.size() + index(r);
    pointers_[slot] = scratch_ + slot * register_bytes;
  }
  for (std::size_t i = 0; i < loop.stores.size(); ++i) {
    memory_.push_back(address(loop.stores[i], base));
    kinds_.push_back(classify(loop.stores[i]));
    if (kinds_.back() == Access::contiguous) continue;
    strided_ = true;
    dense_.resize(loop.loads.size() + loop.stores.size());
    dense_[loop.loads.size() + i] = dense_run(loop.stores[i]);
  }
  for (const auto* all : {&loop.native.parts_in, &loop.native.parts_out}) {
    for (const ComplexParts& parts : *all) {
      for (const std::int32_t part : {parts.first, parts.first + 1})
        pointers_[index(part)] = scratch_ + part * register_bytes;
    }
  }
  origins_ = memory_;
  streams_ = loop.native.streams && !writes_what_it_reads();
}

void TileIterator::move_to(const TileLoop& whole, const Shape& index) {
  const std::size_t loads = whole.loads.size();
  for (std::size_t i = 0; i < memory_.size(); ++i) {
    const TileAccess& access = i < loads ? whole.loads[i] : whole.stores[i - loads];
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < index.size(); ++d) offset += index[d] * access.strides[d];
    memory_[i] = origins_[i] + offset * access.itemsize;
  }
  std::fill(filled_.begin(), filled_.end(), Filled());
}

void TileIterator::complete() const {
#if SHARDAX_X86_64
  if (streams_) __builtin_ia32_sfence();
#endif
}

void TileIterator::locate(std::int64_t start) {
  std::int64_t rest = start;
  for (std::size_t d = rank_; d-- > 1;) {
    index_[d] = rest % loop_.shape[d];
    rest /= loop_.shape[d];
  }
  if (rank_ > 0) index_[0] = rest;
}

void TileIterator::tile(std::int64_t start, std::int64_t n) {
  const std::size_t loads = loop_.loads.size();
  if (strided_) locate(start);
  for (std::size_t i = 0; i < loads; ++i) {
    const int width = loop_.loads[i].itemsize;
    if (kinds_[i] == Access::contiguous) {
      pointers_[i] = memory_[i] + start * width;
    } else if (kinds_[i] == Access::strided) {
      gather(i, n);
    }
  }
  const std::size_t first_store = loads + index(loop_.registers);
  for (std::size_t i = 0; i < loop_.stores.size(); ++i) {
    const int width = loop_.stores[i].itemsize;
    std::byte* scratch = scratch_ + (first_store + i) * register_bytes;
    pointers_[first_store + i] =
        kinds_[loads + i] == Access::contiguous ? memory_[loads + i] + start * width
        : in_one_run(loads + i, n) ? memory_[loads + i] + offset_of(loop_.stores[i]) * width
                                   : scratch;
  }
  if (loop_.native.code) take_apart(n);
  if (streams_) {
    run_streaming(n);
  } else if (by_rows_) {
    run_rows(n);
  } else if (loop_.native.code) {
    run_native(n);
  } else {
    interpret(loop_, pointers_.data(), n);
  }
  if (loop_.native.code) put_together(n);
  for (std::size_t i = 0; i < loop_.stores.size(); ++i) {
    const std::size_t slot = first_store + i;
    if (pointers_[slot] == scratch_ + slot * register_bytes) scatter(i, slot, n);
  }
}

bool TileIterator::reads_in_place() const {
  if (!loop_.instructions.empty() || !loop_.stores.empty() || rank_ == 0) return false;
  for (std::size_t i = 0; i < loop_.loads.size(); ++i) {
    if (kinds_[i] == Access::constant || loop_.loads[i].strides[rank_ - 1] != 1) return false;
  }
  return true;
}

// A reduction of the load itself folds a whole tile of it, not row after row.
bool TileIterator::takes_rows(std::size_t load) const {
  for (const TileReduction& r : loop_.reductions) {
    if (index(r.in) == load) return false;
  }
  return loop_.native.by_rows &&
         (loop_.native.operands[load].repeats || loop_.loads[load].strides[rank_ - 1] == 1);
}

std::int64_t TileIterator::most_elements() const {
  if (reads_in_place() && !strided_) return std::numeric_limits<std::int64_t>::max();
  return most_in_scratch(loop_);
}

TileIterator::Access TileIterator::classify(const TileAccess& access) const {
  // Each of the blocks that move has elements of its own.
  const auto is_zero = [](std::int64_t stride) { return stride == 0; };
  const bool one = moves_ ? std::all_of(access.strides.begin(), access.strides.end(), is_zero)
                          : is_one(loop_, access);
  if (one) return Access::constant;
  return is_dense(loop_, access) ? Access::contiguous : Access::strided;
}

TileIterator::Blocks TileIterator::blocks_of(const TileAccess& access) const {
  Blocks out;
  // The first dimensions lie as in a dense array; the others are the block.
  std::int64_t size = elements_of(loop_);
  std::size_t outer = 0;
  while (outer < rank_ && access.strides[outer] * loop_.shape[outer] == size)
    size /= loop_.shape[outer++];
  const bool is_word = access.itemsize == 4 || access.itemsize == 8;
  if (outer == 0 || !is_word || size > 64 / access.itemsize) return out;
  std::uint32_t seen = 0;
  for (std::int64_t e = 0; e < size; ++e) {
    std::int64_t rest = e, offset = 0;
    for (std::size_t d = rank_; d-- > outer;) {
      offset += rest % loop_.shape[d] * access.strides[d];
      rest /= loop_.shape[d];
    }
    if (offset < 0 || offset >= size) return out;
    out.order[e] = static_cast<std::uint8_t>(offset);
    seen |= 1u << offset;
  }
  if (seen == (1u << size) - 1) out.size = size;
  return out;
}

std::int64_t TileIterator::dense_run(const TileAccess& access) const {
  std::int64_t length = 1;
  for (std::size_t d = rank_; d-- > 0 && (loop_.shape[d] == 1 || access.strides[d] == length);)
    length *= loop_.shape[d];
  return length;
}

// Do the tile's elements lie one after the other?
bool TileIterator::in_one_run(std::size_t operand, std::int64_t n) const {
  const std::int64_t length = dense_[operand];
  if (n > length) return false;
  std::int64_t start = 0;
  for (std::size_t d = 0; d < rank_; ++d) start = start * loop_.shape[d] + index_[d];
  return start % length + n <= length;
}

std::int64_t TileIterator::offset_of(const TileAccess& access) const {
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < rank_; ++d) offset += index_[d] * access.strides[d];
  return offset;
}

void TileIterator::fill(std::size_t i, std::int64_t n) {
  pointers_[i] = scratch_ + i * register_bytes;
  with_width(loop_.loads[i].itemsize, [&](auto zero) {
    using T = decltype(zero);
    T value;
    std::memcpy(&value, memory_[i], sizeof value);
    fill_with(reinterpret_cast<T*>(pointers_[i]), value, n);
  });
}

// Calls run(position in tile, element offset, rows, row stride, count, stride) for rows of the
// innermost dimension. The n elements of the tile cover parts of one row, or several whole ones.
template <class F>
void TileIterator::runs(const TileAccess& access, std::int64_t n, F&& run) const {
  SmallVector<std::int64_t, 16> index(index_);
  std::int64_t offset = offset_of(access);
  const std::size_t last = rank_ - 1;
  const std::int64_t length = loop_.shape[last];
  std::int64_t done = 0;
  while (done < n) {
    if (last > 0 && index[last] == 0 && n - done >= length) {
      const std::int64_t rows =
          std::min((n - done) / length, loop_.shape[last - 1] - index[last - 1]);
      run(done, offset, rows, access.strides[last - 1], length, access.strides[last]);
      done += rows * length;
      offset += rows * access.strides[last - 1];
      index[last - 1] += rows;
    } else {
      const std::int64_t count = std::min(n - done, length - index[last]);
      run(done, offset, std::int64_t{1}, std::int64_t{0}, count, access.strides[last]);
      done += count;
      offset += count * access.strides[last];
      index[last] += count;
      if (last > 0 && index[last] == length) {
        offset += access.strides[last - 1] - length * access.strides[last];
        index[last] = 0;
        ++index[last - 1];
      }
    }
    for (std::size_t d = last; d-- > 1 && index[d] == loop_.shape[d];) {
      offset += access.strides[d - 1] - loop_.shape[d] * access.strides[d];
      index[d] = 0;
      ++index[d - 1];
    }
  }
}

void TileIterator::gather(std::size_t i, std::int64_t n) {
  const TileAccess& access = loop_.loads[i];
  const std::size_t last = rank_ - 1;
  std::byte* scratch = scratch_ + i * register_bytes;
  const std::int64_t offset = offset_of(access);
  if (in_one_run(i, n)) {
    pointers_[i] = memory_[i] + offset * access.itemsize;
    return;
  }
  if (index_[last] + n <= loop_.shape[last] && access.strides[last] == 0) {
    // One element over and over.
    if (loop_.native.code && loop_.native.operands[i].repeats) {
      pointers_[i] = memory_[i] + offset * access.itemsize;
      return;
    }
    pointers_[i] = scratch;
    Filled& filled = filled_[i];
    if (filled.offset == offset && filled.count >= n) return;
    filled = {offset, n};
    with_width(access.itemsize, [&](auto zero) {
      using T = decltype(zero);
      fill_with(reinterpret_cast<T*>(scratch), reinterpret_cast<const T*>(memory_[i])[offset], n);
    });
    return;
  }
  filled_[i] = {};
  pointers_[i] = scratch;
  with_width(access.itemsize, [&](auto zero) {
    using T = decltype(zero);
    const T* memory = reinterpret_cast<const T*>(memory_[i]);
    T* out = reinterpret_cast<T*>(scratch);
    if (const Blocks& blocks = blocks_[i]; blocks.size > 0) {
      std::int64_t start = 0;
      for (std::size_t d = 0; d < rank_; ++d) start = start * loop_.shape[d] + index_[d];
      return reorder_blocks(out, memory + start, n, blocks.order, blocks.size, start % blocks.size);
    }
    runs(access, n,
         [&](std::int64_t at, std::int64_t offset, std::int64_t rows, std::int64_t row_stride,
             std::int64_t count, std::int64_t stride) {
           if (rows > 1 && stride == 1 && row_stride == 0)
             return fill_row(out + at, count, memory + offset, rows);
           if (rows > 1 && row_stride == 1 && stride != 0)
             return transpose_block(out + at, count, memory + offset, stride, rows, count);
           if (stride == 0) return fill_each(out + at, count, memory + offset, row_stride, rows);
           for (std::int64_t r = 0; r < rows; ++r, at += count, offset += row_stride) {
             if (stride == 1) {
               copy_run(out + at, memory + offset, count);
             } else {
               read_strided(out + at, memory + offset, stride, count);
             }
           }
         });
  });
}

void TileIterator::scatter(std::size_t store, std::size_t slot, std::int64_t n) {
  const TileAccess& access = loop_.stores[store];
  std::byte* target = memory_[loop_.loads.size() + store];
  with_width(access.itemsize, [&](auto zero) {
    using T = decltype(zero);
    T* memory = reinterpret_cast<T*>(target);
    const T* in = reinterpret_cast<const T*>(pointers_[slot]);
    if (rank_ == 0) {
      *memory = *in;
      return;
    }
    runs(access, n,
         [&](std::int64_t at, std::int64_t offset, std::int64_t rows, std::int64_t row_stride,
             std::int64_t count, std::int64_t stride) {
           for (std::int64_t r = 0; r < rows; ++r, at += count, offset += row_stride) {
             if (stride == 1) {
               copy_run(memory + offset, in + at, count);
             } else {
               for (std::int64_t k = 0; k < count; ++k) memory[offset + k * stride] = in[at + k];
             }
           }
         });
  });
}

}  // namespace shardax::kernels

// kernels/tiles/tile_iterator_native.cpp - machine code on a tile: vector ends, rows, streaming
// stores.
#include <algorithm>
#include <cstring>

#include "base/index.h"
#include "kernels/tiles/dispatch.h"
#include "kernels/tiles/tile_iterator.h"

namespace shardax::kernels {
namespace {

template <class T>
void take_apart_as(T* re, T* im, const T* numbers, std::int64_t n) {
  dispatch([=] {
    for (std::int64_t i = 0; i < n; ++i) {
      re[i] = numbers[2 * i];
      im[i] = numbers[2 * i + 1];
    }
  });
}
template <class T>
void put_together_as(T* numbers, const T* re, const T* im, std::int64_t n) {
  dispatch([=] {
    for (std::int64_t i = 0; i < n; ++i) {
      numbers[2 * i] = re[i];
      numbers[2 * i + 1] = im[i];
    }
  });
}

bool is_part_in(const TileLoop& loop, std::size_t operand) {
  const auto& all = loop.native.parts_in;
  return !all.empty() && operand >= index(all.front().first) &&
         operand < index(all.back().first) + 2;
}

// Does the code read operand i? It reads the parts of complex operands.
bool reads(const TileLoop& loop, std::size_t i) {
  return i < loop.loads.size() ? !codegen::is_complex(loop.loads[i].kind) : is_part_in(loop, i);
}

using Pointers = SmallVector<std::byte*, 16>;

// A turn that starts at element `at`, with results in blocks and operands, too, where `rest` > 0:
// so many of them there are.
struct LastTurn {
  const TileLoop& loop;
  std::span<std::byte* const> pointers;
  std::byte* rests;
  std::int64_t step;

  std::byte* block(std::size_t i) const { return rests + static_cast<std::int64_t>(i) * step; }

  void run(std::int64_t at, std::int64_t rest = 0) const {
    const NativeTile& native = loop.native;
    Pointers turn(pointers.size());
    for (std::size_t i = 0; i < pointers.size(); ++i) {
      if (!reads(loop, i)) continue;
      const auto [bytes, repeats] = native.operands[i];
      turn[i] = pointers[i] + (repeats ? 0 : at * bytes);
      if (repeats || rest == 0) continue;
      std::memcpy(block(i), turn[i], index(rest * bytes));
      turn[i] = block(i);
    }
    for (const std::int32_t output : native.outputs) {
      const auto i = index(output);
      turn[i] = block(i);
    }
    native.code->code()(turn.data(), native.code->multiple());
  }

  // The results from element `from` of blocks on are those of the last `rest` elements.
  void keep(std::int64_t at, std::int64_t from, std::int64_t rest) const {
    for (const std::int32_t output : loop.native.outputs) {
      const auto i = index(output);
      const int bytes = loop.native.operands[i].bytes;
      std::memcpy(pointers[i] + at * bytes, block(i) + from * bytes, index(rest * bytes));
    }
  }
};

}  // namespace

bool overwrites(const TileLoop& loop, std::span<std::byte* const> pointers) {
  return std::ranges::any_of(loop.native.outputs, [&](std::int32_t output) {
    const std::byte* to = pointers[index(output)];
    return std::find(pointers.begin(), pointers.begin() + std::ssize(loop.loads), to) !=
           pointers.begin() + std::ssize(loop.loads);
  });
}

// The last turn of the code ends with the last element and computes some again. It runs before the
// others, and beside them if results overlap operands.
void run_code(const TileLoop& loop, std::span<std::byte* const> pointers, std::int64_t n,
              std::byte* rests, std::int64_t step) {
  const NativeTile& native = loop.native;
  const std::int64_t multiple = native.code->multiple();
  const std::int64_t rest = n % multiple, whole = n - rest;
  if (rest == 0) return native.code->code()(pointers.data(), n);
  const LastTurn last{loop, pointers, rests, step};
  if (whole == 0) {
    last.run(0, rest);
    return last.keep(0, 0, rest);
  }
  if (!overwrites(loop, pointers)) return native.code->code()(pointers.data(), n);
  last.run(n - multiple);
  native.code->code()(pointers.data(), whole);
  last.keep(whole, multiple - rest, rest);
}

// The parts of complex operands, and complex results out of their parts.
void TileIterator::take_apart(std::int64_t n) {
  for (const ComplexParts& parts : loop_.native.parts_in) {
    const auto whole = index(parts.whole);
    const auto first = index(parts.first);
    if (loop_.native.operands[whole].repeats) {
      pointers_[first] = pointers_[whole];
      pointers_[first + 1] = pointers_[whole] + parts.bytes;
      continue;
    }
    const auto take = [&](auto zero) {
      using T = decltype(zero);
      take_apart_as(reinterpret_cast<T*>(pointers_[first]),
                    reinterpret_cast<T*>(pointers_[first + 1]),
                    reinterpret_cast<const T*>(pointers_[whole]), n);
    };
    parts.bytes == 4 ? take(float{}) : take(double{});
  }
}
void TileIterator::put_together(std::int64_t n) const {
  for (const ComplexParts& parts : loop_.native.parts_out) {
    const auto first = index(parts.first);
    const auto put = [&](auto zero) {
      using T = decltype(zero);
      put_together_as(reinterpret_cast<T*>(pointers_[index(parts.whole)]),
                      reinterpret_cast<const T*>(pointers_[first]),
                      reinterpret_cast<const T*>(pointers_[first + 1]), n);
    };
    parts.bytes == 4 ? put(float{}) : put(double{});
  }
}

// Memory that is written after it was read is in the cache.
bool TileIterator::writes_what_it_reads() const {
  const std::size_t loads = loop_.loads.size();
  for (std::size_t i = 0; i < loop_.stores.size(); ++i) {
    for (std::size_t k = 0; k < loads; ++k) {
      if (memory_[loads + i] == memory_[k]) return true;
    }
  }
  return false;
}

void TileIterator::run_native(std::int64_t n) { run_code(pointers_.data(), n); }

// Row by row, with each operand's row where it lies, or the element that repeats along it.
void TileIterator::run_rows(std::int64_t n) {
  const NativeTile& native = loop_.native;
  const std::size_t last = rank_ - 1, operands = pointers_.size();
  const std::int64_t length = loop_.shape[last];
  Pointers pointers(pointers_);
  SmallVector<std::int64_t, 16> index(index_), steps(operands);
  for (std::size_t i = 0; i < operands; ++i) {
    const auto [bytes, repeats] = native.operands[i];
    if (i < loop_.loads.size() && kinds_[i] == Access::rows) {
      steps[i] = loop_.loads[i].strides[last - 1] * loop_.loads[i].itemsize;
    } else if (!repeats) {
      steps[i] = length * bytes;
    }
  }
  for (std::int64_t done = 0; done < n;) {
    for (std::size_t i = 0; i < loop_.loads.size(); ++i) {
      if (kinds_[i] != Access::rows) continue;
      const TileAccess& access = loop_.loads[i];
      std::int64_t offset = native.operands[i].repeats ? 0 : index[last];
      for (std::size_t d = 0; d < last; ++d) offset += index[d] * access.strides[d];
      pointers[i] = memory_[i] + offset * access.itemsize;
    }
    const std::int64_t rows =
        std::min((n - done) / length, loop_.shape[last - 1] - index[last - 1]);
    if (index[last] == 0 && rows > 0) {
      for (std::int64_t r = 0; r < rows; ++r) {
        run_code(pointers.data(), length);
        for (std::size_t i = 0; i < operands; ++i) pointers[i] += steps[i];
      }
      done += rows * length;
      index[last - 1] += rows;
    } else {
      const std::int64_t count = std::min(n - done, length - index[last]);
      run_code(pointers.data(), count);
      for (std::size_t i = 0; i < operands; ++i) {
        if (!native.operands[i].repeats) pointers[i] += count * native.operands[i].bytes;
      }
      done += count;
      index[last] = 0;
      ++index[last - 1];
    }
    for (std::size_t d = last; d-- > 1 && index[d] == loop_.shape[d];) {
      index[d] = 0;
      ++index[d - 1];
    }
  }
}

void TileIterator::run_code(std::byte* const* pointers, std::int64_t n) {
  kernels::run_code(loop_, {pointers, pointers_.size()}, n, scratch_ + register_bytes - rest_bytes,
                    register_bytes);
}

// As many vectors as can past the caches: from the first on that starts a line in all results.
void TileIterator::run_streaming(std::int64_t n) {
  constexpr std::uintptr_t line = 64;
  const NativeTile& native = loop_.native;
  SmallVector<std::byte*, 16> pointers(pointers_);
  const auto advance = [&](std::int64_t count) {
    for (std::size_t i = 0; i < pointers.size(); ++i) {
      const auto [bytes, repeats] = native.operands[i];
      if (!repeats) pointers[i] += count * bytes;
    }
  };
  const auto output = [&](std::int32_t i) { return index(i); };
  const std::size_t any = output(native.outputs[0]);
  const auto bytes = static_cast<std::uintptr_t>(native.operands[any].bytes);
  const std::uintptr_t before = -reinterpret_cast<std::uintptr_t>(pointers[any]) % line;
  const std::int64_t head = std::min(n, static_cast<std::int64_t>(before / bytes));
  if (head > 0) {
    run_code(pointers.data(), head);
    advance(head);
  }
  std::int64_t body = (n - head) / native.streams->multiple() * native.streams->multiple();
  for (const std::int32_t i : native.outputs) {
    if (reinterpret_cast<std::uintptr_t>(pointers[output(i)]) % line != 0) body = 0;
  }
  if (body > 0) {
    native.streams->code()(pointers.data(), body);
    advance(body);
  }
  if (n > head + body) run_code(pointers.data(), n - head - body);
}

}  // namespace shardax::kernels

// kernels/width.h - elements as numbers of bytes, for kernels that only move them.
#pragma once

#include <complex>
#include <cstdint>

namespace shardax::kernels {

// Calls f with a value of a type of that size, 1 to 16 bytes.
template <class F>
void with_width(int itemsize, F&& f) {
  switch (itemsize) {
    case 1: return f(std::uint8_t{});
    case 2: return f(std::uint16_t{});
    case 4: return f(std::uint32_t{});
    case 8: return f(std::uint64_t{});
    case 16: return f(std::complex<double>{});
    default: return;
  }
}

}  // namespace shardax::kernels

// kernels/conv/winograd_rows.h - rows of images with their channels side by side.
//
// Private to kernels/winograd*.
#pragma once

#include <algorithm>
#include <memory>

#include "kernels/aligned_buffer.h"
#include "kernels/ceil_div.h"
#include "kernels/conv/winograd.h"
#include "kernels/gemm/kernels.h"

namespace shardax::kernels {

inline constexpr int points = 16, taps = 9;  // of a tile, of a kernel

// Strides in elements, and sizes.
struct Images {
  std::int64_t channel, image, row, column;
  std::int64_t height, width;
};

struct Range {
  std::int64_t begin, end;
  std::int64_t size() const { return end - begin; }
};

// Elements between rows of n: whole cache lines, and not a page, so that rows do not push each
// other out of the first-level cache.
template <class T>
std::int64_t row_pitch(std::int64_t n) {
  constexpr std::int64_t line = 64 / sizeof(T), page = 4096 / sizeof(T);
  const std::int64_t whole = parts_of(n, line) * line;
  return whole % page == 0 ? whole + line : whole;
}

// Reads places of one image, in place where channels lie side by side and else out of a copy.
template <class T>
class RowReader {
 public:
  RowReader(const Images& images, std::int64_t channels, const FloatKernels<T>& kernels)
      : images_(images), channels_(channels), kernels_(kernels), zeros_(channels) {
    std::fill_n(zeros_.data(), channels, T{});
  }

  // Places of these rows and columns of `image` can be read now; outside of it lie zeros.
  void see(const T* image, Range rows, Range columns) {
    y_ = {std::max<std::int64_t>(rows.begin, 0), std::min(rows.end, images_.height)};
    x_ = {std::max<std::int64_t>(columns.begin, 0), std::min(columns.end, images_.width)};
    if (y_.size() <= 0 || x_.size() <= 0) y_ = x_ = {0, 0};
    if (y_.size() == 0) return;
    const T* from = image + y_.begin * images_.row + x_.begin * images_.column;
    if (images_.channel == 1) {
      first_ = from, row_ = images_.row, column_ = images_.column;
      return;
    }
    column_ = row_pitch<T>(channels_), row_ = x_.size() * column_;
    if (!copy_ || copy_->size() < y_.size() * row_) {
      copy_.reset();
      copy_ = std::make_unique<AlignedBuffer<T>>(y_.size() * row_);
    }
    first_ = copy_->data();
    // Whole rows lie one after the other.
    const bool joined = images_.row == x_.size();
    const std::int64_t runs = joined ? 1 : y_.size(), run = joined ? y_.size() * row_ : row_;
    for (std::int64_t r = 0; r < runs; ++r) {
      kernels_.turn(from + r * images_.row, images_.channel, run / column_, channels_, column_,
                    copy_->data() + r * run);
    }
  }

  // The places of the square whose first one is (y, x).
  template <int size>
  void square(std::int64_t y, std::int64_t x, const T** to) const {
    if (y >= y_.begin && y + size <= y_.end && x >= x_.begin && x + size <= x_.end) {
      const T* const from = first_ + (y - y_.begin) * row_ + (x - x_.begin) * column_;
      for (int i = 0; i < size; ++i) {
        for (int j = 0; j < size; ++j) to[i * size + j] = from + i * row_ + j * column_;
      }
      return;
    }
    for (int i = 0; i < size; ++i) {
      for (int j = 0; j < size; ++j) to[i * size + j] = at(y + i, x + j);
    }
  }

 private:
  const T* at(std::int64_t y, std::int64_t x) const {
    if (y < y_.begin || y >= y_.end || x < x_.begin || x >= x_.end) return zeros_.data();
    return first_ + (y - y_.begin) * row_ + (x - x_.begin) * column_;
  }

  const Images images_;
  const std::int64_t channels_;
  const FloatKernels<T>& kernels_;
  const AlignedBuffer<T> zeros_;
  std::unique_ptr<AlignedBuffer<T>> copy_;
  Range y_{0, 0}, x_{0, 0};
  const T* first_ = nullptr;
  std::int64_t row_ = 0, column_ = 0;
};

// The images of an operand that lie one after the other, by rows of tiles: "strips".
struct Strips {
  std::int64_t rows, columns;  // of tiles in an image
  // body(image, tile rows) for the part of each image in strips [first, end), in order.
  template <class F>
  void for_images(std::int64_t first, std::int64_t end, F&& body) const {
    while (first < end) {
      const std::int64_t image = first / rows, row = first % rows;
      const std::int64_t last = std::min(rows, row + end - first);
      body(image, Range{row, last});
      first += last - row;
    }
  }
};

}  // namespace shardax::kernels

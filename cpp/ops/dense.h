// ops/dense.h - strided windows as dense memory, for kernels that want rows in a row.
#pragma once

#include <memory>

#include "ir/op.h"
#include "kernels/copy.h"

namespace shardax::ops {

// The elements of a view in row-major order: in place where they lie so, else a copy.
class DenseInput {
 public:
  explicit DenseInput(const View& view) : data_(view.data) {
    if (is_contiguous(view.shape, view.strides)) return;
    const auto width = static_cast<std::size_t>(itemsize(view.dtype));
    std::size_t bytes = width;
    for (std::int64_t d : view.shape) bytes *= static_cast<std::size_t>(d);
    copy_.reset(new std::byte[bytes]);
    data_ = copy_.get();
    kernels::copy_strided(data_, row_major_strides(view.shape), view.data, view.strides, view.shape,
                 static_cast<int>(width));
  }
  template <class T>
  const T* as() const {
    return reinterpret_cast<const T*>(data_);
  }

 private:
  std::byte* data_;
  std::unique_ptr<std::byte[]> copy_;
};

// Memory to fill in row-major order; where the view is strided, finish() spreads it.
class DenseOutput {
 public:
  explicit DenseOutput(const View& view) : view_(view), data_(view.data) {
    if (is_contiguous(view.shape, view.strides)) return;
    std::size_t bytes = static_cast<std::size_t>(itemsize(view.dtype));
    for (std::int64_t d : view.shape) bytes *= static_cast<std::size_t>(d);
    copy_.reset(new std::byte[bytes]);
    data_ = copy_.get();
  }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data_);
  }
  void finish() const {
    if (!copy_) return;
    kernels::copy_strided(view_.data, view_.strides, data_, row_major_strides(view_.shape), view_.shape,
                 itemsize(view_.dtype));
  }

 private:
  const View& view_;
  std::byte* data_;
  std::unique_ptr<std::byte[]> copy_;
};

}  // namespace shardax::ops

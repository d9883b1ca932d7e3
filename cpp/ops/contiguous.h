// ops/contiguous.h - strided windows as dense memory, for kernels that want rows in a row.
#pragma once

#include "base/index.h"
#include "ir/op.h"
#include "kernels/copy/copy.h"

namespace shardax::ops {

// Memory for the elements of a view.
inline Shared<Buffer> dense_buffer(const View& view) {
  auto bytes = index(itemsize(view.dtype));
  for (std::int64_t d : view.shape) bytes *= index(d);
  return new Buffer(bytes);
}

// The elements of a view in row-major order: in place where they lie so, else a copy.
class DenseInput {
 public:
  explicit DenseInput(const View& view) : data_(view.data) {
    if (is_contiguous(view.shape, view.strides)) return;
    copy_ = dense_buffer(view);
    data_ = copy_->data();
    kernels::copy_strided(copy_->data(), row_major_strides(view.shape), view.data, view.strides,
                          view.shape, itemsize(view.dtype));
  }
  template <class T>
  const T* as() const {
    return reinterpret_cast<const T*>(data_);
  }

 private:
  const std::byte* data_;
  Shared<Buffer> copy_;
};

// Memory to fill in row-major order; where the view is strided, finish() spreads it.
class DenseOutput {
 public:
  explicit DenseOutput(View view) : view_(std::move(view)), data_(view_.data) {
    if (is_contiguous(view_.shape, view_.strides)) return;
    copy_ = dense_buffer(view_);
    data_ = copy_->data();
  }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data_);
  }
  void finish() const {
    if (!copy_) return;
    kernels::copy_strided(view_.data, view_.strides, data_, row_major_strides(view_.shape),
                          view_.shape, itemsize(view_.dtype));
  }

 private:
  View view_;
  std::byte* data_;
  Shared<Buffer> copy_;
};

}  // namespace shardax::ops

// base/small_vector.h - a vector of trivially copyable elements whose first N live inside it.
//
// Shapes, strides and index lists are short: keeping them inline spares an allocation on every
// path that an eager op takes. Elements must be trivially copyable; references and iterators are
// invalidated by any growth, as for std::vector.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <type_traits>
#include <utility>

namespace shardax {

template <class T, std::size_t N>
class SmallVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  SmallVector() = default;
  explicit SmallVector(std::size_t size, T value = T{}) { assign(size, value); }
  SmallVector(std::initializer_list<T> items) { append(items.begin(), items.end()); }
  template <class It>
    requires(!std::is_integral_v<It>)
  SmallVector(It first, It last) {
    append(first, last);
  }
  SmallVector(const SmallVector& other) { copy(other); }
  SmallVector(SmallVector&& other) noexcept { steal(other); }
  SmallVector& operator=(const SmallVector& other) {
    if (this != &other) copy(other);
    return *this;
  }
  SmallVector& operator=(SmallVector&& other) noexcept {
    if (this != &other) {
      heap_.reset();
      capacity_ = N;
      steal(other);
    }
    return *this;
  }
  ~SmallVector() = default;

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return heap_ ? heap_.get() : inline_; }
  const T* data() const { return heap_ ? heap_.get() : inline_; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }
  T& front() { return data()[0]; }
  const T& front() const { return data()[0]; }
  T& back() { return data()[size_ - 1]; }
  const T& back() const { return data()[size_ - 1]; }

  void clear() { size_ = 0; }
  void reserve(std::size_t wanted) {
    if (wanted > capacity_) grow(wanted);
  }
  void push_back(T value) {
    if (size_ == capacity_) grow(capacity_ * 2);
    data()[size_++] = value;
  }
  void pop_back() { --size_; }
  void resize(std::size_t size, T value = T{}) {
    reserve(size);
    for (std::size_t i = size_; i < size; ++i) data()[i] = value;
    size_ = static_cast<std::uint32_t>(size);
  }
  void assign(std::size_t size, T value) {
    size_ = 0;
    resize(size, value);
  }
  template <class It>
  void append(It first, It last) {
    for (; first != last; ++first) push_back(static_cast<T>(*first));
  }
  void insert(std::size_t at, T value) {
    push_back(value);
    std::rotate(begin() + at, end() - 1, end());
  }
  void erase(std::size_t at) {
    std::copy(begin() + at + 1, end(), begin() + at);
    --size_;
  }

  friend bool operator==(const SmallVector& a, const SmallVector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  void grow(std::size_t wanted) {
    std::unique_ptr<T[]> bigger(new T[wanted]);
    for (std::uint32_t i = 0; i < size_; ++i) bigger[i] = data()[i];
    heap_ = std::move(bigger);
    capacity_ = static_cast<std::uint32_t>(wanted);
  }
  // Elements that lie inside are copied all at once, those past the end too.
  void copy(const SmallVector& other) {
    if (!other.heap_ && !heap_) {
      std::memcpy(inline_, other.inline_, sizeof inline_);
    } else {
      size_ = 0;
      reserve(other.size_);
      std::copy(other.begin(), other.end(), data());
    }
    size_ = other.size_;
  }
  void steal(SmallVector& other) {
    size_ = other.size_;
    if (other.heap_) {
      heap_ = std::move(other.heap_);
      capacity_ = other.capacity_;
    } else {
      std::memcpy(inline_, other.inline_, sizeof inline_);
    }
    other.heap_.reset();
    other.capacity_ = N;
    other.size_ = 0;
  }

  std::unique_ptr<T[]> heap_;  // null while the elements fit inline_
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = N;
  T inline_[N];
};

}  // namespace shardax

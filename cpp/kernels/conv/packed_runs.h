// kernels/conv/packed_runs.h - the elements of a sum, by the places where they lie.
//
// Private to kernels/conv.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace shardax::kernels {

// Elements at, at + step, ...
struct Run {
  std::int64_t at, count, step;
};

// The elements of a sum in order, cut into blocks that are packed at a time.
class Runs {
 public:
  static constexpr std::int64_t block = 512, together = 32;  // elements; padded to a multiple of

  void clear() {
    runs_.clear();
    ends_.clear();
    size_ = 0;
  }
  void add(Run run) {
    while (run.count > 0) {
      if (size_ % block == 0) ends_.push_back(runs_.size());
      const std::int64_t n = std::min(run.count, block - size_ % block);
      const bool follows = ends_.back() > begin(ends_.size() - 1) &&
                           runs_.back().step == run.step &&
                           runs_.back().at + runs_.back().count * run.step == run.at;
      if (follows) {
        runs_.back().count += n;
      } else {
        runs_.push_back({run.at, n, run.step});
      }
      ends_.back() = runs_.size();
      size_ += n;
      run.at += n * run.step;
      run.count -= n;
    }
  }

  std::size_t blocks() const { return ends_.size(); }
  // The runs of a block, and its elements without and with those that fill it up.
  const Run* first(std::size_t b) const { return runs_.data() + begin(b); }
  const Run* last(std::size_t b) const { return runs_.data() + ends_[b]; }
  std::int64_t length(std::size_t b) const {
    return std::min(block, size_ - static_cast<std::int64_t>(b) * block);
  }
  std::int64_t padded(std::size_t b) const {
    return (length(b) + together - 1) / together * together;
  }
  // All of them, filled up.
  std::int64_t padded() const { return (size_ + together - 1) / together * together; }

 private:
  std::size_t begin(std::size_t b) const { return b == 0 ? 0 : ends_[b - 1]; }

  std::vector<Run> runs_;
  std::vector<std::size_t> ends_;
  std::int64_t size_ = 0;
};

}  // namespace shardax::kernels

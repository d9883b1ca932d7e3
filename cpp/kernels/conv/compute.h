// kernels/conv/compute.h - one block of a convolution of floats.
//
// Private to kernels/conv.
#pragma once

#include "base/index.h"
#include "kernels/conv/operands.h"
#include "runtime/interrupt.h"

namespace shardax::kernels {

// One box, one range of columns.
template <class T>
class Block {
 public:
  Block(const ConvOperands<T>& conv, const Part& part, const Tiling& cut, std::int64_t index)
      : conv_(conv), p_(conv.p), part_(part), cut_(cut), windows_(conv.p, part, conv.kernels) {
    // Columns fastest, so that neighbours see the same part of lhs.
    const bool sums = cut.way == Strategy::sums;
    column_ = index % cut.column_parts * cut.columns;
    index /= cut.column_parts;
    for (std::size_t d = 3; d-- > 0; index /= cut.t_parts[d]) {
      box_.t0[d] = index % cut.t_parts[d] * cut.t[d];
      box_.t1[d] = std::min(box_.t0[d] + cut.t[d], part.lines[d].count);
    }
    box_.n0 = index % cut.n_parts * cut.n;
    box_.n1 = std::min(box_.n0 + cut.n, p_.n.size);
    batch_ = index / cut.n_parts;
    const bool lanes = cut.way == Strategy::lanes;
    const std::int64_t lane_count = lanes ? p_.batch.back().size : 1;
    columns_ = std::min(cut.columns, (lanes ? lane_count : p_.o.size) - column_);
    const std::int64_t first = batch_ * lane_count + (lanes ? column_ : 0);
    lhs_ = p_.lhs + batch_offset(p_, first, &ConvAxis::lhs) * itemsize(p_.dtype);
    rhs_ = p_.rhs + batch_offset(p_, first, &ConvAxis::rhs) * itemsize(p_.dtype);
    out_ = batch_offset(p_, first, &ConvAxis::out) + (lanes ? 0 : column_ * p_.o.out);
    if (sums) {
      columns_ = cut.columns;
      span_ = (columns_ - 1) * p_.space[2].rhs_dilation;
    }
    line_ = cut.t[2];
    if (rows_are_features()) line_ = box_.t1[2] - box_.t0[2];
    if (cut.way == Strategy::flat) {
      flat_pitch_ = line_ + span_of(part.lines[2]) - 1;
      line_ += (box_.t1[1] - box_.t0[1] - 1) * flat_pitch_;
    }
    lanes_ = lanes ? columns_ : 1;
    pitch_ = cut.way == Strategy::features ? conv.cutter.padded(columns_) : columns_;
    place_outputs();
  }

  void whole() {
    if (part_.steps == 0) return write_zeros();
    if (cut_.runs == 1 && in_place()) {
      to_ = reinterpret_cast<T*>(p_.out);
      return steps(0, part_.steps, nullptr);
    }
    const std::int64_t size = cut_.room;
    const AlignedBuffer<T> room(cut_.runs > 1 ? 2 * size : size);
    T* sum = room.data();
    run(0, sum);
    for (std::int64_t r = 1; r < cut_.runs; ++r) {
      run(r, sum + size);
      for (std::int64_t i = 0; i < used(); ++i) sum[i] += sum[size + i];
    }
    write(sum);
  }

  void run(std::int64_t r, T* sums) {
    steps(r * cut_.run, std::min(part_.steps, (r + 1) * cut_.run), sums);
  }

  void finish(T* sums, std::int64_t apart) const {
    const std::int64_t size = used();
    for (std::int64_t r = 1; r < cut_.runs; ++r) {
      for (std::int64_t i = 0; i < size; ++i) sums[i] += sums[r * apart + i];
    }
    write(sums);
  }

 private:
  std::int64_t rows() const { return box_.rows(); }
  bool rows_are_features() const {
    return cut_.way == Strategy::outputs || cut_.way == Strategy::flat;
  }
  // Elements of the sums.
  std::int64_t used() const {
    return rows_are_features() ? static_cast<std::int64_t>(site_count()) * columns_ * line_
                               : rows() * pitch_ * cut_.apart;
  }
  // Lines of columns, one for each place of the dimensions before.
  std::size_t site_count() const {
    const auto count = index(rows() / (box_.t1[2] - box_.t0[2]));
    return cut_.way == Strategy::flat ? count / index(box_.t1[1] - box_.t0[1]) : count;
  }
  // Calls f(n, t, count) for each run of rows of the box that read adjacent elements of lhs, along
  // the last dimension or along items. Of lines of columns, the lines.
  bool runs_along_items() const {
    return !rows_are_features() && conv_.cutter.items_side_by_side();
  }
  template <class F>
  void for_runs(F&& f) const {
    for_groups([&](const Box& box, const Segments3&) { for_runs(box, f); });
  }
  template <class F>
  void for_runs(const Box& box, F&& f) const {
    const bool items = runs_along_items();
    const std::int64_t n1 = items ? box.n0 + 1 : box.n1, x1 = items ? box.t1[2] : box.t0[2] + 1,
                       count = items                 ? box.n1 - box.n0
                               : rows_are_features() ? 1
                                                     : box.t1[2] - box.t0[2];
    for (std::int64_t n = box.n0; n < n1; ++n) {
      for (std::int64_t z = box.t0[0]; z < box.t1[0]; ++z) {
        for (std::int64_t y = box.t0[1]; y < box.t1[1]; ++y) {
          for (std::int64_t x = box.t0[2]; x < x1; ++x) f(n, Ints3{z, y, x}, count);
        }
      }
    }
  }
  // Calls f(box, segments) for each group of rows that see the same taps.
  using Segments3 = std::array<Segment, 3>;
  template <class F>
  void for_groups(F&& f) const {
    for (const Segment& z : cut_.segments[0]) {
      for (const Segment& y : cut_.segments[1]) {
        for (const Segment& x : cut_.segments[2]) {
          const Segments3 at{z, y, x};
          Box own = box_;
          for (std::size_t d = 0; d < 3; ++d) {
            own.t0[d] = std::max(box_.t0[d], at[d].first);
            own.t1[d] = std::max(own.t0[d], std::min(box_.t1[d], at[d].end));
          }
          if (own.rows() > 0) f(own, at);
        }
      }
    }
  }
  std::int64_t place(std::int64_t n, const Ints3& t) const {
    std::int64_t at = out_ + n * p_.n.out;
    for (std::size_t d = 0; d < 3; ++d) {
      const Line& l = part_.lines[d];
      at += (l.first + t[d] * l.step) * p_.space[d].out;
    }
    return at;
  }
  bool sees_all(std::size_t d, const Segment& s) const {
    return s.end_tap - s.first_tap == static_cast<std::int64_t>(part_.lines[d].taps.size());
  }
  void place_outputs() {
    places_.resize(index(rows()));
    std::int64_t* to = places_.data();
    const std::int64_t step = runs_along_items() ? p_.n.out : x_step();
    for_runs([&](std::int64_t n, const Ints3& t, std::int64_t count) {
      const std::int64_t first = place(n, t);
      for (std::int64_t i = 0; i < count; ++i) to[i] = first + i * step;
      to += count;
    });
    places_.resize(index(to - places_.data()));
    std::int64_t row = 0;
    for_groups([&](const Box& box, const Segments3& at) {
      bool all = true;
      for (std::size_t d = 0; d < 3; ++d) all = all && sees_all(d, at[d]);
      groups_.push_back({row, box.rows(), all, at});
      row += box.rows();
    });
  }
  std::int64_t x_step() const { return p_.space[2].out * part_.lines[2].step; }
  bool in_place() const {
    if (!conv_.native_out || cut_.way == Strategy::sums || cut_.way == Strategy::flat) return false;
    return cut_.way == Strategy::lanes ||
           (cut_.way == Strategy::outputs ? x_step() : p_.o.out) == 1;
  }

  // Sums of steps [first, end), written to `sums` or, if null, to the result.
  void steps(std::int64_t first, std::int64_t end, T* sums) {
    for (std::int64_t k = first; k < end; k += matmul_k_block) {
      runtime::poll();
      part_.find(p_, k, std::min(matmul_k_block, end - k), steps_);
      const bool flat = cut_.way == Strategy::flat;
      steps_.high[2] += span_;
      if (flat) {
        // Lines are as far apart in each block.
        const std::vector<Tap>& taps = part_.lines[2].taps;
        steps_.low[2] = std::min(taps.front().place, taps.back().place);
        steps_.high[2] = steps_.low[2] + span_of(part_.lines[2]) - 1;
      }
      const std::int64_t step = rows_are_features()          ? part_.lines[2].lhs_step
                                : cut_.way == Strategy::sums ? p_.space[2].rhs_dilation
                                                             : 0;
      const Window<T> window =
          windows_.find(lhs_, box_, steps_, lanes_, step, flat, cut_.reads_padding);
      find_sites(window);
      if (cut_.way == Strategy::features) features(k, sums, k > first);
      if (rows_are_features()) outputs(sums, k > first);
      if (cut_.way == Strategy::lanes) lanes(rhs_, sums, k > first);
      for (std::int64_t f = 0; cut_.way == Strategy::sums && f < cut_.apart; ++f) {
        lanes(rhs_ + f * p_.o.rhs * itemsize(p_.dtype), sums + f * rows() * pitch_, k > first);
      }
    }
  }

  // The start in the window of the sums of each row (or line) of the block.
  void find_sites(const Window<T>& window) {
    const auto step = [&](std::size_t d) { return part_.lines[d].lhs_step; };
    sites_.resize(places_.size());
    const T** to = sites_.data();
    const bool items = runs_along_items(), even = items || window.phases == 1;
    const std::int64_t apart = items ? window.n : step(2) * window.space[2];
    for_runs([&](std::int64_t n, const Ints3& t, std::int64_t count) {
      if (cut_.way == Strategy::flat && t[1] != box_.t0[1]) return;
      const T* const first = window.data + (n - box_.n0) * window.n +
                             step(0) * (t[0] - box_.t0[0]) * window.space[0] +
                             step(1) * (t[1] - box_.t0[1]) * window.space[1] +
                             window.along(step(2) * (t[2] - box_.t0[2]));
      if (even) {
        for (std::int64_t i = 0; i < count; ++i) to[i] = first + i * apart;
      } else {
        for (std::int64_t i = 0; i < count; ++i) to[i] = first + window.along(step(2) * i);
      }
      to += count;
    });
    sites_.resize(index(to - sites_.data()));
  }

  T* result(std::size_t row, T* sums) const {
    return sums ? sums + static_cast<std::int64_t>(row) * pitch_ : to_ + places_[row];
  }

  void features(std::int64_t k, T* sums, bool add) {
    const std::int64_t width = conv_.cutter.width();
    const bool one = groups_.size() == 1;  // no panel is needed again
    if (!conv_.packed && !panel_)
      panel_ = std::make_unique<AlignedBuffer<T>>(matmul_k_block *
                                                  (one ? width : conv_.cutter.padded(columns_)));
    targets_.resize(places_.size());
    for (const Group& g : groups_) {
      const std::int64_t count = g.sees_all ? steps_.count : find_seen(g, width);
      for (std::int64_t j = 0; j < columns_; j += width) {
        const std::int64_t n = std::min(width, columns_ - j);
        const T* b;
        if (conv_.packed) {
          b = conv_.packed->data() + (batch_ * part_.steps + k) * conv_.cutter.padded(p_.o.size) +
              (column_ + j) * steps_.count;
        } else {
          T* const panel = panel_->data() + (one ? 0 : matmul_k_block * j);
          if (g.first == 0) conv_.pack(steps_, rhs_, column_ + j, n, panel);
          b = panel;
        }
        find_targets(g, sums, j);
        conv_.kernels.found_panel(
            {g.rows, sums ? width : n, count, sites_.data() + g.first,
             g.sees_all ? steps_.lhs : seen_, b, g.sees_all ? nullptr : seen_ + matmul_k_block,
             targets_.data() + g.first, add},
            width);
      }
    }
  }

  // Rows that see the same taps.
  struct Group {
    std::int64_t first, rows;
    bool sees_all;
    Segments3 at;
  };
  // The results of rows, from column j on.
  void find_targets(const Group& g, T* sums, std::int64_t j) {
    T** const to = targets_.data() + g.first;
    const std::int64_t* const places = places_.data() + g.first;
    T* const first = sums ? sums + g.first * pitch_ + j : to_ + j;
    for (std::int64_t i = 0, rows = g.rows, pitch = pitch_; i < rows; ++i)
      to[i] = first + (sums ? i * pitch : places[i]);
  }

  // Sets the places of the steps that a group sees: in the window, and matmul_k_block numbers
  // further in a panel. Their number.
  std::int64_t find_seen(const Group& g, std::int64_t width) {
    std::int64_t count = 0;
    const auto sees = [&](std::size_t d, std::int64_t place) {
      const std::int64_t at = place + g.at[d].first * part_.lines[d].lhs_step;
      return sees_all(d, g.at[d]) || (at >= 0 && at < p_.space[d].lhs_size);
    };
    for (std::int64_t r = 0; r < steps_.run_count; ++r) {
      const Steps::Run& run = steps_.runs[r];
      if (!sees(0, run.outer[0]) || !sees(1, run.outer[1])) continue;
      const std::int64_t tap = run.taps - part_.lines[2].taps.data(),
                         begin = std::max<std::int64_t>(0, g.at[2].first_tap - tap),
                         end = std::min(run.count, g.at[2].end_tap - tap);
      for (std::int64_t k = run.first + begin; k < run.first + end; ++k, ++count) {
        seen_[count] = steps_.lhs[k];
        seen_[matmul_k_block + count] = k * width;
      }
    }
    return count;
  }

  // Rows are features; their elements of rhs are read in place where they are of type T.
  void outputs(T* sums, bool add) {
    const std::int64_t* offsets = steps_.rhs;
    weights_.resize(index(columns_));
    const bool native = itemsize(p_.dtype) == sizeof(T);
    if (!native && !panel_) panel_ = std::make_unique<AlignedBuffer<T>>(matmul_k_block * columns_);
    for (std::int64_t j = 0; j < columns_; ++j) {
      const std::byte* from = rhs_ + (column_ + j) * p_.o.rhs * itemsize(p_.dtype);
      if (native) {
        weights_[index(j)] = reinterpret_cast<const T*>(from);
        continue;
      }
      T* row = panel_->data() + j * matmul_k_block;
      weights_[index(j)] = row;
      steps_.each_rhs_run([&](std::int64_t k, std::int64_t count, std::int64_t stride) {
        conv_.kernels.pack(p_.dtype)(from + steps_.rhs[k] * itemsize(p_.dtype), 0, stride, 1, count,
                                     count, row + k);
      });
      offsets = conv_.ascending;
    }
    targets_.resize(index(columns_));
    for (std::size_t i = 0; i < sites_.size(); ++i) {
      for (std::int64_t j = 0; j < columns_; ++j) {
        targets_[index(j)] = sums ? sums + (static_cast<std::int64_t>(i) * columns_ + j) * line_
                                  : to_ + places_[i] + j * p_.o.out;
      }
      conv_.kernels.found_rows({columns_, line_, steps_.count, weights_.data(), offsets, sites_[i],
                                steps_.lhs, targets_.data(), add});
    }
  }

  // rhs is read in place where its lanes lie side by side.
  void lanes(const std::byte* rhs, T* sums, bool add) {
    const std::int64_t* offsets = steps_.rhs;
    const T* b = reinterpret_cast<const T*>(rhs);
    const std::int64_t stride = conv_.lane_stride(cut_);
    if (stride != 1 || itemsize(p_.dtype) != sizeof(T)) {
      if (!panel_) panel_ = std::make_unique<AlignedBuffer<T>>(matmul_k_block * columns_);
      b = panel_->data();
      for (std::int64_t k = 0; k < steps_.count; ++k) {
        conv_.kernels.pack(p_.dtype)(rhs + steps_.rhs[k] * itemsize(p_.dtype), 0, stride, 1,
                                     columns_, columns_, panel_->data() + k * columns_);
        lane_offsets_[k] = k * columns_;
      }
      offsets = lane_offsets_;
    }
    targets_.resize(places_.size());
    for (std::size_t i = 0; i < places_.size(); ++i) targets_[i] = result(i, sums);
    conv_.kernels.found_lanes({rows(), columns_, steps_.count, sites_.data(), steps_.lhs, b,
                               offsets, targets_.data(), add});
  }

  void write_zeros() {
    const std::int64_t size = cut_.room;
    const AlignedBuffer<T> room(size);
    std::fill_n(room.data(), size, T{});
    write(room.data());
  }

  // Features by columns, for each site: a line of outputs, or with `flat` several.
  void write_lines(const T* sums) const {
    const int width = itemsize(p_.out_dtype);
    const Round<T> round = conv_.kernels.round(p_.out_dtype);
    const std::int64_t x = box_.t1[2] - box_.t0[2];
    const std::size_t lines = places_.size() / site_count();
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const T* from = sums + static_cast<std::int64_t>(i / lines) * columns_ * line_ +
                      static_cast<std::int64_t>(i % lines) * flat_pitch_;
      for (std::int64_t j = 0; j < columns_; ++j) {
        round(from + j * line_, 1, x, p_.out + (places_[i] + j * p_.o.out) * width, 0, x_step());
      }
    }
  }

  // The columns of a row, added up: chains of every 16th one, then these in order.
  T added(const T* row) const {
    T chains[16] = {};
    for (std::int64_t j = 0; j < columns_; ++j) chains[j % 16] += row[j];
    T sum{};
    for (const T chain : chains) sum += chain;
    return sum;
  }

  // Sums, rows of pitch_ (or, of outputs, features by places), to the result.
  void write(const T* sums) const {
    const int width = itemsize(p_.out_dtype);
    const Round<T> round = conv_.kernels.round(p_.out_dtype);
    if (rows_are_features()) return write_lines(sums);
    if (cut_.way == Strategy::sums) {
      for (std::int64_t i = 0; i < rows() * cut_.apart; ++i) {
        const T sum = added(sums + i * pitch_);
        const std::int64_t at = places_[index(i % rows())];
        round(&sum, 1, 1, p_.out + (at + i / rows() * p_.o.out) * width, 0, 1);
      }
      return;
    }
    const std::int64_t step = cut_.way == Strategy::lanes ? 1 : p_.o.out;
    for (std::size_t i = 0; i < places_.size();) {
      const T* from = sums + static_cast<std::int64_t>(i) * pitch_;
      std::byte* to = p_.out + places_[i] * width;
      std::size_t end = i + 1;
      const std::int64_t apart = end < places_.size() ? places_[end] - places_[i] : 1;
      while (end < places_.size() && places_[end] - places_[end - 1] == apart) ++end;
      const auto run = static_cast<std::int64_t>(end - i);
      if (step == 1 || !conv_.native_out) {
        for (std::int64_t r = 0; r < run; ++r)
          round(from + r * pitch_, 1, columns_, to + r * apart * width, 0, step);
      } else if (apart == 1) {
        conv_.kernels.turn(from, pitch_, columns_, run, step, reinterpret_cast<T*>(to));
      } else {
        for (std::int64_t j = 0; j < columns_; ++j) {
          T* line = reinterpret_cast<T*>(to) + j * step;
          for (std::int64_t r = 0; r < run; ++r) line[r * apart] = from[r * pitch_ + j];
        }
      }
      i = end;
    }
  }

  const ConvOperands<T>& conv_;
  const ConvArgs& p_;
  const Part& part_;
  const Tiling& cut_;
  WindowFinder<T> windows_;
  Box box_;
  std::int64_t batch_, column_, columns_, lanes_, pitch_, out_, span_ = 0, line_ = 0,
                                                                flat_pitch_ = 0;
  const std::byte *lhs_, *rhs_;
  T* to_ = nullptr;
  Steps steps_;
  std::int64_t lane_offsets_[matmul_k_block], seen_[2 * matmul_k_block];
  std::vector<std::int64_t> places_;
  std::vector<const T*> sites_, weights_;
  std::vector<T*> targets_;
  std::vector<Group> groups_;
  std::unique_ptr<AlignedBuffer<T>> panel_;
};

}  // namespace shardax::kernels

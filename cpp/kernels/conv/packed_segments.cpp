// kernels/conv/packed_segments.cpp - sums of bfloat16 by segments, where outputs are few.
#include <algorithm>
#include <memory>

#include "kernels/conv/packed_product.h"

namespace shardax::kernels {
namespace {

class Segments : PackedProduct {
 public:
  Segments(const ConvArgs& p, const Part& part, const PairKernels& kernels)
      : PackedProduct(p, part, Inner::taps, kernels) {}

  // All outputs of some items, segment by segment of the elements of their sums. Runs of segments
  // have sums of their own, so that cores are busy where outputs are few.
  void run(ParallelFor parallel_for) {
    constexpr std::int64_t most_steps = 1024, most_rows = 512, most_runs = 16;
    Elements cut{};  // sizes in c1 and w1
    std::int64_t left = most_steps, segments = 1;
    for (std::size_t d = 3; d-- > 0;) {
      const std::int64_t taps = taps_of(part_.lines[d]);
      cut.w1[d] = even(taps, left);
      left = cut.w1[d] == taps ? std::max<std::int64_t>(1, left / taps) : 1;
      segments *= parts_of(taps, cut.w1[d]);
    }
    cut.c1 = even(p_.c.size, left);
    segments *= parts_of(p_.c.size, cut.c1);
    const std::int64_t each = part_.outputs();
    std::int64_t items = even(p_.n.size, most_rows / each);
    const std::int64_t splits =
        std::clamp<std::int64_t>(most_runs / (batch_ * parts_of(p_.n.size, items)), 1, segments);
    const std::int64_t run = parts_of(segments, splits), runs = parts_of(segments, run);
    while (items * each > block_rows && items > 1 &&
           batch_ * parts_of(p_.n.size, items) * runs < runtime::enough_chunks(8))
      items = even(p_.n.size, items / 2);
    const std::int64_t parts = parts_of(p_.n.size, items),
                       size = parts_of(items * each, block_rows) * block_rows * width();
    const AlignedBuffer<float> sums(batch_ * parts * runs * size);
    const auto body = [&](std::int64_t i) {
      const std::int64_t first = i % runs * run, block = i / runs;
      add_up(first, std::min(segments, first + run), cut, box_of_items(block % parts, items),
             block / parts, sums.data() + i * size);
    };
    const double steps = static_cast<double>(parts_of(part_.steps, runs));
    run_chunks(batch_ * parts * runs, nanoseconds(static_cast<double>(items * each), steps),
               parallel_for, body);
    const std::int64_t groups = parts_of(items * each, block_rows);
    const auto finish = [&](std::int64_t i) {
      const std::int64_t block = i / groups;
      finish_rows(i % groups * block_rows, box_of_items(block % parts, items), block / parts,
                  sums.data() + block * runs * size, runs, size);
    };
    run_chunks(batch_ * parts * groups, static_cast<double>(block_rows * width() * (runs + 1)) / 4,
               parallel_for, finish);
  }

 private:
  Box box_of_items(std::int64_t i, std::int64_t items) const {
    return {i * items,
            std::min((i + 1) * items, p_.n.size),
            {},
            {part_.lines[0].count, part_.lines[1].count, part_.lines[2].count}};
  }

  void add_up(std::int64_t first, std::int64_t end, const Elements& cut, const Box& box,
              std::int64_t batch, float* sums) const {
    PackedWindow window(p_, inner_, tap_step_);
    Runs of_lhs, of_rhs;
    std::vector<Row> places, sites;
    const AlignedBuffer<std::uint32_t> room(block_rows * row_words);
    std::unique_ptr<AlignedBuffer<std::uint32_t>> panels;
    for (std::int64_t i = first; i < end; ++i) {
      runtime::poll();
      const Elements s = segment(i, cut);
      see(box, s, lhs(batch), window, of_lhs);
      find_rows(box, box.t0, window, places, sites);
      find_in_rhs(s, of_rhs);
      const std::int64_t size = panel_size(of_rhs);
      if (!panels || panels->size() < panels_ * size)
        panels = std::make_unique<AlignedBuffer<std::uint32_t>>(panels_ * size);
      for (std::int64_t j = 0; j < panels_; ++j) {
        const std::int64_t column = j * kernels_.panel;
        pack_panel(of_rhs, rhs(batch), column, std::min(kernels_.panel, p_.o.size - column),
                   panels->data() + j * size);
      }
      for (std::int64_t r = 0; r < box.rows(); r += block_rows) {
        multiply(of_lhs, window.data(), sites.data() + r, std::min(block_rows, box.rows() - r),
                 panels->data(), size, p_.o.size, room.data(), sums + r * width(), i > first);
      }
    }
  }
  Elements segment(std::int64_t i, const Elements& cut) const {
    Elements s{};
    for (std::size_t d = 3; d-- > 0;) {
      const std::int64_t taps = taps_of(part_.lines[d]), parts = parts_of(taps, cut.w1[d]);
      s.w0[d] = i % parts * cut.w1[d];
      s.w1[d] = std::min(s.w0[d] + cut.w1[d], taps);
      i /= parts;
    }
    s.c0 = i * cut.c1;
    s.c1 = std::min(s.c0 + cut.c1, p_.c.size);
    return s;
  }

  // Rows from `first` on: the sums of all runs, `apart` elements from each other, to the result.
  void finish_rows(std::int64_t first, const Box& box, std::int64_t batch, float* sums,
                   std::int64_t runs, std::int64_t apart) const {
    if (first >= box.rows()) return;
    const std::int64_t rows = std::min(block_rows, box.rows() - first), count = rows * width();
    float* const from = sums + first * width();
    for (std::int64_t r = 1; r < runs; ++r) {
      for (std::int64_t i = 0; i < count; ++i) from[i] += from[r * apart + i];
    }
    PackedWindow none(p_, inner_, tap_step_);
    std::vector<Row> places, sites;
    find_rows(box, box.t0, none, places, sites);
    write(from, width(), places.data() + first, rows, 0, p_.o.size,
          batch_offset(p_, batch, &ConvAxis::out));
  }
};

}  // namespace

void convolution_in_segments(const ConvArgs& p, const Part& part, const PairKernels& kernels,
                             ParallelFor parallel_for) {
  Segments(p, part, kernels).run(parallel_for);
}

}  // namespace shardax::kernels

// kernels/conv/packed_boxes.cpp - boxes of outputs of bfloat16, which have all that they sum up.
#include <algorithm>
#include <array>

#include "kernels/conv/packed_product.h"

namespace shardax::kernels {
namespace {

// Outputs [t0, t1) of all items, and the taps that are not padding for them.
struct Region {
  Ints3 t0, t1;
  Elements seen;
};

class Boxes : PackedProduct {
 public:
  Boxes(const ConvArgs& p, const Part& part, const PairKernels& kernels)
      : PackedProduct(p, part, Inner::channels, kernels), regions_(find_regions()) {}

  void run(ParallelFor parallel_for) {
    Runs of_rhs;
    find_in_rhs(whole(), of_rhs);
    const std::int64_t size = panel_size(of_rhs);
    const AlignedBuffer<std::uint32_t> packed(batch_ * panels_ * size);
    const auto pack = [&](std::int64_t i) {
      const std::int64_t j = i % panels_ * kernels_.panel;
      pack_panel(of_rhs, rhs(i / panels_), j, std::min(kernels_.panel, p_.o.size - j),
                 packed.data() + i * size);
    };
    run_chunks(batch_ * panels_, static_cast<double>(size), parallel_for, pack);
    Box cut{};  // sizes in n1 and t1
    std::int64_t columns = panels_;
    const auto blocks = [&] {
      std::int64_t count = batch_ * parts_of(p_.n.size, cut.n1) * parts_of(panels_, columns);
      for (std::size_t d = 0; d < 3; ++d) count *= parts_of(part_.lines[d].count, cut.t1[d]);
      return count;
    };
    for (std::int64_t rows = 1024;; rows /= 2) {
      cut = box_of(rows);
      if (blocks() >= runtime::enough_chunks(8) || rows <= block_rows) break;
    }
    while (blocks() < runtime::enough_chunks(8) && columns > 1) columns = parts_of(columns, 2);
    const double each =
        nanoseconds(static_cast<double>(cut.rows()), static_cast<double>(part_.steps));
    run_chunks(blocks(), each, parallel_for, [&](std::int64_t i) {
      const std::int64_t across = parts_of(panels_, columns), j = i % across * columns;
      box(i / across, cut, j, std::min(columns, panels_ - j), packed.data(), size);
    });
  }

 private:
  Box box_of(std::int64_t rows) const {
    Box box{};
    for (std::size_t d = 3; d-- > 0;) {
      const std::int64_t count = part_.lines[d].count;
      box.t1[d] = even(count, rows);
      rows = box.t1[d] == count ? std::max<std::int64_t>(1, rows / count) : 1;
    }
    box.n1 = even(p_.n.size, rows);
    return box;
  }
  void box(std::int64_t i, const Box& cut, std::int64_t first, std::int64_t count,
           const std::uint32_t* packed, std::int64_t size) const {
    runtime::poll();
    Box box{};
    for (std::size_t d = 3; d-- > 0;) {
      const std::int64_t all = part_.lines[d].count, parts = parts_of(all, cut.t1[d]);
      box.t0[d] = i % parts * cut.t1[d];
      box.t1[d] = std::min(box.t0[d] + cut.t1[d], all);
      i /= parts;
    }
    const std::int64_t parts = parts_of(p_.n.size, cut.n1), batch = i / parts;
    box.n0 = i % parts * cut.n1;
    box.n1 = std::min(box.n0 + cut.n1, p_.n.size);
    PackedWindow window(p_, inner_, 1);
    Runs all;
    see(box, whole(), lhs(batch), window, all);
    std::vector<Row> places, sites;
    const AlignedBuffer<std::uint32_t> room(block_rows * row_words);
    const std::int64_t pitch = count * kernels_.panel, j = first * kernels_.panel,
                       n = std::min(pitch, p_.o.size - j),
                       out = batch_offset(p_, batch, &ConvAxis::out);
    const AlignedBuffer<float> sums(block_rows * pitch);
    const std::uint32_t* const panels = packed + (batch * panels_ + first) * size;
    for (const Region& region : regions_) {
      Box own = box;
      for (std::size_t d = 0; d < 3; ++d) {
        own.t0[d] = std::max(box.t0[d], region.t0[d]);
        own.t1[d] = std::max(own.t0[d], std::min(box.t1[d], region.t1[d]));
      }
      if (own.rows() == 0) continue;
      const std::vector<TapLine> lines = lines_of_taps(region.seen, all, window);
      find_rows(own, box.t0, window, places, sites);
      for (std::int64_t r = 0; r < own.rows(); r += block_rows) {
        const std::int64_t rows = std::min(block_rows, own.rows() - r);
        if (lines.empty()) std::fill_n(sums.data(), rows * pitch, 0.0f);
        for (const TapLine& line : lines) {
          multiply(line.runs, window.data(), sites.data() + r, rows,
                   panels + line.first / kernels_.group * kernels_.panel, size, n, room.data(),
                   sums.data(), &line != lines.data());
        }
        write(sums.data(), pitch, places.data() + r, rows, j, n, out);
      }
    }
  }

  // Elements of sums, and the number of the first one.
  struct TapLine {
    Runs runs;
    std::int64_t first;
  };
  // Those that a region sees: `all`, or taps along the last dimension one after the other.
  std::vector<TapLine> lines_of_taps(const Elements& seen, const Runs& all,
                                     const PackedWindow& window) const {
    if (regions_.size() == 1) return {{all, 0}};
    std::vector<TapLine> lines;
    const Elements every = whole();
    Ints3 first{};
    for (std::size_t d = 0; d < 3; ++d) first[d] = part_.lines[d].taps[0].place;
    for (std::int64_t z = seen.w0[0]; z < seen.w1[0]; ++z) {
      for (std::int64_t y = seen.w0[1]; y < seen.w1[1] && seen.w0[2] < seen.w1[2]; ++y) {
        lines.push_back({{}, ((z * every.w1[1] + y) * every.w1[2] + seen.w0[2]) * p_.c.size});
        find_in_window({0, p_.c.size, {z, y, seen.w0[2]}, {z + 1, y + 1, seen.w1[2]}}, 0, first,
                       window, lines.back().runs);
      }
    }
    return lines;
  }

  // All outputs, or, where their taps meet much padding, those of regions with the same taps.
  std::vector<Region> find_regions() const {
    const Ints3 counts{part_.lines[0].count, part_.lines[1].count, part_.lines[2].count};
    const Region all{{}, counts, whole()};
    if (p_.c.size % Runs::together != 0) return {all};
    std::array<std::vector<Segment>, 3> segments;
    for (std::size_t d = 0; d < 3; ++d)
      segments[d] = segments_of(part_.lines[d], p_.space[d].lhs_size);
    const auto work = [&](const Region& r) {
      constexpr std::int64_t fewest = 4;  // rows, which take as long as one
      std::int64_t rows = p_.n.size, taps = 1;
      for (std::size_t d = 0; d < 3; ++d)
        rows *= r.t1[d] - r.t0[d], taps *= r.seen.w1[d] - r.seen.w0[d];
      return parts_of(rows, fewest) * taps;
    };
    std::vector<Region> regions;
    std::int64_t sum = 0;
    for (const auto& z : segments[0]) {
      for (const auto& y : segments[1]) {
        for (const auto& x : segments[2]) {
          regions.push_back({{z.first, y.first, x.first},
                             {z.end, y.end, x.end},
                             {0,
                              p_.c.size,
                              {z.first_tap, y.first_tap, x.first_tap},
                              {z.end_tap, y.end_tap, x.end_tap}}});
          sum += work(regions.back());
        }
      }
    }
    return 12 * sum < 11 * work(all) ? regions : std::vector<Region>{all};
  }

  const std::vector<Region> regions_;
};

}  // namespace

void convolution_in_boxes(const ConvArgs& p, const Part& part, const PairKernels& kernels,
                          ParallelFor parallel_for) {
  Boxes(p, part, kernels).run(parallel_for);
}

}  // namespace shardax::kernels

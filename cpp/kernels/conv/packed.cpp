// kernels/conv/packed.cpp - blocks of products of bfloat16: operands packed, results written.
#include "kernels/conv/packed.h"

#include <cstring>

#include "array/half.h"
#include "base/target.h"
#include "kernels/ceil_div.h"
#include "kernels/conv/packed_runs.h"
#include "kernels/conv/packed_window.h"
#include "kernels/gemm/amx.h"
#include "runtime/interrupt.h"
#include "runtime/pool.h"

namespace shardax::kernels {
namespace {

using Kernels = GroupKernels<Bits16, float>;
using Row = std::int64_t;  // the place of an output in a window, or in the result

constexpr std::int64_t block_rows = 64;  // their packed elements stay in the first caches

// Parts of nearly equal size, of at most `size`.
std::int64_t even(std::int64_t n, std::int64_t size) {
  size = std::clamp<std::int64_t>(size, 1, std::max<std::int64_t>(n, 1));
  return parts_of(n, parts_of(n, size));
}

std::int64_t taps_of(const Line& line) { return static_cast<std::int64_t>(line.taps.size()); }

// Taps [first, end) of each dimension, and channels: some elements of the sums.
struct Segment {
  std::int64_t c0, c1;
  Ints3 w0, w1;
};

// Outputs [t0, t1) of all items, and the taps that are not padding for them.
struct Region {
  Ints3 t0, t1;
  Segment seen;
};

class Packed {
 public:
  Packed(const ConvArgs& p, const Part& part, Inner inner, const Kernels& kernels)
      : p_(p),
        part_(part),
        inner_(inner),
        kernels_(kernels),
        floats_(float_kernels<float>(best_isa())),
        round_(floats_.round(p.out_dtype)),
        panels_(parts_of(p.o.size, kernels.panel)),
        batch_(batch_size(p)) {
    const std::vector<Tap>& taps = part.lines[2].taps;
    if (taps.size() > 1) tap_step_ = taps[1].place - taps[0].place;
  }

  void run(ParallelFor parallel_for) {
    inner_ == Inner::channels ? by_boxes(parallel_for) : by_segments(parallel_for);
  }

 private:
  std::int64_t width() const { return panels_ * kernels_.panel; }
  const Bits16* lhs(std::int64_t batch) const {
    return reinterpret_cast<const Bits16*>(p_.lhs) + batch_offset(p_, batch, &ConvAxis::lhs);
  }
  const Bits16* rhs(std::int64_t batch) const {
    return reinterpret_cast<const Bits16*>(p_.rhs) + batch_offset(p_, batch, &ConvAxis::rhs);
  }
  double nanoseconds(double rows, double steps) const {
    const double groups = steps / static_cast<double>(kernels_.group);
    return rows * static_cast<double>(panels_) * groups * kernels_.nanoseconds + rows * steps / 16;
  }
  Segment whole() const {
    return {0,
            p_.c.size,
            {0, 0, 0},
            {taps_of(part_.lines[0]), taps_of(part_.lines[1]), taps_of(part_.lines[2])}};
  }

  // Calls f(channel, count, taps) for each run of elements in order; counts go along `inner_`.
  template <class F>
  void for_runs(const Segment& s, F&& f) const {
    const auto &z = part_.lines[0].taps, &y = part_.lines[1].taps, &x = part_.lines[2].taps;
    const bool channels = inner_ == Inner::channels;
    for (std::int64_t c = s.c0; c < (channels ? s.c0 + 1 : s.c1); ++c) {
      for (std::int64_t i = s.w0[0]; i < s.w1[0]; ++i) {
        for (std::int64_t j = s.w0[1]; j < s.w1[1]; ++j) {
          for (std::int64_t k = s.w0[2]; k < (channels ? s.w1[2] : s.w0[2] + 1); ++k)
            f(c, channels ? s.c1 - s.c0 : s.w1[2] - s.w0[2], z[index(i)], y[index(j)], x[index(k)]);
        }
      }
    }
  }
  // The places in rhs of the elements of a segment.
  void find_in_rhs(const Segment& s, Runs& runs) const {
    runs.clear();
    const std::vector<Tap>& taps = part_.lines[2].taps;
    const std::int64_t step = inner_ == Inner::channels ? p_.c.rhs
                              : taps.size() > 1         ? (taps[1].w - taps[0].w) * p_.space[2].rhs
                                                        : 1;
    for_runs(s, [&](std::int64_t c, std::int64_t count, const Tap& z, const Tap& y, const Tap& x) {
      const std::int64_t at =
          c * p_.c.rhs + z.w * p_.space[0].rhs + y.w * p_.space[1].rhs + x.w * p_.space[2].rhs;
      runs.add({at, count, step});
    });
  }

  // Columns from j on of rhs, n of them, as a panel.
  void pack_panel(const Runs& runs, const Bits16* rhs, std::int64_t j, std::int64_t n,
                  std::uint32_t* out) const {
    constexpr std::int64_t most = Runs::block, pitch = most + Runs::together, widest = 32;
    alignas(64) Bits16 lines[widest * pitch];
    std::int64_t places[most];
    rhs += j * p_.o.rhs;
    for (std::size_t b = 0; b < runs.blocks(); ++b) {
      const std::int64_t length = runs.length(b), padded = runs.padded(b),
                         groups = padded / kernels_.group;
      if (p_.o.rhs == 1) {
        std::int64_t* to = places;
        for (const Run* r = runs.first(b); r < runs.last(b); ++r)
          for (std::int64_t i = 0; i < r->count; ++i) *to++ = r->at + i * r->step;
        if (n < kernels_.panel || padded > length)
          std::fill_n(out, groups * kernels_.panel, std::uint32_t{});
        for (std::int64_t i = 0; i < length; i += 2) {
          const bool both = i + 1 < length;
          kernels_.pack_rows(rhs + places[i], both ? places[i + 1] - places[i] : 0, n, both ? 2 : 1,
                             0, out + i / 2 * kernels_.panel);
        }
      } else {
        for (std::int64_t l = 0; l < kernels_.panel; ++l) {
          Bits16* to = lines + l * pitch;
          for (const Run* r = runs.first(b); l < n && r < runs.last(b); ++r) {
            const Bits16* const from = rhs + l * p_.o.rhs + r->at;
            if (r->step == 1) {
              copy16(from, r->count, to);
            } else {
              for (std::int64_t i = 0; i < r->count; ++i) to[i] = from[i * r->step];
            }
            to += r->count;
          }
          std::fill(to, lines + l * pitch + padded, Bits16{});
        }
        // Turned as floats: they are moved only.
        floats_.turn(reinterpret_cast<const float*>(lines), pitch / 2, groups, kernels_.panel,
                     kernels_.panel, reinterpret_cast<float*>(out));
      }
      out += groups * kernels_.panel;
    }
  }
  std::int64_t panel_size(const Runs& runs) const {
    return runs.padded() / kernels_.group * kernels_.panel;
  }

  // Words between packed rows: an odd number of cache lines.
  static constexpr std::int64_t row_words = Runs::block / 2 + 16;

  // Copies the elements of block b of `rows` rows.
  static void pack_rows(const Runs& runs, std::size_t b, const Bits16* window, const Row* sites,
                        std::int64_t rows, Bits16* to) {
    const Run *const first = runs.first(b), *const last = runs.last(b);
    const std::int64_t length = runs.length(b), padded = runs.padded(b);
    dispatch([=] {
      constexpr std::int64_t few = 16, many = 32;  // elements that are copied at a time
      for (std::int64_t r = 0; r < rows; ++r) {
        // Too many are copied; the next run is written over them.
        Bits16* out = to + r * 2 * row_words;
        for (const Run* run = first; run < last; ++run) {
          const Bits16* const from = window + sites[r] + run->at;
          const std::int64_t n = run->count;
          if (n <= few) {
            __builtin_memcpy(out, from, few * sizeof *out);
          } else {
            for (std::int64_t i = 0; i < n; i += many)
              __builtin_memcpy(out + i, from + i, many * sizeof *out);
          }
          out += n;
        }
        for (std::int64_t i = length; i < padded; ++i) to[r * 2 * row_words + i] = 0;
      }
    });
  }

  // The sums of up to block_rows rows with features in panels, which lie `apart`.
  void multiply(const Runs& runs, const Bits16* window, const Row* sites, std::int64_t rows,
                const std::uint32_t* panels, std::int64_t apart, std::int64_t features,
                std::uint32_t* room, float* sums, bool add) const {
    const std::int64_t pitch = parts_of(features, kernels_.panel) * kernels_.panel;
    for (std::size_t b = 0; b < runs.blocks(); ++b) {
      pack_rows(runs, b, window, sites, rows, reinterpret_cast<Bits16*>(room));
      const std::uint32_t* columns =
          panels + static_cast<std::int64_t>(b) * Runs::block / 2 * kernels_.panel;
      if (kernels_.open) kernels_.open();
      for (std::int64_t j = 0; j < features; j += kernels_.panel, columns += apart)
        kernels_.rows_by_panel(rows, features - j, runs.padded(b) / kernels_.group, room, row_words,
                               columns, sums + j, pitch, add || b > 0);
      if (kernels_.close) kernels_.close();
    }
  }

  // Places of the outputs of a box in the result, and in a window whose first output is at `start`.
  void find_rows(const Box& box, const Ints3& start, const PackedWindow& window,
                 std::vector<Row>& places, std::vector<Row>& sites) const {
    places.resize(index(box.rows()));
    sites.resize(index(box.rows()));
    Row *place = places.data(), *site = sites.data();
    const Line& line = part_.lines[2];
    const std::int64_t apart = line.step * p_.space[2].out;
    for (std::int64_t n = box.n0; n < box.n1; ++n) {
      for (std::int64_t z = box.t0[0]; z < box.t1[0]; ++z) {
        for (std::int64_t y = box.t0[1]; y < box.t1[1]; ++y) {
          const Ints3 t{z, y, box.t0[2]};
          Ints3 seen{};
          std::int64_t at = n * p_.n.out;
          for (std::size_t d = 0; d < 3; ++d) {
            const Line& l = part_.lines[d];
            at += (l.first + t[d] * l.step) * p_.space[d].out;
            if (d < 2) seen[d] = (t[d] - start[d]) * l.lhs_step;
          }
          const std::int64_t first = window.at(n - box.n0, 0, seen);
          for (std::int64_t x = 0; x < box.t1[2] - box.t0[2]; ++x) {
            *place++ = at + x * apart;
            *site++ = first + window.along((x + box.t0[2] - start[2]) * line.lhs_step);
          }
        }
      }
    }
  }

  // Fills the window for a box of outputs and finds the elements of their sums there.
  void see(const Box& box, const Segment& s, const Bits16* lhs, PackedWindow& window,
           Runs& runs) const {
    Seen seen{box.n0, box.n1, s.c0, s.c1, {}, {}};
    Ints3 first{};
    for (std::size_t d = 0; d < 3; ++d) {
      const Line& l = part_.lines[d];
      first[d] = l.taps[index(s.w0[d])].place;
      seen.low[d] = first[d] + box.t0[d] * l.lhs_step;
      seen.size[d] = l.taps[index(s.w1[d] - 1)].place - first[d] + 1 +
                     (box.t1[d] - 1 - box.t0[d]) * l.lhs_step;
    }
    window.fill(lhs, seen);
    runs.clear();
    find_in_window(s, s.c0, first, window, runs);
  }
  // The elements of sums in a window that starts with channel c0 and these places of taps.
  void find_in_window(const Segment& s, std::int64_t c0, const Ints3& first,
                      const PackedWindow& window, Runs& runs) const {
    for_runs(s, [&](std::int64_t c, std::int64_t count, const Tap& z, const Tap& y, const Tap& x) {
      const Ints3 place{z.place - first[0], y.place - first[1], x.place - first[2]};
      runs.add({window.at(0, c - c0, place), count, 1});
    });
  }

  // Rows of sums, `pitch` apart, of features [j, j + n) to the result at `out`.
  void write(const float* sums, std::int64_t pitch, const Row* places, std::int64_t rows,
             std::int64_t j, std::int64_t n, std::int64_t out) const {
    const std::int64_t bytes = itemsize(p_.out_dtype), step = p_.o.out;
    std::byte* const to = p_.out + (out + j * step) * bytes;
    for (std::int64_t i = 0; i < rows;) {
      std::int64_t end = i + 1;
      const std::int64_t apart = end < rows ? places[end] - places[i] : 1;
      while (step != 1 && end < rows && places[end] == places[end - 1] + apart) ++end;
      const float* from = sums + i * pitch;
      if (end - i < 4 || (apart != 1 && p_.out_dtype == DType::float32)) {
        for (; i < end; ++i, from += pitch) round_(from, 1, n, to + places[i] * bytes, 0, step);
        continue;
      }
      turn_out(from, pitch, end - i, n, to + places[i] * bytes, apart);
      i = end;
    }
  }
  // Whole panels of sums, rounded to bfloat16.
  static void round_panels(const float* sums, std::int64_t pitch, std::int64_t rows,
                           std::int64_t columns, Bits16* to, std::int64_t to_pitch) {
    dispatch([=] {
      constexpr std::int64_t panel = 32;
      for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t j = 0; j < columns; j += panel) {
          SHARDAX_IVDEP
          for (std::int64_t l = j; l < j + panel; ++l)
            to[r * to_pitch + l] = to_bfloat16(sums[r * pitch + l]).bits;
        }
      }
    });
  }
  // The sums of outputs that lie `apart`.
  void turn_out(const float* sums, std::int64_t pitch, std::int64_t rows, std::int64_t n,
                std::byte* to, std::int64_t apart) const {
    const std::int64_t step = p_.o.out;
    if (p_.out_dtype == DType::float32)
      return floats_.turn(sums, pitch, n, rows, step, reinterpret_cast<float*>(to));
    constexpr std::int64_t some = 64, panel = 32;
    Bits16 rounded[block_rows * some], turned[block_rows * some];
    Bits16* lines[some];
    for (std::int64_t j = 0; j < n; j += some) {
      const std::int64_t count = std::min(some, n - j);
      Bits16* const first = reinterpret_cast<Bits16*>(to) + j * step;
      round_panels(sums + j, pitch, rows, parts_of(count, panel) * panel, rounded, some);
      for (std::int64_t l = 0; l < count; ++l)
        lines[l] = apart == 1 ? first + l * step : turned + l * block_rows;
      transpose16(rounded, some, count, rows, lines);
      for (std::int64_t l = 0; apart != 1 && l < count; ++l) {
        for (std::int64_t r = 0; r < rows; ++r) first[l * step + r * apart] = lines[l][r];
      }
    }
  }

  // Outputs in boxes, each of which has all the elements of its sums.
  void by_boxes(ParallelFor parallel_for) {
    regions_ = find_regions();
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
  std::vector<TapLine> lines_of_taps(const Segment& seen, const Runs& all,
                                     const PackedWindow& window) const {
    if (regions_.size() == 1) return {{all, 0}};
    std::vector<TapLine> lines;
    const Segment every = whole();
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
    std::array<std::vector<kernels::Segment>, 3> segments;
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

  // All outputs of some items, segment by segment of the elements of their sums. Runs of segments
  // have sums of their own, so that cores are busy where outputs are few.
  void by_segments(ParallelFor parallel_for) {
    constexpr std::int64_t most_steps = 1024, most_rows = 512, most_runs = 16;
    Segment cut{};  // sizes in c1 and w1
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
  Box box_of_items(std::int64_t i, std::int64_t items) const {
    return {i * items,
            std::min((i + 1) * items, p_.n.size),
            {},
            {part_.lines[0].count, part_.lines[1].count, part_.lines[2].count}};
  }

  void add_up(std::int64_t first, std::int64_t end, const Segment& cut, const Box& box,
              std::int64_t batch, float* sums) const {
    PackedWindow window(p_, inner_, tap_step_);
    Runs of_lhs, of_rhs;
    std::vector<Row> places, sites;
    const AlignedBuffer<std::uint32_t> room(block_rows * row_words);
    std::unique_ptr<AlignedBuffer<std::uint32_t>> panels;
    for (std::int64_t i = first; i < end; ++i) {
      runtime::poll();
      const Segment s = segment(i, cut);
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
  Segment segment(std::int64_t i, const Segment& cut) const {
    Segment s{};
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

  const ConvArgs& p_;
  const Part& part_;
  const Inner inner_;
  const Kernels& kernels_;
  const FloatKernels<float>& floats_;
  const Round<float> round_;
  const std::int64_t panels_, batch_;
  std::int64_t tap_step_ = 1;
  std::vector<Region> regions_;  // of boxes
};

// Gradients of kernels have fewer outputs than taps.
Inner inner_of(const ConvArgs& p) {
  constexpr std::int64_t most_outputs = 4096;
  std::int64_t outputs = 1, taps = 1;
  for (const ConvSpace& s : p.space) outputs *= s.out_size, taps *= s.rhs_size;
  return outputs < taps && outputs <= most_outputs ? Inner::taps : Inner::channels;
}

// Zeros for all outputs, feature by feature.
void write_zeros(const ConvArgs& p, ParallelFor parallel_for) {
  const std::int64_t bytes = itemsize(p.out_dtype);
  const ConvSpace &z = p.space[0], &y = p.space[1], &x = p.space[2];
  const auto body = [&](std::int64_t i) {
    const std::int64_t at = i % p.o.size * p.o.out + i / p.o.size % p.n.size * p.n.out +
                            batch_offset(p, i / p.o.size / p.n.size, &ConvAxis::out);
    for (std::int64_t j = 0; j < z.out_size; ++j) {
      for (std::int64_t k = 0; k < y.out_size; ++k) {
        std::byte* const line = p.out + (at + j * z.out + k * y.out) * bytes;
        if (x.out == 1) {
          std::memset(line, 0, index(x.out_size * bytes));
        } else {
          for (std::int64_t l = 0; l < x.out_size; ++l)
            std::memset(line + l * x.out * bytes, 0, index(bytes));
        }
      }
    }
  };
  const double each = static_cast<double>(z.out_size * y.out_size * (x.out_size / 4 + 8));
  run_chunks(batch_size(p) * p.n.size * p.o.size, each / 4, parallel_for, body);
}

}  // namespace

bool multiplies_bfloat16(std::int64_t features, std::int64_t steps) {
  // Packing takes as long for few features. 256 images of 28 x 28 with 5 x 5 taps to 6 features
  // take 4.9 ms, and 0.7 ms as float32; 6 channels of 14 x 14 to 16 features 0.6 ms both ways.
  // Half of a panel has 16 features.
  constexpr std::int64_t fewest_steps = 32, least_work = 1024;
  const std::int64_t fewest_features = has_tiles() ? 8 : 9;
  return pair_kernels() && features >= fewest_features && steps >= fewest_steps &&
         features * steps >= least_work;
}

bool is_packed(const ConvArgs& p) {
  if (p.dtype != DType::bfloat16 || p.space.size() > 3) return false;
  if (p.out_dtype != DType::bfloat16 && p.out_dtype != DType::float32) return false;
  std::int64_t steps = p.c.size;
  for (const ConvSpace& s : p.space) steps *= s.rhs_size;
  return multiplies_bfloat16(p.o.size, steps);
}

void convolution_packed(const ConvArgs& args, ParallelFor parallel_for) {
  const ConvArgs p = with_three_dimensions(args);
  const Inner inner = inner_of(p);
  const std::vector<Part> parts = lines_by_taps(p);
  const auto empty = [](const Part& part) { return part.steps == 0; };
  if (std::any_of(parts.begin(), parts.end(), empty)) write_zeros(p, parallel_for);
  for (const Part& part : parts) {
    if (!empty(part)) Packed(p, part, inner, *pair_kernels()).run(parallel_for);
  }
}

}  // namespace shardax::kernels

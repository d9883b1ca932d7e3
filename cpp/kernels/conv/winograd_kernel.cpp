// kernels/conv/winograd_kernel.cpp - kernel gradients of 3 x 3 taps, by blocks of channels.
#include "kernels/conv/winograd_rows.h"
#include "runtime/interrupt.h"

namespace shardax::kernels {
namespace {

template <class T>
class KernelGradient {
 public:
  explicit KernelGradient(const ConvArgs& p)
      : p_(p),
        kernels_(float_kernels<T>(best_isa())),
        width_(kernels_.panel_columns),
        strips_{parts_of(p.space[0].rhs_size, 2), parts_of(p.space[1].rhs_size, 2)} {
    const ConvSpace &y = p.space[0], &x = p.space[1];
    down_ = {{p.n.lhs, p.c.lhs, y.lhs, x.lhs, y.lhs_size, x.lhs_size},
             p.n.size,
             p.n.out,
             &ConvAxis::lhs,
             reinterpret_cast<const T*>(p.lhs),
             false};
    across_ = {{p.o.rhs, p.c.rhs, y.rhs, x.rhs, y.rhs_size, x.rhs_size},
               p.o.size,
               p.o.out,
               &ConvAxis::rhs,
               reinterpret_cast<const T*>(p.rhs),
               true};
    if (std::abs(down_.out) < std::abs(across_.out)) std::swap(down_, across_);
    cut();
  }

  void run(ParallelFor parallel_for) {
    const std::int64_t blocks = batch_size(p_) * down_parts_ * across_parts_;
    const std::int64_t size = points * plane();
    const AlignedBuffer<T> sums(blocks * runs_ * size);
    const double each =
        static_cast<double>(run_ * rows_ * columns_) * static_cast<double>(size) * sizeof(T) / 160;
    const auto run = [&](std::int64_t i) {
      Block(*this, i / runs_).run(i % runs_, sums.data() + i * size);
    };
    run_chunks(blocks * runs_, each, parallel_for, run);
    const std::int64_t groups = parts_of(down_size_, group);
    const auto finish = [&](std::int64_t i) {
      Block(*this, i / groups)
          .finish(i % groups * group, sums.data() + i / groups * runs_ * size, size);
    };
    run_chunks(blocks * groups, static_cast<double>(group * size / down_size_ * (runs_ + 1)) / 2,
               parallel_for, finish);
  }

 private:
  // One of the factors: the operand or the cotangent of the result.
  struct Side {
    Images images;
    std::int64_t channels, out;  // and the stride that channels have in the result
    std::int64_t ConvAxis::*batch;
    const T* data;
    bool is_cotangent;
  };

  static constexpr std::int64_t group = 8;  // rows of a block that are finished at a time

  std::int64_t plane() const { return down_size_ * across_size_; }

  // Blocks are of channels with one set of sums, and of the tiles whose points fit the second-level
  // cache. Few blocks for many cores are split into runs of tiles with separate sums.
  void cut() {
    const auto even = [](std::int64_t n, std::int64_t most) {
      return parts_of(n, parts_of(n, most));
    };
    constexpr std::int64_t most = 128;
    down_size_ = even(down_.channels, most);
    down_parts_ = parts_of(down_.channels, down_size_);
    across_size_ = parts_of(even(across_.channels, most), width_) * width_;
    across_parts_ = parts_of(across_.channels, across_size_);
    const std::int64_t bytes = points * (down_size_ + across_size_) * std::int64_t{sizeof(T)};
    const std::int64_t tiles = std::clamp<std::int64_t>((1 << 20) / bytes, 32, matmul_k_block);
    columns_ = even(strips_.columns, tiles);
    column_parts_ = parts_of(strips_.columns, columns_);
    const std::int64_t strips = p_.c.size * strips_.rows;
    rows_ = std::clamp<std::int64_t>(tiles / columns_, 1, strips);
    const std::int64_t steps = parts_of(strips, rows_) * column_parts_;
    const std::int64_t blocks = batch_size(p_) * down_parts_ * across_parts_;
    runs_ = std::clamp<std::int64_t>(16 / blocks, 1, std::max<std::int64_t>(steps / 4, 1));
    run_ = parts_of(steps, runs_);
    runs_ = parts_of(steps, run_);
  }

  class Block {
   public:
    Block(const KernelGradient& g, std::int64_t index) : g_(g), p_(g.p_) {
      across_.begin = index % g.across_parts_ * g.across_size_;
      across_.end = std::min(across_.begin + g.across_size_, g.across_.channels);
      index /= g.across_parts_;
      down_.begin = index % g.down_parts_ * g.down_size_;
      down_.end = std::min(down_.begin + g.down_size_, g.down_.channels);
      batch_ = index / g.down_parts_;
    }

    // The sums of a run of steps at each point.
    void run(std::int64_t index, T* sums) const {
      const std::int64_t width = g_.width_, most = g_.rows_ * g_.columns_;
      const std::int64_t a_pitch = row_pitch<T>(down_.size());
      const std::int64_t panels = parts_of(across_.size(), width), panel = most * width;
      // Points lie a cache line off from each other's places in a page.
      const std::int64_t a_plane = most * a_pitch + 64 / sizeof(T),
                         b_plane = panels * panel + 64 / sizeof(T);
      const AlignedBuffer<T> a(points * a_plane), b(points * b_plane);
      if (across_.size() % width != 0) std::fill_n(b.data(), points * b_plane, T{});
      RowReader<T> rows(g_.down_.images, down_.size(), g_.kernels_),
          columns(g_.across_.images, across_.size(), g_.kernels_);
      const std::int64_t strips = p_.c.size * g_.strips_.rows,
                         steps = parts_of(strips, g_.rows_) * g_.column_parts_;
      const std::int64_t first = index * g_.run_, end = std::min(steps, first + g_.run_);
      for (std::int64_t step = first; step < end; ++step) {
        runtime::poll();
        const std::int64_t x = step % g_.column_parts_ * g_.columns_,
                           y = step / g_.column_parts_ * g_.rows_;
        const Range tile_columns{x, std::min(x + g_.columns_, g_.strips_.columns)},
            tile_rows{y, std::min(y + g_.rows_, strips)};
        take(g_.down_, down_.begin, rows, tile_rows, tile_columns, down_.size(), a.data(), a_plane,
             a_pitch, 0);
        take(g_.across_, across_.begin, columns, tile_rows, tile_columns, width, b.data(), b_plane,
             width, panel);
        const std::int64_t tiles = tile_rows.size() * tile_columns.size();
        for (int i = 0; i < points; ++i) {
          for (std::int64_t j = 0; j < panels; ++j) {
            g_.kernels_.panel({down_.size(), width, tiles, a.data() + i * a_plane, 1, a_pitch,
                               b.data() + i * b_plane + j * panel, width, 1,
                               sums + i * g_.plane() + j * width, g_.across_size_},
                              step > first);
          }
        }
      }
    }

    // Rows [first, first + group) of the block: sums of all runs, `apart` elements from each other,
    // to the result.
    void finish(std::int64_t first, T* sums, std::int64_t apart) const {
      const std::int64_t n = across_.size(), stride = g_.across_.out;
      const AlignedBuffer<T> room(stride == 1 ? 0 : taps * n);
      const T* in[points];
      T *out[taps], *to[taps];
      for (std::int64_t r = first; r < std::min(first + group, down_.size()); ++r) {
        for (int i = 0; i < points; ++i) {
          T* const sum = sums + i * g_.plane() + r * g_.across_size_;
          for (std::int64_t run = 1; run < g_.runs_; ++run) add(sum, sum + run * apart, n);
          in[i] = sum;
        }
        for (int w = 0; w < taps; ++w) {
          to[w] = reinterpret_cast<T*>(p_.out) + batch_offset(p_, batch_, &ConvAxis::out) +
                  (down_.begin + r) * g_.down_.out + across_.begin * stride +
                  w / 3 * p_.space[0].out + w % 3 * p_.space[1].out;
          out[w] = stride == 1 ? to[w] : room.data() + w * n;
        }
        g_.kernels_.winograd.to_kernel(in, out, n);
        for (int w = 0; stride != 1 && w < taps; ++w)
          g_.kernels_.round(p_.out_dtype)(out[w], 1, n, to[w], 0, stride);
      }
    }

   private:
    static void add(T* to, const T* from, std::int64_t n) {
      for (std::int64_t i = 0; i < n; ++i) to[i] += from[i];
    }

    // Points of tiles, their channels from `channel` on: `width` of them a row, panels of rows
    // `panel` apart.
    void take(const Side& side, std::int64_t channel, RowReader<T>& reader, Range tile_rows,
              Range tile_columns, std::int64_t width, T* to, std::int64_t plane, std::int64_t pitch,
              std::int64_t panel) const {
      const T* const data =
          side.data + batch_offset(p_, batch_, side.batch) + channel * side.images.channel;
      const std::int64_t channels =
          std::min(side.channels - channel,
                   side.is_cotangent == g_.across_.is_cotangent ? across_.size() : down_.size());
      const std::int64_t y_low = side.is_cotangent ? 0 : p_.space[0].low,
                         x_low = side.is_cotangent ? 0 : p_.space[1].low,
                         more = side.is_cotangent ? 0 : 2;
      const T* in[points];
      T* out[points];
      g_.strips_.for_images(tile_rows.begin, tile_rows.end, [&](std::int64_t image, Range rows) {
        reader.see(data + image * side.images.image,
                   {2 * rows.begin - y_low, 2 * rows.end + more - y_low},
                   {2 * tile_columns.begin - x_low, 2 * tile_columns.end + more - x_low});
        for (std::int64_t y = rows.begin; y < rows.end; ++y) {
          for (std::int64_t x = tile_columns.begin; x < tile_columns.end; ++x, to += pitch) {
            // The places, of which a cotangent has four.
            if (side.is_cotangent) {
              reader.template square<2>(2 * y, 2 * x, in);
            } else {
              reader.template square<4>(2 * y - y_low, 2 * x - x_low, in);
            }
            const auto map = side.is_cotangent ? g_.kernels_.winograd.from_cotangent
                                               : g_.kernels_.winograd.from_operand;
            for (int i = 0; i < points; ++i) out[i] = to + i * plane;
            for (std::int64_t c = 0;; c += width) {
              map(in, out, std::min(width, channels - c));
              if (c + width >= channels) break;
              for (int i = 0; i < (side.is_cotangent ? 4 : points); ++i) in[i] += width;
              for (int i = 0; i < points; ++i) out[i] += panel;
            }
          }
        }
      });
    }

    const KernelGradient& g_;
    const ConvArgs& p_;
    Range down_, across_;
    std::int64_t batch_;
  };

  const ConvArgs& p_;
  const FloatKernels<T>& kernels_;
  const std::int64_t width_;  // of a packed panel
  const Strips strips_;
  Side down_, across_;                                                // rows and columns
  std::int64_t down_size_, across_size_, down_parts_, across_parts_;  // channels of a block
  std::int64_t rows_, columns_, column_parts_;                        // tiles of a step
  std::int64_t run_, runs_;                                           // steps of a run
};

}  // namespace

void winograd_kernel(const ConvArgs& p, ParallelFor parallel_for) {
  p.dtype == DType::float64 ? KernelGradient<double>(p).run(parallel_for)
                            : KernelGradient<float>(p).run(parallel_for);
}

}  // namespace shardax::kernels

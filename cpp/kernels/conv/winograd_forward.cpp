// kernels/conv/winograd_forward.cpp - the result of 3 x 3 taps, a block of tiles at a time.
#include "kernels/conv/winograd_rows.h"
#include "runtime/interrupt.h"

namespace shardax::kernels {
namespace {

template <class T>
class Forward {
 public:
  explicit Forward(const ConvArgs& p)
      : p_(p),
        kernels_(float_kernels<T>(best_isa())),
        width_(kernels_.panel_columns),
        panels_(parts_of(p.o.size, width_)),
        strips_{parts_of(p.space[0].out_size, 2), parts_of(p.space[1].out_size, 2)},
        v_pitch_(row_pitch<T>(p.c.size)),
        m_pitch_(row_pitch<T>(panels_ * width_)) {
    for (const ConvAxis& b : p.batch) packed_count_ *= b.rhs == 0 ? 1 : b.size;
    cut();
  }

  void run(ParallelFor parallel_for) {
    const AlignedBuffer<T> packed(packed_count_ * panels_ * panel_size());
    packed_ = packed.data();
    const auto panel = [&](std::int64_t i) { pack(i / panels_, i % panels_); };
    run_chunks(packed_count_ * panels_, static_cast<double>(panel_size()), parallel_for, panel);
    const std::int64_t blocks = batch_size(p_) * row_parts_ * column_parts_;
    const double each =
        static_cast<double>(rows_ * columns_ * panels_ * panel_size()) * sizeof(T) / 160;
    const auto block = [&](std::int64_t i) { Block(*this, i).run(); };
    run_chunks(blocks, each, parallel_for, block);
  }

 private:
  // Elements of a panel of the kernel: points by channels by columns.
  std::int64_t panel_size() const { return points * p_.c.size * width_; }

  // Blocks of whole tiles of products, whose points stay in the second-level cache; enough of them
  // to keep cores busy.
  void cut() {
    const std::int64_t strips = p_.n.size * strips_.rows;
    const std::int64_t bytes = points * (v_pitch_ + m_pitch_) * std::int64_t{sizeof(T)};
    std::int64_t most = std::clamp<std::int64_t>((1 << 20) / bytes, 48, 192);
    while (most > 24 && batch_size(p_) * strips * strips_.columns < 16 * most) most /= 2;
    column_parts_ = parts_of(strips_.columns, most);
    columns_ = parts_of(strips_.columns, column_parts_);
    rows_ = std::clamp<std::int64_t>(most / columns_, 1, strips);
    for (std::int64_t fewer = rows_; fewer > rows_ / 2; --fewer) {
      if (fewer * columns_ % kernels_.tile_rows != 0) continue;
      rows_ = fewer;
      break;
    }
    row_parts_ = parts_of(strips, rows_);
  }

  // Panel j of the kernel that `which` of the batch have, taken to points.
  void pack(std::int64_t which, std::int64_t j) const {
    runtime::poll();
    T* const to = packed_ + (which * panels_ + j) * panel_size();
    const std::int64_t first = j * width_, count = std::min(width_, p_.o.size - first);
    const T* rhs = reinterpret_cast<const T*>(p_.rhs) + first * p_.o.rhs;
    for (std::size_t d = p_.batch.size(); d-- > 0;) {
      if (p_.batch[d].rhs == 0) continue;
      rhs += which % p_.batch[d].size * p_.batch[d].rhs;
      which /= p_.batch[d].size;
    }
    if (std::abs(p_.o.rhs) <= std::abs(p_.c.rhs)) {
      if (count < width_) std::fill_n(to, panel_size(), T{});
      pack_along(rhs, p_.o.rhs, count, p_.c.rhs, p_.c.size, to, width_, p_.c.size * width_);
      return;
    }
    // Points of a run of channels, which are then turned into columns.
    constexpr std::int64_t run = 128;
    const AlignedBuffer<T> turned(points * width_ * run);
    for (std::int64_t c = 0; c < p_.c.size; c += run) {
      const std::int64_t n = std::min(run, p_.c.size - c);
      pack_along(rhs + c * p_.c.rhs, p_.c.rhs, n, p_.o.rhs, count, turned.data(), run,
                 width_ * run);
      for (int i = 0; i < points; ++i) {
        kernels_.pack(p_.dtype)(turned.data() + i * width_ * run, 1, run, n, count, width_,
                                to + (i * p_.c.size + c) * width_);
      }
    }
  }

  // The points of `count` rows of n elements of the kernel. Elements are `stride` apart in rhs,
  // rows `apart`. Row r of a point goes to to + r * row, points are `plane` apart.
  void pack_along(const T* rhs, std::int64_t stride, std::int64_t n, std::int64_t apart,
                  std::int64_t count, T* to, std::int64_t row, std::int64_t plane) const {
    const std::int64_t y = p_.space[0].rhs, x = p_.space[1].rhs;
    const AlignedBuffer<T> copy(stride == 1 ? 0 : taps * n);
    const T* in[taps];
    T* out[points];
    for (std::int64_t r = 0; r < count; ++r, rhs += apart) {
      for (int w = 0; w < taps; ++w) in[w] = rhs + w / 3 * y + w % 3 * x;
      if (stride != 1) gather(in, stride, n, copy.data());
      for (int i = 0; i < points; ++i) out[i] = to + i * plane + r * row;
      kernels_.winograd.from_kernel(in, out, n);
    }
  }

  // Taps of n elements that lie `stride` apart, side by side.
  void gather(const T* (&in)[taps], std::int64_t stride, std::int64_t n, T* to) const {
    const std::int64_t x = p_.space[1].rhs;
    if (std::abs(x) == 1 && p_.space[0].rhs == 3 * x) {
      // The taps of an element lie side by side, perhaps in reverse.
      kernels_.turn(x == 1 ? in[0] : in[taps - 1], stride, taps, n, n, to);
      for (int w = 0; w < taps; ++w) in[w] = to + (x == 1 ? w : taps - 1 - w) * n;
      return;
    }
    for (int w = 0; w < taps; ++w) {
      kernels_.pack(p_.dtype)(in[w], 0, stride, 1, n, n, to + w * n);
      in[w] = to + w * n;
    }
  }

  class Block {
   public:
    Block(const Forward& f, std::int64_t index)
        : f_(f),
          p_(f.p_),
          reader_({p_.c.lhs, p_.n.lhs, p_.space[0].lhs, p_.space[1].lhs, p_.space[0].lhs_size,
                   p_.space[1].lhs_size},
                  p_.c.size, f.kernels_) {
      columns_.begin = index % f.column_parts_ * f.columns_;
      columns_.end = std::min(columns_.begin + f.columns_, f.strips_.columns);
      index /= f.column_parts_;
      strips_.begin = index % f.row_parts_ * f.rows_;
      strips_.end = std::min(strips_.begin + f.rows_, p_.n.size * f.strips_.rows);
      const std::int64_t batch = index / f.row_parts_;
      lhs_ = reinterpret_cast<const T*>(p_.lhs) + batch_offset(p_, batch, &ConvAxis::lhs);
      out_ = reinterpret_cast<T*>(p_.out) + batch_offset(p_, batch, &ConvAxis::out);
      std::int64_t which = 0, size = 1, left = batch;
      for (std::size_t d = p_.batch.size(); d-- > 0; left /= p_.batch[d].size) {
        if (p_.batch[d].rhs == 0) continue;
        which += left % p_.batch[d].size * size;
        size *= p_.batch[d].size;
      }
      kernel_ = f.packed_ + which * f.panels_ * f.panel_size();
      tiles_ = strips_.size() * columns_.size();
      // Points lie a cache line off from each other's places in a page.
      v_plane_ = tiles_ * f.v_pitch_ + 64 / sizeof(T);
      m_plane_ = tiles_ * f.m_pitch_ + 64 / sizeof(T);
    }

    void run() {
      const AlignedBuffer<T> v(points * v_plane_), m(points * m_plane_);
      runtime::poll();
      from_operand(v.data());
      for (int i = 0; i < points; ++i)
        multiply(i, v.data() + i * v_plane_, m.data() + i * m_plane_);
      to_result(m.data());
    }

   private:
    void from_operand(T* v) {
      const std::int64_t y_low = p_.space[0].low, x_low = p_.space[1].low;
      const T* in[points];
      T* out[points];
      f_.strips_.for_images(strips_.begin, strips_.end, [&](std::int64_t image, Range rows) {
        reader_.see(lhs_ + image * p_.n.lhs, {2 * rows.begin - y_low, 2 * rows.end + 2 - y_low},
                    {2 * columns_.begin - x_low, 2 * columns_.end + 2 - x_low});
        for (std::int64_t y = rows.begin; y < rows.end; ++y) {
          for (std::int64_t x = columns_.begin; x < columns_.end; ++x, v += f_.v_pitch_) {
            reader_.template square<4>(2 * y - y_low, 2 * x - x_low, in);
            for (int i = 0; i < points; ++i) out[i] = v + i * v_plane_;
            f_.kernels_.winograd.from_operand(in, out, p_.c.size);
          }
        }
      });
    }

    void multiply(int point, const T* v, T* m) const {
      const std::int64_t width = f_.width_, channels = p_.c.size;
      for (std::int64_t j = 0; j < f_.panels_; ++j) {
        const T* b = kernel_ + (j * points + point) * channels * width;
        for (std::int64_t k = 0; k < channels; k += matmul_k_block) {
          f_.kernels_.panel({tiles_, width, std::min(matmul_k_block, channels - k), v + k,
                             f_.v_pitch_, 1, b + k * width, width, 1, m + j * width, f_.m_pitch_},
                            k > 0);
        }
      }
    }

    void to_result(const T* m) const {
      const ConvSpace &y = p_.space[0], &x = p_.space[1];
      const bool in_place = p_.o.out == 1;
      const std::int64_t pitch = row_pitch<T>(p_.o.size);
      const Range across{2 * columns_.begin, std::min(2 * columns_.end, x.out_size)};
      // Places of the result, channels side by side: of those outside of it, all in one row.
      const AlignedBuffer<T> room(in_place ? pitch
                                           : (2 * strips_.size() * across.size() + 1) * pitch);
      const T* in[points];
      T* out[4];
      f_.strips_.for_images(strips_.begin, strips_.end, [&](std::int64_t image, Range rows) {
        const Range down{2 * rows.begin, std::min(2 * rows.end, y.out_size)};
        T* const first = in_place
                             ? out_ + image * p_.n.out + down.begin * y.out + across.begin * x.out
                             : room.data() + pitch;
        const std::int64_t row = in_place ? y.out : across.size() * pitch,
                           column = in_place ? x.out : pitch;
        for (std::int64_t r = down.begin; r < 2 * rows.end; r += 2) {
          for (std::int64_t c = across.begin; c < 2 * columns_.end; c += 2, m += f_.m_pitch_) {
            for (int i = 0; i < points; ++i) in[i] = m + i * m_plane_;
            for (int i = 0; i < 4; ++i) {
              const std::int64_t to_y = r + i / 2, to_x = c + i % 2;
              out[i] = to_y < down.end && to_x < across.end
                           ? first + (to_y - down.begin) * row + (to_x - across.begin) * column
                           : room.data();
            }
            f_.kernels_.winograd.to_result(in, out, p_.o.size);
          }
        }
        if (!in_place) write(first, pitch, image, down, across);
      });
    }

    // Places with their channels side by side, to places side by side.
    void write(const T* from, std::int64_t pitch, std::int64_t image, Range down,
               Range across) const {
      const bool joined = p_.space[0].out == across.size();
      const std::int64_t runs = joined ? 1 : down.size(),
                         run = joined ? down.size() * across.size() : across.size();
      T* const to = out_ + image * p_.n.out + down.begin * p_.space[0].out + across.begin;
      for (std::int64_t r = 0; r < runs; ++r) {
        f_.kernels_.turn(from + r * run * pitch, pitch, p_.o.size, run, p_.o.out,
                         to + r * p_.space[0].out);
      }
    }

    const Forward& f_;
    const ConvArgs& p_;
    RowReader<T> reader_;
    Range strips_, columns_;
    const T *lhs_, *kernel_;
    T* out_;
    std::int64_t tiles_, v_plane_, m_plane_;
  };

  const ConvArgs& p_;
  const FloatKernels<T>& kernels_;
  const std::int64_t width_, panels_;  // of the packed kernel
  const Strips strips_;
  const std::int64_t v_pitch_, m_pitch_;
  std::int64_t packed_count_ = 1;
  std::int64_t rows_, columns_, row_parts_, column_parts_;  // of a block, in tiles; of the images
  T* packed_ = nullptr;
};

}  // namespace

void winograd_forward(const ConvArgs& p, ParallelFor parallel_for) {
  p.dtype == DType::float64 ? Forward<double>(p).run(parallel_for)
                            : Forward<float>(p).run(parallel_for);
}

}  // namespace shardax::kernels

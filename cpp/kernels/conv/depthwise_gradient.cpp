// kernels/conv/depthwise_gradient.cpp - gradients of depthwise kernels: sums over images.
//
// Here rhs is an image, and the outputs are taps. Each is the sum of the places of rhs times those
// of lhs, a tap further. So lines, taps and windows are those of the convolution whose outputs are
// the places of rhs.
#include <optional>

#include "base/index.h"
#include "kernels/conv/depthwise.h"
#include "kernels/conv/depthwise_window.h"
#include "runtime/interrupt.h"

namespace shardax::kernels {
namespace {

// The convolution whose outputs are the places of rhs. Its pointers are not used.
ConvArgs turned(ConvArgs p) {
  for (ConvAxis& b : p.batch) std::swap(b.rhs, b.out);
  std::swap(p.n, p.c);
  std::swap(p.n.rhs, p.n.out);
  std::swap(p.o.rhs, p.o.out);
  for (ConvSpace& s : p.space) {
    std::swap(s.rhs_size, s.out_size);
    std::swap(s.rhs, s.out);
    std::swap(s.stride, s.rhs_dilation);
  }
  return p;
}

// Channels of lhs by channels of rhs in a group: more are multiplied in tiles sooner.
constexpr std::int64_t most_pairs = 2;

// Sums of a unit, a plane or some channels, are made in chunks and then added up.
template <class T>
class KernelGradient {
 public:
  explicit KernelGradient(const ConvArgs& args)
      : p_(with_three_dimensions(args)),
        image_(turned(p_)),
        part_(lines_by_taps(image_)[0]),
        kernels_(float_kernels<T>(best_isa())),
        along_lanes_(p_.n.size * p_.o.size == 1 && has_lanes(p_, &ConvAxis::rhs)),
        blocks_(image_, part_, along_lanes_ ? lane_rows() : plane_rows()) {
    if (!along_lanes_) {
      shape_.emplace(image_, part_, blocks_.each, depthwise_chains<T>);
    } else {
      lanes_ = p_.batch.back();
      p_.batch.pop_back();
      image_.batch.pop_back();
      unit_lanes_ = std::min<std::int64_t>(lanes_.size, 256 / sizeof(T));
      lane_units_ = parts_of(lanes_.size, unit_lanes_);
      taps_.emplace(image_, part_);
      for (std::int64_t& k : taps_->steps) k *= unit_lanes_;
    }
    width_ = along_lanes_ ? unit_lanes_ : depthwise_chains<T>;
    size_ = p_.o.size * part_.steps * width_;
    for (std::int64_t k = 0; k < part_.steps; ++k) places_.push_back(k * width_);
    units_ = batch_size(p_) * lane_units_;
  }

  void run(ParallelFor parallel_for) {
    const double all =
        static_cast<double>(units_ * blocks_.count * blocks_.each) *
        static_cast<double>(part_.lines[2].count * (along_lanes_ ? unit_lanes_ : 1)) *
        static_cast<double>((p_.o.size * part_.steps + 2) * std::int64_t{sizeof(T)}) / 160;
    const std::int64_t chunks =
        std::min<std::int64_t>(64, static_cast<std::int64_t>(all / 25e3) + 1);
    const std::int64_t parts = std::clamp<std::int64_t>(chunks / units_, 1, blocks_.count);
    const double each = all / static_cast<double>(units_ * parts);
    if (parts == 1) {
      const auto unit = [&](std::int64_t i) {
        const AlignedBuffer<T> sums(size_);
        add_up(i, 0, blocks_.count, sums.data());
        write(i, sums.data());
      };
      return run_chunks(units_, each, parallel_for, unit);
    }
    const AlignedBuffer<T> sums(units_ * parts * size_);
    const auto chunk = [&](std::int64_t i) {
      add_up(i / parts, i % parts * blocks_.count / parts, (i % parts + 1) * blocks_.count / parts,
             sums.data() + i * size_);
    };
    run_chunks(units_ * parts, each, parallel_for, chunk);
    const auto finish = [&](std::int64_t unit) {
      T* own = sums.data() + unit * parts * size_;
      for (std::int64_t r = 1; r < parts; ++r) {
        for (std::int64_t i = 0; i < size_; ++i) own[i] += own[r * size_ + i];
      }
      write(unit, own);
    };
    run_chunks(units_, static_cast<double>(size_ * parts), parallel_for, finish);
  }

 private:
  // Chains of 256 steps.
  std::int64_t plane_rows() const {
    const std::int64_t chains = 256 / parts_of(part_.lines[2].count, depthwise_chains<T>);
    return std::clamp<std::int64_t>(std::min(chains, rows_in_cache(image_, part_, sizeof(T))), 1,
                                    depthwise_most_rows);
  }
  std::int64_t lane_rows() const { return std::max<std::int64_t>(1, 256 / part_.lines[2].count); }

  std::int64_t image_offset(std::int64_t batch, const Rows& at) const {
    return batch_offset(image_, batch, &ConvAxis::out) + at.n * image_.n.out +
           at.z * image_.space[0].out + at.y0 * image_.space[1].out;
  }

  // The sums of a unit over blocks [first, end).
  void add_up(std::int64_t unit, std::int64_t first, std::int64_t end, T* sums) const {
    std::fill_n(sums, size_, T{});
    along_lanes_ ? lanes(unit, first, end, sums) : planes(unit, first, end, sums);
  }

  void planes(std::int64_t unit, std::int64_t first, std::int64_t end, T* sums) const {
    PlaneWindow<T> window(image_, part_, *shape_, kernels_);
    const ConvSpace &x = image_.space[2], &y = image_.space[1];
    const std::int64_t columns = part_.lines[2].count, size = itemsize(p_.dtype);
    const bool in_place = x.out == 1 && size == sizeof(T);
    const AlignedBuffer<T> room(in_place ? 0 : blocks_.each * columns);
    const std::byte* lhs = p_.lhs + batch_offset(p_, unit, &ConvAxis::lhs) * size;
    for (std::int64_t i = first; i < end; ++i) {
      runtime::poll();
      const Rows at = blocks_.rows(part_, i);
      const T* in = window.fill(lhs, at);
      const std::int64_t rows = at.y1 - at.y0;
      for (std::int64_t o = 0; o < p_.o.size; ++o) {
        const std::byte* image = p_.rhs + (image_offset(unit, at) + o * p_.o.rhs) * size;
        for (std::int64_t j = 0; !in_place && j < rows; ++j)
          kernels_.pack(p_.dtype)(image + j * y.out * size, 0, x.out, 1, columns, columns,
                                  room.data() + j * columns);
        kernels_.depthwise.sums_of_planes(
            {rows, columns, 1, part_.steps, in, part_.lines[1].lhs_step * shape_->pitch, 1,
             shape_->taps.data(), in_place ? reinterpret_cast<const T*>(image) : room.data(),
             in_place ? y.out : columns, 1, sums + o * part_.steps * width_, places_.data()});
      }
    }
  }

  void lanes(std::int64_t unit, std::int64_t first, std::int64_t end, T* sums) const {
    const std::int64_t batch = unit / lane_units_, lane = unit % lane_units_ * unit_lanes_,
                       count = std::min(unit_lanes_, lanes_.size - lane);
    const auto step = [&](std::size_t d) { return part_.lines[d].lhs_step * p_.space[d].lhs; };
    const ConvSpace &x = image_.space[2], &y = image_.space[1];
    for (std::int64_t i = first; i < end; ++i) {
      runtime::poll();
      const Rows at = blocks_.rows(part_, i);
      for (const SeenTaps& seen : taps_->all) {
        const auto& [in_z, in_y, in_x] = seen.at;
        const Rows own{at.n, at.z, std::max(at.y0, in_y.first), std::min(at.y1, in_y.end)};
        if (at.z < in_z.first || at.z >= in_z.end || own.y0 >= own.y1 || seen.count == 0) continue;
        const T* lhs = reinterpret_cast<const T*>(p_.lhs) + lane +
                       batch_offset(p_, batch, &ConvAxis::lhs) + at.n * image_.n.lhs +
                       at.z * step(0) + own.y0 * step(1) + in_x.first * step(2);
        const T* image = reinterpret_cast<const T*>(p_.rhs) + lane + image_offset(batch, own) +
                         in_x.first * x.out;
        kernels_.depthwise.sums_of_lanes({own.y1 - own.y0, in_x.end - in_x.first, count, seen.count,
                                          lhs, step(1), step(2), taps_->lhs.data() + seen.first,
                                          image, y.out, x.out, sums,
                                          taps_->steps.data() + seen.first});
      }
    }
  }

  void write(std::int64_t unit, const T* sums) const {
    const std::int64_t batch = unit / lane_units_, lane = unit % lane_units_ * unit_lanes_,
                       count = along_lanes_ ? std::min(unit_lanes_, lanes_.size - lane) : 1;
    const std::int64_t start = batch_offset(p_, batch, &ConvAxis::out) + lane * lanes_.out;
    const auto put = [&](std::int64_t at, const T* values) {
      kernels_.round(p_.out_dtype)(values, 1, count, p_.out + at * itemsize(p_.out_dtype), 0,
                                   along_lanes_ ? lanes_.out : 1);
    };
    const auto& space = p_.space;
    for (std::int64_t o = 0; o < p_.o.size; ++o) {
      for (std::int64_t n = 0; n < p_.n.size; ++n) {
        const std::int64_t at = start + o * p_.o.out + n * p_.n.out;
        write_zeros(at, put);
        for (const Tap& z : part_.lines[0].taps) {
          for (const Tap& y : part_.lines[1].taps) {
            for (const Tap& x : part_.lines[2].taps) {
              const T sum = along_lanes_ ? T{} : added(sums);
              put(at + z.w * space[0].out + y.w * space[1].out + x.w * space[2].out,
                  along_lanes_ ? sums : &sum);
              sums += width_;
            }
          }
        }
      }
    }
  }

  // Outputs whose taps only meet padding.
  template <class Put>
  void write_zeros(std::int64_t at, const Put& put) const {
    const auto& space = p_.space;
    if (part_.steps == p_.n.size * space[0].out_size * space[1].out_size * space[2].out_size)
      return;
    const T zeros[256 / sizeof(T)] = {};
    for (std::int64_t z = 0; z < space[0].out_size; ++z) {
      for (std::int64_t y = 0; y < space[1].out_size; ++y) {
        for (std::int64_t x = 0; x < space[2].out_size; ++x)
          put(at + z * space[0].out + y * space[1].out + x * space[2].out, zeros);
      }
    }
  }

  static T added(const T* chains) {
    T sums[depthwise_chains<T>];
    std::copy_n(chains, depthwise_chains<T>, sums);
    for (std::int64_t n = depthwise_chains<T> / 2; n > 0; n /= 2) {
      for (std::int64_t i = 0; i < n; ++i) sums[i] += sums[i + n];
    }
    return sums[0];
  }

  ConvArgs p_, image_;  // without the lanes
  const Part part_;
  const FloatKernels<T>& kernels_;
  const bool along_lanes_;
  const RowBlocks blocks_;
  std::optional<PlaneShape> shape_;  // along columns
  ConvAxis lanes_;
  std::int64_t unit_lanes_ = 1, lane_units_ = 1, units_, width_, size_;
  std::optional<TapsBySegments> taps_;  // along channels; steps are places in the sums
  std::vector<std::int64_t> places_;
};

}  // namespace

bool is_depthwise_kernel(const ConvArgs& p) {
  if (!is_floating(p.dtype) || p.space.empty() || p.space.size() > 3) return false;
  if (p.n.size * p.o.size > most_pairs) return false;
  std::int64_t outputs = 1, places = 1;
  for (const ConvSpace& s : p.space) {
    if (s.lhs_dilation != 1) return false;
    outputs *= s.out_size, places *= s.rhs_size;
  }
  const ConvSpace& x = p.space.back();
  return outputs <= depthwise_most_taps && outputs < places && x.rhs_size >= x.out_size &&
         x.rhs_size <= depthwise_most_columns;
}

void convolution_depthwise_kernel(const ConvArgs& p, ParallelFor parallel_for) {
  p.out_dtype == DType::float64 ? KernelGradient<double>(p).run(parallel_for)
                                : KernelGradient<float>(p).run(parallel_for);
}

}  // namespace shardax::kernels

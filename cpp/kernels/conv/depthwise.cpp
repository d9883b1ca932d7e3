// kernels/conv/depthwise.cpp - convolutions of few steps and one feature, a row at a time.
#include "kernels/conv/depthwise.h"

#include "base/index.h"
#include "kernels/ceil_div.h"
#include "kernels/conv/depthwise_window.h"
#include "runtime/interrupt.h"

namespace shardax::kernels {
namespace {

// Nanoseconds of an output on one core of a common server.
double nanoseconds(std::int64_t steps, std::size_t size) {
  return static_cast<double>(steps + 8) * static_cast<double>(size) / 160;
}

std::int64_t offset(const ConvArgs& p, const Part& part, const Rows& rows) {
  const Line &z = part.lines[0], &y = part.lines[1];
  return rows.n * p.n.out + (z.first + rows.z * z.step) * p.space[0].out +
         (y.first + rows.y0 * y.step) * p.space[1].out + part.lines[2].first * p.space[2].out;
}

// ---- along rows ------------------------------------------------------------------------------

// One part, in windows of lhs.
template <class T>
class Planes {
 public:
  Planes(const ConvArgs& p, const Part& part, const FloatKernels<T>& kernels)
      : p_(p),
        part_(part),
        kernels_(kernels),
        step_(p.space[2].out * part.lines[2].step),
        in_place_(step_ == 1 && itemsize(p.out_dtype) == sizeof(T)),
        blocks_(p, part, rows_in_cache(p, part, sizeof(T))),
        shape_(p, part, blocks_.each, depthwise_chains<T>) {
    steps_.count = 0;
    if (part.steps > 0) part.find(p, 0, part.steps, steps_);
  }

  void run(ParallelFor parallel_for) {
    const double each = nanoseconds(part_.steps, sizeof(T)) *
                        static_cast<double>(part_.lines[2].count * blocks_.each);
    const std::int64_t count = batch_size(p_) * blocks_.count,
                       together = std::max<std::int64_t>(1, static_cast<std::int64_t>(50e3 / each));
    const auto chunk = [&](std::int64_t i) {
      PlaneWindow<T> window(p_, part_, shape_, kernels_);
      const AlignedBuffer<T> sums(in_place_ ? 0 : blocks_.each * part_.lines[2].count);
      T weights[matmul_k_block];
      std::int64_t batch = -1;
      for (std::int64_t k = i * together; k < std::min(count, (i + 1) * together); ++k) {
        runtime::poll();
        if (k / blocks_.count != batch) find_weights(batch = k / blocks_.count, weights);
        block(batch, blocks_.rows(part_, k % blocks_.count), window, weights, sums.data());
      }
    };
    if (count <= together) return chunk(0);
    parallel_for(parts_of(count, together), chunk);
  }

 private:
  void find_weights(std::int64_t batch, T* weights) const {
    const std::byte* rhs = p_.rhs + batch_offset(p_, batch, &ConvAxis::rhs) * itemsize(p_.dtype);
    const Pack<T> pack = kernels_.pack(p_.dtype);
    steps_.each_rhs_run([&](std::int64_t k, std::int64_t count, std::int64_t stride) {
      pack(rhs + steps_.rhs[k] * itemsize(p_.dtype), 0, stride, 1, count, count, weights + k);
    });
  }

  void block(std::int64_t batch, const Rows& at, PlaneWindow<T>& window, const T* weights,
             T* sums) const {
    const std::byte* lhs = p_.lhs + batch_offset(p_, batch, &ConvAxis::lhs) * itemsize(p_.dtype);
    std::byte* out = p_.out + (batch_offset(p_, batch, &ConvAxis::out) + offset(p_, part_, at)) *
                                  itemsize(p_.out_dtype);
    const std::int64_t rows = at.y1 - at.y0, columns = part_.lines[2].count,
                       pitch = p_.space[1].out * part_.lines[1].step;
    const T* in = part_.steps > 0 ? window.fill(lhs, at) : nullptr;
    kernels_.depthwise.planes({rows, columns, 1, part_.steps, in,
                               part_.lines[1].lhs_step * shape_.pitch, 1, shape_.taps.data(),
                               weights, nullptr, in_place_ ? reinterpret_cast<T*>(out) : sums,
                               in_place_ ? pitch : columns, 1});
    if (in_place_) return;
    if (itemsize(p_.out_dtype) == sizeof(T)) return spread(sums, rows, reinterpret_cast<T*>(out));
    for (std::int64_t y = 0; y < rows; ++y)
      kernels_.round(p_.out_dtype)(sums + y * columns, 1, columns,
                                   out + y * pitch * itemsize(p_.out_dtype), 0, step_);
  }

  void spread(const T* sums, std::int64_t rows, T* out) const {
    const std::int64_t columns = part_.lines[2].count;
    for (std::int64_t y = 0; y < rows; ++y, out += p_.space[1].out * part_.lines[1].step) {
      for (std::int64_t x = 0; x < columns; ++x) out[x * step_] = *sums++;
    }
  }

  const ConvArgs& p_;
  const Part& part_;
  const FloatKernels<T>& kernels_;
  std::int64_t step_;  // of outputs along x
  bool in_place_;
  RowBlocks blocks_;
  PlaneShape shape_;
  Steps steps_;
};

// ---- along channels --------------------------------------------------------------------------

// One part, read in place: outputs at the edges have fewer taps.
template <class T>
class Lanes {
 public:
  Lanes(const ConvArgs& p, const Part& part, const FloatKernels<T>& kernels)
      : p_(p),
        part_(part),
        kernels_(kernels),
        lanes_(p.batch.back()),
        blocks_(p, part, 8),
        taps_(p, part) {
    outer_.batch.pop_back();
  }

  void run(ParallelFor parallel_for) {
    if (part_.steps > 0) part_.find(p_, 0, part_.steps, steps_);
    if (lanes_.rhs != 1) pack();
    find_taps();
    const double each = nanoseconds(part_.steps, sizeof(T)) *
                        static_cast<double>(part_.lines[2].count * lanes_.size * blocks_.each);
    const auto body = [&](std::int64_t i) {
      block(i / blocks_.count, blocks_.rows(part_, i % blocks_.count));
    };
    run_chunks(batch_size(outer_) * blocks_.count, each, parallel_for, body);
  }

 private:
  void pack() {
    weights_ = std::make_unique<AlignedBuffer<T>>(batch_size(outer_) * part_.steps * lanes_.size);
    for (std::int64_t b = 0; b < batch_size(outer_); ++b) {
      const T* rhs = reinterpret_cast<const T*>(p_.rhs) + batch_offset(outer_, b, &ConvAxis::rhs);
      T* to = weights_->data() + b * part_.steps * lanes_.size;
      for (std::int64_t k = 0; k < part_.steps; ++k) {
        for (std::int64_t l = 0; l < lanes_.size; ++l) *to++ = rhs[steps_.rhs[k] + l * lanes_.rhs];
      }
    }
  }

  // From steps to places in the weights.
  void find_taps() {
    for (std::int64_t& k : taps_.steps) k = weights_ ? k * lanes_.size : steps_.rhs[k];
  }

  // Weights and rows of so many channels stay in the first-level cache.
  void block(std::int64_t batch, const Rows& at) const {
    constexpr std::int64_t together = 256 / sizeof(T);
    const std::int64_t blocks = std::max<std::int64_t>(1, lanes_.size / together);
    for (std::int64_t b = 0; b < blocks; ++b) {
      runtime::poll();
      const std::int64_t first = b * together;
      const std::int64_t count = b + 1 < blocks ? together : lanes_.size - first;
      for (const SeenTaps& seen : taps_.all) {
        const auto& [z, y, x] = seen.at;
        const Rows own{at.n, at.z, std::max(at.y0, y.first), std::min(at.y1, y.end)};
        if (at.z >= z.first && at.z < z.end && own.y0 < own.y1)
          rows(batch, own, seen, first, count);
      }
    }
  }

  // Outputs of some rows that see the same taps, of `count` channels from `lane` on.
  void rows(std::int64_t batch, const Rows& at, const SeenTaps& seen, std::int64_t lane,
            std::int64_t count) const {
    const auto& lines = part_.lines;
    const Segment& x = seen.at[2];
    const auto lhs_step = [&](std::size_t d) { return lines[d].lhs_step * p_.space[d].lhs; };
    const auto out_step = [&](std::size_t d) { return lines[d].step * p_.space[d].out; };
    const T* lhs = reinterpret_cast<const T*>(p_.lhs) +
                   batch_offset(outer_, batch, &ConvAxis::lhs) + at.n * p_.n.lhs +
                   at.z * lhs_step(0) + at.y0 * lhs_step(1) + x.first * lhs_step(2);
    const T* rhs =
        weights_ ? weights_->data() + batch * part_.steps * lanes_.size
                 : reinterpret_cast<const T*>(p_.rhs) + batch_offset(outer_, batch, &ConvAxis::rhs);
    T* out = reinterpret_cast<T*>(p_.out) + batch_offset(outer_, batch, &ConvAxis::out) +
             offset(p_, part_, at) + x.first * out_step(2);
    Depthwise<T> tile{at.y1 - at.y0, x.end - x.first,
                      count,         seen.count,
                      lhs + lane,    lhs_step(1),
                      lhs_step(2),   taps_.lhs.data() + seen.first,
                      rhs + lane,    taps_.steps.data() + seen.first,
                      out + lane,    out_step(1),
                      out_step(2)};
    // Tiles go along columns: at the edges there are more rows.
    if (tile.rows > tile.columns) {
      std::swap(tile.rows, tile.columns);
      std::swap(tile.in_row, tile.in_column);
      std::swap(tile.out_row, tile.out_column);
    }
    kernels_.depthwise.lanes(tile);
  }

  const ConvArgs& p_;
  const Part& part_;
  const FloatKernels<T>& kernels_;
  const ConvAxis lanes_;
  ConvArgs outer_ = p_;  // without the lanes
  RowBlocks blocks_;
  Steps steps_;
  TapsBySegments taps_;                        // steps are places in the weights
  std::unique_ptr<AlignedBuffer<T>> weights_;  // channels adjacent, or null
};

template <class T>
void run(const ConvArgs& args, ParallelFor parallel_for) {
  const ConvArgs p = with_three_dimensions(args);
  const FloatKernels<T>& kernels = float_kernels<T>(best_isa());
  for (const Part& part : lines_by_taps(p)) {
    if (has_lanes(p, &ConvAxis::out)) {
      Lanes<T>(p, part, kernels).run(parallel_for);
    } else {
      Planes<T>(p, part, kernels).run(parallel_for);
    }
  }
}

}  // namespace

bool is_depthwise(const ConvArgs& p) {
  if (!is_floating(p.dtype) || p.space.empty() || p.space.size() > 3 || p.o.size != 1) return false;
  std::int64_t steps = p.c.size;
  for (const ConvSpace& s : p.space) steps *= s.rhs_size;
  const ConvSpace& x = p.space.back();
  return steps <= depthwise_most_taps && x.out_size <= depthwise_most_columns &&
         (x.out == 1 || x.lhs == 1 || has_lanes(p, &ConvAxis::out));
}

void convolution_depthwise(const ConvArgs& p, ParallelFor parallel_for) {
  p.out_dtype == DType::float64 ? run<double>(p, parallel_for) : run<float>(p, parallel_for);
}

}  // namespace shardax::kernels

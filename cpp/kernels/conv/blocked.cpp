// kernels/conv/blocked.cpp - convolutions of floats as blocks of products.
//
// kernels/conv/tiling.h says how they are cut, compute.h computes a block.
#include "kernels/conv/compute.h"

namespace shardax::kernels {
namespace {

// Steps are those of the first tap along the last dimension; the others are columns.
void along_taps(Part& part) {
  std::vector<Tap>& taps = part.lines[2].taps;
  part.steps /= static_cast<std::int64_t>(taps.size());
  taps.resize(1);
}

template <class T>
void run_part(ConvOperands<T>& conv, Part& part, ParallelFor parallel_for) {
  const double all = conv.cutter.nanoseconds(part);
  const Tiling cut = conv.cutter.cut(part);
  if (cut.way == Strategy::sums) along_taps(part);
  conv.pack_all(part, cut, parallel_for);
  const double each = all / static_cast<double>(cut.blocks());
  if (!cut.split) {
    const auto body = [&](std::int64_t i) { Block<T>(conv, part, cut, i).whole(); };
    return run_chunks(cut.blocks(), each, parallel_for, body);
  }
  const std::int64_t size = cut.room;
  const AlignedBuffer<T> sums(cut.blocks() * cut.runs * size);
  const auto body = [&](std::int64_t i) {
    Block<T>(conv, part, cut, i / cut.runs).run(i % cut.runs, sums.data() + i * size);
  };
  run_chunks(cut.blocks() * cut.runs, each / static_cast<double>(cut.runs), parallel_for, body);
  const auto finish = [&](std::int64_t i) {
    Block<T>(conv, part, cut, i).finish(sums.data() + i * cut.runs * size, size);
  };
  run_chunks(cut.blocks(), static_cast<double>(size * cut.runs), parallel_for, finish);
}

template <class T>
void run(const ConvArgs& args, ParallelFor parallel_for) {
  ConvOperands<T> conv(args, float_kernels<T>(best_isa()));
  std::vector<Part> parts = lines_by_taps(conv.p);
  for (Part& part : parts) run_part(conv, part, parallel_for);
}

}  // namespace

void convolution_float(const ConvArgs& args, ParallelFor parallel_for) {
  args.out_dtype == DType::float64 ? run<double>(args, parallel_for)
                                   : run<float>(args, parallel_for);
}

}  // namespace shardax::kernels

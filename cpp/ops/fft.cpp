// ops/fft.cpp - fft: discrete Fourier transforms over the last dimensions.
#include "kernels/fft.h"

#include "ops/family.h"
#include "runtime/interrupt.h"
#include "runtime/pool.h"

namespace shardax::ops {
namespace {

using kernels::Complex;
using kernels::FourierPlan;

enum class FftType : std::uint8_t { forward, inverse, real, inverse_real };

FftType type_of(const Params& p) { return static_cast<FftType>(p.integer("fft_type")); }
const char* name_of(FftType type) {
  constexpr const char* names[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
  return names[static_cast<int>(type)];
}

extern const Op fft_op;

Value fft(const Value& a, FftType type, const Ints& lengths) {
  return bind1(fft_op, {{"fft_type", static_cast<std::int64_t>(type)}, {"fft_lengths", lengths}},
               {a});
}

std::int64_t product_of(const Ints& ints) {
  std::int64_t product = 1;
  for (std::int64_t n : ints) product *= n;
  return product;
}

// The dimensions of the operand that a transform of these lengths has.
Ints operand_lengths(FftType type, Ints lengths) {
  if (type == FftType::inverse_real) lengths.back() = lengths.back() / 2 + 1;
  return lengths;
}

Types fft_type(const Op&, const Types& in, const Params& params) {
  const FftType type = type_of(params);
  const Ints& lengths = params.ints("fft_lengths");
  Type out = in[0];
  const char* kind = name_of(type);
  if (type == FftType::real ? !is_floating(out.dtype) || itemsize(out.dtype) < 4
                            : !is_complex(out.dtype)) {
    value_error(kind, " input must be ",
                type == FftType::real ? "float32 or float64" : "complex64 or complex128", ", got ",
                name(out.dtype));
  }
  const std::string input = concat(kind, " input shape ", to_string(out.shape));
  if (lengths.empty() || lengths.size() > out.rank()) {
    value_error(input, " must have at least as many input dimensions as fft_lengths ",
                to_string(lengths), ", of which there must be one or more");
  }
  const Ints own(out.shape.end() - static_cast<std::ptrdiff_t>(lengths.size()), out.shape.end());
  if (own != operand_lengths(type, lengths)) {
    if (type == FftType::inverse_real) {
      value_error(input,
                  " minor dimensions must be equal to all except the last fft_length, got "
                  "fft_lengths=",
                  to_string(lengths), ", whose last one, n, takes n // 2 + 1 elements");
    }
    value_error(input, " minor dimensions must be equal to fft_lengths ", to_string(lengths));
  }
  const bool wide = out.dtype == DType::float64 || out.dtype == DType::complex128;
  if (type == FftType::real) {
    out.dtype = wide ? DType::complex128 : DType::complex64;
    out.shape.back() = lengths.back() / 2 + 1;
  } else if (type == FftType::inverse_real) {
    out.dtype = wide ? DType::float64 : DType::float32;
    out.shape.back() = lengths.back();
  }
  return {out};
}

// ---- kernel --------------------------------------------------------------------------------

// One transform: the last dimensions of `in` to those of `out`, by way of a dense block.
struct Block {
  FftType type;
  Ints lengths, from, to;
  std::vector<FourierPlan> plans;  // of each dimension

  Block(FftType type, const Ints& lengths)
      : type(type), lengths(lengths), from(operand_lengths(type, lengths)), to(lengths) {
    if (type == FftType::real) to.back() = lengths.back() / 2 + 1;
    const bool inverse = type == FftType::inverse || type == FftType::inverse_real;
    for (std::int64_t n : lengths) plans.emplace_back(n, inverse);
  }

  // Every line along dimension d of a block of these sizes.
  void transform(std::vector<Complex>& block, const Ints& sizes, std::size_t d,
                 std::vector<Complex>& scratch) const {
    std::int64_t inner = 1;
    for (std::size_t i = d + 1; i < sizes.size(); ++i) inner *= sizes[i];
    const std::int64_t n = sizes[d], lines = product_of(sizes) / n;
    for (std::int64_t line = 0; line < lines; ++line) {
      if (n > 64) runtime::poll();
      const std::int64_t start = line / inner * inner * n + line % inner;
      plans[d].run(block.data() + start, inner, scratch);
    }
  }

  // Lines of `old` elements become lines of `now`: cut, or with the mirror image that a real
  // result has.
  static std::vector<Complex> resized(const std::vector<Complex>& block, std::int64_t old,
                                      std::int64_t now) {
    const std::int64_t lines = static_cast<std::int64_t>(block.size()) / old;
    std::vector<Complex> out(static_cast<std::size_t>(lines * now));
    for (std::int64_t line = 0; line < lines; ++line) {
      const Complex* a = block.data() + line * old;
      Complex* b = out.data() + line * now;
      for (std::int64_t k = 0; k < now; ++k) b[k] = k < old ? a[k] : std::conj(a[now - k]);
    }
    return out;
  }

  void run(std::vector<Complex>& block, std::vector<Complex>& scratch) const {
    const std::size_t last = lengths.size() - 1;
    if (type == FftType::real) {
      transform(block, lengths, last, scratch);
      block = resized(block, lengths.back(), to.back());
    }
    for (std::size_t d = 0; d < last; ++d) {
      transform(block, type == FftType::real ? to : from, d, scratch);
    }
    if (type == FftType::inverse_real) block = resized(block, from.back(), lengths.back());
    if (type != FftType::real) transform(block, lengths, last, scratch);
    if (type == FftType::inverse || type == FftType::inverse_real) {
      const double scale = 1 / static_cast<double>(product_of(lengths));
      runtime::in_stretches(static_cast<std::int64_t>(block.size()), 65536,
                            [&](std::int64_t from, std::int64_t to) {
                              for (std::int64_t i = from; i < to; ++i)
                                block[static_cast<std::size_t>(i)] *= scale;
                            });
    }
  }
};

// Calls f(offset, i) for each element of the block that starts at `offset`, in row-major order.
template <class F>
void for_elements(const Shape& shape, const Shape& strides, std::size_t dim, std::int64_t offset,
                  std::size_t& i, const F& f) {
  for (std::int64_t k = 0; k < shape[dim]; ++k, offset += strides[dim]) {
    if (k % 65536 == 65535) runtime::poll_clock();
    if (dim + 1 == shape.size()) {
      f(offset, i++);
    } else {
      for_elements(shape, strides, dim + 1, offset, i, f);
    }
  }
}

std::int64_t block_offset(const View& view, std::size_t first, std::int64_t index) {
  std::int64_t at = 0;
  for (std::size_t d = first; d-- > 0;) {
    at += index % view.shape[d] * view.strides[d];
    index /= view.shape[d];
  }
  return at;
}

void load(const View& view, std::size_t first, std::int64_t index, std::vector<Complex>& block) {
  const std::int64_t start = block_offset(view, first, index);
  visit_dtype(view.dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr ((kernels::is_computed<T>) &&
                  (std::is_floating_point_v<T> || std::is_same_v<T, std::complex<float>> ||
                   std::is_same_v<T, Complex>)) {
      std::size_t next = 0;
      for_elements(view.shape, view.strides, first, start, next,
                   [&](std::int64_t at, std::size_t i) {
                     block[i] = Complex(reinterpret_cast<const T*>(view.data)[at]);
                   });
    }
  });
}

void store(const std::vector<Complex>& block, const View& view, std::size_t first,
           std::int64_t index) {
  const std::int64_t start = block_offset(view, first, index);
  visit_dtype(view.dtype, [&](auto zero) {
    using T = decltype(zero);
    std::size_t next = 0;
    for_elements(view.shape, view.strides, first, start, next, [&](std::int64_t at, std::size_t i) {
      if constexpr (std::is_floating_point_v<T>) {
        reinterpret_cast<T*>(view.data)[at] = static_cast<T>(block[i].real());
      } else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, Complex>) {
        reinterpret_cast<T*>(view.data)[at] = T(block[i]);
      }
    });
  });
}

// Elements transformed by one task: some 100 us.
constexpr std::int64_t chunk_elements = 8192;

Kernel fft_kernel(const Types& in, const Types&, const Params& params) {
  const auto block = std::make_shared<Block>(type_of(params), params.ints("fft_lengths"));
  const std::size_t first = in[0].rank() - block->lengths.size();
  std::int64_t count = 1;
  for (std::size_t d = 0; d < first; ++d) count *= in[0].shape[d];
  const std::int64_t elements = product_of(block->from);
  const bool empty = in[0].size() == 0 || product_of(block->lengths) == 0;
  return [block, first, count, elements, empty](std::span<const View> views,
                                                std::span<const View> outs) {
    if (empty) return;
    const std::int64_t each = std::max<std::int64_t>(1, chunk_elements / elements);
    runtime::parallel_for((count + each - 1) / each, [&](std::int64_t chunk) {
      std::vector<Complex> data, scratch;
      for (std::int64_t i = chunk * each; i < std::min(count, (chunk + 1) * each); ++i) {
        data.resize(static_cast<std::size_t>(elements));
        load(views[0], first, i, data);
        block->run(data, scratch);
        store(data, outs[0], first, i);
      }
    });
  };
}

// ---- rules ---------------------------------------------------------------------------------

Value real_of(const Value& a) { return unary("real", a); }

// Zeros beyond the half of the spectrum that a real transform gives.
Value padded_spectrum(const Value& a, std::int64_t size) {
  Ints low(a->shape().size(), 0), high = low, interior = low;
  high.back() = size - a->shape().back();
  return pad(a, scalar(a->dtype(), 0), low, high, interior);
}

// How often each element of the half stands in the whole, over the number of elements.
Value weights(const Type& type, const Ints& lengths) {
  const std::int64_t n = lengths.back(), half = n / 2 + 1;
  const double unit = 1 / static_cast<double>(product_of(lengths));
  const Value k = iota(DType::int32, {half}, 0);
  Value single = eq(k, scalar(DType::int32, 0));
  if (n % 2 == 0) {
    single = logical_or(single, eq(k, scalar(DType::int32, static_cast<double>(n / 2))));
  }
  const Type line{type.dtype, false, {half}, {}};
  const Value weight = where(single, full(line, unit), full(line, 2 * unit));
  return broadcast_to(weight, type.shape);
}

Values fft_transpose(const TransposeArgs& a) {
  const FftType type = type_of(a.params);
  const Ints& lengths = a.params.ints("fft_lengths");
  const Value& ct = a.ct[0];
  if (type == FftType::real) {
    return {real_of(fft(padded_spectrum(ct, lengths.back()), FftType::forward, lengths))};
  }
  if (type == FftType::inverse_real) {
    const Value spectrum = fft(ct, FftType::real, lengths);
    return {mul(unary("conj", spectrum), weights(spectrum->type(), lengths))};
  }
  return {fft(ct, type, lengths)};
}

const Op fft_op{
    {.name = "fft",
     .doc =
         "Discrete Fourier transforms over the last dimensions; fft_type is 0 (FFT), 1 (IFFT), 2 "
         "(RFFT) or 3 (IRFFT).",
     .dtypes = full_floats | complexes,
     .type = fft_type,
     .jvp = [](const JvpArgs& a) -> Values {
       return {fft(a.t[0], type_of(a.params), a.params.ints("fft_lengths"))};
     },
     .transpose = fft_transpose,
     .batch = [](const BatchArgs& a) -> Batched { return batched1(bind1(a.op, a.params, a.in)); },
     .kernel = fft_kernel}};

}  // namespace
}  // namespace shardax::ops

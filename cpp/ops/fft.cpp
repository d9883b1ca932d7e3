// ops/fft.cpp - fft: discrete Fourier transforms over the last dimensions.
#include "kernels/fft/fft.h"

#include "ops/contiguous.h"
#include "ops/family.h"
#include "ops/param_checks.h"
#include "ops/sharding_rules/sharding_rules.h"
#include "ops/sharding_rules/spmd_partition_rules.h"
#include "trace/stage.h"

namespace shardax::ops {
namespace {

enum class FftType : std::uint8_t { forward, inverse, real, inverse_real };

FftType type_of(const Params& p) {
  const std::int64_t type = p.integer(param::fft_type);
  if (type < 0 || type > 3) value_error("fft: fft_type ", type, " is none of 0 to 3.");
  return static_cast<FftType>(type);
}
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

Types fft_type(const Op& op, const Types& in, const Params& params) {
  const FftType type = type_of(params);
  const Ints& lengths = params.ints(param::fft_lengths);
  check_sizes(op, "fft_lengths", lengths);
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
  if (type == FftType::real && lengths.back() == 0) {
    value_error(input, " has no elements along its last dimension; RFFT needs one or more there");
  }
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

// The transforms over the last dimensions of blocks of dense memory, one dimension after the other.
template <class T>
class Transforms {
 public:
  using Complex = std::complex<T>;
  Transforms(FftType type, const Ints& lengths)
      : type_(type), lengths_(lengths), from_(operand_lengths(type, lengths)) {
    const bool inverse = type == FftType::inverse || type == FftType::inverse_real;
    if (type == FftType::real || type == FftType::inverse_real) {
      real_ = std::make_unique<kernels::RealFourier<T>>(lengths.back(), inverse);
    }
    for (std::size_t d = 0; d + (real_ ? 1 : 0) < lengths.size(); ++d) {
      plans_.push_back(std::make_unique<kernels::Fourier<T>>(lengths[d], inverse));
    }
    if (inverse) scale_ = static_cast<T>(1 / static_cast<double>(product_of(lengths)));
  }

  void run(const View& in, const View& out, std::int64_t blocks) const {
    const DenseInput source(in);
    const DenseOutput target(out);
    if (type_ == FftType::real) {
      Ints sizes = lengths_;
      sizes.back() = lengths_.back() / 2 + 1;
      Complex* to = target.template as<Complex>();
      const std::int64_t rows = blocks * product_of(lengths_) / lengths_.back();
      real_->forward(source.as<T>(), to, rows);
      for (std::size_t d = 0; d < plans_.size(); ++d) along(d, sizes, blocks, to, to, 1);
    } else if (type_ == FftType::inverse_real) {
      const Complex* from = source.as<Complex>();
      Shared<Buffer> work;
      if (!plans_.empty()) work = dense_buffer(in);
      for (std::size_t d = 0; d < plans_.size(); ++d) {
        Complex* to = reinterpret_cast<Complex*>(work->data());
        along(d, from_, blocks, from, to, 1);
        from = to;
      }
      const std::int64_t rows = blocks * product_of(lengths_) / lengths_.back();
      real_->inverse(from, target.template as<T>(), rows, scale_);
    } else {
      const Complex* from = source.as<Complex>();
      Complex* to = target.template as<Complex>();
      for (std::size_t d = plans_.size(); d-- > 0; from = to) {
        along(d, lengths_, blocks, from, to, d == 0 ? scale_ : T(1));
      }
    }
    target.finish();
  }

 private:
  void along(std::size_t d, const Ints& sizes, std::int64_t blocks, const Complex* from,
             Complex* to, T scale) const {
    const std::int64_t n = sizes[d];
    std::int64_t inner = 1;
    for (std::size_t i = d + 1; i < sizes.size(); ++i) inner *= sizes[i];
    const std::int64_t lines = blocks * product_of(sizes) / n;
    plans_[d]->run({from, lines, inner, inner, 1, n * inner},
                   {to, lines, inner, inner, 1, n * inner}, scale);
  }

  FftType type_;
  Ints lengths_, from_;
  std::vector<std::unique_ptr<kernels::Fourier<T>>>
      plans_;  // of dimensions, but for a real last one
  std::unique_ptr<kernels::RealFourier<T>> real_;
  T scale_ = 1;
};

template <class T>
Kernel kernel_of(FftType type, const Ints& lengths, std::int64_t blocks) {
  return [transforms = std::make_shared<Transforms<T>>(type, lengths), blocks](
             std::span<const View> in, std::span<const View> out) {
    transforms->run(in[0], out[0], blocks);
  };
}

Kernel fft_kernel(const Types& in, const Types&, const Params& params) {
  const FftType type = type_of(params);
  const Ints& lengths = params.ints(param::fft_lengths);
  if (in[0].size() == 0 || product_of(lengths) == 0) {
    return [](std::span<const View>, std::span<const View>) {};
  }
  const std::int64_t blocks = in[0].size() / product_of(operand_lengths(type, lengths));
  const bool wide = in[0].dtype == DType::float64 || in[0].dtype == DType::complex128;
  return wide ? kernel_of<double>(type, lengths, blocks) : kernel_of<float>(type, lengths, blocks);
}

// ---- rules ---------------------------------------------------------------------------------

Value real_of(const Value& a) { return unary("real", a); }

// Zeros beyond the half of the spectrum that a real transform gives.
Value padded_spectrum(const Value& a, std::int64_t size) {
  Ints low(a->shape().size(), 0), high = low, interior = low;
  high.back() = size - a->shape().back();
  return pad(a, scalar(a->dtype(), 0), low, high, interior);
}

// The multiplicity of each element of the half in the whole, over the number of elements.
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
  const Ints& lengths = a.params.ints(param::fft_lengths);
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

// Dimensions before those that are transformed are the same in operand and result.
DimFactors fft_dims(const Params& params, const Types& in, const Type& out) {
  DimFactors dims;
  ArrayFactors from;
  const std::size_t first = out.rank() - params.ints(param::fft_lengths).size();
  for (std::size_t d = 0; d < out.rank(); ++d) {
    const bool same = in[0].shape[d] == out.shape[d];
    const FactorUse use = d < first ? FactorUse::parallel
                          : same    ? FactorUse::whole
                                    : FactorUse::windowed;
    dims.result.push_back({dims.add(use, out.shape[d])});
    from.push_back(dims.result.back());
  }
  dims.operands.push_back(std::move(from));
  return dims;
}

// The transform as one along each dimension: from the last one to the first, or the other way round
// where results are real.
ProgramPtr one_by_one(FftType type, const Ints& lengths, const Type& whole) {
  Type operand = whole;
  operand.sharding = nullptr;
  const auto along_each = [&](const Values& in) -> Values {
    const auto last = static_cast<std::int64_t>(whole.rank()) - 1;
    Value x = in[0];
    for (std::size_t k = 0; k < lengths.size(); ++k) {
      const std::size_t d = type == FftType::inverse_real ? k : lengths.size() - 1 - k;
      const std::int64_t dim = last - static_cast<std::int64_t>(lengths.size() - 1 - d);
      const FftType complex = type == FftType::inverse_real ? FftType::inverse
                              : type == FftType::real       ? FftType::forward
                                                            : type;
      const FftType along = dim == last ? type : complex;
      x = moveaxis(fft(moveaxis(x, dim, last), along, {lengths[d]}), last, dim);
    }
    return {x};
  };
  return stage_closed({operand}, along_each, "fft");
}

// Along a split dimension, each device transforms lines of its own. The split moves to a dimension
// of a fitting size that is not transformed, if there is one.
Parts fft_parts(const SplitArgs& a) {
  const Ints& lengths = a.params.ints(param::fft_lengths);
  const std::size_t first = a.out.rank() - lengths.size();
  Split split = split_of(a, 0);
  const auto is_split = [](const std::vector<std::string>& axes) { return !axes.empty(); };
  const bool cuts =
      std::any_of(split.begin() + static_cast<std::ptrdiff_t>(first), split.end(), is_split);
  Parts out = parts_whole(a);
  if (cuts && lengths.size() > 1) {
    out.instead = one_by_one(type_of(a.params), lengths, a.in[0]);
    return out;
  }
  if (cuts && split[first].size() == 1) {
    const std::int64_t parts = parts_of(split[first], a.mesh);
    std::size_t to = first;
    std::int64_t largest = 0;
    for (std::size_t d = 0; d < first; ++d) {
      const std::int64_t size = a.out.shape[d] / parts_of(split[d], a.mesh);
      if (size % parts == 0 && size > largest) largest = size, to = d;
    }
    if (to != first) split[to].push_back(split[first][0]);
  }
  for (std::size_t d = first; d < split.size(); ++d) split[d].clear();
  out.in = {split};
  out.out = split;
  return out;
}

const Op fft_op{
    {.name = "fft",
     .operands = 1,
     .doc =
         "Discrete Fourier transforms over the last dimensions; fft_type is 0 (FFT), 1 (IFFT), 2 "
         "(RFFT) or 3 (IRFFT).",
     .dtypes = full_floats | complexes,
     .type = fft_type,
     .jvp = [](const JvpArgs& a) -> Values {
       return {fft(a.t[0], type_of(a.params), a.params.ints(param::fft_lengths))};
     },
     .transpose = fft_transpose,
     .batch = [](const BatchArgs& a) -> Batched { return batched1(bind1(a.op, a.params, a.in)); },
     .dims = fft_dims,
     .parts = fft_parts,
     .kernel = fft_kernel}};

}  // namespace
}  // namespace shardax::ops

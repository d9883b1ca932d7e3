// ops/indexing/windows.cpp - dimension numbers of batches, and windows located.
#include "ops/indexing/windows.h"

#include <algorithm>
#include <cstdlib>

#include "base/errors.h"
#include "base/index.h"
#include "base/lists.h"
#include "kernels/copy/copy.h"
#include "kernels/tiles/dispatch.h"

namespace shardax::ops {
namespace {

Ints past_batch(const Ints& ints) {
  Ints out;
  for (std::int64_t i : ints) out.push_back(i + 1);
  return out;
}
Ints with_zero(const Ints& ints) {
  Ints out{0};
  out.append(ints.begin(), ints.end());
  return out;
}

Ints wraps_of(const Params& params) {
  const ParamValue* wraps = params.find("wraps");
  return wraps ? params.ints(param::wraps) : Ints{};
}

}  // namespace

WindowDims gather_dims(const Params& p) {
  return {p.ints(param::offset_dims),
          p.ints(param::collapsed_slice_dims),
          p.ints(param::start_index_map),
          p.ints(param::operand_batching_dims),
          p.ints(param::start_indices_batching_dims),
          wraps_of(p)};
}

WindowDims scatter_dims(const Params& p) {
  return {p.ints(param::update_window_dims),
          p.ints(param::inserted_window_dims),
          p.ints(param::scatter_dims_to_operand_dims),
          p.ints(param::operand_batching_dims),
          p.ints(param::scatter_indices_batching_dims),
          wraps_of(p)};
}

WindowMode window_mode(const Params& params, bool scatter) {
  const std::string& mode = params.text(param::mode);
  if (mode == "clip") return WindowMode::clip;
  if (mode == "fill" || mode == "drop" || mode == "fill_or_drop") return WindowMode::fill;
  if (mode == "promise_in_bounds") return scatter ? WindowMode::fill : WindowMode::clip;
  value_error("Unknown gather/scatter mode: '", mode,
              "'; clip, fill, drop or promise_in_bounds was expected.");
}

std::string mode_text(const Params& params) {
  std::string mode = params.text(param::mode);
  if (mode == "fill" || mode == "drop") mode = "fill_or_drop";
  for (char& c : mode) c = static_cast<char>(std::toupper(c));
  return "GatherScatterMode." + mode;
}

Shape windows_shape(const WindowDims& dims, const Shape& indices, const Ints& slice_sizes) {
  Shape window;
  for (std::size_t d = 0; d < slice_sizes.size(); ++d) {
    if (!has(dims.collapsed, d) && !has(dims.operand_batch, d)) window.push_back(slice_sizes[d]);
  }
  Shape out;
  const std::size_t rank = dims.window_dims.size() + indices.size() - 1;
  for (std::size_t d = 0, w = 0, i = 0; d < rank; ++d) {
    out.push_back(has(dims.window_dims, d) ? window[w++] : indices[i++]);
  }
  return out;
}

Ints window_sizes(const WindowDims& dims, std::size_t operand_rank, const Shape& other) {
  Ints sizes;
  for (std::size_t d = 0, w = 0; d < operand_rank; ++d) {
    const bool single = has(dims.collapsed, d) || has(dims.operand_batch, d);
    sizes.push_back(single ? 1 : other[index(dims.window_dims[w++])]);
  }
  return sizes;
}

DimFactors window_factors(const WindowDims& dims, const Shape& operand, const Shape& indices,
                          const Shape& other, FactorUse listed) {
  DimFactors made;
  ArrayFactors own(operand.size()), rows(indices.size()), others;
  std::size_t from = 0, row = 0;
  for (std::size_t d = 0; d < other.size(); ++d) {
    const bool in_window = has(dims.window_dims, d);
    while (in_window && (has(dims.collapsed, from) || has(dims.operand_batch, from))) ++from;
    const bool parallel = in_window ? operand[from] == other[d] : has(dims.index_batch, row);
    const FactorUse use = parallel ? FactorUse::parallel : in_window ? FactorUse::whole : listed;
    others.push_back({made.add(use, other[d])});
    if (in_window && parallel) own[from] = others[d];
    if (!in_window) rows[row] = others[d];
    ++(in_window ? from : row);
  }
  for (std::size_t k = 0; k < dims.index_batch.size(); ++k)
    own[index(dims.operand_batch[k])] = rows[index(dims.index_batch[k])];
  made.add_rest(own, operand);
  made.add_rest(rows, indices);
  made.operands = {std::move(own), std::move(rows), std::move(others)};
  return made;
}

WindowDims batched_dims(const WindowDims& dims, bool operand, bool indices) {
  WindowDims out{past_batch(dims.window_dims), dims.collapsed, dims.index_map, dims.operand_batch,
                 dims.index_batch};
  if (indices) out.index_batch = past_batch(out.index_batch);
  if (operand) {
    out.collapsed = past_batch(out.collapsed);
    out.index_map = past_batch(out.index_map);
    out.operand_batch = past_batch(out.operand_batch);
  }
  if (operand && indices) {
    out.operand_batch = with_zero(out.operand_batch);
    out.index_batch = with_zero(out.index_batch);
  } else if (operand) {
    out.window_dims = with_zero(out.window_dims);
  }
  return out;
}

Windows::Windows(const WindowDims& dims, WindowMode mode, const View& operand, const View& indices,
                 const View& other, const Ints& sizes)
    : mode_(mode), indices_(indices) {
  for (std::size_t d = 0, i = 0; d < other.shape.size(); ++d) {
    if (has(dims.window_dims, d)) continue;
    Batch batch{other.shape[d], indices.strides[i], 0, other.strides[d]};
    std::size_t paired = operand.shape.size();
    for (std::size_t k = 0; k < dims.index_batch.size(); ++k) {
      if (index(dims.index_batch[k]) == i) paired = index(dims.operand_batch[k]);
    }
    ++i;
    if (batch.size == 1) continue;  // runs go on along the last dimension
    if (paired < operand.shape.size()) {
      batch.operand_stride = operand.strides[paired];
      if (batches_.empty()) independent_dim_ = paired;
    }
    batches_.push_back(batch);
    count_ *= batch.size;
  }
  if (batches_.empty()) batches_.push_back({1, 0, 0, 0});
  if (batches_[0].operand_stride != 0 && batches_[0].size > 0) {
    independent_ = count_ / batches_[0].size;
  }
  for (std::size_t k = 0; k < dims.index_map.size(); ++k) {
    const std::size_t d = index(dims.index_map[k]);
    components_.push_back({static_cast<std::int64_t>(k) * indices.strides.back(),
                           operand.strides[d], operand.shape[d] - sizes[d],
                           dims.wraps.empty() ? 0 : dims.wraps[k]});
  }
  std::int64_t extent = 0;
  for (std::size_t d = 0; d < operand.shape.size(); ++d)
    extent += (operand.shape[d] - 1) * std::abs(operand.strides[d]);
  narrow_ = extent < INT32_MAX;
  for (std::size_t d = 0, w = 0; d < operand.shape.size(); ++d) {
    if (has(dims.collapsed, d) || has(dims.operand_batch, d)) continue;
    shape_.push_back(sizes[d]);
    operand_strides_.push_back(operand.strides[d]);
    other_strides_.push_back(other.strides[index(dims.window_dims[w++])]);
    elements_ *= sizes[d];
  }
  kernels::collapse(shape_, operand_strides_, other_strides_);
}

bool Windows::side_by_side() const {
  const std::int64_t apart = batches_.back().other_stride;
  return !shape_.empty() && count_ > 1 && batches_.back().size > 1 &&
         std::all_of(other_strides_.begin(), other_strides_.end(),
                     [&](std::int64_t stride) { return std::abs(stride) > std::abs(apart); });
}

namespace {

template <class Offset>
void count_up(Offset start, Offset step, std::int64_t n, Offset* offsets) {
  dispatch([=] {
    for (std::int64_t i = 0; i < n; ++i) offsets[i] = start + static_cast<Offset>(i) * step;
  });
}

// offsets[i] += clipped index * stride, from `start` on where it is the first component; with
// `fill` those whose index was clipped are outside. The arithmetic is done in C, which holds every
// index and limit.
template <bool fill, bool first, class C, class I, class Offset>
void add_component(const I* index, std::int64_t step, C limit, C wrap, Offset stride, Offset start,
                   std::int64_t n, Offset* offsets) {
  dispatch([=] {
    const auto one = [&](std::int64_t i, C value) __attribute__((always_inline)) {
      value += value < 0 ? wrap : C{0};
      const C clipped = std::max<C>(0, std::min(value, limit));
      const Offset before = first ? start : offsets[i];
      const Offset sum = before + static_cast<Offset>(clipped) * stride;
      if constexpr (fill) {
        const bool inside = (clipped == value) & (first || before != outside<Offset>);
        offsets[i] = inside ? sum : outside<Offset>;
      } else {
        offsets[i] = sum;
      }
    };
    if (step == 1) {
      SHARDAX_IVDEP
      for (std::int64_t i = 0; i < n; ++i) one(i, static_cast<C>(index[i]));
    } else {
      SHARDAX_IVDEP
      for (std::int64_t i = 0; i < n; ++i) one(i, static_cast<C>(index[i * step]));
    }
  });
}

}  // namespace

// Component by component, so that each loop is a simple one.
template <class Offset, class I>
void Windows::locate_as(const I* row, std::int64_t index_stride, Offset operand,
                        Offset operand_stride, std::int64_t n, Offset* offsets) const {
  bool first = operand_stride == 0 && !components_.empty();
  if (!first) count_up(operand, operand_stride, n, offsets);
  const auto component = [&](const auto* index, std::int64_t step, auto limit, auto wrap,
                             std::int64_t along) {
    const auto stride = static_cast<Offset>(along);
    const auto add = [&](auto fill, auto is_first) {
      add_component<fill.value, is_first.value>(index, step, limit, wrap, stride, operand, n,
                                                offsets);
    };
    const bool fills = mode_ == WindowMode::fill;
    using Yes = std::true_type;
    using No = std::false_type;
    if (first) {
      fills ? add(Yes(), Yes()) : add(No(), Yes());
    } else {
      fills ? add(Yes(), No()) : add(No(), No());
    }
    first = false;
  };
  constexpr bool narrow = sizeof(I) < 4 || std::is_same_v<I, std::int32_t>;
  for (const Component& c : components_) {
    const I* index = row + c.index_offset;
    if (narrow && c.limit <= INT32_MAX && c.wrap <= INT32_MAX) {
      component(index, index_stride, static_cast<std::int32_t>(c.limit),
                static_cast<std::int32_t>(c.wrap), c.operand_stride);
    } else if constexpr (std::is_same_v<I, std::uint64_t>) {
      // Beyond any limit, for either meaning of the top bit.
      std::int64_t values[run_size];
      for (std::int64_t i = 0; i < n; ++i) {
        values[i] = static_cast<std::int64_t>(std::min<I>(index[i * index_stride], INT64_MAX));
      }
      component(values, 1, c.limit, std::int64_t{0}, c.operand_stride);
    } else {
      component(index, index_stride, c.limit, c.wrap, c.operand_stride);
    }
  }
}

template <class Offset>
Windows::Run<Offset> Windows::locate(std::int64_t from, std::int64_t to, Offset* offsets) const {
  Run<Offset> run{offsets, 1, 0, 0};
  std::int64_t rest = from, index_at = 0, operand_at = 0, index_stride = 0, operand_stride = 0;
  for (std::size_t d = batches_.size(); d-- > 0;) {
    const Batch& b = batches_[d];
    const std::int64_t position = rest % b.size;
    rest /= b.size;
    index_at += position * b.index_stride;
    operand_at += position * b.operand_stride;
    run.other += position * b.other_stride;
    if (d + 1 < batches_.size()) continue;
    // The run goes on along the last dimension.
    run.n = std::min({run_size, to - from, b.size - position});
    run.other_stride = b.other_stride;
    index_stride = b.index_stride;
    operand_stride = b.operand_stride;
  }
  visit_dtype(indices_.dtype, [&](auto zero) {
    using I = decltype(zero);
    if constexpr (std::is_integral_v<I> && !std::is_same_v<I, bool>) {
      locate_as(reinterpret_cast<const I*>(indices_.data) + index_at, index_stride,
                static_cast<Offset>(operand_at), static_cast<Offset>(operand_stride), run.n,
                offsets);
    }
  });
  return run;
}

template Windows::Run<std::int32_t> Windows::locate(std::int64_t, std::int64_t,
                                                    std::int32_t*) const;
template Windows::Run<std::int64_t> Windows::locate(std::int64_t, std::int64_t,
                                                    std::int64_t*) const;

}  // namespace shardax::ops

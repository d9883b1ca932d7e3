// ops/dim_rules.cpp - factors of elementwise ops, reductions, layout ops, stacks and products.
#include "ops/dim_rules.h"

#include <numeric>

#include "base/lists.h"

namespace shardax::ops {

DimFactors dims_along(const Ints& dims, const Types& in, const Type& out, FactorUse use) {
  DimFactors made;
  made.result = made.add_each(out.shape);
  for (const std::int64_t d : dims) made.factors[index(d)].use = use;
  for (const Type& type : in) {
    if (type.rank() != out.rank()) {
      made.operands.push_back(made.add_each(type.shape, FactorUse::whole));
      continue;
    }
    ArrayFactors own = made.result;
    for (std::size_t d = 0; d < own.size(); ++d) {
      const bool repeated = type.shape[d] == 1 && out.shape[d] != 1;
      if (repeated && made.factors[d].use != FactorUse::windowed) own[d].clear();
    }
    made.operands.push_back(std::move(own));
  }
  return made;
}

DimFactors dims_leading(std::size_t count, const Types& in, const Type& out, FactorUse use) {
  DimFactors made;
  ArrayFactors shared;
  for (std::size_t d = 0; d < count; ++d) shared.push_back({made.add(use, out.shape[d])});
  const auto factors_of = [&](const Shape& shape) {
    ArrayFactors own = shared;
    for (std::size_t d = count; d < shape.size(); ++d)
      own.push_back({made.add(FactorUse::whole, shape[d])});
    return own;
  };
  made.result = factors_of(out.shape);
  for (const Type& type : in) made.operands.push_back(factors_of(type.shape));
  return made;
}

DimFactors dims_elementwise(const Params&, const Types& in, const Type& out) {
  return dims_along({}, in, out, FactorUse::parallel);
}

DimFactors dims_reduced(const Params& params, const Types& in, const Type&) {
  DimFactors made;
  made.operands.push_back(made.add_each(in[0].shape));
  const Ints& axes = params.ints(param::axes);
  for (std::size_t d = 0; d < in[0].rank(); ++d) {
    if (has(axes, static_cast<std::int64_t>(d))) {
      made.factors[d].use = FactorUse::reduced;
    } else {
      made.result.push_back(made.operands[0][d]);
    }
  }
  return made;
}

DimFactors dims_broadcast(const Params& params, const Types& in, const Type& out) {
  DimFactors made;
  made.result = made.add_each(out.shape);
  const Ints& dims = params.ints(param::broadcast_dimensions);
  ArrayFactors own;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::size_t d = index(dims[i]);
    own.push_back(in[0].shape[i] == out.shape[d] ? made.result[d] : FactorList());
  }
  made.operands.push_back(std::move(own));
  return made;
}

DimFactors dims_transposed(const Params& params, const Types& in, const Type&) {
  DimFactors made;
  made.operands.push_back(made.add_each(in[0].shape));
  for (const std::int64_t d : params.ints(param::permutation))
    made.result.push_back(made.operands[0][index(d)]);
  return made;
}

DimFactors dims_squeezed(const Params& params, const Types& in, const Type&) {
  DimFactors made;
  ArrayFactors own(in[0].rank());
  for (std::size_t d = 0; d < own.size(); ++d) {
    if (has(params.ints(param::dimensions), static_cast<std::int64_t>(d))) continue;
    own[d] = {made.add(FactorUse::parallel, in[0].shape[d])};
    made.result.push_back(own[d]);
  }
  made.operands.push_back(std::move(own));
  return made;
}

SlideDims add_slide(DimFactors& made, std::int64_t operand, std::int64_t windows,
                    const Slide& slide) {
  const bool apart = slide.window > 0 && slide.window <= slide.stride && slide.low == 0 &&
                     operand == windows * slide.stride;
  const FactorList own{made.add(apart ? FactorUse::parallel : FactorUse::windowed, windows)};
  if (!apart) made.factors.back().slide = slide;
  SlideDims dims{own, own};
  if (apart && slide.stride > 1) dims.operand.push_back(made.add(FactorUse::whole, slide.stride));
  return dims;
}

namespace {

// The dimensions of a shape one by one, and how much of each is still to be divided into factors.
struct Remaining {
  const Shape& shape;
  ArrayFactors factors{shape.size()};
  std::size_t d = 0;
  std::int64_t size = shape.empty() ? 1 : shape[0];

  // Skips factors that are divided already. At the end: false.
  bool next() {
    while (size == 1 && d < shape.size()) size = ++d < shape.size() ? shape[d] : 1;
    return d < shape.size();
  }
  void take(std::int32_t factor, std::int64_t count) {
    factors[d].push_back(factor);
    size /= count;
  }
};

// Sizes without a common divisor: up to where both sides have seen as many elements, results depend
// on all operands.
void take_mixed(DimFactors& made, Remaining& in, Remaining& out) {
  std::int64_t before = 1, after = 1;  // elements since the last common boundary
  do {
    Remaining& behind = before <= after ? in : out;
    if (!behind.next()) return;
    (before <= after ? before : after) *= behind.size;
    behind.take(made.add(FactorUse::whole, behind.size), behind.size);
  } while (before != after);
}

}  // namespace

DimFactors dims_reshaped(const Params&, const Types& types, const Type& out) {
  DimFactors made;
  Remaining from{types[0].shape}, to{out.shape};
  if (out.size() == 0) {
    made.operands.push_back(made.add_each(types[0].shape, FactorUse::whole));
    made.result = made.add_each(out.shape, FactorUse::whole);
    return made;
  }
  while (from.next() && to.next()) {
    const std::int64_t size = std::gcd(from.size, to.size);
    if (size == 1) {
      take_mixed(made, from, to);
      continue;
    }
    const std::int32_t factor = made.add(FactorUse::parallel, size);
    from.take(factor, size);
    to.take(factor, size);
  }
  made.operands.push_back(std::move(from.factors));
  made.result = std::move(to.factors);
  return made;
}

DimFactors dims_product(const Params& params, const Types& in, const Type&) {
  DimFactors made;
  made.operands = {ArrayFactors(in[0].rank()), ArrayFactors(in[1].rank())};
  const auto pair = [&](const Ints& left, const Ints& right, FactorUse use) {
    for (std::size_t k = 0; k < left.size(); ++k) {
      const FactorList factor{made.add(use, in[0].shape[index(left[k])])};
      made.operands[0][index(left[k])] = made.operands[1][index(right[k])] = factor;
      if (use == FactorUse::parallel) made.result.push_back(factor);
    }
  };
  pair(params.ints(param::lhs_batch), params.ints(param::rhs_batch), FactorUse::parallel);
  pair(params.ints(param::lhs_contract), params.ints(param::rhs_contract), FactorUse::reduced);
  for (const std::size_t operand : {0, 1}) {
    for (std::size_t d = 0; d < in[operand].rank(); ++d) {
      FactorList& own = made.operands[operand][d];
      if (!own.empty()) continue;
      own = {made.add(FactorUse::parallel, in[operand].shape[d])};
      made.result.push_back(own);
    }
  }
  return made;
}

}  // namespace shardax::ops

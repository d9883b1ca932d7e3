// compile/fusion/dim_map.cpp - rows of elementwise ops, reductions, products and what moves
// elements.
#include "compile/fusion/dim_map.h"

#include <algorithm>
#include <optional>

#include "base/index.h"
#include "ir/core_ops.h"

namespace shardax {
namespace {

// One row dimension: where it is in each operand, `unknown` where that is still to be found out,
// and in the result.
constexpr std::int32_t unknown = -2;
struct OpDims {
  SmallVector<std::int32_t, 6> in;
  std::int32_t out = no_dim;
};

std::int32_t position(const Ints& ints, std::int32_t d) {
  const auto at = std::find(ints.begin(), ints.end(), d);
  return at == ints.end() ? no_dim : static_cast<std::int32_t>(at - ints.begin());
}

// The dimensions of an operand of a product that are its own, in order.
Ints own_dims(const Type& type, const Ints& batch, const Ints& contract) {
  Ints out;
  for (std::int32_t d = 0; d < static_cast<std::int32_t>(type.rank()); ++d) {
    if (position(batch, d) < 0 && position(contract, d) < 0) out.push_back(d);
  }
  return out;
}

class Follower {
 public:
  Follower(const Program& program, const Equation& eqn) : program_(program), eqn_(eqn) {}

  // Completes the place of one row dimension, if the op keeps it in one dimension or adds it up.
  bool follow(OpDims& p) const {
    const CoreOps& ops = core_ops();
    if (eqn_.op->kind == Kind::elementwise) return elementwise(p);
    if (eqn_.op->kind == Kind::reduction) return reduction(p);
    if (eqn_.op == &ops.broadcast_in_dim) return broadcast(p);
    if (eqn_.op == &ops.transpose) {
      p.out = position(eqn_.params.ints(param::permutation), p.in[0]);
      return true;
    }
    if (eqn_.op == &ops.reshape || eqn_.op == &ops.squeeze) return reshape(p);
    return eqn_.op == &ops.dot_general && product(p);
  }

 private:
  const Type& in(std::size_t i) const { return program_.type(eqn_.inputs[i]); }
  const Type& out() const { return program_.type(eqn_.outputs[0]); }

  bool elementwise(OpDims& p) const {
    for (std::int32_t d : p.in) {
      if (d >= 0 && p.out >= 0 && d != p.out) return false;
      p.out = std::max(p.out, d);
    }
    for (std::size_t i = 0; i < p.in.size(); ++i) p.in[i] = in(i).rank() == 0 ? no_dim : p.out;
    return true;
  }

  bool reduction(OpDims& p) const {
    const Ints& axes = eqn_.params.ints(param::axes);
    p.out = p.in[0];
    if (position(axes, p.in[0]) >= 0) {
      p.out = no_dim;
      return true;
    }
    for (std::int64_t axis : axes) p.out -= axis < p.in[0] ? 1 : 0;
    return true;
  }

  bool broadcast(OpDims& p) const {
    const auto d = index(p.in[0]);
    p.out = static_cast<std::int32_t>(eqn_.params.ints(param::broadcast_dimensions)[d]);
    return in(0).shape[d] == out().shape[index(p.out)];
  }

  // The same dimension, with as many elements before it.
  bool reshape(OpDims& p) const {
    const auto d = index(p.in[0]);
    std::int64_t before = 1;
    for (std::size_t k = 0; k < d; ++k) before *= in(0).shape[k];
    for (std::size_t k = 0; k < out().rank() && before > 0; ++k) {
      if (before == 1 && out().shape[k] == in(0).shape[d]) {
        p.out = static_cast<std::int32_t>(k);
        return true;
      }
      if (before % out().shape[k] != 0) return false;
      before /= out().shape[k];
    }
    return false;
  }

  bool product(OpDims& p) const {
    const Ints* batch[] = {&eqn_.params.ints(param::lhs_batch),
                           &eqn_.params.ints(param::rhs_batch)};
    const Ints* contract[] = {&eqn_.params.ints(param::lhs_contract),
                              &eqn_.params.ints(param::rhs_contract)};
    const std::size_t from = p.in[0] >= 0 ? 0 : 1, other = 1 - from;
    for (const auto* pairs : {batch, contract}) {
      const std::int32_t i = position(*pairs[from], p.in[from]);
      if (i < 0) continue;
      const auto partner = static_cast<std::int32_t>((*pairs[other])[index(i)]);
      if (p.in[other] >= 0 && p.in[other] != partner) return false;
      p.in[other] = partner;
      p.out = pairs == batch ? i : no_dim;
      return true;
    }
    if (p.in[other] >= 0) return false;
    p.in[other] = no_dim;
    p.out = position(own_dims(in(from), *batch[from], *contract[from]), p.in[from]) +
            static_cast<std::int32_t>(batch[0]->size());
    if (from == 1)
      p.out += static_cast<std::int32_t>(own_dims(in(0), *batch[0], *contract[0]).size());
    return true;
  }

  const Program& program_;
  const Equation& eqn_;
};

// Those of the dimensions that have more than one element.
TileDims long_dims(const Type& type, const Ints& dims) {
  TileDims out;
  for (std::int64_t d : dims) {
    if (type.shape[index(d)] != 1) out.push_back(static_cast<std::int32_t>(d));
  }
  return out;
}

}  // namespace

std::size_t DimMap::kept(std::size_t count) const {
  std::size_t k = 0;
  while (k < count && result[k] >= 0) ++k;
  return k;
}

bool DimMap::leading(const Shape& shape, std::size_t count) const {
  std::size_t d = 0;
  for (std::size_t k = 0; k < kept(count); ++k, ++d) {
    while (static_cast<std::int32_t>(d) != result[k]) {
      if (d >= shape.size() || shape[d] != 1) return false;
      ++d;
    }
  }
  return true;
}

DimMap follow_rows(const Program& program, const Equation& eqn,
                   const std::vector<const TileDims*>& given, std::size_t rows) {
  DimMap out;
  if (eqn.outputs.size() != 1) return out;
  out.operands.resize(eqn.inputs.size());
  const Follower follower(program, eqn);
  for (std::size_t k = 0; k < rows; ++k) {
    OpDims place;
    for (const TileDims* dims : given) place.in.push_back(dims ? (*dims)[k] : unknown);
    if (!follower.follow(place)) return out;
    if (k > 0 && out.result[k - 1] < 0 && place.out >= 0) return out;
    out.result.push_back(place.out);
    for (std::size_t i = 0; i < place.in.size(); ++i) out.operands[i].push_back(place.in[i]);
    out.rows = k + 1;
  }
  return out;
}

TileStart start_of_rows(const Program& program, const Equation& eqn) {
  const auto start = [&](std::size_t operand, const Ints& dims) {
    return TileStart{static_cast<int>(operand), long_dims(program.type(eqn.inputs[operand]), dims)};
  };
  const auto first_dims = [](std::size_t count) {
    Ints out;
    for (std::size_t k = 0; k < count; ++k) out.push_back(static_cast<std::int64_t>(k));
    return out;
  };
  if (eqn.op->kind == Kind::elementwise) {
    const std::size_t rank = program.type(eqn.outputs[0]).rank();
    for (std::size_t i = 0; i < eqn.inputs.size(); ++i) {
      if (program.type(eqn.inputs[i]).rank() == rank) return start(i, first_dims(rank));
    }
  } else if (eqn.op->kind == Kind::reduction) {
    const Ints& axes = eqn.params.ints(param::axes);
    if (!axes.empty()) return start(0, first_dims(index(axes[0])));
  } else if (eqn.op == &core_ops().dot_general) {
    Ints dims = eqn.params.ints(param::lhs_batch);
    const Ints own =
        own_dims(program.type(eqn.inputs[0]), dims, eqn.params.ints(param::lhs_contract));
    dims.append(own.begin(), own.end());
    return start(0, dims);
  }
  return {};
}

Params params_for_rows(const Equation& eqn, const Shape& shape) {
  if (eqn.op == &core_ops().broadcast_in_dim) return eqn.params.with("shape", shape);
  if (eqn.op == &core_ops().reshape) return eqn.params.with("new_sizes", shape);
  return eqn.params;
}

}  // namespace shardax

// compile/scalar/scalar_ops.cpp - ops on whole small arrays: layout, products.
#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "base/index.h"
#include "compile/pipeline.h"
#include "compile/scalar/scalar_values.h"
#include "compile/tuning.h"
#include "ir/core_ops.h"
#include "ir/dim_factors.h"
#include "ops/linalg/product.h"

namespace shardax {
namespace {

// An equation on arrays: its results.
std::vector<ArrayPtr> computed(const Equation& eqn, const std::vector<ArrayPtr>& in,
                               const Types& out) {
  MutableProgram program(new Program);
  Equation inner{eqn.op, eqn.params, {}, {}, eqn.location};
  for (const ArrayPtr& array : in) {
    inner.inputs.push_back(program->add(array->type()));
    program->inputs.push_back(inner.inputs.back());
  }
  for (const Type& type : out) inner.outputs.push_back(program->add(type));
  program->equations.push_back(inner);
  program->outputs.assign(inner.outputs.begin(), inner.outputs.end());
  const PlanPtr plan = compile_body(program);
  std::vector<ArrayPtr> results;
  std::vector<const std::byte*> from;
  std::vector<std::byte*> to;
  for (const ArrayPtr& array : in) from.push_back(array->data());
  for (const Type& type : out) {
    results.push_back(empty_array(type));
    to.push_back(results.back()->data());
  }
  std::vector<std::byte> arena(index(plan->arena_bytes));
  plan->run_raw(from.data(), to.data(), arena.data());
  return results;
}

}  // namespace

// Ops that only move elements move their numbers, once; those without operands are constants.
bool ElementWriter::move(const Equation& eqn, const std::vector<ScalarArray*>& in,
                         ScalarArray& out) {
  if (eqn.op->kind == Kind::control) return false;
  if (in.empty()) {
    out = constant(computed(eqn, {}, {out.type})[0]);
    return true;
  }
  const bool moves = eqn.op == &core_ops().concatenate || eqn.op == &core_ops().pad;
  const bool taken_apart = std::none_of(in.begin(), in.end(),
                                        [&](const ScalarArray* held) { return large(held->type); });
  if (!moves || !taken_apart || large(out.type)) return false;
  std::vector<ArrayPtr> numbers;
  std::int32_t count = 0;
  for (const ScalarArray* held : in) {
    numbers.push_back(empty_array(with_dtype(held->type, DType::int32)));
    std::byte* to = numbers.back()->data();
    for (std::int64_t i = 0; i < held->type.size(); ++i, ++count, to += sizeof count)
      std::memcpy(to, &count, sizeof count);
  }
  const ArrayPtr moved = computed(eqn, numbers, {with_dtype(out.type, DType::int32)})[0];
  std::vector<std::int64_t> positions;
  for (std::int64_t i = 0; i < out.type.size(); ++i) {
    std::int32_t position;
    std::memcpy(&position, moved->data() + index(i) * sizeof position, sizeof position);
    positions.push_back(position);
  }
  if (move_lanes(in, positions, out)) return true;
  std::vector<Source> from;
  std::vector<Place> all, places;
  for (ScalarArray* held : in) {
    from.push_back(source_of(*held));
    for (std::int64_t i = 0; i < held->type.size(); ++i) all.push_back({from.size() - 1, i});
  }
  for (const std::int64_t position : positions) places.push_back(all[index(position)]);
  out = assembled(out.type, from, places);
  return true;
}

// Chains of fused multiplications and additions along the contracted dimensions, from 0, as
// kernels/gemm/gemv.h has them. Elements of matrices in memory are read there.
bool ElementWriter::product(const Equation& eqn, const std::vector<ScalarArray*>& given,
                            ScalarArray& out) {
  if (eqn.op != &core_ops().dot_general || out.type.size() > tuning::scalar_values::most_elements)
    return false;
  const DType dtype = out.type.dtype;
  if ((dtype != DType::float32 && dtype != DType::float64) || given[0]->type.dtype != dtype)
    return false;
  const auto is_read = [](const ScalarArray& held) { return held.in_memory && held.nodes.empty(); };
  ScalarArray in_registers[2];
  std::vector<ScalarArray*> in{given[0], given[1]};
  for (std::size_t i = 0; i < 2; ++i) {
    if (packed(in[i]->type) && !is_read(*in[i])) {
      Source from = source_of(*in[i]);
      in_registers[i] = in_memory(in[i]->type, memory_of(from));
      in[i] = &in_registers[i];
    } else if (!is_read(*in[i]) && in[i]->type.size() > tuning::scalar_values::most_elements) {
      return false;
    }
  }
  const auto strides_of = [&](const ScalarArray& held) {
    return is_read(held) ? held.strides : row_major_strides(held.type.shape);
  };
  const DimFactors dims = *dim_factors(*eqn.op, eqn.params, {in[0]->type, in[1]->type}, out.type);
  const Shape l_from = strides_of(*in[0]), r_from = strides_of(*in[1]);
  // Sizes, and strides in both operands, of the result's dimensions, then of the contracted ones.
  Shape l_strides, r_strides;
  const auto stride = [&](std::size_t side, std::int64_t d) {
    return d == no_dim ? 0 : (side == 0 ? l_from : r_from)[index(d)];
  };
  for (const std::int64_t d : DimFactors::matching_dims(dims.result, dims.operands[0]))
    l_strides.push_back(stride(0, d));
  for (const std::int64_t d : DimFactors::matching_dims(dims.result, dims.operands[1]))
    r_strides.push_back(stride(1, d));
  Shape contracted, l_inner, r_inner;
  for (const std::int64_t d : dims.reduced_dims(0)) {
    contracted.push_back(in[0]->type.shape[index(d)]);
    l_inner.push_back(l_from[index(d)]);
  }
  for (const std::int64_t d : dims.reduced_dims(1)) r_inner.push_back(r_from[index(d)]);
  const std::int64_t k = dims.reduced_size();
  if (out.type.size() * k > tuning::scalar_ops::most_terms || k > kernels::matmul_k_block)
    return false;
  for (const ScalarArray* held : in) check_version(*held);
  const Number kind = number_kind(dtype);
  std::unordered_map<std::int64_t, int> read[2];
  const auto element_at = [&](std::size_t side, std::int64_t offset) {
    const ScalarArray& held = *in[side];
    if (!is_read(held)) return held.nodes[index(offset)];
    const auto [at, is_new] = read[side].try_emplace(offset, 0);
    if (is_new) at->second = code_.load(kind, element(held, offset));
    return at->second;
  };
  std::vector<std::int64_t> l_start, r_start, l_step, r_step;
  each_offset(out.type.shape, l_strides, [&](auto, auto offset) { l_start.push_back(offset); });
  each_offset(out.type.shape, r_strides, [&](auto, auto offset) { r_start.push_back(offset); });
  each_offset(contracted, l_inner, [&](auto, auto offset) { l_step.push_back(offset); });
  each_offset(contracted, r_inner, [&](auto, auto offset) { r_step.push_back(offset); });
  for (std::size_t i = 0; i < l_start.size(); ++i) {
    int total = nodes().add({Code::constant, kind, {}, 0});
    for (std::size_t j = 0; j < l_step.size(); ++j) {
      const int left = element_at(0, l_start[i] + l_step[j]),
                right = element_at(1, r_start[i] + r_step[j]);
      total = nodes().add({Code::fma, kind, {left, right, total}});
    }
    out.nodes.push_back(total);
  }
  return true;
}

}  // namespace shardax

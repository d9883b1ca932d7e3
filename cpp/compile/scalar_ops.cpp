// compile/scalar_ops.cpp - ops on all elements of small arrays: moved ones, sums, products.
#include <algorithm>
#include <cstring>

#include "base/index.h"
#include "compile/known.h"
#include "compile/pipeline.h"
#include "compile/scalar_elements.h"

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

Ints free_dims(std::size_t rank, const Ints& contract, const Ints& batch) {
  Ints out;
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(rank); ++d) {
    const auto has = [&](const Ints& dims) {
      return std::find(dims.begin(), dims.end(), d) != dims.end();
    };
    if (!has(contract) && !has(batch)) out.push_back(d);
  }
  return out;
}

}  // namespace

// Ops that only move elements move their numbers, once; those without operands are constants.
bool ElementWriter::move(const Equation& eqn, const std::vector<Held*>& in, Held& out) {
  if (eqn.op->kind == Kind::control) return false;
  if (in.empty()) {
    out = constant(computed(eqn, {}, {out.type})[0]);
    return true;
  }
  const bool moves = eqn.op == &known().concatenate || eqn.op == &known().pad;
  const bool small = std::all_of(
      in.begin(), in.end(), [](const Held* held) { return held->type.size() <= most_elements; });
  if (!moves || !small || out.type.size() > most_elements) return false;
  std::vector<ArrayPtr> numbers;
  std::vector<int> all;
  for (Held* held : in) {
    numbers.push_back(empty_array(with_dtype(held->type, DType::int32)));
    std::byte* to = numbers.back()->data();
    for (const int node : elements(*held)) {
      const auto position = static_cast<std::int32_t>(all.size());
      std::memcpy(to, &position, sizeof position);
      to += sizeof position;
      all.push_back(node);
    }
  }
  const ArrayPtr moved = computed(eqn, numbers, {with_dtype(out.type, DType::int32)})[0];
  for (std::int64_t i = 0; i < out.type.size(); ++i) {
    std::int32_t position;
    std::memcpy(&position, moved->data() + index(i) * sizeof position, sizeof position);
    out.nodes.push_back(all[index(position)]);
  }
  return true;
}

// Whether all elements of a small array of truth values are set, or any.
bool ElementWriter::truth(const Equation& eqn, Held& in, Held& out) {
  static const Op* const pairs[][2] = {{find_op("reduce_and"), find_op("and")},
                                       {find_op("reduce_or"), find_op("or")}};
  const std::int64_t size = in.type.size();
  if (in.type.dtype != DType::boolean || out.type.rank() != 0 || size < 1 || size > most_elements)
    return false;
  for (const auto& [reduction, pair] : pairs) {
    if (eqn.op != reduction) continue;
    Type one;
    one.dtype = DType::boolean;
    const MapKernel kernel = pair->map({one, one}, one, {});
    if (!kernel.record) return false;
    const std::vector<int> each = elements(in);
    int joined = each[0];
    for (std::size_t i = 1; i < each.size(); ++i) {
      const int operands[] = {joined, each[i]};
      joined = kernel.record(nodes(), operands, kernel.extra);
    }
    out.nodes = {joined};
    return true;
  }
  return false;
}

// One after the other, as kernels/reduce_loops.h adds up to 15 elements, from 0.
bool ElementWriter::sum(const Equation& eqn, Held& in, Held& out) {
  constexpr std::int64_t most = 15;
  const Number kind = number_kind(in.type.dtype);
  const bool all = out.type.rank() == 0 && in.type.size() <= most;
  if (eqn.op != &known().reduce_sum || !all || itemsize(in.type.dtype) != codegen::width_of(kind) ||
      is_complex(in.type.dtype) || is_key(in.type.dtype))
    return false;
  int total = nodes().add({Code::constant, kind, {}, 0});
  for (const int node : elements(in)) total = nodes().add({Code::add, kind, {total, node}});
  out.nodes = {total};
  return true;
}

// Chains of fused multiplications and additions along the contracted dimensions, from 0, as
// kernels/matmul_vector.h has them.
bool ElementWriter::product(const Equation& eqn, const std::vector<Held*>& in, Held& out) {
  if (eqn.op != &known().dot_general || in[0]->type.size() > most_elements ||
      in[1]->type.size() > most_elements || out.type.size() > most_elements)
    return false;
  const DType dtype = out.type.dtype;
  if ((dtype != DType::float32 && dtype != DType::float64) || in[0]->type.dtype != dtype)
    return false;
  const Ints &l_contract = eqn.params.ints("lhs_contract"),
             &r_contract = eqn.params.ints("rhs_contract");
  const Ints &l_batch = eqn.params.ints("lhs_batch"), &r_batch = eqn.params.ints("rhs_batch");
  const Shape &l_shape = in[0]->type.shape, &r_shape = in[1]->type.shape;
  const Ints l_free = free_dims(l_shape.size(), l_contract, l_batch);
  const Ints r_free = free_dims(r_shape.size(), r_contract, r_batch);
  const Shape l_dense = row_major_strides(l_shape), r_dense = row_major_strides(r_shape);
  // Of the result's dimensions, then of the contracted ones: sizes, and strides in both operands.
  Shape sizes, l_strides, r_strides;
  for (std::size_t i = 0; i < l_batch.size(); ++i) {
    l_strides.push_back(l_dense[index(l_batch[i])]);
    r_strides.push_back(r_dense[index(r_batch[i])]);
  }
  for (const std::int64_t d : l_free) {
    l_strides.push_back(l_dense[index(d)]);
    r_strides.push_back(0);
  }
  for (const std::int64_t d : r_free) {
    l_strides.push_back(0);
    r_strides.push_back(r_dense[index(d)]);
  }
  Shape contracted, l_inner, r_inner;
  std::int64_t k = 1;
  for (std::size_t i = 0; i < l_contract.size(); ++i) {
    contracted.push_back(l_shape[index(l_contract[i])]);
    l_inner.push_back(l_dense[index(l_contract[i])]);
    r_inner.push_back(r_dense[index(r_contract[i])]);
    k *= contracted.back();
  }
  if (out.type.size() * k > 4 * most_elements) return false;
  const std::vector<int>&a = elements(*in[0]), &b = elements(*in[1]);
  const Number kind = number_kind(dtype);
  std::vector<std::int64_t> l_start, r_start, l_step, r_step;
  each_offset(out.type.shape, l_strides, [&](auto, auto offset) { l_start.push_back(offset); });
  each_offset(out.type.shape, r_strides, [&](auto, auto offset) { r_start.push_back(offset); });
  each_offset(contracted, l_inner, [&](auto, auto offset) { l_step.push_back(offset); });
  each_offset(contracted, r_inner, [&](auto, auto offset) { r_step.push_back(offset); });
  for (std::size_t i = 0; i < l_start.size(); ++i) {
    int total = nodes().add({Code::constant, kind, {}, 0});
    for (std::size_t j = 0; j < l_step.size(); ++j) {
      const int left = a[index(l_start[i] + l_step[j])], right = b[index(r_start[i] + r_step[j])];
      total = nodes().add({Code::fma, kind, {left, right, total}});
    }
    out.nodes.push_back(total);
  }
  return true;
}

}  // namespace shardax

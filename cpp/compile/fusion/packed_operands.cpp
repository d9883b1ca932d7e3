// compile/fusion/packed_operands.cpp - the choice of packed operands, and the copies.
#include "compile/fusion/packed_operands.h"

#include <algorithm>

#include "base/index.h"
#include "base/lists.h"
#include "compile/fusion/fuse.h"
#include "compile/lower/lower.h"
#include "compile/tuning.h"
#include "ir/core_ops.h"
#include "kernels/gemm/matmul.h"
#include "ops/linalg/product.h"
#include "ops/permutations.h"

namespace shardax {
namespace {

// The one dimension of `dims` that is longer than 1 in a block; no_dim: none, or several.
std::int32_t long_dim(const Type& type, const Ints& dims, const TileDims& rows) {
  std::int32_t found = no_dim;
  for (const std::int64_t d : dims) {
    const auto dim = static_cast<std::int32_t>(d);
    if (type.shape[index(d)] == 1 || std::ranges::find(rows, dim) != rows.end()) continue;
    if (found != no_dim) return no_dim;
    found = dim;
  }
  return found;
}

// Has a block one index of each dimension of rows, but for the split one?
bool is_one_line(const Type& type, const TileDims& rows, std::size_t split) {
  for (std::size_t k = split + 1; k < rows.size(); ++k) {
    if (rows[k] >= 0 && type.shape[index(rows[k])] > 1) return false;
  }
  return true;
}

}  // namespace

std::optional<PanelDims> shared_panels(const Program& program, const Blocks& blocks,
                                       const Equation& eqn, const DimMap& map,
                                       const ColumnDims& columns) {
  if (eqn.op != &core_ops().dot_general) return {};
  const Type &left = program.type(eqn.inputs[0]), &right = program.type(eqn.inputs[1]),
             &out = program.type(eqn.outputs[0]);
  const TileDims &left_rows = map.operands[0], &right_rows = map.operands[1];
  const std::int64_t width = kernels::matmul_panel_columns(right.dtype);
  if (width == 0 || left.dtype != right.dtype || out.dtype != right.dtype ||
      blocks.per_line < tuning::prepack_operands::fewest_packed_iterations ||
      blocks.size < tuning::prepack_operands::fewest_packed_rows)
    return {};
  if (right_rows[blocks.split] >= 0 || left_rows[blocks.split] < 0 ||
      map.result[blocks.split] < 0 || !is_one_line(left, left_rows, blocks.split) ||
      !is_one_line(right, right_rows, blocks.split))
    return {};
  const Params& p = eqn.params;
  PanelDims panels;
  panels.width = width;
  panels.rows = long_dim(right, p.ints(param::rhs_contract), right_rows);
  panels.columns = long_dim(
      right, ops::free_dims(right.rank(), p.ints(param::rhs_contract), p.ints(param::rhs_batch)),
      right_rows);
  const std::int32_t summed = long_dim(left, p.ints(param::lhs_contract), left_rows);
  if (panels.rows == no_dim || panels.columns == no_dim || summed == no_dim) return {};
  panels.left_turned = summed < left_rows[blocks.split];
  // All else is one index long.
  const auto elements = [](const Type& type, std::int32_t a, std::int32_t b, const TileDims& rows) {
    std::int64_t n = type.shape[index(a)] * type.shape[index(b)];
    for (const std::int32_t d : rows) n *= d >= 0 && d != a && d != b ? type.shape[index(d)] : 1;
    return n == type.size();
  };
  const std::int64_t n = right.shape[index(panels.columns)], k = right.shape[index(panels.rows)];
  const bool whole = n % width == 0 && (columns.operands[1] != panels.columns ||
                                        tuning::masked_columns::width_multiple % width == 0);
  if (!whole || n * k * itemsize(right.dtype) <= tuning::prepack_operands::least_panel ||
      !elements(right, panels.rows, panels.columns, right_rows) ||
      !elements(left, summed, left_rows[blocks.split], left_rows))
    return {};
  return panels;
}

Packing packing(const Type& type, const Shape& strides, const Blocks& blocks,
                const BlockOperand& operand) {
  const PanelDims& panels = *operand.panels;
  const std::int64_t n = type.shape[index(panels.columns)], k = type.shape[index(panels.rows)];
  const std::int64_t count = n / panels.width;
  // The columns in two dimensions, then: rows of the group, what has one index, panels.
  Shape split;
  const auto place = [&](std::int32_t d) {
    return static_cast<std::int64_t>(d) + (d > panels.columns ? 1 : 0);
  };
  for (std::size_t d = 0; d < type.rank(); ++d) {
    if (static_cast<std::int32_t>(d) == panels.columns) {
      split.push_back(count);
      split.push_back(panels.width);
    } else {
      split.push_back(type.shape[d]);
    }
  }
  Ints order;
  for (std::size_t r = 0; r < blocks.split; ++r) {
    if (operand.dims[r] >= 0) order.push_back(place(operand.dims[r]));
  }
  const Ints matrix{place(panels.columns), place(panels.rows), place(panels.columns) + 1};
  for (std::size_t d = 0; d < split.size(); ++d) {
    const auto dim = static_cast<std::int64_t>(d);
    if (!has(order, dim) && !has(matrix, dim)) order.push_back(dim);
  }
  order.append(matrix.begin(), matrix.end());

  const MutableProgram program(new Program);
  program->inputs = {program->add(type)};
  program->equations.push_back({&core_ops().reshape,
                                ops::reshape_params(split),
                                {program->inputs[0]},
                                {program->add(with_shape(type, split))},
                                nullptr});
  Shape moved;
  for (const std::int64_t d : order) moved.push_back(split[index(d)]);
  program->equations.push_back({&core_ops().transpose,
                                {{"permutation", order}},
                                {program->equations[0].outputs[0]},
                                {program->add(with_shape(type, moved))},
                                nullptr});
  program->outputs = {program->equations[1].outputs[0]};
  CompileOptions options;
  options.dense_outputs = true;
  options.input_strides.push_back(strides);
  Packing out;
  out.plan = lower(program, fuse(*program), options, program->output_types());
  out.bytes = type.bytes();
  out.steps = Shape(operand.dims.size(), 0);
  std::int64_t step = n * k;
  for (std::size_t r = blocks.split; r-- > 0;) {
    if (operand.dims[r] < 0) continue;
    out.steps[r] = step;
    step *= type.shape[index(operand.dims[r])];
  }
  return out;
}

}  // namespace shardax

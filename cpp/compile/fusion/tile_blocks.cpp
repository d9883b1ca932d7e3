// compile/fusion/tile_blocks.cpp - the sizes of blocks, and equations on parts of arrays.
#include "compile/fusion/tile_blocks.h"

#include <algorithm>

#include "base/index.h"
#include "compile/fusion/packed_operands.h"
#include "compile/tuning.h"
#include "ir/core_ops.h"
#include "ops/permutations.h"

namespace shardax {

Blocks choose_blocks(const TileGroup& group, std::int64_t most_rows) {
  std::int64_t budget =
      group.products ? tuning::tiled_step::product_block_bytes : tuning::tiled_step::block_bytes;
  if (group.sum_bytes > budget)
    budget = std::min(2 * group.sum_bytes, tuning::tiled_step::most_block_bytes);
  std::int64_t wanted =
      std::max<std::int64_t>(group.products ? tuning::tiled_step::least_product_rows : 1,
                             budget / std::max<std::int64_t>(1, group.tile_footprint));
  wanted = std::min(wanted, most_rows);
  Blocks out;
  out.split = group.rows.size() - 1;
  // The rows that a sum has are run through one by one.
  const std::size_t first = group.kept;
  while (out.split > first && group.rows[out.split] <= wanted) {
    wanted /= group.rows[out.split];
    --out.split;
  }
  const std::int64_t rows = group.rows[out.split];
  out.size = std::min(rows, wanted);
  // Without a shorter block at the end, if that takes little.
  for (std::int64_t d = out.size; d > out.size * 3 / 4; --d) {
    if (rows % d == 0) {
      out.size = d;
      break;
    }
  }
  out.per_line = (rows + out.size - 1) / out.size;
  out.count = out.per_line;
  for (std::size_t k = 0; k < out.split; ++k) out.count *= group.rows[k];
  return out;
}

Shape rows_of_block(Shape shape, const TileGroup& group, const Blocks& blocks, const TileDims& dims,
                    std::int64_t size) {
  for (std::size_t k = 0; k < group.rows.size(); ++k) {
    if (dims[k] < 0) continue;
    shape[index(dims[k])] = k < blocks.split ? 1 : k == blocks.split ? size : group.rows[k];
  }
  return shape;
}

std::vector<ColumnDims> without_columns(const Program& program, const TileGroup& group) {
  std::vector<ColumnDims> out(group.equations.size());
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i].operands.assign(program.equations[index(group.equations[i])].inputs.size(), no_dim);
  return out;
}

ProgramPtr BlockProgram::make(const std::vector<Var>& results, std::int64_t size,
                              std::int64_t count, const std::vector<BlockOperand>& first) {
  operands_.clear();
  inputs_.clear();
  made_.clear();
  out_ = MutableProgram(new Program);
  out_->name = program_.name;
  size_ = size;
  count_ = count;
  for (const BlockOperand& o : first) operand(o);
  for (std::size_t i = 0; i < group_.equations.size(); ++i)
    add(program_.equations[index(group_.equations[i])], group_.maps[i], columns_[i]);
  for (Var v : results) out_->outputs.push_back(made_.at(v));
  return out_;
}

Shape BlockProgram::part_of(const Shape& shape, const TileDims& dims, std::int32_t column) const {
  Shape part = rows_of_block(shape, group_, blocks_, dims, size_);
  if (column != no_dim) part[index(column)] = count_;
  return part;
}

Var BlockProgram::operand(const BlockOperand& wanted) {
  const auto [first, last] = inputs_.equal_range(wanted.var);
  for (auto it = first; it != last; ++it) {
    if (operands_[it->second] == wanted) return out_->inputs[it->second];
  }
  inputs_.emplace(wanted.var, operands_.size());
  operands_.push_back(wanted);
  const Type& type = program_.type(wanted.var);
  Shape shape = part_of(type.shape, wanted.dims, wanted.column);
  if (const std::optional<PanelDims>& panels = wanted.panels)
    shape = {shape[index(panels->columns)] / panels->width, shape[index(panels->rows)],
             panels->width};
  out_->inputs.push_back(out_->add(with_shape(type, std::move(shape))));
  return out_->inputs.back();
}

Var BlockProgram::input(const Equation& eqn, const DimMap& map, const ColumnDims& column,
                        std::size_t i) {
  const auto own = made_.find(eqn.inputs[i]);
  return own != made_.end() ? own->second
                            : operand({eqn.inputs[i], map.operands[i], column.operands[i]});
}

void BlockProgram::add(const Equation& eqn, const DimMap& map, const ColumnDims& column) {
  if (eqn.inputs.size() == 2 && !made_.contains(eqn.inputs[1])) {
    if (const std::optional<PanelDims> panels = shared_panels(program_, blocks_, eqn, map, column))
      return multiply(eqn, map, column, *panels);
  }
  Vars inputs;
  for (std::size_t i = 0; i < eqn.inputs.size(); ++i) inputs.push_back(input(eqn, map, column, i));
  const Type& type = program_.type(eqn.outputs[0]);
  const Shape shape = part_of(type.shape, map.result, column.result);
  made_[eqn.outputs[0]] =
      append(eqn, *eqn.op, resized(*eqn.op, eqn.params, shape), inputs, with_shape(type, shape));
}

// dot_general [1,m,k] [1,n,k] -> [1,m,n]   reshape [1,m,k] -> [m,k]; dot_general [m,k] [p,k,w] ->
// [m,p,w]; reshape [m,p,w] -> [1,m,n]
void BlockProgram::multiply(const Equation& eqn, const DimMap& map, const ColumnDims& column,
                            const PanelDims& panels) {
  const Var right = operand({eqn.inputs[1], map.operands[1], column.operands[1], panels});
  const Shape matrix = out_->type(right).shape;
  const Var given = input(eqn, map, column, 0);
  const Type type = out_->type(given);
  const std::int64_t k = matrix[1], m = type.size() / k;
  const Shape flat = panels.left_turned ? Shape{k, m} : Shape{m, k};
  const Var left =
      append(eqn, core_ops().reshape, ops::reshape_params(flat), {given}, with_shape(type, flat));
  Params params = eqn.params;
  params.set("lhs_contract", Ints{panels.left_turned ? 0 : 1});
  params.set("rhs_contract", Ints{1});
  params.set("lhs_batch", Ints{});
  params.set("rhs_batch", Ints{});
  const Type& result = program_.type(eqn.outputs[0]);
  const Var product = append(eqn, *eqn.op, std::move(params), {left, right},
                             with_shape(result, {m, matrix[0], matrix[2]}));
  const Shape shape = part_of(result.shape, map.result, column.result);
  made_[eqn.outputs[0]] = append(eqn, core_ops().reshape, ops::reshape_params(shape), {product},
                                 with_shape(result, shape));
}

Var BlockProgram::append(const Equation& eqn, const Op& op, Params params, Vars inputs, Type type) {
  const Var out = out_->add(std::move(type));
  out_->equations.push_back(
      {&op, std::move(params), std::move(inputs), {out}, eqn.location, eqn.names});
  return out;
}

}  // namespace shardax

// analysis/uniform.cpp - finding mapped inputs, and comparing their slices.
#include "analysis/uniform.h"

#include "array/exported_buffers.h"
#include "base/index.h"
#include "ir/regions.h"
#include "kernels/copy/copy.h"

namespace shardax {
namespace {

// A comparison of short slices, element by element, would cost more than it may save.
bool worth_comparing(const Array& array, std::int64_t axis) {
  Shape shape = array.shape(), strides = array.strides();
  shape.erase(index(axis));
  strides.erase(index(axis));
  return is_contiguous(shape, strides);
}

}  // namespace

void find_mapped(const Program& program, const std::vector<std::int64_t>& inputs,
                 std::vector<Mapped>& found) {
  const auto origin = [&](Var v) {
    const auto at = std::find(program.inputs.begin(), program.inputs.end(), v);
    return at == program.inputs.end() ? -1 : inputs[index(at - program.inputs.begin())];
  };
  const auto add = [&](std::int64_t input, std::int64_t axis) {
    if (input < 0) return;
    const Mapped mapped{index(input), axis};
    const bool known = std::any_of(found.begin(), found.end(), [&](const Mapped& m) {
      return m.input == mapped.input && m.axis == mapped.axis;
    });
    if (!known) found.push_back(mapped);
  };
  for (const Equation& eqn : program.equations) {
    if (!eqn.op->regions) continue;
    const Regions regions = eqn.op->regions(eqn.params);
    if (regions.runs == ExecutionKind::mapped) {
      for (std::size_t i = 0; i < regions.operands.size(); ++i) {
        const RegionPort& port = regions.operands[i];
        if (port.flow == PortKind::sliced) add(origin(eqn.inputs[i]), port.axis);
      }
      continue;
    }
    for (std::size_t k = 0; k < regions.programs.size(); ++k) {
      std::vector<std::int64_t> inner;
      for (const std::size_t i : regions.taken_by(k))
        inner.push_back(regions.operands[i].flow == PortKind::sliced ? -1 : origin(eqn.inputs[i]));
      find_mapped(*regions.programs[k], inner, found);
    }
  }
}

bool is_uniform(Mapped& m, Array& array) {
  const auto axis = index(m.axis);
  if (array.shape()[axis] < 2) return false;
  if (array.strides()[axis] == 0) return true;
  if (m.varies) return false;
  const bool leading = m.axis == 0 && !is_exported(array.buffer()->data());
  auto verdict = leading ? array.leading_uniformity() : Array::Uniformity::unknown;
  if (verdict == Array::Uniformity::unknown) {
    verdict = worth_comparing(array, m.axis) && slices_equal(array, m.axis)
                  ? Array::Uniformity::uniform
                  : Array::Uniformity::varying;
    if (leading) array.remember_uniformity(verdict);
  }
  m.varies = verdict == Array::Uniformity::varying;
  return !m.varies;
}

ArrayPtr spread_out(const Array& array) {
  ArrayPtr out = empty_array(array.type());
  kernels::copy_strided(out->data(), out->strides(), array.data(), array.strides(), array.shape(),
                        itemsize(array.dtype()));
  return out;
}

}  // namespace shardax

// execute/uniform.cpp - finding mapped inputs, and comparing their slices.
#include "execute/uniform.h"

#include "control/control.h"
#include "kernels/copy.h"

namespace shardax {
namespace {

// Comparing element by element would cost more than what it may save.
bool worth_comparing(const Array& array, std::int64_t axis) {
  Shape shape = array.shape(), strides = array.strides();
  shape.erase(static_cast<std::size_t>(axis));
  strides.erase(static_cast<std::size_t>(axis));
  return is_contiguous(shape, strides);
}

}  // namespace

void find_mapped(const Program& program, const std::vector<std::int64_t>& inputs,
                 std::vector<Mapped>& found) {
  const auto origin = [&](Var v) {
    const auto at = std::find(program.inputs.begin(), program.inputs.end(), v);
    return at == program.inputs.end()
               ? -1
               : inputs[static_cast<std::size_t>(at - program.inputs.begin())];
  };
  // A body whose inputs are some of the equation's, from `first` on; those after `count` are none.
  const auto look_inside = [&](const ProgramPtr& body, const Equation& eqn, std::size_t first,
                               std::size_t count) {
    std::vector<std::int64_t> inner(body->inputs.size(), -1);
    for (std::size_t i = 0; i < count; ++i) inner[i] = origin(eqn.inputs[first + i]);
    find_mapped(*body, inner, found);
  };
  for (const Equation& eqn : program.equations) {
    const std::size_t count = eqn.inputs.size();
    if (eqn.op->body) look_inside(eqn.op->body(eqn.params), eqn, 0, count);
    if (is_scan(*eqn.op)) {
      const auto kept = eqn.params.integer("num_consts") + eqn.params.integer("num_carry");
      look_inside(eqn.params.program("jaxpr"), eqn, 0, static_cast<std::size_t>(kept));
    } else if (is_while(*eqn.op)) {
      const auto first = static_cast<std::size_t>(eqn.params.integer("cond_nconsts"));
      look_inside(eqn.params.program("body_jaxpr"), eqn, first, count - first);
    } else if (is_cond(*eqn.op)) {
      for (const ProgramPtr& branch : eqn.params.programs("branches"))
        look_inside(branch, eqn, 1, count - 1);
    }
    if (!is_pmap(*eqn.op)) continue;
    const Ints& in_axes = eqn.params.ints("in_axes");
    for (std::size_t i = 0; i < in_axes.size(); ++i) {
      const std::int64_t input = origin(eqn.inputs[i]);
      if (in_axes[i] < 0 || input < 0) continue;
      const Mapped mapped{static_cast<std::size_t>(input), in_axes[i]};
      const bool known = std::any_of(found.begin(), found.end(), [&](const Mapped& m) {
        return m.input == mapped.input && m.axis == mapped.axis;
      });
      if (!known) found.push_back(mapped);
    }
  }
}

bool is_uniform(Mapped& m, Array& array) {
  const auto axis = static_cast<std::size_t>(m.axis);
  if (array.shape()[axis] < 2) return false;
  if (array.strides()[axis] == 0) return true;
  if (m.varies) return false;
  const bool leading = m.axis == 0;
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

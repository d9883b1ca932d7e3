// control/map_divergent.cpp - the loop over slices, and the check that devices agree.
#include "control/map_divergent.h"

#include <algorithm>

#include "array/checked_axis.h"
#include "base/errors.h"
#include "base/index.h"
#include "ir/regions.h"
#include "kernels/copy/copy.h"
#include "ops/collectives/collective.h"
#include "ops/ops.h"
#include "trace/eval_program.h"

namespace shardax {
namespace {

extern const Op agree_op;

std::string place(const LocationPtr& location) {
  return location ? " at " + to_string(*location) : "";
}

// "devices 0, 2 and 3"; long lists end in "...".
std::string device_list(const std::vector<std::int64_t>& devices) {
  constexpr std::size_t most = 12;
  std::string out = devices.size() == 1 ? "device " : "devices ";
  for (std::size_t i = 0; i < devices.size() && i < most; ++i) {
    if (i > 0) out += i + 1 == devices.size() ? " and " : ", ";
    out += std::to_string(devices[i]);
  }
  if (devices.size() > most) out += concat(", ... (", devices.size(), " in all)");
  return out;
}

// The choices along one line of the operand.
[[noreturn]] void disagree(const Params& params, const std::vector<std::int32_t>& choices) {
  const Ints& reaches = params.ints(param::reaches);
  std::vector<std::int64_t> with, without;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const bool reached = reaches[index(choices[i])] != 0;
    (reached ? with : without).push_back(static_cast<std::int64_t>(i));
  }
  std::string sides;
  if (without.empty()) {
    sides = "all devices reach one, but not in the same branch";
  } else {
    sides = concat(device_list(with), with.size() == 1 ? " reaches" : " reach", " it, ",
                   device_list(without), without.size() == 1 ? " does" : " do", " not");
  }
  fail(ErrorKind::runtime_error, params.text(param::construct),
       ": the predicate differs between devices of axis '",
       axis_text(params.axes(param::axis_name)[0]), "', and ", params.text(param::collective),
       " over that axis", params.text(param::place), " is inside: ", sides,
       ". On real devices this would wait forever. Make the predicate equal on all devices (with "
       "psum or pmax, say), or move the collective out of the ",
       params.text(param::construct), ".");
}

Kernel agree_kernel(const Types& in, const Types&, const Params& params) {
  const auto axis = index(params.integer(param::axis));
  const Shape shape = in[0].shape;
  return [=](std::span<const View> operands, std::span<const View> results) {
    const View& choice = operands[0];
    const std::int64_t count = shape[axis], step = choice.strides[axis];
    Shape rest_shape = shape, rest_strides = choice.strides;
    rest_shape.erase(axis);
    rest_strides.erase(axis);
    const auto* data = reinterpret_cast<const std::int32_t*>(choice.data);
    Shape index(rest_shape.size(), 0);
    std::int64_t lines = 1;
    for (std::int64_t d : rest_shape) lines *= d;
    for (std::int64_t line = 0; line < lines; ++line) {
      std::int64_t offset = 0;
      for (std::size_t d = 0; d < index.size(); ++d) offset += index[d] * rest_strides[d];
      bool same = true;
      for (std::int64_t i = 1; i < count; ++i)
        same = same && data[offset + i * step] == data[offset];
      if (!same) {
        std::vector<std::int32_t> choices;
        for (std::int64_t i = 0; i < count; ++i) choices.push_back(data[offset + i * step]);
        disagree(params, choices);
      }
      for (std::size_t d = index.size(); d-- > 0;) {
        if (++index[d] < rest_shape[d]) break;
        index[d] = 0;
      }
    }
    kernels::copy_strided(results[0].data, results[0].strides, choice.data, rest_strides,
                          rest_shape, itemsize(choice.dtype));
  };
}

// Not an effect: where the agreed value is not used, nothing waits for it.
const Op agree_op{{.name = "agree",
                   .operands = 1,
                   .doc = "The value that all slices along an axis share; an error if they differ.",
                   .type = [](const Op&, const Types& in, const Params& params) -> Types {
                     Type out = in[0];
                     const std::int64_t axis = params.integer(param::axis);
                     if (out.dtype != DType::int32 || axis < 0 ||
                         axis >= static_cast<std::int64_t>(out.rank())) {
                       value_error("agree: choices ", to_string(out), " along axis ", axis,
                                   "; int32 and an axis of the array were expected.");
                     }
                     out.erase_dimension(index(axis));
                     return {out};
                   },
                   .batch = [](const BatchArgs& a) -> Batched {
                     const Params params = a.params.with("axis", a.params.integer(param::axis) + 1);
                     return {{bind1(a.op, params, a.in)}, {true}};
                   },
                   .no_gradient = true,
                   .kernel = agree_kernel}};

bool is_over(const Equation& eqn, AxisName axis) {
  if (eqn.op->kind != Kind::collective) return false;
  return std::any_of(eqn.params.begin(), eqn.params.end(), [&](const Params::Entry& entry) {
    const auto* names = std::get_if<AxisNames>(&entry.second);
    return names && contains(names->names, axis);
  });
}

}  // namespace

bool communicates(const Equation& eqn, AxisName axis) {
  return any_equation(eqn, [&](const Equation& e) { return is_over(e, axis); });
}

Collective find_collective(const Program& program, AxisName axis) {
  Collective found;
  for (const Equation& eqn : program.equations) {
    any_equation(eqn, [&](const Equation& e) {
      if (!is_over(e, axis) || ops::stays_local(*e.op)) return false;
      found = {e.op->name, e.location};
      return true;
    });
    if (found) break;
  }
  return found;
}

Value agreed(const Value& choice, const std::vector<bool>& reaches, const Collective& collective,
             AxisName axis, std::string_view construct) {
  Ints flags;
  for (const bool reached : reaches) flags.push_back(reached ? 1 : 0);
  return bind1(agree_op,
               {{"axis", std::int64_t{0}},
                {"axis_name", AxisNames{{axis}}},
                {"reaches", flags},
                {"collective", std::string(collective.name)},
                {"place", place(collective.location)},
                {"construct", std::string(construct)}},
               {choice});
}

namespace {

// Values that each device knows by itself: its index, and values of types that vary over the axis.
bool is_local_over(const Equation& eqn, AxisName axis) {
  if (!ops::stays_local(*eqn.op)) return false;
  const bool by_name = eqn.params.has("axis_name");
  return contains(eqn.params.axes(by_name ? param::axis_name : param::collective_axes), axis);
}

// Do its programs tell values that devices have of their own from those that they share? Among the
// devices' slices there is no such difference.
bool is_typed_over(const Equation& eqn, AxisName axis) {
  if (!eqn.op->regions || !is_checked(axis)) return false;
  const auto varies = [&](const Type& type) { return contains(type.varying, axis); };
  const auto programs = eqn.op->regions(eqn.params).programs;
  return std::any_of(programs.begin(), programs.end(), [&](const ProgramPtr& program) {
    return std::any_of(program->types.begin(), program->types.end(), varies);
  });
}

bool knows_itself(const Equation& eqn, AxisName axis) {
  return any_equation(
      eqn, [&](const Equation& e) { return is_local_over(e, axis) || is_typed_over(e, axis); });
}

Values at_index(const Op& op, const Params& params, const Values& in, AxisName axis,
                const Value& index);

// The program with the index as one more input, number `position`.
ProgramPtr program_at_index(const Program& program, std::size_t position, AxisName axis,
                            const Type& index) {
  Types types = program.input_types();
  for (Type& type : types) type.varying = without(type.varying, axis);
  types.insert(types.begin() + static_cast<std::ptrdiff_t>(position), index);
  return stage_closed(
      types,
      [&](const Values& v) {
        Values inputs = v;
        inputs.erase(inputs.begin() + static_cast<std::ptrdiff_t>(position));
        return eval_program(program, inputs, [&](const Equation& eqn, const Values& in) {
          return at_index(*eqn.op, eqn.params, in, axis, v[position]);
        });
      },
      program.name);
}

// The position of a new operand that all runs of program k take. Constants come first, program by
// program.
std::size_t place_for_constant(const Regions& regions, int k) {
  std::size_t at = 0;
  while (at < regions.operands.size()) {
    const RegionPort& port = regions.operands[at];
    const bool before = port.flow == PortKind::choice ||
                        (port.flow == PortKind::whole && port.program >= 0 && port.program < k);
    if (!before) break;
    ++at;
  }
  return at;
}

// The op on one device's operands; `index` is that device's place along the axis. Regions that ask
// for it take it as an operand.
Values at_index(const Op& op, const Params& params, const Values& in, AxisName axis,
                const Value& index) {
  const Equation eqn{&op, params, {}, {}, nullptr};
  if (is_local_over(eqn, axis)) {
    if (in.empty()) return {index};
    const AxisSet rest = without(params.axes(param::collective_axes), axis);
    if (rest.empty()) return in;
    return shardax::bind(op, params.with("axes", AxisNames{rest}), in);
  }
  if (!op.regions || !knows_itself(eqn, axis)) return shardax::bind(op, params, in);
  Regions regions = regions_of(op, params);
  if (regions.fixed) {  // no derivative is taken any more: a call like any other
    const ProgramPtr body = program_at_index(*regions.programs[0], in.size(), axis, index->type());
    return bind_jit(body, joined(in, Values{index}));
  }
  const int several =
      regions.runs == ExecutionKind::looped ? static_cast<int>(regions.programs.size()) : 1;
  Values operands = in;
  for (int k = 0; k < several; ++k) {
    const std::size_t place = place_for_constant(regions, k);
    const auto offset = static_cast<std::ptrdiff_t>(place);
    regions.operands.insert(regions.operands.begin() + offset,
                            RegionPort{.program = regions.runs == ExecutionKind::looped ? k : -1});
    operands.insert(operands.begin() + offset, index);
    for (std::size_t p = 0; p < regions.programs.size(); ++p) {
      if (regions.runs == ExecutionKind::looped && static_cast<int>(p) != k) continue;
      const std::vector<std::size_t> taken = regions.taken_by(p);
      const auto position = std::find(taken.begin(), taken.end(), place) - taken.begin();
      regions.programs[p] =
          program_at_index(*regions.programs[p], shardax::index(position), axis, index->type());
    }
  }
  return shardax::bind(op, op.with_regions(params, regions), operands);
}

}  // namespace

Batched map_divergent(const BatchArgs& a) {
  Types types;
  Values in;
  std::vector<std::size_t> position(a.in.size());  // of each operand among the body's inputs
  for (const bool mapped : {false, true}) {
    for (std::size_t i = 0; i < a.in.size(); ++i) {
      if (a.batched[i] != mapped) continue;
      position[i] = types.size();
      Type type = a.in[i]->type();
      if (mapped) type.erase_dimension(0);
      type.varying = without(type.varying, a.axis.name);
      types.push_back(type);
      in.push_back(a.in[i]);
    }
  }
  const auto consts = index(std::count(a.batched.begin(), a.batched.end(), false));
  const bool asks = knows_itself({&a.op, a.params, {}, {}, nullptr}, a.axis.name);
  if (asks) {
    in.push_back(ops::iota(DType::int32, {a.axis.size}, 0));
    types.push_back(Type{DType::int32, false, {}, {}});
  }
  const ProgramPtr body = stage_closed(
      types,
      [&](const Values& v) {
        Values operands;
        for (const std::size_t p : position) operands.push_back(v[p]);
        if (asks) return at_index(a.op, a.params, operands, a.axis.name, v.back());
        return shardax::bind(a.op, a.params, operands);
      },
      std::string(a.op.name));
  Values out = bind_device_loop(body, a.axis.size, consts, in);
  std::vector<bool> mask(out.size(), true);
  return {std::move(out), std::move(mask)};
}

}  // namespace shardax

// callables/program/staged_regions.cpp - regions of control flow made of staged functions: with one
// list of what they close over, with the values of mutable references, counting.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>

#include "base/index.h"
#include "base/lists.h"
#include "callables/program/object.h"
#include "callables/staging/staging.h"
#include "callables/value_lists.h"
#include "ops/ops.h"

namespace py = pybind11;

namespace shardax::callables {
namespace {

// A body (constants..., held..., i, carry...) -> held..., carry... that also gives i + 1, behind
// the held values.
ProgramPtr counting(const ProgramPtr& program, std::size_t constants, std::size_t held) {
  return *program->derived<ProgramPtr>(concat("counting", constants, " ", held), [&] {
    return std::make_shared<ProgramPtr>(stage_closed(
        program->input_types(),
        [&](const Values& in) {
          const Value& i = in[constants + held];
          const Value next = ops::add(i, ops::scalar(i->dtype(), 1, i->type().weak));
          Values out = evaluate(*program, in);
          out.insert(out.begin() + static_cast<std::ptrdiff_t>(held), next);
          return out;
        },
        program->name));
  });
}

// Regions with one list of closed-over values, which comes first: each takes the values of all, and
// ignores the others'.
py::tuple join_closed(const std::vector<Staged>& functions) {
  std::vector<ClosedBody> regions;
  Values all;
  const auto position = [](const Values& values, const Value& wanted) {
    return std::find_if(values.begin(), values.end(),
                        [&](const Value& value) { return same_value(value, wanted); }) -
           values.begin();
  };
  for (const Staged& function : functions) {
    regions.push_back(closed_body(function));
    for (const Value& value : regions.back().values) {
      if (position(all, value) == std::ssize(all)) all.push_back(value);
    }
  }
  Programs programs;
  for (const ClosedBody& body : regions) {
    if (all.empty()) {
      programs.push_back(body.program);
      continue;
    }
    MutableProgram copy = copy_of(*body.program);
    const auto own = copy->inputs.begin() + std::ssize(body.values);
    std::vector<Var> inputs;
    for (const Value& value : all) {
      const auto at = position(body.values, value);
      inputs.push_back(at == std::ssize(body.values) ? copy->add(value->type())
                                                     : copy->inputs[index(at)]);
    }
    inputs.insert(inputs.end(), own, copy->inputs.end());
    copy->inputs = std::move(inputs);
    programs.push_back(copy);
  }
  py::tuple out(programs.size());
  for (std::size_t i = 0; i < programs.size(); ++i) out[i] = to_object(wrap_program(programs[i]));
  return py::make_tuple(out, list_of(all));
}

// For each reference its place among those that a function met, or -1, and the types of its values.
using ReferenceParts = std::vector<std::pair<int, py::list>>;

Staged with_references(const Staged& staged, const py::object& references,
                       const ReferenceParts& parts) {
  const MutableProgram copy = copy_of(*staged.program);
  const std::size_t leaves = copy->inputs.size() - staged.captured.size() - staged.held_in;
  const std::size_t results = copy->outputs.size() - staged.held_out;
  std::vector<Var> inputs = part(copy->inputs, 0, leaves),
                   outputs = part(copy->outputs, 0, results);
  for (const auto& [place, types] : parts) {
    const auto count = index(py::len(types));
    if (place >= 0) {
      const auto at = index(place);
      inputs = joined(inputs, part(copy->inputs, leaves + at, count));
      outputs = joined(outputs, part(copy->outputs, results + at, count));
      continue;
    }
    for (const py::handle type : types) {
      inputs.push_back(copy->add(*find_type(type.ptr())));
      outputs.push_back(inputs.back());
    }
  }
  Staged out = staged;
  out.held_in = inputs.size() - leaves;
  out.held_out = outputs.size() - results;
  copy->inputs =
      joined(inputs, part(copy->inputs, leaves + staged.held_in, staged.captured.size()));
  copy->outputs = outputs;
  out.program = copy;
  out.references = Ref::borrow(references.ptr());
  return out;
}

Staged reading_references(const Staged& staged) {
  const MutableProgram copy = copy_of(*staged.program);
  const std::size_t leaves = copy->inputs.size() - staged.captured.size() - staged.held_in;
  const std::size_t results = copy->outputs.size() - staged.held_out;
  if (part(copy->inputs, leaves, staged.held_in) != part(copy->outputs, results, staged.held_out)) {
    fail(ErrorKind::not_implemented_error,
         "while_loop: cond_fun writes to a mutable array reference. Write to it in body_fun, or "
         "carry its value.");
  }
  copy->outputs.resize(results);
  Staged out = staged;
  out.program = copy;
  out.held_out = 0;
  return out;
}

}  // namespace

void init_staged_regions(py::module_& module) {
  module.def(
      "counting",
      [](const py::object& program, std::size_t constants, std::size_t held) {
        return to_object(wrap_program(counting(unwrap_program(program.ptr()), constants, held)));
      },
      "A loop body that also counts; its constants come first, then what references hold.");
  module.def("join_closed", join_closed,
             "Programs of functions with one list of what they close over.");
  module.def("with_references", with_references,
             "A staged function with what more references hold among its inputs and outputs: "
             "`parts` has for each of all references its place among those that it met, or -1, and "
             "the types.");
  module.def("reading_references", reading_references,
             "A staged function without what references hold among its outputs; "
             "NotImplementedError where it writes.");
}

}  // namespace shardax::callables

// callables/program/edit.cpp - programs made of others, for Python: without dead code, with
// constants as inputs.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "base/lists.h"
#include "callables/program/object.h"
#include "callables/value_lists.h"
#include "ir/serialize.h"
#include "transform/dce.h"
#include "transform/inline_calls.h"

namespace py = pybind11;

namespace shardax::callables {
namespace {

// Scalars stay: they are literals where they are used.
py::object constants_as_inputs(const ProgramObject& p) {
  const MutableProgram out = copy_of(*p.program);
  std::vector<Var> inputs;
  for (const Constant& c : p.program->constants) {
    if (c.value->type().rank() > 0) inputs.push_back(c.var);
  }
  const std::size_t given = out->inputs.size() - p.captured.size();
  inputs = joined(inputs, part(out->inputs, given, p.captured.size()));
  out->inputs = joined(inputs, part(out->inputs, 0, given));
  std::erase_if(out->constants, [](const Constant& c) { return c.value->type().rank() > 0; });
  return to_object(wrap_program(out));
}

py::tuple pruned(const ProgramObject& p, const std::vector<bool>& wanted,
                 const std::vector<bool>& kept) {
  const std::size_t captured = p.captured.size();
  const std::size_t given = p.program->inputs.size() - captured;
  if (wanted.size() != p.program->outputs.size() || kept.size() != given) {
    value_error("dce_jaxpr: ", wanted.size(), " flags for ", p.program->outputs.size(),
                " results and ", kept.size(), " for ", given, " inputs; one for each is expected.");
  }
  const std::vector<bool> keep = joined(kept, std::vector<bool>(captured, false));
  const DceProgram smaller = dce_program(p.program, wanted, &keep);
  const std::vector<bool> used = part(smaller.inputs, 0, given);
  const Values left = select(p.captured, part(smaller.inputs, given, captured));
  return py::make_tuple(to_object(wrap_program(smaller.program, left)), used);
}

// A program that holds all that it computes with.
ProgramPtr closed(const ProgramObject& p) {
  const ProgramPtr out = closed_program(p);
  if (!p.captured.empty() && out == p.program) {
    value_error("export: ", p.program->name,
                " uses values of a function that is being traced; pass them as arguments.");
  }
  return out;
}

}  // namespace

void init_program_edits(py::module_& module) {
  module.def(
      "serialize", [](const ProgramObject& p) { return py::bytes(serialize(*closed(p))); },
      "The program as bytes; ValueError where it calls Python functions.");
  module.def(
      "serialize_marked",
      [](const ProgramObject& p) {
        const ArchiveMarks marks = serialize_marked(*closed(p));
        py::list elements;
        for (const auto& e : marks.elements)
          elements.append(py::make_tuple(e.at, e.count, name(e.dtype)));
        return py::make_tuple(py::bytes(marks.bytes), py::cast(marks.integers), elements);
      },
      "The same, with the places of integers and (place, count, dtype) of constants.");
  module.def(
      "deserialize",
      [](const py::bytes& b) { return to_object(wrap_program(deserialize(std::string(b)))); },
      "The program that `serialize` wrote.");
  module.def(
      "inline_calls",
      [](const ProgramObject& p) { return to_object(wrap_program(inline_calls(closed(p)))); },
      "The program with the regions of custom_jvp, custom_vjp and checkpoints with policies in "
      "place.");
  module.def("constants_as_inputs", constants_as_inputs,
             "The program with its constants as further inputs, in front.");
  module.def("pruned", pruned,
             "The program without what the wanted results do not need, and which inputs are left.");
}

}  // namespace shardax::callables

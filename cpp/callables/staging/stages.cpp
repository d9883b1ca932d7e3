// callables/staging/stages.cpp - staging, arguments and memory of jitted and pmapped functions, for
// .lower().
#include "callables/staging/stages.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>

#include "analysis/cost.h"
#include "analysis/partition.h"
#include "analysis/shardings.h"
#include "callables/program/object.h"
#include "callables/staging/staging.h"
#include "callables/transforms/jit.h"
#include "callables/transforms/references.h"
#include "callables/unpacked.h"
#include "callables/value_lists.h"
#include "compile/pipeline.h"
#include "objects/sharding_conversion.h"

namespace py = pybind11;

namespace shardax::callables {
namespace {

// The shardings that the program asks for, else `known`: descriptions, or None.
Shardings input_shardings(const Program& program, const py::list& known) {
  Shardings in = asked_of_inputs(program);
  for (std::size_t i = 0; i < std::min(in.size(), known.size()); ++i) {
    if (!in[i] && !known[i].is_none()) in[i] = objects::sharding_from(py::object(known[i]).ptr());
  }
  return replicated_rest(in);
}

bool owned(const LeafOwner& leaf, const StaticSpec& spec, int count) {
  const auto is_position = [&](int p) { return (p < 0 ? p + count : p) == leaf.position; };
  const auto is_name = [&](const Ref& name) {
    return PyUnicode_Compare(name.get(), leaf.name) == 0;
  };
  return leaf.name ? std::any_of(spec.names.begin(), spec.names.end(), is_name)
                   : std::any_of(spec.positions.begin(), spec.positions.end(), is_position);
}

// (the tree of the arguments without static ones, static positions, static names, a flag per leaf:
// is it donated?)
py::tuple call_info(const py::object& function, const py::tuple& args, const py::dict& kwargs) {
  const Transform& behaviour = behaviour_of(function.ptr());
  const Unpacked unpacked(args, kwargs);
  FlatCall call(unpacked.arguments(), behaviour.statics(), function.ptr());
  const CallForm form = call.form();
  const StaticSpec donated = behaviour.donated();
  std::vector<bool> flags;
  for (const LeafOwner& leaf : leaf_owners(form))
    flags.push_back(owned(leaf, donated, static_cast<int>(args.size())));
  py::list names;
  for (const Ref& name : form.statics.names)
    names.append(py::reinterpret_borrow<py::object>(name.get()));
  return py::make_tuple(py::reinterpret_borrow<py::object>(form.tree.object()),
                        form.statics.positions, names, flags);
}

}  // namespace

void init_stages(py::module_& module) {
  module.def(
      "stage_function",
      [](const py::object& function, const py::tuple& args, const py::dict& kwargs) {
        const StaticSpec& statics = behaviour_of(function.ptr()).statics();
        if (statics.positional_only) {
          return without_references("pmap", function.ptr(), [&] {
            return stage_abstract("pmap", function.ptr(), args, kwargs, statics);
          });
        }
        if (auto* jit = dynamic_cast<Jit*>(&behaviour_of(function.ptr()))) {
          PyObject* fun = wrapped_function(function.ptr());
          const Unpacked unpacked(args, kwargs);
          FlatCall call(unpacked.arguments(), statics, fun);
          return jit->program_for(fun, call, abstract_types(fun, call.form(), call.leaves()));
        }
        const Ref fun = behaviour_of(function.ptr()).staged(wrapped_function(function.ptr()));
        return stage_abstract("jit", fun ? fun.get() : function.ptr(), args, kwargs, statics, false,
                              true);
      },
      "Stages a jitted, pmapped or shard_mapped function as it would be for a call.");
  module.def("call_info", call_info,
             "The arguments of a call: their tree, static and donated ones.");
  module.def(
      "memory",
      [](const py::object& program) {
        const ProgramPtr body = unwrap_program(program.ptr());
        const auto total = [](const Types& types) {
          std::int64_t bytes = 0;
          for (const Type& type : types) bytes += type.bytes();
          return bytes;
        };
        return py::make_tuple(total(body->input_types()), total(body->output_types()),
                              compile_body(body)->memory());
      },
      "Bytes of a compiled program's arguments, results and temporaries.");
  module.def(
      "cost",
      [](const py::object& program) {
        const Cost cost = cost_of(*unwrap_program(program.ptr()));
        return py::make_tuple(cost.flops, cost.transcendentals, cost.bytes);
      },
      "Operations, transcendental ones apart, and bytes that a program reads and writes.");
  module.def(
      "shardings",
      [](const py::object& program, const py::list& known) {
        const ProgramPtr body = unwrap_program(program.ptr());
        const Shardings in = input_shardings(*body, known);
        const auto described = [](const Shardings& all) {
          py::list out;
          for (const ShardingPtr& s : all)
            out.append(py::reinterpret_steal<py::object>(objects::describe_sharding(s)));
          return out;
        };
        return py::make_tuple(described(in), described(replicated_rest(propagate(*body, in))));
      },
      py::arg("program"), py::arg("known"),
      "Descriptions of the shardings of a program's inputs and outputs, where it asks for them or "
      "those of the inputs are known; None where neither is.");
  module.def(
      "layouts",
      [](const py::object& program) {
        const ProgramPtr body = unwrap_program(program.ptr());
        const auto described = [](const Shardings& all) {
          py::list out;
          for (const ShardingPtr& s : all)
            out.append(py::reinterpret_steal<py::object>(objects::describe_layout(s)));
          return out;
        };
        const Shardings in = asked_of_inputs(*body);
        return py::make_tuple(described(in), described(propagate(*body, in)));
      },
      py::arg("program"),
      "The orders of dimensions that a program asks of its inputs and outputs; None where it asks "
      "for none.");
  module.def(
      "partitioned",
      [](const py::object& program, const py::list& known) -> py::object {
        const ProgramPtr whole = unwrap_program(program.ptr());
        const ProgramPtr made = partitioned(whole, input_shardings(*whole, known));
        if (!made) return py::none();
        return to_object(wrap_program(made));
      },
      py::arg("program"), py::arg("known"),
      "The program as devices without a common memory run it: a shard_map over the mesh that "
      "splits "
      "its inputs; None where none does. `known`: descriptions of their shardings, or None.");
}

}  // namespace shardax::callables

// callables/explain.cpp - a program's explanation as Python's dicts and lists.
#include "callables/explain.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "analysis/shardings.h"
#include "array/process_axis.h"
#include "base/index.h"
#include "callables/program/object.h"
#include "callables/value_lists.h"
#include "execute/process_programs.h"
#include "explain/arguments.h"
#include "explain/device.h"
#include "explain/outcome.h"
#include "explain/variation.h"
#include "ir/sharding_given.h"
#include "ops/collectives/family.h"

namespace py = pybind11;

namespace shardax::callables {
namespace {

// The part of an axis that lies across processes is no axis of its own to users.
py::list names(const AxisSet& axes) {
  py::list out;
  for (AxisName name : axes) {
    const py::str text(std::string(device_axis_text(axis_text(name))));
    if (!out.contains(text)) out.append(text);
  }
  return out;
}

py::dict sizes(const std::vector<MappedAxis>& axes) {
  py::dict out;
  for (const MappedAxis& axis : axes) out[py::str(axis_text(axis.name))] = axis.size;
  return out;
}

// A type as users write it; its varying axes and its split are told apart.
std::string text_of(Type type) {
  type.varying = {};
  type.sharding = nullptr;
  return short_string(type);
}

py::dict described(const Type& type) {
  return py::dict(py::arg("type") = text_of(type), py::arg("bytes") = type.bytes());
}

py::list described(const Types& types) {
  py::list out;
  for (const Type& type : types) out.append(described(type));
  return out;
}

std::int64_t product(const std::vector<MappedAxis>& axes) {
  std::int64_t out = 1;
  for (const MappedAxis& axis : axes) out *= axis.size;
  return out;
}

// The number of devices that a collective joins.
std::int64_t participants(const Source& source) {
  std::int64_t out = 0;
  for (const Ints& group : ops::groups_of(source.params))
    out = std::max(out, static_cast<std::int64_t>(group.size()));
  if (out > 0) return out;
  out = 1;
  for (AxisName name : ops::collective_axes(source.params)) {
    if (is_process_axis(name)) out *= process_axis_size(name);
    for (const MappedAxis& axis : source.axes) out *= axis.name == name ? axis.size : 1;
  }
  return out;
}

// Does it ask other processes?
bool sends(const Source& source) {
  if (source.op->message) return true;
  return source.op->kind == Kind::collective && !ops::stays_local(*source.op) &&
         !process_axes(ops::collective_axes(source.params)).empty();
}

py::list described(const TaggedProgram& tagged, const Outcomes& outcomes) {
  py::list out;
  for (std::size_t i = 0; i < tagged.sources.size(); ++i) {
    const Source& source = tagged.sources[i];
    const Outcome& outcome = outcomes.sources[i];
    py::list varying;
    for (const AxisSet& axes : source.out) varying.append(names(axes));
    py::dict one(py::arg("id") = i, py::arg("op") = source.op->name,
                 py::arg("line") = place_of(source.location), py::arg("axes") = sizes(source.axes),
                 py::arg("operands") = described(source.in_types),
                 py::arg("results") = described(source.out_types), py::arg("varying") = varying,
                 py::arg("needs") = source.needs, py::arg("times") = source.times,
                 py::arg("loop") = source.loop, py::arg("called") = source.called,
                 py::arg("fate") =
                     sends(source) && outcome.fate != Fate::dead ? "message" : name(outcome.fate),
                 py::arg("steps") = outcome.steps, py::arg("related") = outcome.related);
    if (source.op->kind == Kind::collective && !ops::stays_local(*source.op)) {
      one["over"] = names(ops::collective_axes(source.params));
      one["participants"] = participants(source);
    }
    out.append(std::move(one));
  }
  return out;
}

py::list described(const std::vector<ExplainedStep>& steps) {
  constexpr const char* kinds[] = {"loop", "kernel", "control", "copy"};
  py::list out;
  for (const ExplainedStep& s : steps) {
    py::dict one(py::arg("kind") = kinds[index(s.kind)], py::arg("text") = s.text,
                 py::arg("sources") = s.sources, py::arg("flops") = s.flops,
                 py::arg("transcendentals") = s.transcendentals, py::arg("bytes") = s.bytes,
                 py::arg("times") = s.times, py::arg("depth") = s.depth);
    if (s.message) {
      one["message"] = py::dict(
          py::arg("processes") = s.message->processes, py::arg("bytes") = s.message->bytes,
          py::arg("meanwhile") = s.message->meanwhile, py::arg("under_way") = s.message->under_way,
          py::arg("waited") = s.message->waited);
    }
    out.append(std::move(one));
  }
  return out;
}

py::list described(const std::vector<ExplainedBuffer>& buffers) {
  py::list out;
  for (const ExplainedBuffer& b : buffers) {
    out.append(py::dict(py::arg("result") = b.result,
                        py::arg("type") = b.type ? text_of(*b.type) : std::string(),
                        py::arg("bytes") = b.bytes, py::arg("source") = b.source,
                        py::arg("first") = b.first, py::arg("last") = b.last));
  }
  return out;
}

py::list described(const std::vector<DeviceUnit>& units) {
  constexpr const char* kinds[] = {"compute", "collective", "loop"};
  py::list out;
  for (const DeviceUnit& u : units) {
    py::dict one(py::arg("kind") = kinds[index(u.kind)], py::arg("sources") = u.sources,
                 py::arg("needs") = u.needs, py::arg("flops") = u.flops,
                 py::arg("transcendentals") = u.transcendentals, py::arg("bytes") = u.bytes,
                 py::arg("product") = u.product, py::arg("varying") = names(u.varying));
    if (u.kind == DeviceUnit::Kind::collective) {
      one["op"] = u.op;
      one["over"] = names(u.axes);
      one["group"] = u.group;
      one["operand"] = u.operand;
      one["result"] = u.result;
      one["hops"] = u.hops;
    }
    if (u.kind == DeviceUnit::Kind::loop) {
      one["times"] = u.times;
      one["body"] = described(u.body);
    }
    out.append(std::move(one));
  }
  return out;
}

// The split of an array between devices under a sharding; None where one has all of it.
py::object placed(const ShardingPtr& sharding, Type type) {
  if (!sharding || !sharding->named || sharding->devices.size() < 2) return py::none();
  py::dict mesh;
  for (std::size_t k = 0; k < sharding->mesh_axes.size(); ++k)
    mesh[py::str(sharding->mesh_axes[k])] = sharding->mesh_shape[k];
  py::list split;
  for (std::size_t d = 0; d < std::min(type.rank(), sharding->spec.size()); ++d) {
    for (const std::string& name : sharding->spec[d]) {
      split.append(name);
      type.shape[d] /= py::cast<std::int64_t>(mesh[py::str(name)]);
    }
  }
  return py::dict(py::arg("mesh") = mesh, py::arg("split") = split,
                  py::arg("device") = described(type));
}

// For each argument, and for each result.
std::pair<py::list, py::list> placements(const Program& program,
                                         const std::vector<ArrayPtr>& arrays) {
  Shardings in;
  for (const ArrayPtr& array : arrays) in.push_back(array ? array->sharding() : nullptr);
  const Shardings out = propagate(program, in);
  std::pair<py::list, py::list> all;
  const Types inputs = program.input_types(), outputs = program.output_types();
  for (std::size_t i = 0; i < in.size(); ++i) all.first.append(placed(in[i], inputs[i]));
  for (std::size_t i = 0; i < out.size(); ++i) all.second.append(placed(out[i], outputs[i]));
  return all;
}

// For a program over arrays that span processes, this process's program on its parts of them.
ProgramPtr of_this_process(const ProgramPtr& program, std::vector<ArrayPtr>& arrays) {
  Values values;
  for (const ArrayPtr& array : arrays) {
    if (!array) return program;
    values.emplace_back(array);
  }
  if (!spans_processes(*program) && !any_spans_processes(values)) return program;
  const auto [own, slabs] = program_on_slabs(program, values);
  for (std::size_t i = 0; i < arrays.size(); ++i) arrays[i] = ArrayPtr(&as_array(slabs[i]));
  return own;
}

// `arguments`: arrays, or None where only the type is known.
py::dict explained(const py::object& object, const py::list& arguments) {
  const ProgramPtr whole = unwrap_program(object.ptr());
  const ShardingGiven asked_already;
  std::vector<ArrayPtr> arrays = arrays_of(*whole, arguments);
  const auto [placed_in, placed_out] = placements(*whole, arrays);
  const ProgramPtr program = of_this_process(whole, arrays);
  const Arguments seen = seen_by(*program, arrays);
  TaggedProgram source = tagged(program);
  const Variation variation = find_variation(source, seen.equal);
  const Outcomes outcomes = find_outcomes(source, seen.options);
  const DeviceProgram device = device_program(source, *source.program);
  return py::dict(py::arg("placed_in") = placed_in, py::arg("placed_out") = placed_out,
                  py::arg("name") = program->name, py::arg("axes") = sizes(variation.axes),
                  py::arg("devices") = product(variation.axes),
                  py::arg("inputs") = boundaries(variation.inputs), py::arg("held") = seen.held,
                  py::arg("outputs") = boundaries(variation.outputs),
                  py::arg("sources") = described(source, outcomes),
                  py::arg("steps") = described(outcomes.steps),
                  py::arg("buffers") = described(outcomes.buffers),
                  py::arg("memory") = py::dict(py::arg("temporaries") = outcomes.temporaries,
                                               py::arg("results") = outcomes.results,
                                               py::arg("constants") = outcomes.constants),
                  py::arg("device") = py::dict(py::arg("units") = described(device.units),
                                               py::arg("arguments") = device.arguments,
                                               py::arg("results") = device.results,
                                               py::arg("temporaries") = device.temporaries));
}

}  // namespace

py::object place_of(const LocationPtr& location) {
  if (!location || location->file.empty()) return py::none();
  return py::dict(py::arg("file") = location->file, py::arg("line") = location->line,
                  py::arg("function") = location->function);
}

py::list boundaries(const std::vector<Boundary>& all) {
  py::list out;
  for (const Boundary& b : all) {
    py::list equal;
    for (const std::int64_t d : b.equal) equal.append(d);
    out.append(py::dict(py::arg("whole") = described(b.whole),
                        py::arg("device") = described(b.device), py::arg("axes") = sizes(b.axes),
                        py::arg("split") = names(b.split), py::arg("varying") = names(b.varying),
                        py::arg("dropped") = names(b.dropped), py::arg("equal_along") = equal));
  }
  return out;
}

std::vector<ArrayPtr> arrays_of(const Program& program, const py::list& arguments) {
  std::vector<ArrayPtr> out(program.inputs.size());
  for (std::size_t i = 0; i < out.size() && i < arguments.size(); ++i) {
    if (arguments[i].is_none()) continue;
    const Value value = objects::to_value(arguments[i].ptr());
    if (!value->is_tracer() && same_shape_and_dtype(value->type(), program.type(program.inputs[i])))
      out[i] = ArrayPtr(&as_array(value));
  }
  return out;
}

void init_explain(py::module_& module) {
  module.def("explained", explained, py::arg("program"), py::arg("arguments"),
             "What becomes of a program's equations, of whom its values are, what it takes.");
}

}  // namespace shardax::callables

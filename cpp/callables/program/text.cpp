// callables/program/text.cpp - texts of programs as arguments and results.
#include "callables/program/text.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "base/index.h"
#include "callables/object.h"
#include "callables/program/object.h"
#include "compile/pass_table.h"
#include "ir/dim_factors.h"
#include "ir/text/parse.h"
#include "ir/text/text_form.h"

namespace py = pybind11;

namespace shardax::callables {

namespace {

std::string run_pass(const std::string& name, const std::string& text,
                     const std::vector<std::vector<std::int64_t>>& strides,
                     const std::vector<bool>& overwritten, bool stripmine,
                     std::int64_t most_elements) {
  PassArgs args;
  for (const auto& own : strides) args.input_strides.emplace_back(own.begin(), own.end());
  args.overwritten = overwritten;
  args.stripmine = stripmine;
  if (makes_plan(name)) return plan_text(parse_program(text), args);
  return text_form(*apply_pass(name, parse_program(text), args), {most_elements});
}

py::tuple factors_of_array(const ArrayFactors& array) {
  py::list dims;
  for (const FactorList& dim : array) {
    py::list factors;
    for (const std::int32_t factor : dim) factors.append(factor);
    dims.append(py::tuple(factors));
  }
  return py::tuple(dims);
}

py::list factors_of(const ProgramObject& object) {
  static constexpr const char* uses[] = {"parallel", "reduced", "whole", "windowed"};
  const ProgramPtr program = closed_program(object);
  py::list out;
  for (const Equation& eqn : program->equations) {
    const std::optional<DimFactors> dims = dim_factors(*program, eqn);
    if (!dims) {
      out.append(py::none());
      continue;
    }
    py::list factors, operands;
    for (const Factor& factor : dims->factors)
      factors.append(py::make_tuple(uses[index(factor.use)], factor.size));
    for (const ArrayFactors& operand : dims->operands) operands.append(factors_of_array(operand));
    out.append(
        py::make_tuple(py::tuple(factors), py::tuple(operands), factors_of_array(dims->result)));
  }
  return out;
}

}  // namespace

void init_program_text(py::module_& module) {
  module.def(
      "text_form",
      [](const ProgramObject& p, std::int64_t most_elements) {
        return text_form(*closed_program(p), {most_elements});
      },
      py::arg("program"), py::kw_only(), py::arg("most_elements") = TextOptions().most_elements,
      "The program as text that `parse_program` reads; constants of more elements are elided.");
  module.def(
      "parse_program",
      [](const std::string& text, bool closed) {
        return to_object(wrap_program(parse_program(text, closed)));
      },
      py::arg("text"), py::kw_only(), py::arg("closed") = true,
      "The program that `text_form` wrote. ValueError says where the text is none.");
  module.def(
      "passes",
      [] {
        static constexpr const char* kinds[] = {"program", "loops", "pattern", "plan"};
        py::list out;
        for (const Pass& pass : all_passes())
          out.append(py::make_tuple(pass.name, kinds[index(pass.kind)], pass.doc, pass.example));
        return out;
      },
      "(name, kind, what it does, an example) of every pass that `run_pass` runs, in their order.");
  module.def("run_pass", run_pass, py::arg("name"), py::arg("text"), py::kw_only(),
             py::arg("strides") = py::tuple(), py::arg("overwritten") = py::tuple(),
             py::arg("stripmine") = false, py::arg("most_elements") = TextOptions().most_elements,
             "What the pass makes of a program, both as text; of fusion and lowering the plan. "
             "`strides`: of each input, for expose_uniform; `overwritten`: for each input, whether "
             "results may take its memory; `stripmine`: mapped functions a few devices at a time.");
  module.def("dim_factors", factors_of, py::arg("program"),
             "For each equation: None, or (factors, operands, result). A factor is (use, size), a "
             "dimension a tuple of the factors that it consists of, the slowest first.");
  module.def("verified_passes", verified_passes,
             "How often what a pass made has been verified, where SHARDAX_VERIFY=1.");
}

}  // namespace shardax::callables

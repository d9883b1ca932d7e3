// callables/program_text.cpp - texts of programs as arguments and results.
#include "callables/program_text.h"

#include <pybind11/pybind11.h>

#include "callables/object.h"
#include "callables/program_object.h"
#include "ir/parse.h"
#include "ir/text_form.h"

namespace py = pybind11;

namespace shardax::callables {

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
}

}  // namespace shardax::callables

// callables/checks.cpp - checks as Python makes and reads them.
#include "callables/checks.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "callables/gil_safe_ref.h"
#include "callables/program/object.h"
#include "callables/staging/traced.h"
#include "callables/value_lists.h"
#include "control/checkify.h"
#include "ops/ops.h"

namespace py = pybind11;

namespace shardax::callables {
namespace {

// The Python object that gives the text of a check.
class Message final : public Function {
 public:
  explicit Message(PyObject* object) : object_(object) {}
  std::string text() const override { return "message"; }
  std::vector<Values> call(const Values&) const override { return {}; }
  PyObject* object() const { return object_.get(); }

 private:
  GilSafeRef object_;
};

struct TableObject {
  CheckTablePtr table;
};

const char* kind_text(CheckKind kind) {
  switch (kind) {
    case CheckKind::user: return "user";
    case CheckKind::nan: return "nan";
    case CheckKind::division: return "division";
    case CheckKind::bounds: return "bounds";
  }
  return "";
}

CheckKinds kinds_of(const std::vector<std::string>& names) {
  CheckKinds out = 0;
  for (const CheckKind kind :
       {CheckKind::user, CheckKind::nan, CheckKind::division, CheckKind::bounds}) {
    if (std::find(names.begin(), names.end(), kind_text(kind)) != names.end()) out |= bit(kind);
  }
  return out;
}

// (kind, op, shape, message or None, positions of its payload).
py::tuple describe(const TableObject& self, std::size_t k) {
  const Check& check = self.table->checks().at(k);
  py::tuple shape(check.shape.size());
  for (std::size_t d = 0; d < check.shape.size(); ++d) shape[d] = py::int_(check.shape[d]);
  py::object message = py::none();
  if (check.message) {
    const auto& held = static_cast<const Message&>(*check.message);
    message = py::reinterpret_borrow<py::object>(held.object());
  }
  py::list positions;
  for (std::size_t i = 0; i < check.payload.size(); ++i) positions.append(self.table->place(k) + i);
  return py::make_tuple(kind_text(check.kind), check.op, shape, message, positions);
}

void report(const CheckTable& table, std::size_t check, const Values& payload) {
  const py::tuple description = describe({CheckTablePtr(&table)}, check);
  const py::list values = list_of(payload);
  call_python("_transform.checkify", "raise_failure", description.ptr(), values.ptr());
}

// `pred` as the number of the one check there is: 0 where it holds.
void check_predicate(const py::object& pred, bool debug, const py::object& message,
                     const py::iterable& arguments) {
  const Value holds = objects::to_value(pred.ptr());
  Failure failure{ops::convert(ops::logical_not(holds), DType::int32), values_of(arguments)};
  Check made{CheckKind::user, "check", {}, FunctionPtr(new Message(message.ptr())), {}};
  for (const Value& value : failure.payload)
    made.payload.push_back(Type{value->dtype(), false, value->shape(), {}});
  bind_check(new CheckTable({std::move(made)}), debug, failure);
}

py::tuple checkify_staged(const Staged& staged, const std::vector<std::string>& kinds) {
  const Checked result = shardax::checkify(staged.program, kinds_of(kinds), staged.captured);
  return py::make_tuple(TableObject{result.table}, list_of({result.failure.number})[0],
                        list_of(result.failure.payload), list_of(result.out));
}

}  // namespace

void init_checks(py::module_& module) {
  py::class_<TableObject>(module, "CheckTable", "The checks that the number of an error may mean.")
      .def(py::init([] { return TableObject{new CheckTable({})}; }))
      .def("__len__", [](const TableObject& self) { return self.table->checks().size(); })
      .def("describe", describe, "(kind, op, shape, message, positions of its payload)");
  module.def("check", check_predicate, "Binds the op check for one check of the user's.");
  module.def("check_error", [](const TableObject& table, const py::object& number,
                               const py::iterable& payload) {
    bind_check(table.table, false, {objects::to_value(number.ptr()), values_of(payload)});
  });
  module.def("checkify", checkify_staged,
             "Runs a staged function with its checks: (table, number, payload, results).");
  set_check_reporter(report);
}

}  // namespace shardax::callables

// callables/staging/miss_log.cpp - signatures as Python objects, for the logger.
#include "callables/staging/miss_log.h"

#include "callables/program/object.h"
#include "callables/staging/locate.h"

namespace shardax::callables {
namespace {

Ref shown(const CallForm& form, const Types& types, bool same_context) {
  const Ref statics = checked(PyList_New(0));
  for (const Ref& value : form.statics.values) check(PyList_Append(statics.get(), value.get()));
  return checked(Py_BuildValue("(OOOO)", form.tree.object(), wrap_types(types).get(), statics.get(),
                               same_context ? Py_True : Py_False));
}

}  // namespace

void explain_miss(PyObject* fun, const CallForm& form, const Types& types,
                  const std::vector<Signature>& before) {
  const Ref paths = checked(PyList_New(0)), keys = checked(PyList_New(0));
  for (const std::string& path : argument_paths(fun, form))
    check(PyList_Append(paths.get(), to_python(path).get()));
  for (const Signature& s : before) {
    const Ref key = shown(s.form, s.types, context_is(s.context));
    check(PyList_Append(keys.get(), key.get()));
  }
  const LocationPtr place = locate();
  call_python("_base.logging", "explain_miss", place ? to_string(*place) : "<unknown>",
              Ref::borrow(fun), describe_function(fun), paths, shown(form, types, true), keys);
}

}  // namespace shardax::callables

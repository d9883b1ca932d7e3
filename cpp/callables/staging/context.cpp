// callables/staging/context.cpp - axes in scope, settings, and the table of shared objects.
#include "callables/staging/context.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/shardings.h"
#include "numpy/promote.h"
#include "objects/config.h"
#include "objects/sharding_conversion.h"

namespace shardax::callables {
namespace {

bool same_axis(const BoundAxis& a, const BoundAxis& b) {
  return a.name == b.name && a.size == b.size && a.devices == b.devices;
}

struct SharedObject {
  Ref options;
  std::shared_ptr<void> object;
  void (*clear)(void*);
};
struct Slot {
  Ref weak_reference;
  std::vector<SharedObject> objects;
};
using Table = std::unordered_map<PyObject*, Slot>;
// Never destroyed: its references must not be dropped after the interpreter has gone.
Table& table() {
  static auto* instance = new Table;
  return *instance;
}

// Called by the weak reference to a function that is dying; `address` says which one.
PyObject* forget_function(PyObject* address, PyObject*) {
  const CoreLock lock;
  void* fun = PyLong_AsVoidPtr(address);
  const auto it = table().find(static_cast<PyObject*>(fun));
  if (it != table().end()) {
    const Slot dying = std::move(it->second);
    table().erase(it);
  }
  Py_RETURN_NONE;
}
PyMethodDef forget_definition = {"forget", forget_function, METH_O, nullptr};

// Null where `fun` cannot be referenced weakly.
Ref weak_reference(PyObject* fun) {
  const Ref address = checked(PyLong_FromVoidPtr(fun));
  const Ref callback = checked(PyCFunction_New(&forget_definition, address.get()));
  Ref reference = Ref::steal(PyWeakref_NewRef(fun, callback.get()));
  if (!reference) PyErr_Clear();
  return reference;
}

}  // namespace

Context current_context() {
  const auto axes = bound_axes();
  return {{axes.begin(), axes.end()},
          settings_word(),
          objects::traced_settings(),
          objects::traced_settings_of_thread()};
}

bool context_is(const Context& context) {
  const auto axes = bound_axes();
  return context.settings == settings_word() &&
         context.traced_settings == objects::traced_settings() &&
         context.traced_settings_of_thread == objects::traced_settings_of_thread() &&
         std::equal(axes.begin(), axes.end(), context.axes.begin(), context.axes.end(), same_axis);
}

void set_mesh_word(std::uint64_t word, PyObject* description) {
  objects::set_traced_setting_of_thread("mesh", word == 0 ? "" : std::to_string(word));
  set_context_mesh(description == Py_None ? nullptr : objects::sharding_from(description));
}

std::uint64_t settings_word() {
  return static_cast<std::uint64_t>(objects::device_count()) << 2 |
         (objects::call_flags.threefry_partitionable ? 2 : 0) | (numpy::x64_enabled() ? 1 : 0);
}

bool jit_disabled() { return objects::call_flags.disable_jit; }

std::shared_ptr<void> shared_object(PyObject* fun, PyObject* options,
                                    const std::function<std::shared_ptr<void>()>& make,
                                    void (*clear)(void*)) {
  if (!table().contains(fun)) {
    Ref reference = weak_reference(fun);
    if (!reference) return make();
    table().emplace(fun, Slot{std::move(reference), {}});
  }
  // Comparing may run Python, and another thread that adds to the objects.
  for (std::size_t i = 0; i < table()[fun].objects.size(); ++i) {
    const SharedObject shared = table()[fun].objects[i];
    const int same = PyObject_RichCompareBool(shared.options.get(), options, Py_EQ);
    if (same < 0) PyErr_Clear();
    if (same == 1) return shared.object;
  }
  std::shared_ptr<void> object = make();
  table()[fun].objects.push_back({Ref::borrow(options), object, clear});
  return object;
}

Ref list_of(const std::vector<int>& values) {
  const Ref list = checked(PyList_New(0));
  for (int value : values) check(PyList_Append(list.get(), to_python(std::int64_t{value}).get()));
  return list;
}

Ref list_of(const std::vector<std::string>& texts) {
  const Ref list = checked(PyList_New(0));
  for (const std::string& text : texts) check(PyList_Append(list.get(), to_python(text).get()));
  return list;
}

void clear_shared_objects() {
  std::vector<std::pair<std::shared_ptr<void>, void (*)(void*)>> all;  // clearing may run Python
  for (const auto& [fun, slot] : table()) {
    for (const SharedObject& shared : slot.objects) all.emplace_back(shared.object, shared.clear);
  }
  for (const auto& [object, clear] : all) clear(object.get());
}

}  // namespace shardax::callables

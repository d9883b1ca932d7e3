// objects/config_values.cpp - values of flags by their kinds and choices.
#include "objects/config_values.h"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "base/index.h"

namespace shardax::objects {
namespace {

const Flag* find_flag(std::string name) {
  for (const auto& [alias, real] : flag_aliases) {
    if (name == alias) name = real;
  }
  for (const Flag& f : flags) {
    if (name == f.name) return &f;
  }
  return nullptr;
}

bool truthy(const std::string& text) {
  return !(text.empty() || text == "0" || text == "false" || text == "False" || text == "off" ||
           text == "no");
}

[[noreturn]] void refuse_kind(const Flag& f, const char* kind, PyObject* value) {
  value_error("new ", kind, " config value must be None or of type ", kind, ", got ",
              pytree::repr(value), " of type ",
              pytree::repr(reinterpret_cast<PyObject*>(Py_TYPE(value))), " for ", f.name, ".");
}

std::vector<std::string> choices_of(const Flag& f) {
  std::istringstream words(f.choices);
  return {std::istream_iterator<std::string>(words), {}};
}

// A text, or an object that some flags take instead of one.
void check_text(const Flag& f, PyObject* value) {
  const std::string_view name = f.name;
  if (value == Py_None || name.starts_with("jax_cross_host")) return;
  if (name == "jax_default_device") return;  // Python checks it
  if (name == "jax_pjrt_client_create_options" && PyDict_Check(value)) return;
  if (!PyUnicode_Check(value)) refuse_kind(f, "str", value);
}

}  // namespace

const Flag& known_flag(PyObject* name) {
  if (!PyUnicode_Check(name))
    type_error("the name of a config option must be a str, got ", pytree::repr(name));
  const std::string text = pytree::text_of(name);
  const Flag* found = find_flag(text);
  if (!found) fail(ErrorKind::attribute_error, "Unrecognized config option: ", text);
  return *found;
}

Ref value_from_text(const Flag& f, const char* text) {
  if (!text) return Ref::borrow(Py_None);
  if (f.kind == Flag::Kind::boolean) return Ref::borrow(truthy(text) ? Py_True : Py_False);
  if (f.kind == Flag::Kind::integer) return Ref::checked(PyLong_FromString(text, nullptr, 10));
  if (f.kind == Flag::Kind::real) {
    const Ref written = Ref::checked(PyUnicode_FromString(text));
    return Ref::checked(PyFloat_FromString(written.get()));
  }
  return Ref::checked(PyUnicode_FromString(text));
}

std::size_t choice(const Flag& f, PyObject* value) {
  const std::vector<std::string> choices = choices_of(f);
  const bool none = choices[0] == "None";
  if (value == Py_None && none) return 0;
  const std::string text = PyUnicode_Check(value) ? pytree::text_of(value) : "";
  const auto found = std::find(choices.begin() + none, choices.end(), text);
  if (found != choices.end()) return index(found - choices.begin());
  value_error("new enum value for ", f.name, " must be ", none ? "None or " : "", "one of ",
              quoted(std::vector<std::string>(choices.begin() + none, choices.end())), ", got ",
              pytree::repr(value), ".");
}

Ref checked_value(const Flag& f, PyObject* value) {
  if (f.kind == Flag::Kind::boolean) {
    if (PyUnicode_Check(value))
      return Ref::borrow(truthy(pytree::text_of(value)) ? Py_True : Py_False);
    return Ref::borrow(pytree::check(PyObject_IsTrue(value)) ? Py_True : Py_False);
  }
  if (f.kind == Flag::Kind::integer && value != Py_None && !PyLong_Check(value))
    refuse_kind(f, "int", value);
  if (f.kind == Flag::Kind::real && value != Py_None && !PyFloat_Check(value) &&
      !PyLong_Check(value)) {
    refuse_kind(f, "float", value);
  }
  if (f.choices) choice(f, value);
  if (f.kind == Flag::Kind::text && !f.choices) check_text(f, value);
  return Ref::borrow(value);
}

}  // namespace shardax::objects

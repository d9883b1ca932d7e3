// callables/staging/locate.cpp - walking Python frames, and naming functions.
#include "callables/staging/locate.h"

#include <cstring>
#include <unordered_map>
#include <utility>

#include "base/hash.h"
#include "base/index.h"
#include "callables/python.h"
#include "trace/trace.h"

namespace shardax::callables {
namespace {

std::string& package_directory() {
  static std::string directory = "\x01";  // no file name starts like this
  return directory;
}

std::string_view text_of(PyObject* name) {
  const char* text = PyUnicode_AsUTF8(name);
  if (!text) PyErr_Clear();
  return text ? text : "<unknown>";
}

std::string_view file_of(PyCodeObject* code) { return text_of(code->co_filename); }

bool is_internal(PyCodeObject* code) {
  const std::string_view file = file_of(code);
  return file.starts_with(package_directory()) || file.starts_with("<frozen ");
}

struct Place {
  PyCodeObject* code;
  int instruction;
  friend bool operator==(const Place&, const Place&) = default;
};
struct PlaceHash {
  std::size_t operator()(const Place& place) const {
    return mix(reinterpret_cast<std::size_t>(place.code), index(place.instruction));
  }
};
struct Interned {
  LocationPtr location;
  Ref code;  // keeps the address from being reused
};

// SufficientSet for the lines of a large program; beyond, starting anew is cheaper than ordering by
// age.
constexpr std::size_t table_limit = 8192;

int last_instruction(PyFrameObject* frame) {
#if PY_VERSION_HEX < 0x030b0000
  return frame->f_lasti;
#else
  return PyFrame_GetLasti(frame);
#endif
}

LocationPtr intern(PyFrameObject* frame, PyCodeObject* code) {
  using Table = std::unordered_map<Place, Interned, PlaceHash>;
  static auto& table = *new Table;
  const Place place{code, last_instruction(frame)};
  if (const auto it = table.find(place); it != table.end()) return it->second.location;
  const Table dying = table.size() >= table_limit ? std::exchange(table, {}) : Table();
  auto location = std::make_shared<Location>();
  location->file = file_of(code);
#if PY_VERSION_HEX < 0x030b0000
  location->function = text_of(code->co_name);
  location->line = PyFrame_GetLineNumber(frame);
#else
  location->function = text_of(code->co_qualname);
  int end_line, end_column;
  PyCode_Addr2Location(code, place.instruction, &location->line, &location->column, &end_line,
                       &end_column);
#endif
  table[place] = {location, Ref::borrow(reinterpret_cast<PyObject*>(code))};
  return location;
}

}  // namespace

void set_package_directory(std::string directory) { package_directory() = std::move(directory); }

LocationPtr locate() {
  PyFrameObject* top = PyEval_GetFrame();
  if (!top) return nullptr;
  Ref frame = Ref::borrow(reinterpret_cast<PyObject*>(top));
  while (frame) {
    auto* current = reinterpret_cast<PyFrameObject*>(frame.get());
    const Ref code = Ref::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(current)));
    auto* code_object = reinterpret_cast<PyCodeObject*>(code.get());
    if (!is_internal(code_object)) return intern(current, code_object);
    frame = Ref::steal(reinterpret_cast<PyObject*>(PyFrame_GetBack(current)));
  }
  return nullptr;
}

void install_locator() { set_locator(&locate); }

Ref function_code(PyObject* fun) {
  Ref current = Ref::borrow(fun);
  for (int depth = 0; depth < 16; ++depth) {
    if (PyFunction_Check(current.get())) return Ref::borrow(PyFunction_GetCode(current.get()));
    Ref next;
    for (const char* name : {"__func__", "__wrapped__", "func"}) {
      next = Ref::steal(PyObject_GetAttrString(current.get(), name));
      if (next) break;
      PyErr_Clear();
    }
    if (!next) return {};
    current = std::move(next);
  }
  return {};
}

namespace {

// The attribute of a callable, or of the function in a partial; "" if neither has one.
std::string name_within(PyObject* fun, const char* attribute) {
  Ref current = Ref::borrow(fun);
  for (int depth = 0; depth < 16; ++depth) {
    Ref name = Ref::steal(PyObject_GetAttrString(current.get(), attribute));
    if (name && PyUnicode_Check(name.get())) return str(name.get());
    PyErr_Clear();
    Ref inner = Ref::steal(PyObject_GetAttrString(current.get(), "func"));
    if (!inner) break;
    current = std::move(inner);
  }
  PyErr_Clear();
  return "";
}

}  // namespace

std::string given_name(PyObject* fun, const char* attribute) {
  const std::string name = name_within(fun, attribute);
  return name.empty() ? "<unnamed function>" : name;
}

std::string function_name(PyObject* fun) {
  const std::string name = name_within(fun, "__name__");
  if (!name.empty()) return name;
  const char* type = Py_TYPE(fun)->tp_name;
  const char* dot = std::strrchr(type, '.');
  return dot ? dot + 1 : type;
}

std::string describe_code(const std::string& name, const Ref& code) {
  if (!code) return name;
  auto* object = reinterpret_cast<PyCodeObject*>(code.get());
  return concat(name, " at ", file_of(object), ":", object->co_firstlineno);
}

std::string describe_function(PyObject* fun) {
  return describe_code(function_name(fun), function_code(fun));
}

}  // namespace shardax::callables

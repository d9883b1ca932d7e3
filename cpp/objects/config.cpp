// objects/config.cpp - the values of flags, their environment variables, and what they set.
#include "objects/config.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "analysis/key_reuse.h"
#include "analysis/nonfinite.h"
#include "base/per_thread.h"
#include "execute/execute.h"
#include "numpy/promote.h"
#include "objects/config_values.h"
#include "objects/transfers.h"
#include "ops/collectives/sum_groups.h"
#include "runtime/flush_denormals.h"
#include "runtime/mpi.h"
#include "trace/auto_pvary.h"

namespace shardax::objects {

CallFlags call_flags;

namespace {

constexpr int default_device_count = 8;  // the same on every machine, whatever its cores
int devices = default_device_count;
// Until somebody asks how many there are, the environment may still say so: programs set it after
// they import the package.
bool devices_known = false;

std::map<std::string_view, Ref>& values() {
  static auto* table = new std::map<std::string_view, Ref>;  // outlives static destruction
  return *table;
}

// The count in --xla_force_host_platform_device_count=N of XLA_FLAGS; other flags are ignored.
const char* count_in_xla_flags() {
  const char* all = std::getenv("XLA_FLAGS");
  if (!all) return nullptr;
  constexpr const char* option = "--xla_force_host_platform_device_count=";
  const char* at = std::strstr(all, option);
  return at ? at + std::strlen(option) : nullptr;
}

const char* device_count_in_environment() {
  for (const char* name : {"SHARDAX_NUM_DEVICES", "JAX_NUM_CPU_DEVICES"}) {
    const char* text = std::getenv(name);
    if (text && *text) return text;
  }
  return count_in_xla_flags();
}

// A device costs nothing, but its number is an int.
constexpr std::int64_t most_devices = 1 << 20;

[[noreturn]] void refuse_device_count(const std::string& count) {
  value_error("jax_num_cpu_devices: ", count, " devices were asked for; a number from 1 to ",
              most_devices, " is needed.");
}

// A whole number; of XLA_FLAGS, up to the next flag.
long long count_in_text(const char* text) {
  const std::string number(text, std::strcspn(text, " "));
  long long count = 0;
  const char* end = number.data() + number.size();
  const auto [read, error] = std::from_chars(number.data(), end, count);
  const bool is_count = error == std::errc() && read == end;
  if (is_count && count >= 1 && count <= most_devices) return count;
  value_error("SHARDAX_NUM_DEVICES (or JAX_NUM_CPU_DEVICES, or the count in XLA_FLAGS) is '",
              number, "'; a number of devices from 1 to ", most_devices,
              " was expected. Set it to one, or unset it.");
}

void set_count_from(PyObject* value) {
  int overflow = 0;
  const long long count = value == Py_None ? -1 : PyLong_AsLongLongAndOverflow(value, &overflow);
  if (overflow != 0) refuse_device_count(pytree::str(value));
  if (count == -1) {
    const char* text = device_count_in_environment();
    set_device_count(text ? count_in_text(text) : default_device_count);
    devices_known = false;
    return;
  }
  set_device_count(count);
}

void warn_user(const std::string& text) {
  pytree::check(PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1));
}

// Is the innermost Python function outside of the package? Calls of jnp.ufunc objects count as
// those of their callers.
bool is_user_code() {
  Ref frame = Ref::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  while (frame) {
    const Ref globals = Ref::checked(PyObject_GetAttrString(frame.get(), "f_globals"));
    const Ref module = pytree::dict_item(globals.get(), "__name__");
    if (!module || !PyUnicode_Check(module.get())) return true;
    const std::string name = pytree::text_of(module.get());
    if (name != "shardax.numpy._elementwise.ufuncs") return !name.starts_with("shardax.");
    auto* current = reinterpret_cast<PyFrameObject*>(frame.get());
    frame = Ref::steal(reinterpret_cast<PyObject*>(PyFrame_GetBack(current)));
  }
  return true;
}

// The guard of one kind of transfer, or of all: None allows.
void mirror_guard(const Flag& f, PyObject* value) {
  const std::size_t given = choice(f, value);
  const std::size_t level = given == 0 ? 0 : given - 1;
  const std::string_view name = f.name;
  constexpr std::pair<const char*, Transfer> kinds[] = {
      {"host_to_device", Transfer::host_to_device},
      {"device_to_device", Transfer::device_to_device},
      {"device_to_host", Transfer::device_to_host},
  };
  for (const auto& [kind, transfer] : kinds) {
    if (name.ends_with("guard") || name.ends_with(kind)) set_transfer_guard(transfer, level);
  }
}

// Devices and the names of platforms are Python's.
void check_default_device(PyObject* value) {
  if (value == Py_None) return;
  const Ref module = Ref::checked(PyImport_ImportModule("shardax._devices.devices"));
  Ref::checked(PyObject_CallMethod(module.get(), "check_default_device", "O", value));
}

// Flags that change the program of a traced function.
constexpr std::string_view traced_flags[] = {
    "jax_default_matmul_precision",
    "jax_numpy_dtype_promotion",
    "jax_numpy_rank_promotion",
    "jax_softmax_custom_jvp",
    "jax_default_prng_impl",
    "jax_check_static_indices",
    "jax_allow_f16_reductions",
    "jax_random_seed_offset",
    "jax_explicit_x64_dtypes",
    "jax_legacy_prng_key",
    "jax_auto_pcast",
    "jax_sum_groups",
    "jax_cpu_flush_denormals",
};

void set_timeout_from(PyObject* value) {
  const double seconds = value == Py_None ? 0 : PyFloat_AsDouble(value);
  if (!(seconds >= 0)) {
    fail(ErrorKind::value_error, "config.update: jax_message_timeout is ", seconds,
         "; a number of seconds is needed, or 0 or None for no limit.");
  }
  runtime::set_message_timeout(seconds);
}

void set_sum_groups_from(PyObject* value) {
  const std::int64_t groups = value == Py_None ? 0 : PyLong_AsLongLong(value);
  if (groups < 0 || PyErr_Occurred()) {
    PyErr_Clear();
    fail(ErrorKind::value_error, "config.update: jax_sum_groups is ", pytree::repr(value),
         "; a number of groups is needed, or 0 for sums in any order.");
  }
  ops::set_sum_groups(groups);
}

// Copies the flags that the core reads.
void mirror(const Flag& f, PyObject* value) {
  const std::string_view name = f.name;
  if (name == "jax_default_device") check_default_device(value);
  if (name == "jax_numpy_dtype_promotion") numpy::set_strict_dtypes(choice(f, value) == 1);
  if (name == "jax_explicit_x64_dtypes") {
    const std::size_t rule = choice(f, value);
    numpy::set_explicit_x64(static_cast<numpy::ExplicitX64>(rule));
  }
  if (name == "jax_numpy_rank_promotion") {
    const std::size_t rule = choice(f, value);
    numpy::set_rank_promotion(static_cast<numpy::RankPromotion>(rule), warn_user);
  }
  if (std::find(std::begin(traced_flags), std::end(traced_flags), name) != std::end(traced_flags))
    set_traced_setting(f.name, pytree::repr(value));
  if (name == "jax_auto_pcast") cast_operands(value == Py_True);
  if (name == "jax_debug_key_reuse") watch_key_reuse(value == Py_True);
  if (name == "jax_message_timeout") set_timeout_from(value);
  if (name == "jax_sum_groups") set_sum_groups_from(value);
  if (name == "jax_cpu_flush_denormals") runtime::flush_denormals(value == Py_True);
  if (name == "jax_no_execution") refuse_execution(value == Py_True);
  if (name.starts_with("jax_transfer_guard")) mirror_guard(f, value);
  if (name == "jax_enable_x64") numpy::set_x64_default(value == Py_True);
  if (name == "jax_num_cpu_devices") set_count_from(value);
  if (name == "jax_disable_jit") call_flags.disable_jit = value == Py_True;
  if (name == "jax_traceback_filtering") {
    call_flags.shorten_tracebacks = choice(f, value) > 0;
  }
  if (name == "jax_default_matmul_precision") call_flags.shows_precision = value != Py_None;
  if (name == "jax_check_static_indices") call_flags.check_static_indices = value == Py_True;
  if (name == "jax_threefry_partitionable") call_flags.threefry_partitionable = value == Py_True;
}

void set(const Flag& f, Ref value) {
  mirror(f, value.get());
  values()[f.name] = std::move(value);
  watch_nonfinite(flag("jax_debug_nans"), flag("jax_debug_infs"));
}

// The values to restore when the blocks that set a flag end, outermost first. Updates by
// config.update inside of them hold after them.
std::vector<Ref>& outer_values(const Flag& f) {
  static auto* table = new std::map<std::string_view, std::vector<Ref>>;
  return (*table)[f.name];
}

PyObject* update(PyObject*, PyObject* args) {
  PyObject *name, *value;
  if (!PyArg_ParseTuple(args, "OO", &name, &value)) return nullptr;
  return guarded([&]() -> PyObject* {
    const Flag& f = known_flag(name);
    Ref checked = checked_value(f, value);
    std::vector<Ref>& outer = outer_values(f);
    const Ref inner = outer.empty() ? Ref() : Ref::borrow(values()[f.name].get());
    set(f, Ref::borrow(checked.get()));  // throws for values that the flag does not take
    if (!inner) Py_RETURN_NONE;
    outer.front() = std::move(checked);
    set(f, Ref::borrow(inner.get()));
    Py_RETURN_NONE;
  });
}

PyObject* enter(PyObject*, PyObject* args) {
  PyObject *name, *value;
  if (!PyArg_ParseTuple(args, "OO", &name, &value)) return nullptr;
  return guarded([&]() -> PyObject* {
    const Flag& f = known_flag(name);
    Ref before = Ref::borrow(values()[f.name].get());
    set(f, checked_value(f, value));
    outer_values(f).push_back(std::move(before));
    Py_RETURN_NONE;
  });
}

PyObject* leave(PyObject*, PyObject* name) {
  return guarded([&]() -> PyObject* {
    const Flag& f = known_flag(name);
    std::vector<Ref>& outer = outer_values(f);
    Ref before = std::move(outer.back());
    outer.pop_back();
    set(f, std::move(before));
    Py_RETURN_NONE;
  });
}

PyObject* read(PyObject*, PyObject* name) {
  return guarded([&]() -> PyObject* {
    const Flag& f = known_flag(name);
    if (std::string_view(f.name) == "jax_enable_x64") return PyBool_FromLong(numpy::x64_enabled());
    if (std::string_view(f.name) == "jax_num_cpu_devices") return PyLong_FromLong(device_count());
    return Py_NewRef(values()[f.name].get());
  });
}

PyObject* names(PyObject*, PyObject*) {
  return guarded([&]() -> PyObject* {
    Ref list = Ref::checked(PyList_New(0));
    for (const Flag& f : flags) {
      const Ref text = Ref::checked(PyUnicode_FromString(f.name));
      pytree::check(PyList_Append(list.get(), text.get()));
    }
    return list.release();
  });
}

// x64 for this thread only: None removes the override. Gives the one before.
PyObject* override_x64(PyObject*, PyObject* value) {
  return guarded([&]() -> PyObject* {
    const int before = numpy::x64_override();
    numpy::set_x64_override(value == Py_None ? -1 : pytree::check(PyObject_IsTrue(value)));
    if (before < 0) Py_RETURN_NONE;
    return PyBool_FromLong(before);
  });
}

PyObject* trace_setting(PyObject*, PyObject* args) {
  const char *name, *value;
  if (!PyArg_ParseTuple(args, "ss", &name, &value)) return nullptr;
  return guarded([&]() -> PyObject* {
    set_traced_setting(name, value);
    Py_RETURN_NONE;
  });
}

PyObject* trace_setting_of_thread(PyObject*, PyObject* args) {
  const char *name = nullptr, *value = nullptr;
  if (!PyArg_ParseTuple(args, "ss", &name, &value)) return nullptr;
  return guarded([&]() -> PyObject* {
    set_traced_setting_of_thread(name, value);
    Py_RETURN_NONE;
  });
}

PyObject* count(PyObject*, PyObject*) {
  return guarded([] { return PyLong_FromLong(device_count()); });
}

PyObject* counted(PyObject*, PyObject*) {
  return guarded([] { return PyBool_FromLong(devices_known); });
}

PyMethodDef config_functions[] = {
    {"config_update", update, METH_VARARGS, "Sets a flag."},
    {"config_enter", enter, METH_VARARGS, "Sets a flag for a block."},
    {"config_leave", leave, METH_O, "Ends the innermost block that a flag is set for."},
    {"config_read", read, METH_O, "The value of a flag."},
    {"config_names", names, METH_NOARGS, "All flags."},
    {"override_x64", override_x64, METH_O, "Sets x64 for this thread; gives the override before."},
    {"set_traced_setting", trace_setting, METH_VARARGS,
     "Sets a value, a str, for which functions are traced anew."},
    {"set_traced_setting_of_thread", trace_setting_of_thread, METH_VARARGS,
     "The same for this thread; \"\" takes it away."},
    {"devices_counted", counted, METH_NOARGS, "Whether anybody has asked how many there are."},
    {"device_count", count, METH_NOARGS, "How many devices there are."},
    {nullptr, nullptr, 0, nullptr},
};

std::string upper(const char* name) {
  std::string text = name;
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

int device_count() {
  if (!devices_known) {
    if (const char* text = device_count_in_environment())
      set_device_count(std::strtoll(text, nullptr, 10));
    devices_known = true;
  }
  return devices;
}

namespace {
using Settings = std::map<std::string, std::string>;
std::uint64_t current_settings = 0;
constinit thread_local std::uint64_t current_settings_of_thread = 0;

// The number of the settings, once one of them has changed; 0 where there are none.
std::uint64_t with_setting(Settings& settings, const std::string& name, const std::string& value) {
  static auto* numbers = new std::map<Settings, std::uint64_t>{{{}, 0}};  // never destroyed
  if (value.empty()) {
    settings.erase(name);
  } else {
    settings[name] = value;
  }
  return numbers->emplace(settings, numbers->size()).first->second;
}
}  // namespace

std::uint64_t traced_settings() { return current_settings; }
std::uint64_t traced_settings_of_thread() { return current_settings_of_thread; }

void set_traced_setting(const std::string& name, const std::string& value) {
  static auto* settings = new Settings;  // outlives static destruction
  current_settings = with_setting(*settings, name, value);
}

void set_traced_setting_of_thread(const std::string& name, const std::string& value) {
  Settings& settings = per_thread<Settings, struct OfThread>();
  current_settings_of_thread = with_setting(settings, name, value);
}

void set_device_count(std::int64_t count) {
  if (count < 1 || count > most_devices) refuse_device_count(std::to_string(count));
  devices = static_cast<int>(count);
  devices_known = true;
}

bool flag(std::string_view name) {
  const auto it = values().find(name);
  return it != values().end() && it->second.get() == Py_True;
}

void init_config(PyObject* module) {
  for (const Flag& f : flags) {
    const bool counts = std::string_view(f.name) == "jax_num_cpu_devices";
    const char* text = counts ? nullptr : std::getenv(upper(f.name).c_str());
    Ref value = value_from_text(f, text && *text ? text : f.initial);
    if (text && *text) value = checked_value(f, value.get());
    mirror(f, value.get());
    values()[f.name] = std::move(value);
  }
  numpy::set_promotion_scope(is_user_code);
  watch_nonfinite(flag("jax_debug_nans"), flag("jax_debug_infs"));
  pytree::check(PyModule_AddFunctions(module, config_functions));
}

}  // namespace shardax::objects

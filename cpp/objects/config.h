// objects/config.h - the flags of shardax.config, and the hooks that act on them.
//
// Flags live in one table: name, default, environment variable. Python's config object (in
// shardax._base.flags) reads and updates them here; those that the core reads are mirrored at once.
#pragma once

#include "objects/errors.h"

namespace shardax::objects {

// The number of devices; at least 1. May change at any time.
int device_count();
void set_device_count(std::int64_t count);

// The current value of a boolean flag, such as "jax_debug_nans".
bool flag(std::string_view name);

// The flags that every call asks for, without a look-up.
struct CallFlags {
  bool disable_jit = false;
  bool threefry_partitionable = false;
  bool check_static_indices = false;
  bool shorten_tracebacks = false;  // of exceptions that leave the package
  bool shows_precision = false;     // of products, in programs
};
extern CallFlags call_flags;

// A number for the settings that tracing may look at beside x64 and the layout of random bits:
// equal while these are equal. Some are flags; others are contexts of the user's own. "" takes a
// setting away.
std::uint64_t traced_settings();
void set_traced_setting(const std::string& name, const std::string& value);
// The same for those that each thread has for itself: its current mesh, blocks of contexts.
std::uint64_t traced_settings_of_thread();
void set_traced_setting_of_thread(const std::string& name, const std::string& value);

// Adds config_read, config_update, config_names, and thread-local overrides to the module.
void init_config(PyObject* module);

}  // namespace shardax::objects

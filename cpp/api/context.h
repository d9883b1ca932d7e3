// api/context.h - what besides its arguments decides what tracing a function gives.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "api/python.h"
#include "trace/trace.h"

namespace shardax::api {

struct Context {
  std::vector<BoundAxis> axes;  // in scope, innermost last
  std::uint64_t settings = 0;
};
Context current_context();
bool context_is(const Context& context);

// A word that stands for the settings that tracing may look at, besides x64 and the device count
// (the random bit generator, say). Python sets it whenever one changes.
void set_settings_word(std::uint64_t word);
std::uint64_t settings_word();
// How many devices exist. Part of every context.
int device_count();
void set_device_count(int count);
// config.jax_disable_jit.
void set_jit_disabled(bool disabled);
bool jit_disabled();

// One object per (function, options), kept while the function lives; `options` is compared with ==.
std::shared_ptr<void> shared_object(PyObject* fun, PyObject* options,
                                    const std::function<std::shared_ptr<void>()>& make);
// Empties the table that shared_object keeps.
void forget_shared_objects();

}  // namespace shardax::api

// callables/staging/context.h - the trace context: all that tracing depends on besides arguments.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "callables/python.h"
#include "trace/trace.h"

namespace shardax::callables {

struct Context {
  std::vector<BoundAxis> axes;  // in scope, innermost last
  std::uint64_t settings = 0;
  std::uint64_t traced_settings = 0;
  std::uint64_t traced_settings_of_thread = 0;
};
Context current_context();
bool context_is(const Context& context);

// A word that stands for the settings that tracing may look at: x64, the random bit generator's
// layout, the number of devices. objects::traced_settings covers the other settings.
std::uint64_t settings_word();
// This thread's current mesh, as a number that stands for it; 0: none. The description is that of a
// sharding over it, or None.
void set_mesh_word(std::uint64_t word, PyObject* description);
// config.jax_disable_jit.
bool jit_disabled();

// One object per (function, options), kept while the function lives; `options` is compared with ==.
// `clear` empties it.
std::shared_ptr<void> shared_object(PyObject* fun, PyObject* options,
                                    const std::function<std::shared_ptr<void>()>& make,
                                    void (*clear)(void*));
// A list, for `options`.
Ref list_of(const std::vector<int>& values);
Ref list_of(const std::vector<std::string>& texts);
// Null for "".
inline const char* text_or_null(const std::string& text) {
  return text.empty() ? nullptr : text.c_str();
}
// Empties all objects that shared_object gave and that live.
void clear_shared_objects();

}  // namespace shardax::callables

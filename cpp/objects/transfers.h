// objects/transfers.h - transfer guards: moves between host and devices that are allowed.
//
// All memory is the host's here. Values that would move on a machine with accelerators are guarded
// all the same: NumPy arrays and Python numbers that an op at the top level takes in, values that
// are put on another device.
#pragma once

#include "array/type.h"
#include "pytree/ref.h"

namespace shardax::objects {

enum class Transfer : std::uint8_t { host_to_device, device_to_device, device_to_host };

// Does any guard log or refuse transfers?
extern bool transfers_guarded;

// Sets the guard of one kind ("allow", "log", "disallow", "log_explicit", "disallow_explicit").
void set_transfer_guard(Transfer kind, std::size_t level);

// Throws JaxRuntimeError, or writes a line to stderr, as the guard of that kind says.
// `asked`: the transfer is asked for by name, as by device_put.
void guard_transfer(Transfer kind, const Type& type, bool asked = false);

// Adds the functions by which device_put talks to the guards to the module.
void init_transfers(PyObject* module);

}  // namespace shardax::objects

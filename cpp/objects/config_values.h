// objects/config_values.h - names and values of flags, checked.
#pragma once

#include "objects/config_flags.h"
#include "objects/errors.h"

namespace shardax::objects {

// The flag of a name or an alias; throws AttributeError for others.
const Flag& known_flag(PyObject* name);
// The value that an environment variable says; None for null.
Ref value_from_text(const Flag& f, const char* text);
// The position of the value among the flag's choices; throws if it is none of them.
std::size_t choice(const Flag& f, PyObject* value);
// A value of the flag's kind; throws for others.
Ref checked_value(const Flag& f, PyObject* value);

}  // namespace shardax::objects

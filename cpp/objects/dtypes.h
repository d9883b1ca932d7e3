// objects/dtypes.h - element types as Python objects: NumPy dtypes, and names that stand for them.
#pragma once

#include <optional>

#include "array/dtype.h"
#include "objects/errors.h"

namespace shardax::objects {

// numpy.dtype of `dtype`, borrowed; ml_dtypes is imported when bfloat16 is asked for. Keys have a
// dtype object of their own.
PyObject* dtype_object(DType dtype);

// The dtype that an object means: a numpy.dtype, a scalar type (jnp.float32, np.float32, float,
// int, bool, complex), a string, or anything with a `dtype` attribute. None for unknown objects.
std::optional<DType> find_dtype(PyObject* object);
// The same; throws TypeError where there is none.
DType to_dtype(PyObject* object);
// An explicit dtype of the user's: warns when x64 is off and `dtype` needs it, and narrows it.
DType requested_dtype(PyObject* object, std::string_view function);

// By NumPy's name ("float32", "bfloat16"), if shardax has it.
std::optional<DType> dtype_named(std::string_view name);

// Element types of buffers: PEP 3118 format of a dtype ("f"), or null; and back.
const char* buffer_format(DType dtype);
std::optional<DType> dtype_of_format(const char* format, Py_ssize_t itemsize);

// Adds dtype helpers to the module.
void init_dtypes(PyObject* module);

}  // namespace shardax::objects

// objects/array/dlpack.cpp - DLPack's structures and the capsules that carry them.
//
// The protocol (dmlc.github.io/dlpack): a producer hands out a capsule named "dltensor" or
// "dltensor_versioned"; who takes the tensor renames the capsule to "used_..." and calls the
// tensor's deleter when done.
#include "objects/array/dlpack.h"

#include <cstring>
#include <memory>
#include <vector>

#include "array/exported_buffers.h"
#include "base/index.h"
#include "numpy/compose.h"
#include "numpy/promote.h"
#include "objects/array/buffer.h"
#include "objects/array/convert.h"
#include "objects/dtypes.h"

namespace shardax::objects {
namespace {

struct DLDevice {
  std::int32_t type;
  std::int32_t id;
};
struct DLDataType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};
struct DLTensor {
  void* data;
  DLDevice device;
  std::int32_t ndim;
  DLDataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements; null: row-major
  std::uint64_t byte_offset;
};
struct DLVersion {
  std::uint32_t major;
  std::uint32_t minor;
};
struct Plain {  // DLManagedTensor
  DLTensor tensor;
  void* manager;
  void (*deleter)(Plain*);
};
struct Versioned {  // DLManagedTensorVersioned
  DLVersion version;
  void* manager;
  void (*deleter)(Versioned*);
  std::uint64_t flags;
  DLTensor tensor;
};

constexpr std::int32_t device_cpu = 1;
constexpr std::uint64_t flag_read_only = 1, flag_copied = 2;
constexpr const char* plain_name = "dltensor";
constexpr const char* versioned_name = "dltensor_versioned";

struct CodeRow {
  DType dtype;
  std::uint8_t code;
};
constexpr CodeRow codes[] = {{DType::boolean, 6},        {DType::int8, 0},
                             {DType::int16, 0},          {DType::int32, 0},
                             {DType::int64, 0},          {DType::uint8, 1},
                             {DType::uint16, 1},         {DType::uint32, 1},
                             {DType::uint64, 1},         {DType::float16, 2},
                             {DType::float32, 2},        {DType::float64, 2},
                             {DType::bfloat16, 4},       {DType::complex64, 5},
                             {DType::complex128, 5},     {DType::float8_e3m4, 7},
                             {DType::float8_e4m3, 8},    {DType::float8_e4m3b11fnuz, 9},
                             {DType::float8_e4m3fn, 10}, {DType::float8_e4m3fnuz, 11},
                             {DType::float8_e5m2, 12},   {DType::float8_e5m2fnuz, 13},
                             {DType::float8_e8m0fnu, 14}};

DLDataType code_of(DType dtype) {
  for (const CodeRow& row : codes) {
    if (row.dtype != dtype) continue;
    return {row.code, static_cast<std::uint8_t>(8 * itemsize(dtype)), 1};
  }
  if (is_key(dtype)) {
    type_error(
        "JAX array with PRNGKey dtype cannot be converted to a DLPack tensor. Use "
        "jax.random.key_data(arr) to give away its integers.");
  }
  type_error("__dlpack__: arrays of dtype ", name(dtype),
             " have no DLPack equivalent; convert with .astype.");
}

DType dtype_of(DLDataType type) {
  for (const CodeRow& row : codes) {
    if (row.code == type.code && 8 * itemsize(row.dtype) == type.bits && type.lanes == 1)
      return row.dtype;
  }
  type_error("from_dlpack: elements of type code ", int{type.code}, " with ", int{type.bits},
             " bits and ", type.lanes, " lanes are no dtype of arrays.");
}

// The target of an exported tensor.
template <class Managed>
struct Export {
  explicit Export(ArrayPtr lent) : array(std::move(lent)), lent(array->buffer()->data()) {
    export_buffer(this->lent);
  }
  ~Export() { release_buffer(lent); }
  Export(const Export&) = delete;
  Export& operator=(const Export&) = delete;
  ArrayPtr array;
  const std::byte* lent;
  std::vector<std::int64_t> shape, strides;
  Managed managed{};
};

template <class Managed>
void drop_capsule(PyObject* capsule, const char* name) {
  const CoreLock lock;
  if (!PyCapsule_IsValid(capsule, name)) return;  // someone has taken the tensor
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  managed->deleter(managed);
}

template <class Managed>
std::unique_ptr<Export<Managed>> exported(const ArrayPtr& array) {
  auto out = std::make_unique<Export<Managed>>(array);
  out->shape.assign(array->shape().begin(), array->shape().end());
  out->strides.assign(array->strides().begin(), array->strides().end());
  out->managed.tensor = {array->data(),
                         {device_cpu, 0},
                         static_cast<std::int32_t>(out->shape.size()),
                         code_of(array->dtype()),
                         out->shape.data(),
                         out->strides.data(),
                         0};
  out->managed.manager = out.get();
  out->managed.deleter = [](Managed* m) { delete static_cast<Export<Managed>*>(m->manager); };
  return out;
}

PyObject* plain_capsule(const ArrayPtr& array) {
  auto out = exported<Plain>(array);
  PyObject* capsule = PyCapsule_New(&out->managed, plain_name,
                                    [](PyObject* c) { drop_capsule<Plain>(c, plain_name); });
  if (capsule) out.release();
  return capsule;
}

PyObject* versioned_capsule(const ArrayPtr& array, bool copied) {
  auto out = exported<Versioned>(array);
  out->managed.version = {1, 0};
  out->managed.flags = copied ? flag_copied : flag_read_only;
  PyObject* capsule = PyCapsule_New(&out->managed, versioned_name, [](PyObject* c) {
    drop_capsule<Versioned>(c, versioned_name);
  });
  if (capsule) out.release();
  return capsule;
}

bool repeats(const Array& array) {
  for (std::size_t d = 0; d < array.shape().size(); ++d) {
    if (array.strides()[d] == 0 && array.shape()[d] > 1) return true;
  }
  return false;
}

void check_device(PyObject* device) {
  if (device == Py_None) return;
  long type, id;
  const bool pair = PyTuple_Check(device) && PyTuple_GET_SIZE(device) == 2;
  if (!pair) {
    type_error("__dlpack__: dl_device=", pytree::repr(device),
               "; a pair (device type, device id) was expected.");
  }
  if (!PyArg_ParseTuple(device, "ll", &type, &id)) throw PythonError();
  if (type != device_cpu) {
    fail(ErrorKind::value_error, "__dlpack__: dl_device=", pytree::repr(device),
         ", but arrays lie in the memory of the CPU, (1, 0).");
  }
}

// ---- import ------------------------------------------------------------------------------------

// A tensor that has been taken out of its capsule; released unless a buffer owns it.
struct Taken {
  const DLTensor* tensor = nullptr;
  void* managed = nullptr;
  void (*release)(void*) = nullptr;
  bool owned = true;
  ~Taken() {
    if (managed && owned) release(managed);
  }
};

const std::byte* start_of(const DLTensor& tensor) {
  return static_cast<const std::byte*>(tensor.data) + tensor.byte_offset;
}

template <class Managed>
void take(PyObject* capsule, const char* name, const char* used_name, Taken& out) {
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  pytree::check(PyCapsule_SetName(capsule, used_name));
  out.tensor = &managed->tensor;
  out.managed = managed;
  export_buffer(start_of(managed->tensor));
  out.release = [](void* object) {
    auto* m = static_cast<Managed*>(object);
    release_buffer(start_of(m->tensor));
    if (!m->deleter) return;
    // A deleter may run Python, which must not find the error of somebody else.
    PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
    const bool locked = PyGILState_Check() != 0;
    if (locked) PyErr_Fetch(&type, &value, &traceback);
    m->deleter(m);
    if (locked) PyErr_Restore(type, value, traceback);
  };
}

// Throws unless all elements lie where an address can.
void check_extent(const Type& type, const std::int64_t* strides, std::uint64_t byte_offset) {
  std::int64_t bytes = itemsize(type.dtype), reach = bytes;
  bool overflow = byte_offset > std::uint64_t{1} << 62, empty = false;
  for (std::size_t d = 0; d < type.rank(); ++d) {
    const std::int64_t extent = type.shape[d];
    if (extent < 0) {
      value_error("from_dlpack: the tensor has shape ", to_string(type.shape),
                  "; no dimension may be negative.");
    }
    empty |= extent == 0;
    overflow |= __builtin_mul_overflow(bytes, extent, &bytes);
    std::int64_t step;
    overflow |= strides && (__builtin_mul_overflow(strides[d], extent, &step) ||
                            __builtin_mul_overflow(step, itemsize(type.dtype), &step) ||
                            __builtin_add_overflow(reach, step < 0 ? -step : step, &reach));
  }
  // Addresses of user space have 47 bits, with large pages of the kernel's 56.
  constexpr std::int64_t most = std::int64_t{1} << 56;
  if (empty || !(overflow || bytes > most || reach > most)) return;
  value_error("from_dlpack: a tensor of shape ", to_string(type.shape), " and dtype ",
              name(type.dtype), " has more bytes than there are addresses of memory.");
}

ArrayPtr array_of(Taken& taken) {
  const DLTensor& t = *taken.tensor;
  if (t.device.type != device_cpu) {
    fail(ErrorKind::value_error, "from_dlpack: the array lies on a device of type ", t.device.type,
         "; only memory of the CPU (1) can be shared. Copy it there first.");
  }
  if (t.ndim < 0 || t.ndim > static_cast<std::int32_t>(max_rank)) {
    value_error("from_dlpack: the tensor has ", t.ndim, " dimensions; expected 0 to ", max_rank,
                ".");
  }
  if (t.ndim > 0 && !t.shape) value_error("from_dlpack: the tensor has no shape.");
  Type type{dtype_of(t.dtype), false, {}, {}};
  for (std::int32_t d = 0; d < t.ndim; ++d) type.shape.push_back(t.shape[d]);
  check_extent(type, t.strides, t.byte_offset);
  Shape strides = row_major_strides(type.shape);
  for (std::int32_t d = 0; t.strides && d < t.ndim; ++d) strides[index(d)] = t.strides[d];
  if (type.size() == 0) return empty_array(std::move(type));
  if (!t.data) {
    value_error("from_dlpack: the tensor of shape ", to_string(type.shape),
                " has no memory (its data pointer is null).");
  }
  auto* data = static_cast<std::byte*>(t.data) + t.byte_offset;
  Shared<Buffer> buffer(new Buffer(data, index(type.bytes()), taken.release, taken.managed));
  taken.owned = false;
  return new Array(std::move(type), std::move(strides), std::move(buffer), data);
}

PyObject* from_dlpack(PyObject*, PyObject* args) {
  PyObject *capsule, *copy;
  if (!PyArg_ParseTuple(args, "OO", &capsule, &copy)) return nullptr;
  return guarded([&]() -> PyObject* {
    Taken taken;
    if (PyCapsule_IsValid(capsule, versioned_name)) {
      take<Versioned>(capsule, versioned_name, "used_dltensor_versioned", taken);
    } else if (PyCapsule_IsValid(capsule, plain_name)) {
      take<Plain>(capsule, plain_name, "used_dltensor", taken);
    } else {
      type_error("from_dlpack: __dlpack__ gave ", pytree::repr(capsule),
                 "; a capsule with a tensor that nobody has taken was expected.");
    }
    const ArrayPtr array = array_of(taken);
    const DType wanted = numpy::canonical_dtype(array->dtype());
    const auto address = reinterpret_cast<std::uintptr_t>(array->data());
    const bool aligned = address % static_cast<std::uintptr_t>(itemsize(array->dtype())) == 0;
    const bool must_copy = wanted != array->dtype() || !aligned;
    if (copy == Py_False && must_copy) {
      fail(ErrorKind::value_error, "Specified input which requires a copy since ",
           aligned ? concat("dtype ", name(array->dtype()), " is off while jax_enable_x64 is")
                   : std::string("the source data buffer is not aligned to its elements"),
           ". However copy=False. Set copy=True or copy=None to perform the requested operation.");
    }
    if (copy != Py_True && !must_copy) return wrap(array);
    return wrap(numpy::as_type(copied(*array), {wanted, false}));
  });
}

PyMethodDef dlpack_functions[] = {
    {"from_dlpack", from_dlpack, METH_VARARGS, "An array on the memory of a DLPack capsule."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

PyObject* export_dlpack(PyObject* self, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"stream", "max_version", "dl_device", "copy", nullptr};
  PyObject *stream = Py_None, *version = Py_None, *device = Py_None, *copy = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$OOOO", const_cast<char**>(names), &stream,
                                   &version, &device, &copy)) {
    return nullptr;
  }
  return guarded([&]() -> PyObject* {
    const Value& value = value_of(self);
    needs_elements(value, "__dlpack__() method was called");
    check_not_deleted(value);
    check_device(device);
    code_of(value->dtype());
    const Array& array = as_array(value);
    const bool must_copy = copy == Py_True || repeats(array);
    if (must_copy && copy == Py_False) {
      fail(ErrorKind::value_error,
           "__dlpack__: the array repeats elements that are kept once, which needs a copy, but "
           "copy=False.");
    }
    const ArrayPtr out =
        must_copy ? dense_copy(array) : view_of(array, array.type(), array.strides(), 0);
    long major = 0;
    if (version != Py_None) {
      const Ref first = Ref::checked(PySequence_GetItem(version, 0));
      major = PyLong_AsLong(first.get());
      if (major == -1 && PyErr_Occurred()) throw PythonError();
    }
    return major >= 1 ? versioned_capsule(out, must_copy) : plain_capsule(out);
  });
}

void init_dlpack(PyObject* module) {
  pytree::check(PyModule_AddFunctions(module, dlpack_functions));
}

}  // namespace shardax::objects

// objects/array/buffer.cpp - lending memory to Python and reading what others lend.
#include "objects/array/buffer.h"

#include <cstring>
#include <memory>
#include <new>

#include "base/index.h"
#include "execute/process_programs.h"
#include "kernels/copy/copy.h"
#include "numpy/promote.h"
#include "objects/dtypes.h"

namespace shardax::objects {
namespace {

// An Array of its own for the same memory, which deleting `array` leaves alone.
ArrayPtr held(const Array& array) { return view_of(array, array.type(), array.strides(), 0); }

// Lives as long as one Py_buffer: the lent array and the shape in bytes.
struct Lent {
  ArrayPtr array;
  std::vector<Py_ssize_t> shape;
  std::vector<Py_ssize_t> strides;
};

// The elements in memory of their own; repeats along the first `dimensions` are kept once.
ArrayPtr copied_once(const Array& array, std::size_t dimensions) {
  Type distinct = array.type();
  for (std::size_t d = 0; d < dimensions; ++d) {
    if (array.strides()[d] == 0 && distinct.shape[d] > 1) distinct.shape[d] = 1;
  }
  const ArrayPtr once = dense_copy(*view_of(array, distinct, array.strides(), 0));
  Shape strides = once->strides();
  for (std::size_t d = 0; d < dimensions; ++d) {
    if (distinct.shape[d] != array.shape()[d]) strides[d] = 0;
  }
  return view_of(*once, array.type(), strides, 0);
}

// The lent array: rows are contiguous, as NumPy's `view` and extension modules need them. Rows that
// repeat (equal on all devices, say) are still kept once.
ArrayPtr with_dense_rows(const ArrayPtr& array) {
  const Shape& shape = array->shape();
  if (shape.empty() || shape.back() < 2 || array->strides().back() == 1) return array;
  return copied_once(*array, shape.size() - 1);
}

int lend(const ArrayPtr& lender, const char* format, PyObject* owner, Py_buffer* view, int flags) {
  view->obj = nullptr;
  const ArrayPtr array = with_dense_rows(lender);
  if (flags & PyBUF_WRITABLE) {
    PyErr_SetString(PyExc_BufferError, "arrays are immutable: their memory is read-only");
    return -1;
  }
  const Type& type = array->type();
  const bool dense = is_contiguous(type.shape, array->strides());
  if (!dense && (flags & PyBUF_STRIDES) != PyBUF_STRIDES) {
    PyErr_SetString(PyExc_BufferError,
                    "the array is not contiguous; ask for its strides, or copy it");
    return -1;
  }
  const int width = itemsize(type.dtype);
  auto lent = std::make_unique<Lent>();
  lent->array = held(*array);
  for (std::size_t d = 0; d < type.rank(); ++d) {
    lent->shape.push_back(type.shape[d]);
    lent->strides.push_back(array->strides()[d] * width);
  }
  view->buf = array->data();
  view->len = type.bytes();
  view->readonly = 1;
  view->itemsize = width;
  view->format = (flags & PyBUF_FORMAT) ? const_cast<char*>(format) : nullptr;
  view->ndim = static_cast<int>(type.rank());
  view->shape = (flags & PyBUF_ND) ? lent->shape.data() : nullptr;
  view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? lent->strides.data() : nullptr;
  view->suboffsets = nullptr;
  view->internal = lent.release();
  view->obj = Py_NewRef(owner);
  return 0;
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  return guarded_status([&] {
    const Value& value = value_of(self);
    check_not_deleted(value);
    const char* format = buffer_format(value->dtype());
    if (!format) {
      PyErr_Format(PyExc_BufferError,
                   "arrays of dtype %s are not supported by the Python buffer protocol; "
                   "numpy.asarray(array) has them as a dtype of ml_dtypes",
                   std::string(name(value->dtype())).c_str());
      return -1;
    }
    return lend(ArrayPtr(&as_array(value)), format, self, view, flags);
  });
}

void release_buffer(PyObject*, Py_buffer* view) {
  const CoreLock lock;
  delete static_cast<Lent*>(view->internal);
}

// An object whose only purpose is to lend an array's memory.
struct RawObject {
  PyObject_HEAD ArrayPtr array;
};

const char* raw_format(int width) {
  switch (width) {
    case 1: return "B";
    case 2: return "H";
    case 4: return "I";
    default: return "Q";
  }
}

int raw_get_buffer(PyObject* self, Py_buffer* view, int flags) {
  const ArrayPtr& array = reinterpret_cast<RawObject*>(self)->array;
  return guarded_status([&] {
    const char* format = buffer_format(array->dtype());
    if (!format) format = raw_format(itemsize(array->dtype()));
    return lend(array, format, self, view, flags);
  });
}

void raw_deallocate(PyObject* self) {
  const CoreLock lock;
  PyTypeObject* type = Py_TYPE(self);
  reinterpret_cast<RawObject*>(self)->array.~ArrayPtr();
  PyObject_Free(self);
  Py_DECREF(type);
}

PyTypeObject* raw_type() {
  static PyTypeObject* type = nullptr;
  made_once(type, [] {
    PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(raw_deallocate)},
                           {Py_bf_getbuffer, reinterpret_cast<void*>(raw_get_buffer)},
                           {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)},
                           {0, nullptr}};
    PyType_Spec spec{"shardax.RawMemory", sizeof(RawObject), 0,
                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
    return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  });
  if (!type) throw PythonError();
  return type;
}

// Elements of a 64-bit type as those of the 32-bit one that stands for it while x64 is off.
template <class From, class To>
void narrow(const void* from, std::byte* to, std::int64_t n) {
  const auto* in = static_cast<const From*>(from);
  auto* out = reinterpret_cast<To*>(to);
  for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<To>(in[i]);
}

ArrayPtr narrowed(const void* from, Type type, DType wide) {
  const ArrayPtr out = empty_array(type);
  const std::int64_t n = type.size();
  if (wide == DType::float64) {
    narrow<double, float>(from, out->data(), n);
  } else if (wide == DType::complex128) {
    narrow<double, float>(from, out->data(), 2 * n);
  } else {
    narrow<std::uint64_t, std::uint32_t>(from, out->data(), n);
  }
  return out;
}

// Released when it goes out of scope.
struct Borrowed {
  Py_buffer view{};
  ~Borrowed() { PyBuffer_Release(&view); }
};

}  // namespace

std::vector<PyType_Slot> buffer_slots() {
  return {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
          {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)}};
}

ArrayPtr read_buffer(PyObject* object) {
  if (!PyObject_CheckBuffer(object)) return nullptr;
  Borrowed borrowed;
  Py_buffer& view = borrowed.view;
  if (PyObject_GetBuffer(object, &view, PyBUF_FULL_RO) < 0) {
    PyErr_Clear();
    return nullptr;
  }
  const std::optional<DType> dtype =
      dtype_of_format(view.format ? view.format : "B", view.itemsize);
  if (!dtype || (view.ndim > 0 && (view.suboffsets || !view.strides))) return nullptr;
  Type type{*dtype, false, {}, {}};
  Shape strides;
  bool whole = true;  // strides are multiples of the element size
  for (int d = 0; d < view.ndim; ++d) {
    type.shape.push_back(view.shape[d]);
    strides.push_back(view.strides[d] / view.itemsize);
    whole = whole && view.strides[d] % view.itemsize == 0;
  }
  if (!whole) return nullptr;
  const DType wanted = numpy::canonical_dtype(*dtype);
  const Type narrow_type = with_dtype(type, wanted);
  const auto* from = static_cast<const std::byte*>(view.buf);
  const bool dense = is_contiguous(type.shape, strides);
  if (dense && wanted != *dtype) return narrowed(from, narrow_type, *dtype);
  const ArrayPtr out = empty_array(type);
  if (type.size() == 0) return wanted == *dtype ? out : empty_array(narrow_type);
  if (dense) {
    std::memcpy(out->data(), from, index(type.bytes()));
  } else {
    kernels::copy_strided(out->data(), out->strides(), from, strides, type.shape, itemsize(*dtype));
  }
  return wanted == *dtype ? out : narrowed(out->data(), narrow_type, *dtype);
}

ArrayPtr dense_copy(const Array& array) {
  const ArrayPtr out = empty_array(array.type());
  kernels::copy_strided(out->data(), out->strides(), array.data(), array.strides(), array.shape(),
                        itemsize(array.dtype()));
  out->set_sharding(array.sharding());
  return out;
}

Value another(const Value& value) {
  if (value->is_tracer()) return value;
  const Array& array = as_array(value);
  ArrayPtr view = view_of(array, array.type(), array.strides(), 0);
  view->set_sharding(array.sharding());
  view->set_terms(array.terms());
  return view;
}

ArrayPtr copied(const Array& array) {
  if (array.slab()) return of_slab(copied(*array.slab()), array.type(), array.sharding());
  const ArrayPtr out = copied_once(array, array.shape().size());
  out->set_sharding(with_layout(array.sharding(), {}));
  return out;
}

Ref lending_object(const ArrayPtr& array) {
  PyTypeObject* type = raw_type();
  auto* memory = static_cast<PyObject*>(PyObject_Malloc(sizeof(RawObject)));
  if (!memory) throw std::bad_alloc();
  PyObject* object = PyObject_Init(memory, type);
  new (&reinterpret_cast<RawObject*>(object)->array) ArrayPtr(held(*array));
  return Ref::steal(object);
}

}  // namespace shardax::objects

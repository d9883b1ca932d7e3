// callables/program_face.cpp - objects of programs that live as long as these.
#include "callables/program_face.h"

#include <pybind11/pybind11.h>

#include <memory>

#include "objects/lock.h"

namespace py = pybind11;

namespace shardax::callables {

// What a program knows of its object.
struct ProgramFace {
  PyObject* object = nullptr;
  bool kept = false;  // it owns the object, which does not own the program meanwhile

  ProgramFace() = default;
  ProgramFace(const ProgramFace&) = delete;
  ProgramFace& operator=(const ProgramFace&) = delete;
  // The program is going, but its equations are still there.
  ~ProgramFace() {
    if (!kept || !Py_IsInitialized()) return;
    const objects::Locked locked;
    if (Py_REFCNT(object) > 1) {  // somebody has it from a weak reference
      ProgramObject& p = py::cast<ProgramObject&>(py::handle(object));
      p.program = HeldProgram(copy_of(*p.program));
    }
    Py_DECREF(object);
  }
};

namespace {

destructor destroy = nullptr;  // that of any object of the class

// Nobody refers to the object: its program, if it lives on, keeps it.
void keep_or_destroy(PyObject* self) {
  ProgramObject& p = py::cast<ProgramObject&>(py::handle(self));
  std::shared_ptr<ProgramFace> face = p.face.lock();
  if (!face || face->object != self || p.program->unique()) {
    if (face && face->object == self) face->object = nullptr;
    return destroy(self);
  }
  Py_SET_REFCNT(self, 1);
  face->kept = true;
  p.functions.reset();
  face.reset();
  // On another thread the program may have lost its other owners: then both go, here.
  p.program.let_go();
}

}  // namespace

Ref face_of(const ProgramPtr& program) {
  const auto face =
      program->derived<ProgramFace>("face", [] { return std::make_shared<ProgramFace>(); });
  if (face->object && !face->kept) return Ref::borrow(face->object);
  if (face->kept) {
    ProgramObject& p = py::cast<ProgramObject&>(py::handle(face->object));
    p.program.hold();
    p.functions = std::make_shared<const KeptFunctions>(*program);
    face->kept = false;
    return Ref::steal(face->object);
  }
  Ref made =
      Ref::steal(py::cast(ProgramObject{program, std::make_shared<const KeptFunctions>(*program)})
                     .release()
                     .ptr());
  py::cast<ProgramObject&>(py::handle(made.get())).face = face;
  face->object = made.get();
  return made;
}

void keep_faces(PyObject* program_class) {
  auto* type = reinterpret_cast<PyTypeObject*>(program_class);
  destroy = type->tp_dealloc;
  type->tp_dealloc = keep_or_destroy;
}

}  // namespace shardax::callables

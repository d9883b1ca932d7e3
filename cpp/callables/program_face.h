// callables/program_face.h - the Python object of a program: one, for as long as the program lives.
//
// Users compare programs with `is`, and remember what they derive from one by its id or by a weak
// reference. An object that nobody in Python holds any more is kept by its program, if something
// else needs that, and comes back where the program is shown again.
#pragma once

#include "callables/program_object.h"

namespace shardax::callables {

// A new reference.
Ref face_of(const ProgramPtr& program);
// For the class of programs, once it is there.
void keep_faces(PyObject* program_class);

}  // namespace shardax::callables

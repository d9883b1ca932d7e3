// callables/host_function.h - Python callables as Functions that programs carry.
#pragma once

#include <string>
#include <vector>

#include "callables/gil_safe_ref.h"
#include "callables/python.h"
#include "ir/op.h"

namespace pybind11 {
class module_;
}

namespace shardax::callables {

// A Function that holds a Python object.
class HostObject : public Function {
 public:
  explicit HostObject(PyObject* object) : object_(object) {}
  PyObject* object() const { return object_.get(); }
  int& owners() const { return owners_; }

 private:
  GilSafeRef object_;
  mutable int owners_ = 0;  // KeptFunctions that list it
};

// `callable` takes a list of arrays (None: a zero without an array). It returns a sequence of
// groups, each a sequence of arrays or None. `name` is what programs print.
FunctionPtr host_function(PyObject* callable, std::string name);
// The object, listed with the owner of this thread's scope, if there is one.
FunctionPtr kept(const HostObject* object);

// The host functions in a program, for an owner of the program: who keeps programs keeps one of
// these. Python's garbage collector sees a function through its only owner; while it has several,
// it counts as reachable.
class KeptFunctions {
 public:
  // `object`: something of Python's that is kept with it.
  explicit KeptFunctions(const Program& program, Ref object = {});
  KeptFunctions(KeptFunctions&& other) noexcept
      : functions_(std::move(other.functions_)), object_(std::move(other.object_)) {
    other.functions_.clear();
  }
  KeptFunctions(const KeptFunctions&) = delete;
  KeptFunctions& operator=(const KeptFunctions&) = delete;
  ~KeptFunctions();
  bool empty() const { return functions_.empty() && !object_; }
  int traverse(visitproc visit, void* arg) const;

  // While it lives, functions made on this thread are this owner's. Functions that transforming the
  // program makes are kept with the program.
  class Scope {
   public:
    explicit Scope(KeptFunctions& owner);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    KeptFunctions* outer_;
  };

 private:
  void add(FunctionPtr function);
  friend FunctionPtr kept(const HostObject* object);

  std::vector<FunctionPtr> functions_;
  Ref object_;
};

// Adds the ops that carry Functions to the module: custom rules, checkpoint, callbacks.
void init_host_functions(pybind11::module_& module);

}  // namespace shardax::callables

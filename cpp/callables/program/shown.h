// callables/program/shown.h - the one object that shows a program.
//
// Users compare programs with `is`, and remember derived objects by the program's id or by a weak
// reference. So a program has one object as long as anybody holds it. Caches that keep programs for
// later calls (KeepsShown) keep the objects that users asked for. Used with the interpreter's lock
// held, but for destructors of programs.
#pragma once

#include <memory>
#include <vector>

#include "callables/python.h"
#include "ir/program.h"

namespace shardax::callables {

// Kept with its program. It refers to the object weakly, since the object owns the program.
class ShownProgram {
 public:
  ShownProgram() = default;
  ShownProgram(const ShownProgram&) = delete;
  ShownProgram& operator=(const ShownProgram&) = delete;
  ~ShownProgram();
  // A new reference, or null where there is no such object, or it is going.
  Ref get() const;
  // `keepable`: it refers to no other objects of Python's. Those would never be seen to be part of
  // a cycle.
  void set(PyObject* object, bool keepable);

 private:
  friend class KeepsShown;
  PyObject* reference_ = nullptr;
  Ref kept_;  // while it has keepers
  int keepers_ = 0;
  // While it has keepers: those of the programs within its program, whose keeper it is.
  std::vector<std::shared_ptr<ShownProgram>> within_;
  bool keepable_ = false;
};

std::shared_ptr<ShownProgram> shown_program(const Program& program);

// Keeps the objects that show a program and those within it, from when they are first asked for,
// where they are keepable.
class KeepsShown {
 public:
  KeepsShown() = default;
  explicit KeepsShown(const Program& program);
  KeepsShown(KeepsShown&&) noexcept = default;  // leaves one that keeps nothing
  KeepsShown& operator=(KeepsShown&& other) noexcept;
  KeepsShown(const KeepsShown&) = delete;
  KeepsShown& operator=(const KeepsShown&) = delete;
  ~KeepsShown();

 private:
  std::shared_ptr<ShownProgram> shown_;
};

}  // namespace shardax::callables

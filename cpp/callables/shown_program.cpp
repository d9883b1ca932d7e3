// callables/shown_program.cpp - a weak reference to what shows a program, a strong one for keepers.
#include "callables/shown_program.h"

#include <unordered_set>
#include <utility>

#include "objects/lock.h"

namespace shardax::callables {

ShownProgram::~ShownProgram() {
  if (!reference_ || !Py_IsInitialized()) return;
  const objects::Locked locked;
  Py_DECREF(reference_);
}

Ref ShownProgram::get() const {
  if (!reference_) return {};
#if PY_VERSION_HEX >= 0x030D0000
  PyObject* object = nullptr;
  return PyWeakref_GetRef(reference_, &object) == 1 ? Ref::steal(object) : Ref();
#else
  PyObject* object = PyWeakref_GetObject(reference_);
  return object && object != Py_None ? Ref::borrow(object) : Ref();
#endif
}

void ShownProgram::set(PyObject* object, bool keepable) {
  Ref reference = checked(PyWeakref_NewRef(object, nullptr));
  const Ref before = Ref::steal(std::exchange(reference_, reference.release()));
  keepable_ = keepable;
  if (keepable && keepers_ > 0) kept_ = Ref::borrow(object);
}

std::shared_ptr<ShownProgram> shown_program(const Program& program) {
  return program.derived<ShownProgram>("shown", [] { return std::make_shared<ShownProgram>(); });
}

namespace {

// A program and those within it, each once.
void collect_programs(const Program& program, std::unordered_set<const Program*>& found) {
  if (!found.insert(&program).second) return;
  check_stack("a program within programs");
  for (const Equation& eqn : program.equations) {
    for (const auto& [name, value] : eqn.params) {
      if (const auto* body = std::get_if<ProgramPtr>(&value)) {
        collect_programs(**body, found);
      } else if (const auto* bodies = std::get_if<Programs>(&value)) {
        for (const ProgramPtr& each : *bodies) collect_programs(*each, found);
      }
    }
  }
}

}  // namespace

KeepsShown::KeepsShown(const Program& program) {
  std::unordered_set<const Program*> programs;
  collect_programs(program, programs);
  for (const Program* each : programs) {
    shown_.push_back(shown_program(*each));
    ShownProgram& shown = *shown_.back();
    ++shown.keepers_;
    if (shown.keepable_) shown.kept_ = shown.get();
  }
}

KeepsShown& KeepsShown::operator=(KeepsShown&& other) noexcept {
  std::swap(shown_, other.shown_);
  return *this;
}

// Objects that go may run Python, which may ask for them again: they go last.
KeepsShown::~KeepsShown() {
  std::vector<Ref> gone;
  for (const auto& shown : shown_) {
    if (--shown->keepers_ == 0) gone.push_back(std::exchange(shown->kept_, Ref()));
  }
}

}  // namespace shardax::callables

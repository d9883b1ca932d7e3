// callables/program/shown.cpp - a weak reference to the object of a program, a strong one for
// keepers.
#include "callables/program/shown.h"

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

// The programs that equations of a program carry, each as often as it stands.
std::vector<const Program*> programs_within(const Program& program) {
  std::vector<const Program*> out;
  for (const Equation& eqn : program.equations) {
    for_each_program(eqn.params, [&](const ProgramPtr& own) { out.push_back(own.get()); });
  }
  return out;
}

}  // namespace

KeepsShown::KeepsShown(const Program& program) : shown_(shown_program(program)) {
  std::vector<const Program*> left{&program};
  while (!left.empty()) {
    const Program& each = *left.back();
    left.pop_back();
    ShownProgram& shown = *shown_program(each);
    if (shown.keepers_++ > 0) continue;  // the first keeper keeps those within it
    if (shown.keepable_) shown.kept_ = shown.get();
    for (const Program* within : programs_within(each)) {
      shown.within_.push_back(shown_program(*within));
      left.push_back(within);
    }
  }
}

KeepsShown& KeepsShown::operator=(KeepsShown&& other) noexcept {
  std::swap(shown_, other.shown_);
  return *this;
}

// Objects that go may run Python, which may ask for them again: they go last.
KeepsShown::~KeepsShown() {
  std::vector<Ref> gone;
  std::vector<std::shared_ptr<ShownProgram>> left;
  if (shown_) left.push_back(std::move(shown_));
  while (!left.empty()) {
    const std::shared_ptr<ShownProgram> shown = std::move(left.back());
    left.pop_back();
    if (--shown->keepers_ > 0) continue;
    gone.push_back(std::exchange(shown->kept_, Ref()));
    for (auto& within : std::exchange(shown->within_, {})) left.push_back(std::move(within));
  }
}

}  // namespace shardax::callables

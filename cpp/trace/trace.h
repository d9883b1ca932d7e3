// trace/trace.h - bind and the stack of transformations in progress.
//
// A transformation in progress is a Trace on this thread's stack. Its Tracers know only their level
// and a generation number, so a tracer that outlives its trace is found, not followed. `bind` hands
// an op to the innermost trace that any input belongs to, or to the innermost staging trace, which
// records everything. Without either it computes at once.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "ir/op.h"

namespace shardax {

class Trace;

class Tracer : public ValueBase {
 public:
  int level() const { return level_; }
  std::uint64_t generation() const { return generation_; }
  bool alive() const;
  // The trace it belongs to; throws UnexpectedTracerError when that is over.
  Trace& trace() const;
  virtual std::string text() const = 0;             // as repr shows it
  virtual std::string_view class_name() const = 0;  // of its Python type: "BatchTracer"
  // The value that it equals, one level further out, if it is known now (the primal of a
  // differentiated value). Null for unknown values.
  virtual Value underlying() const { return nullptr; }
  // For a value that differs between the devices of a mapped axis and is known on all: the slices,
  // stacked, and the axis.
  struct Slices {
    Value stacked;
    AxisName axis = -1;
  };
  virtual Slices slices() const { return {}; }
  // An attribute of its Python object: of a differentiated value the primal or the tangent, of a
  // batched one the batch.
  enum class Part { primal, tangent, batch };
  virtual Value part(Part) const { return nullptr; }

 protected:
  Tracer(const Trace& trace, Type type);
  ~Tracer() override;

 private:
  int level_;
  std::uint64_t generation_;
};

class Trace {
 public:
  // Pushes itself; the destructor pops it. `staging` traces record every op bound above them.
  explicit Trace(bool staging);
  virtual ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  virtual Values process(const Op& op, const Params& params, const Values& in) = 0;
  int level() const { return level_; }
  std::uint64_t generation() const { return generation_; }
  bool staging() const { return staging_; }
  // Does `value` belong to this very trace?
  bool owns(const Value& value) const;

 private:
  int level_;
  std::uint64_t generation_;
  bool staging_;
  int outer_dynamic_;
  NamesPtr outer_names_;
};

// While it lives, ops on plain arrays compute at once even inside a staging trace.
class EagerScope {
 public:
  EagerScope();
  ~EagerScope();

 private:
  int outer_dynamic_;
};

// A rule binds an op to a null Value: it needs the value of an operand that has none.
struct MissingOperand {};
Values bind(const Op& op, const Params& params, const Values& in);
inline Value bind1(const Op& op, const Params& params, const Values& in) {
  return bind(op, params, in)[0];
}

// True where an op on plain arrays would be recorded rather than computed.
bool staging_in_progress();

// While it lives, tracers made on this thread are watched, so that `alive` can say which of a
// trace's still exist. For finding leaks: it costs something for each tracer.
class TracerWatch {
 public:
  TracerWatch();
  ~TracerWatch();
  TracerWatch(const TracerWatch&) = delete;
  TracerWatch& operator=(const TracerWatch&) = delete;
  std::vector<const Tracer*> alive(const Trace& trace) const;

 private:
  std::unique_ptr<std::unordered_set<const Tracer*>> own_;  // of the outermost
};
// The array that `value` is, or whose derivative is being taken; null where elements are unknown.
const Array* concrete(const Value& value);

// Computes one op on arrays. Installed by execute/.
using Evaluator = Values (*)(const Op& op, const Params& params, const Values& in);
void set_evaluator(Evaluator evaluator);

// Names the function that was being traced when a leaked tracer was made ("f at file.py:12 traced
// for jit"); "" if that is forgotten. Installed by the bindings.
using LeakDescriber = std::string (*)(const Tracer& tracer);
void set_leak_describer(LeakDescriber describe);

// Gives the user's current line. Installed by the bindings.
using Locator = LocationPtr (*)();
void set_locator(Locator locator);
LocationPtr current_location();
// While it lives, equations are recorded with this location: a pass keeps that of the original.
class LocationScope {
 public:
  explicit LocationScope(LocationPtr location);
  ~LocationScope();
  LocationScope(const LocationScope&) = delete;
  LocationScope& operator=(const LocationScope&) = delete;

 private:
  LocationPtr outer_;
};

// The names that equations are recorded with on this thread; a program that is being staged starts
// without.
const NamesPtr& current_names();
class NamesScope {
 public:
  explicit NamesScope(NamesPtr names);
  ~NamesScope();
  NamesScope(const NamesScope&) = delete;
  NamesScope& operator=(const NamesScope&) = delete;

 private:
  NamesPtr outer_;
};
// While it lives, names are those of a part that is transformed ("jvp").
class TransformationScope : public NamesScope {
 public:
  explicit TransformationScope(const char* name);
};

// Runs a program's equations on Values, op by op, under the traces of these.
Values evaluate(const Program& program, const Values& inputs);

// The mapped axes in scope on this thread, innermost last. `level` is that of the trace to which
// ops that name the axis go even when no operand belongs to it (0: none; they are recorded).
struct BoundAxis {
  AxisName name;
  std::int64_t size;
  bool devices;
  int level = 0;
};
class AxisScope {
 public:
  explicit AxisScope(BoundAxis axis);
  ~AxisScope();
  AxisScope(const AxisScope&) = delete;
  AxisScope& operator=(const AxisScope&) = delete;
};
std::span<const BoundAxis> bound_axes();
// While it lives, ops that name the axes of `level` do not go back to that trace.
class AxisLevelHidden {
 public:
  explicit AxisLevelHidden(int level);
  ~AxisLevelHidden();
  AxisLevelHidden(const AxisLevelHidden&) = delete;
  AxisLevelHidden& operator=(const AxisLevelHidden&) = delete;

 private:
  int level_;
};
// Throws NameError naming the axes in scope when `name` is not bound; `user` is the API's name.
std::int64_t axis_size(AxisName name, std::string_view user);
// Replaces all axes in scope for its life: a program is evaluated where its own axes are bound.
class AxisEnvironment {
 public:
  explicit AxisEnvironment(std::vector<BoundAxis> axes);
  ~AxisEnvironment();
  AxisEnvironment(const AxisEnvironment&) = delete;
  AxisEnvironment& operator=(const AxisEnvironment&) = delete;

 private:
  std::vector<BoundAxis> outer_;
};

}  // namespace shardax

// transform/batch.cpp - batched tracing.
#include "transform/batch.h"

#include <algorithm>
#include <optional>

#include "array/checked_axis.h"
#include "base/errors.h"
#include "base/per_thread.h"
#include "ops/ops.h"
#include "trace/reentry.h"
#include "transform/slices.h"

namespace shardax {
namespace {

Type without_leading(Type type) {
  type.erase_dimension(0);
  return type;
}

class VmapTracer : public Tracer {
 public:
  VmapTracer(const Trace& trace, BatchTag tag, Value value)
      : Tracer(trace, without_leading(value->type())), value_(std::move(value)), tag_(tag) {}
  const Value& value() const { return value_; }
  BatchTag tag() const { return tag_; }
  std::string text() const override {
    return concat("VmapTracer(aval=", to_string(type_), ", batched=", to_string(value_->type()),
                  ")");
  }
  std::string_view class_name() const override { return "BatchTracer"; }
  Value part(Part part) const override { return part == Part::batch ? value_ : nullptr; }

 private:
  Value value_;
  BatchTag tag_;
};

// A value of each device, while a mapped function runs op by op. If all devices have the same,
// Python may ask for it.
class DeviceTracer final : public VmapTracer {
 public:
  DeviceTracer(const Trace& trace, BatchTag tag, Value value, AxisName axis)
      : VmapTracer(trace, tag, std::move(value)), axis_(axis) {
    if (is_checked(axis)) type_.varying = join(type_.varying, AxisSet{axis});
  }
  std::string_view class_name() const override { return "DeviceTracer"; }
  std::string text() const override {
    return concat("DeviceTracer(", to_string(type_), ", varying over '", axis_text(axis_), "')");
  }
  Value underlying() const override {
    if (!looked_) {
      looked_ = true;
      if (!value()->is_tracer() && value()->shape()[0] > 0 && slices_equal(as_array(value()), 0)) {
        const Array& all = as_array(value());
        Shape strides = all.strides();
        strides.erase(0);
        shared_ = view_of(all, type_, strides, 0);
      }
    }
    return shared_;
  }
  Slices slices() const override { return {value(), axis_}; }

 private:
  AxisName axis_;
  mutable bool looked_ = false;
  mutable Value shared_;  // the value that all devices have
};

class BatchTrace;
// The batchings on this thread's stack, and the one whose rule is being run.
std::vector<const BatchTrace*>& traces() {
  return per_thread<std::vector<const BatchTrace*>, BatchTrace>();
}
constinit thread_local const BatchTrace* processing = nullptr;

class Processing {
 public:
  explicit Processing(const BatchTrace* trace) : outer_(std::exchange(processing, trace)) {}
  ~Processing() { processing = outer_; }
  Processing(const Processing&) = delete;
  Processing& operator=(const Processing&) = delete;

 private:
  const BatchTrace* outer_;
};

class BatchTrace final : public Trace {
 public:
  BatchTrace(const BatchAxis& axis, BatchTag again)
      : Trace(false), axis_(axis), tag_(again ? again : generation()), function_level_(level()) {
    if (again) {
      const auto original = std::find_if(traces().rbegin(), traces().rend(),
                                         [&](const BatchTrace* t) { return t->tag_ == again; });
      if (original != traces().rend()) original_.emplace((*original)->level(), level());
    }
    traces().push_back(this);
  }
  ~BatchTrace() override { traces().pop_back(); }
  BatchTag tag() const { return tag_; }
  bool maps_devices() const { return axis_.devices; }

  std::pair<Value, bool> split(const Value& value) const {
    const VmapTracer* own = nullptr;
    if (owns(value)) {
      own = static_cast<const VmapTracer*>(value.get());
    } else if (original_ && value->is_tracer()) {
      const auto* tracer = dynamic_cast<const VmapTracer*>(value.get());
      if (tracer && tracer->tag() == tag_) own = tracer;
    }
    if (!own) return {value, false};
    return {own->value(), true};
  }
  Value wrap(const Value& value) const {
    if (axis_.devices) return new DeviceTracer(*this, tag_, value, axis_.name);
    return new VmapTracer(*this, tag_, value);
  }

  Values process(const Op& op, const Params& params, const Values& in) override {
    const AxisLevelHidden hidden(level());
    const FunctionLevel outer(function_level_.outer());
    const Processing rule(this);
    Values values;
    std::vector<bool> batched;
    Types types;
    for (const Value& value : in) {
      types.push_back(value->type());
      auto [inner, is_batched] = split(value);
      values.push_back(std::move(inner));
      batched.push_back(is_batched);
    }
    if (!op.batch) {
      fail(ErrorKind::not_implemented_error, "Batching rule for '", op.name, "' not implemented.");
    }
    // Operands that do not fit are reported as the user sees them. Programs that ops carry have
    // been checked when they were staged; of an op that a program stands for, the rule checks.
    if (op.kind != Kind::control && !op.expand) infer_types(op, types, params);
    Batched result = op.batch({op, params, values, batched, axis_});
    for (std::size_t i = 0; i < result.out.size(); ++i) {
      if (result.batched[i]) result.out[i] = wrap(result.out[i]);
    }
    return std::move(result.out);
  }

 private:
  BatchAxis axis_;
  BatchTag tag_;
  FunctionLevel function_level_;
  std::optional<TraceAlias> original_;  // of a trace that takes another's place
};

}  // namespace

BatchTag current_batch() { return processing ? processing->tag() : 0; }

bool maps_above(int level) {
  return std::ranges::any_of(traces(), [&](const BatchTrace* trace) {
    return trace->level() > level && !trace->maps_devices();
  });
}

Batched batch(const ValueFunction& f, const Values& inputs, const std::vector<bool>& batched,
              const BatchAxis& axis, BatchTag again) {
  BatchTrace trace(axis, again);
  std::optional<AxisScope> scope;
  if (axis.name >= 0) scope.emplace(BoundAxis{axis.name, axis.size, axis.devices, trace.level()});
  Values in;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    in.push_back(batched[i] ? trace.wrap(inputs[i]) : inputs[i]);
  }
  Batched result;
  for (const Value& value : f(in)) {
    auto [inner, is_batched] = trace.split(value);
    result.out.push_back(std::move(inner));
    result.batched.push_back(is_batched);
  }
  return result;
}

BatchedProgram batch_program(const ProgramPtr& program, const std::vector<bool>& batched,
                             const BatchAxis& axis, const std::vector<bool>* wanted) {
  if (wanted) {
    const BatchedProgram plain = batch_program(program, batched, axis);
    if (covers(plain.batched, *wanted)) return plain;
  }
  std::string key =
      mask_key(concat("batch", axis.size, ",", axis.name, ",", axis.devices), batched);
  for (const std::string& name : axis.split) key += concat("@", name);
  if (wanted) key = mask_key(key, *wanted);
  return *program->derived<BatchedProgram>(key, [&] {
    auto result = std::make_shared<BatchedProgram>();
    Types types = program->input_types();
    for (std::size_t i = 0; i < types.size(); ++i) {
      if (batched[i]) types[i].insert_dimension(0, axis.size, axis.split);
      if (axis.name >= 0) types[i].varying = without(types[i].varying, axis.name);
    }
    result->program = stage_closed(
        types,
        [&](const Values& in) {
          Batched inner =
              batch([&](const Values& v) { return evaluate(*program, v); }, in, batched, axis);
          for (std::size_t i = 0; i < inner.out.size(); ++i) {
            if (!wanted || !(*wanted)[i] || inner.batched[i]) continue;
            inner.out[i] = ops::broadcast_leading(inner.out[i], axis.size);
            inner.batched[i] = true;
          }
          result->batched = inner.batched;
          return inner.out;
        },
        program->name);
    return result;
  });
}

}  // namespace shardax

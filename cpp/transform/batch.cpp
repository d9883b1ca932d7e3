// transform/batch.cpp - batched tracing.
#include "transform/batch.h"

#include <optional>

#include "base/errors.h"
#include "ops/ops.h"

namespace shardax {
namespace {

Type without_leading(Type type) {
  type.shape.erase(0);
  return type;
}

class VmapTracer : public Tracer {
 public:
  VmapTracer(const Trace& trace, Value value)
      : Tracer(trace, without_leading(value->type())), value_(std::move(value)) {}
  const Value& value() const { return value_; }
  std::string text() const override {
    return concat("VmapTracer(aval=", to_string(type_), ", batched=", to_string(value_->type()),
                  ")");
  }
  std::string_view class_name() const override { return "VmapTracer"; }

 private:
  Value value_;
};

// A value of each device, while a mapped function runs op by op. Where all devices have the same,
// Python may ask for it.
class DeviceTracer final : public VmapTracer {
 public:
  DeviceTracer(const Trace& trace, Value value, AxisName axis)
      : VmapTracer(trace, std::move(value)), axis_(axis) {}
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

class BatchTrace final : public Trace {
 public:
  explicit BatchTrace(const BatchAxis& axis) : Trace(false), axis_(axis) {}

  std::pair<Value, bool> split(const Value& value) const {
    if (!owns(value)) return {value, false};
    return {static_cast<const VmapTracer&>(*value).value(), true};
  }
  Value wrap(const Value& value) const {
    if (axis_.devices) return new DeviceTracer(*this, value, axis_.name);
    return new VmapTracer(*this, value);
  }

  Values process(const Op& op, const Params& params, const Values& in) override {
    const AxisLevelHidden hidden(level());
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
    // been checked when they were staged.
    if (op.kind != Kind::control) infer_types(op, types, params);
    Batched result = op.batch({op, params, values, batched, axis_});
    for (std::size_t i = 0; i < result.out.size(); ++i) {
      if (result.batched[i]) result.out[i] = wrap(result.out[i]);
    }
    return std::move(result.out);
  }

 private:
  BatchAxis axis_;
};

}  // namespace

Batched batch(const ValueFunction& f, const Values& inputs, const std::vector<bool>& batched,
              const BatchAxis& axis) {
  BatchTrace trace(axis);
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
  std::string key =
      mask_key(concat("batch", axis.size, ",", axis.name, ",", axis.devices), batched);
  if (wanted) key = mask_key(key, *wanted);
  return *program->derived<BatchedProgram>(key, [&] {
    auto result = std::make_shared<BatchedProgram>();
    Types types = program->input_types();
    for (std::size_t i = 0; i < types.size(); ++i) {
      if (batched[i]) types[i].shape.insert(0, axis.size);
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

// analysis/nonfinite.cpp - looking for NaN and infinity, and replaying programs to say where.
#include "analysis/nonfinite.h"

#include <cmath>
#include <optional>

#include "array/half.h"
#include "base/errors.h"
#include "base/index.h"
#include "control/control.h"
#include "ir/regions.h"
#include "kernels/tiles/range_check.h"
#include "ops/ops.h"
#include "trace/eval_program.h"

namespace shardax {
namespace {

struct Watched {
  bool nans = false;
  bool infs = false;
};
Watched watched;
constinit thread_local bool replaying = false;

// ---- elements ------------------------------------------------------------------------------

// The kind of fault of an element: "nan", "inf", or null.
const char* fault(double x) {
  if (watched.nans && std::isnan(x)) return "nan";
  if (watched.infs && std::isinf(x)) return "inf";
  return nullptr;
}

template <class T>
const char* element_fault(const T& x) {
  if constexpr (std::is_same_v<T, bfloat16_t> || std::is_same_v<T, float16_t>) {
    return fault(to_float(x));
  } else if constexpr (std::is_floating_point_v<T>) {
    return fault(x);
  } else if constexpr (std::is_arithmetic_v<T> || is_opaque<T>) {
    return nullptr;
  } else {
    const char* real = fault(x.real());
    return real ? real : fault(x.imag());
  }
}

// The first faulty element: `index` is filled in.
template <class T>
const char* first_fault(const T* at, const Shape& shape, const Shape& strides,
                        std::size_t dimension, Shape& index) {
  if (dimension == shape.size()) return element_fault(*at);
  const std::int64_t count =
      strides[dimension] == 0 ? std::min<std::int64_t>(shape[dimension], 1) : shape[dimension];
  for (std::int64_t i = 0; i < count; ++i) {
    index[dimension] = i;
    if (const char* found =
            first_fault(at + i * strides[dimension], shape, strides, dimension + 1, index)) {
      return found;
    }
  }
  return nullptr;
}

// True where a look at each element is needed to know.
bool may_have_fault(const Array& array) {
  if (!is_contiguous(array.shape(), array.strides())) return true;
  // A complex number is two real ones.
  const std::int64_t parts = is_complex(array.dtype()) ? 2 : 1;
  return !kernels::all_finite(real_dtype(array.dtype()), array.data(), parts * array.type().size());
}

struct Fault {
  const char* what = nullptr;
  Shape index;
};
Fault find_fault(const Value& value) {
  if (value->is_tracer() || !is_inexact(value->dtype())) return {};
  const Array& array = as_array(value);
  if (!may_have_fault(array)) return {};
  Fault found;
  found.index.resize(array.shape().size());
  found.what = visit_dtype(array.dtype(), [&](auto zero) {
    using T = decltype(zero);
    return first_fault(reinterpret_cast<const T*>(array.data()), array.shape(), array.strides(), 0,
                       found.index);
  });
  return found;
}

// ---- what the error says -------------------------------------------------------------------

// The array behind a value, and the mapped axes whose devices are its leading dimensions.
struct Whole {
  Value array;
  std::vector<AxisName> axes;
};
Whole whole(Value value) {
  Whole out{std::move(value), {}};
  while (out.array->is_tracer()) {
    const Tracer::Slices slices = static_cast<const Tracer&>(*out.array).slices();
    if (!slices.stacked) break;
    out.axes.insert(out.axes.begin(), slices.axis);
    out.array = slices.stacked;
  }
  return out;
}

template <class T>
double real_part(const T& x) {
  if constexpr (std::is_same_v<T, bfloat16_t> || std::is_same_v<T, float16_t>) {
    return to_float(x);
  } else if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<double>(x);
  } else {
    return std::nan("");
  }
}

template <class T>
void widen(const T* at, const Shape& shape, const Shape& strides, std::size_t dimension,
           double& low, double& high, bool& nan) {
  if (dimension == shape.size()) {
    const double x = real_part(*at);
    nan = nan || std::isnan(x);
    if (x < low) low = x;
    if (x > high) high = x;
    return;
  }
  for (std::int64_t i = 0; i < shape[dimension]; ++i)
    widen(at + i * strides[dimension], shape, strides, dimension + 1, low, high, nan);
}

// "float32[2,3] in [-1, 2]", of the slice that one device has.
std::string operand_text(const Value& value, const std::vector<AxisName>& axes,
                         const Shape& index) {
  const Whole all = whole(value);
  std::string text = to_string(value->type());
  if (all.array->is_tracer() || is_complex(value->dtype())) return text;
  const Array& array = as_array(all.array);
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < all.axes.size(); ++d) {
    for (std::size_t k = 0; k < axes.size(); ++k) {
      if (axes[k] == all.axes[d]) offset += index[k] * array.strides()[d];
    }
  }
  const auto mapped = static_cast<std::ptrdiff_t>(all.axes.size());
  const Shape shape(array.shape().begin() + mapped, array.shape().end());
  const Shape strides(array.strides().begin() + mapped, array.strides().end());
  double low = HUGE_VAL, high = -HUGE_VAL;
  bool nan = false;
  visit_dtype(array.dtype(), [&](auto zero) {
    using T = decltype(zero);
    widen(reinterpret_cast<const T*>(array.data()) + offset, shape, strides, 0, low, high, nan);
  });
  if (low > high) return nan ? text + " of NaN" : text;
  return concat(text, " in [", low, ", ", high, "]", nan ? " and NaN" : "");
}

bool any_fault(const Values& values) {
  return std::any_of(values.begin(), values.end(),
                     [](const Value& v) { return find_fault(whole(v).array).what != nullptr; });
}

constexpr const char* not_made =
    "; the de-optimized function did not make it: it came with an input or is a literal";

[[noreturn]] void report(const Fault& fault, std::string_view op, const Values& in,
                         const std::vector<AxisName>& axes, const Value& result,
                         const std::string& context, bool made = true) {
  std::string text =
      axes.empty() ? concat("invalid value (", fault.what, ") encountered in ", op)
                   : concat("Invalid value (", fault.what,
                            ") encountered in sharded computation; first encountered in ", op);
  for (std::size_t k = 0; k < axes.size(); ++k)
    text +=
        concat(k ? ", " : " on ", "device ", fault.index[k], " of axis '", axis_text(axes[k]), "'");
  if (const LocationPtr location = current_location())
    text += concat(", at ", to_string(*location));
  text += context;
  const Shape element(fault.index.begin() + static_cast<std::ptrdiff_t>(axes.size()),
                      fault.index.end());
  text += concat(": first at element ", to_string(element), " of its result ",
                 to_string(result->type()));
  for (std::size_t i = 0; i < in.size(); ++i)
    text += concat(i ? ", " : "; operands: ", operand_text(in[i], axes, fault.index));
  if (!made || any_fault(in)) text += not_made;
  fail(ErrorKind::floating_point_error, text, ".");
}

void check(const Op& op, const Values& in, const Values& out, const std::string& context) {
  for (const Value& value : out) {
    const Whole all = whole(value);
    const Fault fault = find_fault(all.array);
    if (fault.what) report(fault, op.name, in, all.axes, value, context);
  }
}

// ---- replaying -----------------------------------------------------------------------------

// Runs a program op by op, regions included, and looks at every result.
class Replay {
 public:
  Values run(const Program& program, const Values& inputs) {
    return eval_program(program, inputs,
                        [&](const Equation& eqn, const Values& in) { return step(eqn, in); });
  }

 private:
  Values step(const Equation& eqn, const Values& in) {
    if (const ProgramPtr whole = mesh_program(*eqn.op, eqn.params)) return run(*whole, in);
    if (eqn.op->regions) {
      if (auto out = run(regions_of(*eqn.op, eqn.params), in, eqn.op->name)) {
        // A constant of a body.
        if (!any_fault(in)) check(*eqn.op, in, *out, context_);
        return *out;
      }
    }
    Values out = shardax::bind(*eqn.op, eqn.params, in);
    check(*eqn.op, in, out, context_);
    return out;
  }

  // Nothing where devices choose or end differently: then the op runs as one.
  std::optional<Values> run(const Regions& regions, const Values& in, std::string_view name) {
    switch (regions.runs) {
      case ExecutionKind::once: return run(*regions.programs[0], in);
      case ExecutionKind::mapped:
        return run_mapped([&](const Values& v) { return run(*regions.programs[0], v); }, regions,
                          in);
      case ExecutionKind::one_of: {
        const Array* choice = concrete(in[0]);
        return choice ? std::optional(branch(regions, *choice, in)) : std::nullopt;
      }
      case ExecutionKind::counted: return counted(regions, in, name);
      case ExecutionKind::looped: return looped(regions, in, name);
      case ExecutionKind::mesh: break;
    }
    return std::nullopt;
  }

  // The inputs of program k in the run `index`, given the current values of carries.
  static Values operands(const Regions& regions, std::size_t k, const Values& in,
                         const Values& carry, std::int64_t index) {
    Values out;
    for (std::size_t next = 0; const std::size_t i : regions.taken_by(k)) {
      const RegionPort& port = regions.operands[i];
      if (port.flow == PortKind::carried) {
        out.push_back(carry[next++]);
      } else {
        out.push_back(port.flow == PortKind::sliced ? ops::index_in_dim(in[i], index, port.axis)
                                                    : in[i]);
      }
    }
    return out;
  }
  static Values initial(const Regions& regions, const Values& in) {
    Values out;
    for (const std::size_t i : regions.operands_of(PortKind::carried)) out.push_back(in[i]);
    return out;
  }

  Values branch(const Regions& regions, const Array& choice, const Values& in) {
    std::int32_t k;
    std::memcpy(&k, choice.data(), sizeof k);
    k = std::clamp(k, 0, static_cast<std::int32_t>(regions.programs.size()) - 1);
    const auto chosen = index(k);
    return run(*regions.programs[chosen], operands(regions, chosen, in, {}, 0));
  }

  Values counted(const Regions& regions, const Values& in, std::string_view name) {
    const Program& body = *regions.programs[0];
    const auto carried = regions.results_of(PortKind::carried),
               sliced = regions.results_of(PortKind::sliced);
    Values carry = initial(regions, in);
    std::vector<Values> slices(sliced.size());
    const std::string outer = context_;
    for (std::int64_t step = 0; step < regions.length; ++step) {
      const std::int64_t i = regions.reverse ? regions.length - 1 - step : step;
      context_ = concat(outer, ", in iteration ", i, " of a ", name);
      const Values out = run(body, operands(regions, 0, in, carry, i));
      for (std::size_t k = 0; k < carried.size(); ++k) carry[k] = out[carried[k]];
      for (std::size_t k = 0; k < sliced.size(); ++k)
        slices[k].push_back(ops::broadcast_leading(out[sliced[k]], 1));
    }
    context_ = outer;
    Values out(regions.results.size());
    for (std::size_t k = 0; k < carried.size(); ++k) out[carried[k]] = carry[k];
    for (std::size_t k = 0; k < sliced.size(); ++k) {
      if (regions.reverse) std::reverse(slices[k].begin(), slices[k].end());
      const RegionPort& port = regions.results[sliced[k]];
      out[sliced[k]] = slices[k].empty()
                           ? ops::zeros(type_at(regions, port, body.type(body.outputs[sliced[k]])))
                           : ops::moveaxis(ops::concatenate(slices[k], 0), 0, port.axis);
    }
    return out;
  }

  std::optional<Values> looped(const Regions& regions, const Values& in, std::string_view name) {
    Values carry = initial(regions, in);
    const std::string outer = context_;
    for (std::int64_t i = 0;; ++i) {
      context_ = concat(outer, ", in iteration ", i, " of a ", name, "_loop");
      const Values going = run(*regions.programs[0], operands(regions, 0, in, carry, i));
      const Array* flag = concrete(going[0]);
      const bool go_on = flag && *reinterpret_cast<const bool*>(flag->data());
      if (!go_on) {
        context_ = outer;
        return flag ? std::optional(carry) : std::nullopt;
      }
      carry = run(*regions.programs[1], operands(regions, 1, in, carry, i));
    }
  }

  std::string context_;
};

class Replaying {
 public:
  Replaying() { replaying = true; }
  ~Replaying() { replaying = false; }
  Replaying(const Replaying&) = delete;
  Replaying& operator=(const Replaying&) = delete;
};

}  // namespace

void watch_nonfinite(bool nans, bool infs) { watched = {nans, infs}; }

bool watching_nonfinite() { return (watched.nans || watched.infs) && !replaying; }

void inspect_results(const Program& program, const Values& in, const Values& out) {
  Fault fault;
  std::size_t which = 0;
  for (; which < out.size() && !fault.what; ++which) fault = find_fault(out[which]);
  if (!fault.what) return;
  {
    const Replaying scope;
    const EagerScope eager;
    Replay().run(program, in);
  }
  // Op by op it did not happen: rounding differs, or an argument was returned.
  report(fault, program.name, in, {}, out[which - 1], "", false);
}

void inspect_results(const Op& op, const Values& in, const Values& out) { check(op, in, out, ""); }

}  // namespace shardax

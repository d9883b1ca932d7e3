// control/check.cpp - the op check.
#include "control/check.h"

#include <cstring>
#include <limits>

#include "base/index.h"
#include "ops/indexing/index.h"

namespace shardax {
namespace {

extern const Op check_op;
CheckReporter reporter = nullptr;

Failure failure_of(const Values& in) { return {in[0], part(in, 1, in.size() - 1)}; }

Values check_eager(const Params& params, const Values& in) {
  infer_types(check_op, types_of(in), params);
  std::int32_t number;
  std::memcpy(&number, as_array(in[0]).data(), sizeof number);
  if (number == 0 || params.flag(param::debug)) return {};
  const CheckTable& table = table_of(params);
  const auto k = index(number) - 1;
  reporter(table, k, part(in, 1 + table.place(k), table.checks()[k].payload.size()));
  return {};
}

Kernel check_kernel(const Types&, const Types&, const Params& params) {
  if (!params.flag(param::debug)) {
    value_error(
        "Cannot abstractly evaluate a checkify.check which was not functionalized. This probably "
        "means you tried to stage (jit/scan/pmap/...) a `check` without functionalizing it through "
        "`checkify.checkify`.");
  }
  return [](std::span<const View>, std::span<const View>) {};
}

Batched check_batch(const BatchArgs& a) {
  Values in = a.in;
  if (any(a.batched)) {
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (!a.batched[i]) in[i] = ops::broadcast_leading(in[i], a.axis.size);
    }
    const Failure joined = joined_failure(failure_of(in));
    in = shardax::joined({joined.number}, joined.payload);
  }
  return {shardax::bind(a.op, a.params, in), {}};
}

const Op check_op{{.name = "check",
                   .operands = at_least(1),
                   .doc = "Raises an error where a check has failed.",
                   .type = [](const Op&, const Types&, const Params&) -> Types { return {}; },
                   .batch = check_batch,
                   .no_gradient = true,
                   .effect = "Check",
                   .eager = check_eager,
                   .kernel = check_kernel,
                   .show = [](const Params& params) -> std::vector<std::string> {
                     return {params.flag(param::debug) ? "debug=True" : "debug=False"};
                   }}};

}  // namespace

CheckTable::CheckTable(std::vector<Check> checks) : checks_(std::move(checks)) {
  for (std::size_t k = 0; k < checks_.size(); ++k) {
    const Types& types = checks_[k].payload;
    std::size_t same = 0;
    while (checks_[same].payload != types) ++same;
    places_.push_back(same < k ? places_[same] : payload_.size());
    if (same == k) payload_.insert(payload_.end(), types.begin(), types.end());
  }
}

Failure joined_failure(const Failure& stacked) {
  const Value none = ops::scalar(DType::int32, 0);
  const Value never = ops::scalar(DType::int32, std::numeric_limits<std::int32_t>::max());
  const Shape& slices = stacked.number->shape();
  if (slices[0] == 0) {
    Failure nothing{none, {}};
    for (const Value& value : stacked.payload) {
      Type type = value->type();
      type.erase_dimension(0);
      nothing.payload.push_back(ops::zeros(type));
    }
    return nothing;
  }
  const Value numbers =
      ops::where(ops::eq(stacked.number, none), ops::broadcast_to(never, slices), stacked.number);
  const Value lowest = ops::reduce_min(numbers, {0});
  const Value position = ops::iota(DType::int32, slices, 0);
  const Value last = ops::reduce_max(
      ops::where(ops::eq(numbers, lowest), position, ops::broadcast_to(none, slices)), {0});
  Failure out{ops::where(ops::eq(lowest, never), none, lowest), {}};
  for (const Value& value : stacked.payload) out.payload.push_back(ops::take(value, last, 0));
  return out;
}

void bind_check(const CheckTablePtr& table, bool debug, const Failure& failure) {
  Failure one = failure;
  const Shape leading = failure.number->shape();
  if (!leading.empty()) {
    const auto flat = [&](const Value& value) {
      Shape shape{failure.number->type().size()};
      shape.append(value->shape().begin() + static_cast<std::ptrdiff_t>(leading.size()),
                   value->shape().end());
      return ops::reshape(value, shape);
    };
    for (Value& value : one.payload) value = flat(value);
    one.number = flat(one.number);
    one = joined_failure(one);
  }
  shardax::bind(check_op, {{"checks", FunctionPtr(table)}, {"debug", debug}},
                joined({one.number}, one.payload));
}

bool is_check(const Op& op) { return &op == &check_op; }

const CheckTable& table_of(const Params& params) {
  return static_cast<const CheckTable&>(params.function(param::checks));
}

void set_check_reporter(CheckReporter report) { reporter = report; }

}  // namespace shardax

// ops/collectives/partial_sums.cpp - an op whose result depends on the terms of a sum over devices.
// A program with one runs on the devices' parts (analysis/partition.h).
#include "ops/collectives/partial_sums.h"

#include "array/array.h"
#include "base/index.h"
#include "ir/sharding_given.h"
#include "ops/family.h"
#include "ops/param_checks.h"
#include "ops/sharding_rules/sharding_rules.h"
#include "trace/stage.h"

namespace shardax::ops {
namespace {

extern const Op device_terms_op;

std::size_t leading(const Params& params) { return index(params.integer(param::count)); }

Types terms_type(const Op& op, const Types& in, const Params& params) {
  Type out = in[0];
  const std::int64_t count = params.integer(param::count);
  const std::size_t most = out.rank() + index(std::max<std::int64_t>(count, 0));
  const Sharding& stack = *checked_sharding(op, params, "sharding", most);
  if (count < 0 || leading(params) > stack.spec.size())
    value_error("partial_sums: count ", count, " of ", stack.spec.size(), " split dimensions.");
  for (std::size_t k = leading(params); k-- > 0;)
    out.insert_dimension(0, parts_of(stack.spec[k], stack), {});
  return {out};
}

// All that is known of a device's term where its type says nothing: the first has the whole.
ProgramPtr first_has_all(const Params& params, const Types& in) {
  const ShardingGiven asked_already;
  Type whole = in[0];
  whole.sharding = nullptr;
  const Shape stacked = terms_type(device_terms_op, {whole}, params)[0].shape;
  return stage_closed(
      {whole},
      [&](const Values& operands) -> Values {
        Value terms = broadcast_to(operands[0], stacked);
        for (std::size_t k = 0; k < leading(params); ++k) {
          const Value place = iota(DType::int32, stacked, static_cast<std::int64_t>(k));
          const Value zero = full_like(terms, 0);
          terms = where(eq(place, scalar(DType::int32, 0)), terms, zero);
        }
        return {terms};
      },
      "partial_sums");
}

// Arrays know their terms, or nobody does.
Values terms_eager(const Params& params, const Values& in) {
  infer_types(device_terms_op, types_of(in), params);
  const Array& x = as_array(in[0]);
  const ShardingPtr& stack = params.get(param::sharding);
  const ShardingPtr& own = x.sharding();
  std::vector<std::string> axes;
  for (std::size_t k = 0; k < leading(params); ++k) axes.push_back(stack->spec[k].at(0));
  const bool known = x.terms() && own && same_mesh(*own, *stack) && own->unreduced == axes;
  Value terms = x.terms();
  if (!known) {
    const Value unlabelled = view_of(x, x.type(), x.strides(), 0);
    terms = evaluate(*first_has_all(params, {x.type()}), {unlabelled})[0];
  }
  const Array& found = as_array(terms);
  const ArrayPtr labelled = view_of(found, found.type(), found.strides(), 0);
  labelled->set_sharding(stack);
  return {labelled};
}

Values transpose_terms(const TransposeArgs& a) {
  Ints stacked;
  for (std::size_t k = 0; k < leading(a.params); ++k)
    stacked.push_back(static_cast<std::int64_t>(k));
  return {reduce_sum(a.ct[0], stacked)};
}

Batched batch_terms(const BatchArgs& a) {
  const std::size_t count = leading(a.params);
  const ShardingPtr& stack = a.params.get(param::sharding);
  Split split = stack->spec;
  const auto at = split.begin() + static_cast<std::ptrdiff_t>(count);
  split.insert(at, a.axis.split);
  const Value terms = partial_sums(a.in[0], with_spec(*stack, split), count);
  return batched1(moveaxis(terms, static_cast<std::int64_t>(count), 0));
}

Split split_of_terms(const SplitArgs& a) {
  Split split = a.params.get(param::sharding)->spec;
  split.resize(a.out.rank());
  return split;
}

const Op device_terms_op{
    {.name = "partial_sums",
     .operands = 1,
     .doc = "What each device has of an array that stands for a sum over mesh axes, stacked.",
     .type = terms_type,
     .jvp = [](const JvpArgs& a) -> Values { return {bind1(device_terms_op, a.params, {a.t[0]})}; },
     .transpose = transpose_terms,
     .batch = batch_terms,
     .half_native = true,
     .expand = first_has_all,
     .eager = terms_eager,
     .split = split_of_terms,
     .sums = [](const Op&, const Types& in) -> Sums { return {{}, in[0].reduced()}; },
     .keys = KeyUse::reads}};

}  // namespace

Value partial_sums(const Value& a, const ShardingPtr& stack, std::size_t count) {
  return bind1(device_terms_op, {{"count", static_cast<std::int64_t>(count)}, {"sharding", stack}},
               {a});
}

}  // namespace shardax::ops

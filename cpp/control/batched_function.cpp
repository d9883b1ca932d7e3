// control/batched_function.cpp - calling the user's function inside its batching.
#include "control/batched_function.h"

#include "base/errors.h"
#include "control/control.h"
#include "ops/ops.h"

namespace shardax {
namespace {

class BatchedFunction final : public Function {
 public:
  BatchedFunction(FunctionPtr inner, BatchAxis axis, FunctionOverBatch options)
      : inner_(std::move(inner)),
        axis_(axis),
        options_(std::move(options)),
        batching_(current_batch()) {}
  std::string text() const override { return inner_->text(); }
  const Function* origin() const override { return inner_.get(); }

  std::vector<Values> call(const Values& in) const override {
    std::vector<bool> batched = options_.batched;
    for (const Mask& mask : options_.rest)
      batched.insert(batched.end(), mask->begin(), mask->end());
    batched.resize(in.size(), true);
    // Null values go round the batching trace.
    Values present;
    std::vector<bool> mask;
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (!in[i]) continue;
      present.push_back(in[i]);
      mask.push_back(batched[i]);
    }
    std::vector<std::vector<bool>> filled;  // per group, which results are not null
    const Batched out = batch(
        [&](const Values& v) {
          Values flat;
          for (const Values& group : inner_->call(spread(v, nonnull(in)))) {
            filled.push_back(nonnull(group));
            for (const Value& value : group) {
              if (value) flat.push_back(value);
            }
          }
          return flat;
        },
        present, mask, axis_, batching_);
    // Again in groups.
    std::vector<Values> groups;
    std::vector<std::vector<bool>> carries;
    std::size_t next = 0;
    for (const std::vector<bool>& has : filled) {
      groups.emplace_back();
      carries.emplace_back();
      for (const bool present_here : has) {
        groups.back().push_back(present_here ? out.out[next] : Value());
        carries.back().push_back(present_here && out.batched[next++]);
      }
    }
    settle_results(groups, carries);
    for (std::size_t g = 0; g < groups.size(); ++g) place_axis(g, groups[g], carries[g]);
    return groups;
  }

 private:
  // The first function of a call says which results carry the axis.
  void settle_results(const std::vector<Values>& groups,
                      const std::vector<std::vector<bool>>& carries) const {
    if (!options_.results || !options_.results->empty()) return;
    for (std::size_t i = 0; i < groups[0].size(); ++i) {
      bool any = false;
      for (std::size_t g = 0; g < groups.size(); ++g) {
        if (static_cast<int>(g) != options_.free_group) any = any || carries[g][i];
      }
      options_.results->push_back(any);
      if (options_.linear && differentiable(groups[0][i]->type())) options_.linear->push_back(any);
    }
  }

  void place_axis(std::size_t g, Values& group, const std::vector<bool>& carries) const {
    if (static_cast<int>(g) == options_.free_group) {
      *options_.free_mask = carries;
      return;
    }
    for (std::size_t i = 0; i < group.size(); ++i) {
      if (!group[i]) continue;
      const bool wanted = !options_.results || (*options_.results)[i];
      if (wanted && !carries[i]) group[i] = ops::broadcast_leading(group[i], axis_.size);
      if (!wanted && carries[i]) {
        fail(ErrorKind::unexpected_tracer_error, "the rule ", text(),
             " closes over a value that vmap maps, but its function does not. Pass the value as an "
             "argument.");
      }
      if (g == 0 && !options_.kept.empty() && !options_.kept[i])
        group[i] = ops::reduce_sum(group[i], {0});
    }
  }

  FunctionPtr inner_;
  BatchAxis axis_;
  FunctionOverBatch options_;
  BatchTag batching_;  // the user's function may close over tracers of this one
};

}  // namespace

FunctionPtr batched_function(const FunctionPtr& function, const BatchAxis& axis,
                             FunctionOverBatch options) {
  return new BatchedFunction(function, axis, std::move(options));
}

}  // namespace shardax

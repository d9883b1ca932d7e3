// transform/select_residuals.cpp - recomputed values move before the linear part.
#include "transform/select_residuals.h"

#include "base/index.h"
#include "base/lists.h"
#include "ir/sufficient_set.h"
#include "trace/stage.h"
#include "transform/inline_calls.h"

namespace shardax {

LinearizedProgram select_residuals(const LinearizedProgram& halves,
                                   const std::vector<bool>& free_inputs,
                                   const std::vector<bool>& free_results) {
  const std::string key =
      mask_key(mask_key(mask_key("lean", halves.nonzero), free_inputs) + ",", free_results);
  return *halves.known->derived<LinearizedProgram>(key, [&] {
    const MutableProgram known = copy_of(*inlined(halves.known));
    const std::size_t outputs = known->outputs.size() - halves.residual_count;
    SufficientSet::Question question;
    question.wanted = part(known->outputs, outputs, halves.residual_count);
    question.is_free.resize(known->types.size());
    for (std::size_t i = 0; i < free_inputs.size(); ++i)
      question.is_free[index(known->inputs[i])] = free_inputs[i];
    for (std::size_t k = 0; k < outputs; ++k) {
      if (free_results[k]) question.is_free[index(known->outputs[k])] = true;
    }
    const SufficientSet enough(*known, question);
    const std::vector<Var> kept = enough.kept();

    const MutableProgram again = copy_of(*known);
    again->inputs = kept;
    again->equations.clear();
    for (int e : enough.equations()) again->equations.push_back(known->equations[index(e)]);
    again->outputs = question.wanted;
    known->outputs = joined(part(known->outputs, 0, outputs), kept);

    const Types kept_types = again->input_types(), taken = halves.linear->input_types();
    const ProgramPtr linear = stage_closed(
        joined(kept_types,
               part(taken, halves.residual_count, taken.size() - halves.residual_count)),
        [&](const Values& in) {
          const Values made = evaluate(*again, part(in, 0, kept.size()));
          return evaluate(*halves.linear,
                          joined(made, part(in, kept.size(), in.size() - kept.size())));
        },
        halves.linear->name);
    return std::make_shared<LinearizedProgram>(
        LinearizedProgram{known, linear, kept.size(), kept_types, halves.nonzero});
  });
}

}  // namespace shardax

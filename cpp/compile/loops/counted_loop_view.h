// compile/loops/counted_loop_view.h - a loop of known length: carries, slices, stacked results.
//
// Private to compile/loops/sink_carry_permutes.cpp, compile/loops/batch_accumulated_dots.cpp and
// compile/loops/split_accumulators.cpp.
#pragma once

#include "base/index.h"
#include "compile/builder.h"
#include "compile/lower/liveness.h"
#include "ir/regions.h"

namespace shardax {

class CountedLoopView {
 public:
  CountedLoopView(Builder& builder, const Equation& eqn, const Vars& in)
      : builder_(builder),
        eqn_(eqn),
        in_(in),
        regions_(regions_of(*eqn.op, eqn.params)),
        body_(*regions_.programs[0]),
        uses_(count_uses(body_)),
        makers_(makers(body_)),
        operands_(regions_.operands_of(PortKind::carried)),
        results_(regions_.results_of(PortKind::carried)) {}

 protected:
  // The equation of the body that makes v; null for its inputs and constants.
  const Equation* definition(Var v) const {
    const int e = makers_[index(v)];
    return e < 0 ? nullptr : &body_.equations[index(e)];
  }

  Builder& builder_;
  const Equation& eqn_;
  const Vars& in_;
  const Regions regions_;
  const Program& body_;
  std::vector<int> uses_, makers_;                     // of each variable of the body
  const std::vector<std::size_t> operands_, results_;  // of the carries
};

}  // namespace shardax

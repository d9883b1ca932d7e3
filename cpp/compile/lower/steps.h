// compile/lower/steps.h - the steps of ops that have a kernel, copies, names of loops.
#pragma once

#include "compile/plan.h"
#include "ir/op.h"
#include "runtime/progress.h"

namespace shardax {

std::unique_ptr<Step> kernel_step(const Equation& eqn, Kernel kernel, std::vector<Window> in,
                                  std::vector<Window> out);
// The message of an op that asks other processes. It ends before the next step, or at that of
// end_step.
std::unique_ptr<Step> message_step(const Equation& eqn, MessageKernel kernel,
                                   std::vector<Window> in, std::vector<Window> out,
                                   bool ends_later);
std::unique_ptr<Step> end_step(const Step& message);
// A product that is added to the array at `out`, with the bits of an addition after it; null if
// there is none.
std::unique_ptr<Step> adding_step(const Equation& product, const std::vector<Window>& in,
                                  const Window& out);
// Both windows have one shape; their strides differ.
std::unique_ptr<Step> copy_step(Window from, Window to);
// A step that loops, as those who watch it read it.
runtime::TaskText loop_text(const Step& step, std::string_view op);

}  // namespace shardax

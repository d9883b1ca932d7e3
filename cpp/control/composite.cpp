// control/composite.cpp - composite: a call under a name that lowered programs show.
#include "base/errors.h"
#include "control/control.h"

namespace shardax {
namespace {

const Op composite_op{
    {.name = "composite",
     .doc = "Calls a program, the decomposition of a named operation.",
     .kind = Kind::control,
     .type = [](const Op&, const Types&, const Params& params) -> Types {
       return params.program(param::jaxpr)->output_types();
     },
     .jvp = [](const JvpArgs&) -> Values {
       value_error(
           "JVP rule for composite not implemented. You can use `jax.custom_jvp` to add support. "
           "See https://docs.jax.dev/en/latest/_autosummary/jax.custom_jvp.html");
     },
     .batch = [](const BatchArgs& a) -> Batched {
       const BatchedProgram body = batch_program(a.params.program(param::jaxpr), a.batched, a.axis);
       return {shardax::bind(a.op, a.params.with("jaxpr", body.program), a.in), body.batched};
     },
     .regions = [](const Params& params) { return call_of(params.program(param::jaxpr)); },
     .with_regions =
         [](const Params& params, const Regions& regions) {
           return params.with("jaxpr", regions.programs[0]);
         }}};

}  // namespace
}  // namespace shardax

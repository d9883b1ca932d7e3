// compile/narrow.cpp - loops and branches carry what repeats once.
//
// Operands that are broadcasts enter a body without the dimensions along which they repeat:
//   c:f32[8,5] = broadcast x; _, d:f32[8,5] = scan[body] c   ->   d = broadcast(scan[body']
//   x:f32[5])
// A carry can only do so where the body, given a carry that repeats, gives back one that does: the
// dimensions for which that holds are found by going round until nothing changes. Parameters that
// are replicated over devices so stay one copy in a loop over steps that are mapped.
#include "compile/rewrite.h"
#include "control/control.h"

namespace shardax {
namespace {

using Repeats = std::vector<Ints>;

Ints shared(const Ints& a, const Ints& b) {
  Ints out;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}
Repeats shared(const Repeats& a, const Repeats& b) {
  Repeats out;
  for (std::size_t i = 0; i < a.size(); ++i) out.push_back(shared(a[i], b[i]));
  return out;
}
bool all_empty(const Repeats& repeats) {
  return std::all_of(repeats.begin(), repeats.end(), [](const Ints& r) { return r.empty(); });
}

Repeats dims_of(const Rewriter& rewriter, const Vars& values) {
  Repeats out;
  for (Var v : values) out.push_back(rewriter.repeated_dims(v));
  return out;
}

// A body walked on narrow inputs, before it is decided which outputs are narrow.
struct Body {
  Rewriter rewriter;
  Vars outputs;
  Body(const Program& program, const Repeats& inputs, bool segments)
      : rewriter(program, segments), outputs(rewriter.walk_narrow(program, inputs)) {}
  ProgramPtr finish(const Repeats& repeats) {
    std::vector<Var> out;
    for (std::size_t i = 0; i < outputs.size(); ++i)
      out.push_back(rewriter.without(outputs[i], repeats[i], {}));
    return rewriter.builder().finish(out);
  }
};

// Finds what of the carry stays repeated. `inputs` are the repeats of the body's inputs, of which
// `count` from `first` on are the carry, and become those that hold; the body's first outputs are
// the new carry.
Body settle(const Program& program, Repeats& inputs, std::size_t first, std::size_t count,
            bool segments) {
  for (;;) {
    Body body(program, inputs, segments);
    const Repeats before = part(inputs, first, count);
    const Repeats after = shared(before, part(dims_of(body.rewriter, body.outputs), 0, count));
    if (after == before) return body;
    std::copy(after.begin(), after.end(), inputs.begin() + static_cast<std::ptrdiff_t>(first));
  }
}

// An equation with other params whose operands and results lack dimensions.
Vars emit_narrow(Rewriter& rewriter, const Equation& eqn, const Params& params, const Vars& in,
                 const Repeats& inputs, const Repeats& outputs) {
  Types types;
  for (Var v : in) types.push_back(rewriter.builder().type(v));
  const Types full = infer_types(*eqn.op, types, eqn.params);
  Vars operands;
  for (std::size_t i = 0; i < in.size(); ++i)
    operands.push_back(rewriter.without(in[i], inputs[i], eqn.location));
  const Vars small = rewriter.builder().emit(*eqn.op, params, operands, eqn.location);
  Vars out;
  for (std::size_t i = 0; i < small.size(); ++i)
    out.push_back(rewriter.repeat(small[i], full[i].shape, outputs[i], eqn.location));
  return out;
}

// Dimensions of one slice as those of the stack, and back; a stack that repeats along its leading
// dimension does not show in a slice.
Ints stacked(Ints dims) {
  for (auto& d : dims) ++d;
  return dims;
}
Ints sliced(const Ints& dims) {
  Ints out;
  for (std::int64_t d : dims) {
    if (d > 0) out.push_back(d - 1);
  }
  return out;
}

std::optional<Vars> narrow_scan(Rewriter& rewriter, const Equation& eqn, const Vars& in) {
  if (eqn.params.has("devices")) return {};
  const auto consts = static_cast<std::size_t>(eqn.params.integer("num_consts"));
  const auto carry = static_cast<std::size_t>(eqn.params.integer("num_carry"));
  Repeats inputs = dims_of(rewriter, in);
  for (std::size_t i = consts + carry; i < inputs.size(); ++i) inputs[i] = sliced(inputs[i]);
  if (all_empty(inputs)) return {};
  Body body = settle(*eqn.params.program("jaxpr"), inputs, consts, carry, rewriter.segments());
  Repeats outputs = dims_of(body.rewriter, body.outputs);
  std::copy_n(inputs.begin() + static_cast<std::ptrdiff_t>(consts), carry, outputs.begin());
  if (all_empty(inputs) && all_empty(outputs)) return {};
  const Params params = eqn.params.with("jaxpr", body.finish(outputs));
  for (std::size_t i = consts + carry; i < inputs.size(); ++i) inputs[i] = stacked(inputs[i]);
  for (std::size_t i = carry; i < outputs.size(); ++i) outputs[i] = stacked(outputs[i]);
  return emit_narrow(rewriter, eqn, params, in, inputs, outputs);
}

std::optional<Vars> narrow_while(Rewriter& rewriter, const Equation& eqn, const Vars& in) {
  const auto cond_consts = static_cast<std::size_t>(eqn.params.integer("cond_nconsts"));
  const auto body_consts = static_cast<std::size_t>(eqn.params.integer("body_nconsts"));
  const Repeats all = dims_of(rewriter, in);
  if (all_empty(all)) return {};
  Repeats inputs = part(all, cond_consts, all.size() - cond_consts);
  const std::size_t carry = inputs.size() - body_consts;
  Body body =
      settle(*eqn.params.program("body_jaxpr"), inputs, body_consts, carry, rewriter.segments());
  const Repeats outputs = part(inputs, body_consts, carry);
  Repeats cond_inputs = part(all, 0, cond_consts);
  cond_inputs.insert(cond_inputs.end(), outputs.begin(), outputs.end());
  if (all_empty(inputs) && all_empty(cond_inputs)) return {};
  Body cond(*eqn.params.program("cond_jaxpr"), cond_inputs, rewriter.segments());
  Repeats operands = part(cond_inputs, 0, cond_consts);
  operands.insert(operands.end(), inputs.begin(), inputs.end());
  const Params params =
      eqn.params.with("body_jaxpr", body.finish(outputs)).with("cond_jaxpr", cond.finish({Ints{}}));
  return emit_narrow(rewriter, eqn, params, in, operands, outputs);
}

std::optional<Vars> narrow_cond(Rewriter& rewriter, const Equation& eqn, const Vars& in) {
  const Repeats all = dims_of(rewriter, in);
  if (all_empty(all)) return {};
  const Repeats inputs = part(all, 1, all.size() - 1);
  std::vector<Body> bodies;
  std::optional<Repeats> outputs;
  for (const ProgramPtr& branch : eqn.params.programs("branches")) {
    bodies.emplace_back(*branch, inputs, rewriter.segments());
    const Repeats own = dims_of(bodies.back().rewriter, bodies.back().outputs);
    outputs = outputs ? shared(*outputs, own) : own;
  }
  Programs branches;
  for (Body& body : bodies) branches.push_back(body.finish(*outputs));
  return emit_narrow(rewriter, eqn, eqn.params.with("branches", branches), in, all, *outputs);
}

}  // namespace

std::optional<Vars> narrow_control(Rewriter& rewriter, const Equation& eqn, const Vars& in) {
  if (is_scan(*eqn.op)) return narrow_scan(rewriter, eqn, in);
  if (is_while(*eqn.op)) return narrow_while(rewriter, eqn, in);
  if (is_cond(*eqn.op)) return narrow_cond(rewriter, eqn, in);
  return {};
}

}  // namespace shardax

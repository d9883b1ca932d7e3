// compile/part_complex.cpp - complex numbers that a loop works on are carried as their parts.
//
//   z:c64[n] = scan { mul z z }   ->   x = real z; y = imag z;
//                                      x, y = scan { z = complex x y; w = mul z z; real w, imag w
//                                      }; z = complex x y
// Machine code takes each part as an operand of its own: what a turn would take apart before it,
// and put together behind it, stays apart from the first turn to the last.
#include "base/index.h"
#include "codegen/native.h"
#include "compile/builder.h"
#include "compile/passes.h"
#include "compile/pipeline.h"
#include "compile/ports.h"

namespace shardax {
namespace {

// Fewer are numbers of a scalar program, which has them apart anyway.
constexpr std::int64_t least_elements = 256;

bool is_large_complex(const Type& type) {
  return is_complex(type.dtype) && type.size() >= least_elements;
}

// Does machine code take it, so that parts cost nothing?
bool is_recorded(const Program& program, const Equation& eqn) {
  if (eqn.op->kind != Kind::elementwise) return false;
  Types in;
  for (const Var v : eqn.inputs) in.push_back(program.type(v));
  return eqn.op->map(in, program.type(eqn.outputs[0]), eqn.params).record != nullptr;
}

// What only recorded elementwise equations touch: variables by their number.
class Parted {
 public:
  explicit Parted(const Program& program) : used_(program.types.size(), true), made_(used_) {
    made_.assign(program.types.size(), false);
    for (const Equation& eqn : program.equations) {
      const bool recorded = is_recorded(program, eqn);
      for (const Var v : eqn.inputs) used_[index(v)] = used_[index(v)] && recorded;
      for (const Var v : eqn.outputs) made_[index(v)] = recorded;
    }
  }
  bool uses_parts(Var v) const { return used_[index(v)]; }
  bool makes_parts(Var v) const { return made_[index(v)]; }

 private:
  std::vector<bool> used_, made_;
};

struct Choice {
  std::vector<bool> operands, results;
  bool any = false;
};

Choice choose(const Bodies& bodies) {
  Choice out{std::vector<bool>(bodies.operands.size(), false),
             std::vector<bool>(bodies.results.size(), false)};
  std::vector<bool> fits(bodies.operands.size(), true);
  const std::vector<std::size_t> carried = bodies.operands_of(Flow::carried),
                                 again = bodies.results_of(Flow::carried);
  for (std::size_t k = 0; k < bodies.programs.size(); ++k) {
    const Program& program = *bodies.programs[k];
    const Parted parted(program);
    const std::vector<std::size_t> taken = bodies.taken_by(k);
    for (std::size_t j = 0; j < taken.size(); ++j) {
      const Var v = program.inputs[j];
      const bool given_on =
          std::find(program.outputs.begin(), program.outputs.end(), v) != program.outputs.end();
      fits[taken[j]] = fits[taken[j]] && is_large_complex(program.type(v)) &&
                       bodies.operands[taken[j]].flow != Flow::sliced && !given_on &&
                       parted.uses_parts(v);
    }
    if (!bodies.gives_results(k)) continue;
    for (std::size_t c = 0; c < carried.size(); ++c)
      fits[carried[c]] = fits[carried[c]] && parted.makes_parts(program.outputs[again[c]]);
  }
  for (std::size_t c = 0; c < carried.size(); ++c) {
    out.results[again[c]] = fits[carried[c]];
    out.any = out.any || fits[carried[c]];
  }
  out.operands = fits;
  return out;
}

class Parting {
 public:
  explicit Parting(const Program& source) : source_(source), builder_(source) {}

  ProgramPtr run() {
    const auto each = [&](const Equation& eqn, const Vars& in) { return step(eqn, in); };
    const MutableProgram made = emit_again(source_, builder_, each);
    return changed_ ? ProgramPtr(made) : ProgramPtr();
  }

 private:
  static const Op& op(const char* name) { return *find_op(name); }

  Vars step(const Equation& eqn, const Vars& in) {
    if (eqn.op->bodies && eqn.op->with_bodies) {
      Bodies bodies = bodies_of(*eqn.op, eqn.params);
      if (is_open_loop(bodies)) {
        for (ProgramPtr& body : bodies.programs) body = rewritten_body(body);
        const Choice choice = choose(bodies);
        if (choice.any) return loop(eqn, in, bodies, choice);
      }
    }
    return builder_.emit(*eqn.op, eqn.params, in, eqn.location);
  }

  static ProgramPtr body(const Bodies& bodies, std::size_t k, const Choice& choice,
                         const LocationPtr& location) {
    const Program& source = *bodies.programs[k];
    const MutableProgram made = copy_of(source);
    made->inputs.clear();
    made->outputs.clear();
    std::vector<Equation> first;
    const std::vector<std::size_t> taken = bodies.taken_by(k);
    const auto part = [&](Var z) {
      const Type& type = source.type(z);
      return made->add(with_dtype(type, real_dtype(type.dtype)));
    };
    for (std::size_t j = 0; j < taken.size(); ++j) {
      const Var z = source.inputs[j];
      if (!choice.operands[taken[j]]) {
        made->inputs.push_back(z);
        continue;
      }
      const Var re = part(z), im = part(z);
      made->inputs.push_back(re);
      made->inputs.push_back(im);
      first.push_back({&op("complex"), {}, {re, im}, {z}, location});
    }
    made->equations.insert(made->equations.begin(), first.begin(), first.end());
    for (std::size_t j = 0; j < source.outputs.size(); ++j) {
      const Var z = source.outputs[j];
      if (!bodies.gives_results(k) || !choice.results[j]) {
        made->outputs.push_back(z);
        continue;
      }
      for (const char* name : {"real", "imag"}) {
        made->outputs.push_back(part(z));
        made->equations.push_back({&op(name), {}, {z}, {made->outputs.back()}, location});
      }
    }
    return made;
  }

  Vars loop(const Equation& eqn, const Vars& in, Bodies bodies, const Choice& choice) {
    changed_ = true;
    const auto part = [&](const char* name, Var v) {
      return builder_.emit1(op(name), {}, {v}, eqn.location);
    };
    Programs programs;
    for (std::size_t k = 0; k < bodies.programs.size(); ++k)
      programs.push_back(body(bodies, k, choice, eqn.location));
    Vars operands;
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (choice.operands[i]) {
        operands.push_back(part("real", in[i]));
        operands.push_back(part("imag", in[i]));
      } else {
        operands.push_back(in[i]);
      }
    }
    bodies.programs = programs;
    bodies.operands = doubled(bodies.operands, choice.operands);
    bodies.results = doubled(bodies.results, choice.results);
    const Vars made =
        builder_.emit(*eqn.op, eqn.op->with_bodies(eqn.params, bodies), operands, eqn.location);
    Vars out;
    for (std::size_t i = 0, at = 0; i < choice.results.size(); ++i, ++at) {
      if (choice.results[i]) {
        out.push_back(builder_.emit1(op("complex"), {}, {made[at], made[at + 1]}, eqn.location));
        ++at;
      } else {
        out.push_back(made[at]);
      }
    }
    return out;
  }

  const Program& source_;
  Builder builder_;
  bool changed_ = false;
};

}  // namespace

ProgramPtr part_complex(const ProgramPtr& program) {
  const auto has_complex = [&](const Equation& eqn) {
    return eqn.op->bodies && std::any_of(eqn.outputs.begin(), eqn.outputs.end(),
                                         [&](Var v) { return is_large_complex(program->type(v)); });
  };
  if (codegen::wanted() == codegen::Wanted::none ||
      std::none_of(program->equations.begin(), program->equations.end(), has_complex))
    return program;
  const ProgramPtr made = Parting(*program).run();
  return made ? made : program;
}

}  // namespace shardax

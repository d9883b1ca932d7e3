// compile/loops/split_complex_carries.cpp - complex carries split into real and imaginary parts.
//
//   z:c64[n] = scan { mul z z }   ->   x = real z; y = imag z;
//                                      x, y = scan { z = complex x y; w = mul z z; real w, imag w
//                                      }; z = complex x y
// Machine code takes each part as an operand of its own. An iteration then neither splits its carry
// nor joins it.
#include "base/index.h"
#include "codegen/executable.h"
#include "compile/loops/loop_rewriter.h"
#include "compile/passes.h"
#include "compile/tuning.h"

namespace shardax {
namespace {

bool is_large_complex(const Type& type) {
  return is_complex(type.dtype) && type.size() >= tuning::split_complex_carries::least_elements;
}

// Does machine code take it, so that parts cost nothing?
bool is_recorded(const Program& program, const Equation& eqn) {
  if (eqn.op->kind != Kind::elementwise) return false;
  Types in;
  for (const Var v : eqn.inputs) in.push_back(program.type(v));
  return eqn.op->map(in, program.type(eqn.outputs[0]), eqn.params).record != nullptr;
}

// Variables, by number, that only recorded elementwise equations touch.
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

Choice choose(const Regions& regions) {
  Choice out{std::vector<bool>(regions.operands.size(), false),
             std::vector<bool>(regions.results.size(), false)};
  std::vector<bool> fits(regions.operands.size(), true);
  const std::vector<std::size_t> carried = regions.operands_of(PortKind::carried),
                                 again = regions.results_of(PortKind::carried);
  for (std::size_t k = 0; k < regions.programs.size(); ++k) {
    const Program& program = *regions.programs[k];
    const Parted parted(program);
    const std::vector<std::size_t> taken = regions.taken_by(k);
    for (std::size_t j = 0; j < taken.size(); ++j) {
      const Var v = program.inputs[j];
      const bool given_on =
          std::find(program.outputs.begin(), program.outputs.end(), v) != program.outputs.end();
      fits[taken[j]] = fits[taken[j]] && is_large_complex(program.type(v)) &&
                       regions.operands[taken[j]].flow != PortKind::sliced && !given_on &&
                       parted.uses_parts(v);
    }
    if (!regions.gives_results(k)) continue;
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

const Op& op(const char* name) { return *find_op(name); }

ProgramPtr body(const Regions& regions, std::size_t k, const Choice& choice,
                const LocationPtr& location) {
  const Program& source = *regions.programs[k];
  const MutableProgram made = copy_of(source);
  made->inputs.clear();
  made->outputs.clear();
  std::vector<Equation> first;
  const std::vector<std::size_t> taken = regions.taken_by(k);
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
    if (!regions.gives_results(k) || !choice.results[j]) {
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

std::optional<Vars> with_parts(Builder& builder, const Equation& eqn, const Vars& in,
                               const Regions& given) {
  const Choice choice = choose(given);
  if (!choice.any) return {};
  Regions regions = given;
  for (std::size_t k = 0; k < regions.programs.size(); ++k)
    regions.programs[k] = body(given, k, choice, eqn.location);
  regions.operands = doubled(given.operands, choice.operands);
  regions.results = doubled(given.results, choice.results);
  Vars operands;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (!choice.operands[i]) {
      operands.push_back(in[i]);
      continue;
    }
    for (const char* name : {"real", "imag"})
      operands.push_back(builder.emit1(op(name), {}, {in[i]}, eqn.location));
  }
  const Vars made =
      builder.emit(*eqn.op, eqn.op->with_regions(eqn.params, regions), operands, eqn.location);
  Vars out;
  auto next = made.begin();
  for (const bool parted : choice.results) {
    const Var first = *next++;
    out.push_back(parted ? builder.emit1(op("complex"), {}, {first, *next++}, eqn.location)
                         : first);
  }
  return out;
}

}  // namespace

ProgramPtr split_complex_carries(const ProgramPtr& program) {
  const auto has_complex = [&](const Equation& eqn) {
    return eqn.op->regions && std::any_of(eqn.outputs.begin(), eqn.outputs.end(), [&](Var v) {
             return is_large_complex(program->type(v));
           });
  };
  if (codegen::wanted() == codegen::Wanted::none ||
      std::none_of(program->equations.begin(), program->equations.end(), has_complex))
    return program;
  const ProgramPtr made = with_loops(*program, with_parts);
  return made ? made : program;
}

}  // namespace shardax

// explain/sources.cpp - giving every equation a location of its own.
#include "explain/sources.h"

#include "base/index.h"
#include "compile/passes.h"

namespace shardax {
namespace {

bool is_called(const Equation& eqn) {
  if (!eqn.op->regions) return false;
  const ExecutionKind runs = eqn.op->regions(eqn.params).runs;
  return runs == ExecutionKind::once || runs == ExecutionKind::mapped ||
         runs == ExecutionKind::mesh;
}

class Tagger {
 public:
  explicit Tagger(TaggedProgram& out) : out_(out) {}

  ProgramPtr tag(const Program& program) {
    check_stack("a program within programs");
    MutableProgram copy = copy_of(program);
    for (Equation& eqn : copy->equations) {
      const int number = static_cast<int>(out_.sources.size());
      auto own = std::make_shared<Location>(eqn.location ? *eqn.location : Location{});
      Source source{eqn.op, eqn.params, std::move(eqn.location), {}, {}, {}, {}, {}, {}, {}};
      for (Var v : eqn.inputs) source.in_types.push_back(program.type(v));
      for (Var v : eqn.outputs) source.out_types.push_back(program.type(v));
      source.called = is_called(eqn);
      out_.sources.push_back(std::move(source));
      out_.numbers[own.get()] = number;
      eqn.location = std::move(own);
      if (!eqn.op->regions || !eqn.op->with_regions) continue;
      Regions regions = regions_of(*eqn.op, eqn.params);
      for (ProgramPtr& body : regions.programs) body = tag(*body);
      eqn.params = eqn.op->with_regions(eqn.params, regions);
    }
    return copy;
  }

 private:
  TaggedProgram& out_;
};

void mark_alive(const Program& program, const TaggedProgram& tagged, std::vector<bool>& alive) {
  for (const Equation& eqn : program.equations) {
    if (const int source = tagged.source_of(eqn); source >= 0) alive[index(source)] = true;
    if (!eqn.op->regions) continue;
    for (const ProgramPtr& body : eqn.op->regions(eqn.params).programs)
      mark_alive(*body, tagged, alive);
  }
}

}  // namespace

TaggedProgram tagged(const ProgramPtr& program) {
  TaggedProgram out;
  out.program = Tagger(out).tag(*program);
  std::vector<bool> alive(out.sources.size(), false);
  mark_alive(*eliminate_dead_code(out.program), out, alive);
  for (std::size_t i = 0; i < alive.size(); ++i) out.sources[i].dead = !alive[i];
  return out;
}

}  // namespace shardax

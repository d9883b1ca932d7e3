// compile/loops/sink_broadcasts.cpp - broadcasts of carried values sink through loops and branches.
//
// Operands that are broadcasts enter a body without the dimensions along which they repeat:
//   c:f32[8,5] = broadcast x; _, d:f32[8,5] = scan[body] c   ->   d = broadcast(scan[body']
//   x:f32[5])
// A carry qualifies only if the body gives back a carry that repeats along the same dimensions.
// These dimensions are found by iterating until nothing changes. Parameters that are replicated
// over devices so stay one copy in a loop over steps that are mapped.
#include <memory>

#include "compile/simplify/pattern_driver.h"
#include "ir/regions.h"

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

Repeats dims_of(const PatternDriver& driver, const Vars& values) {
  Repeats out;
  for (Var v : values) out.push_back(driver.repeated_dims(v));
  return out;
}

// A body walked on narrow inputs, before it is decided which outputs are narrow.
struct Body {
  PatternDriver driver;
  Vars outputs;
  Body(const Program& program, const Repeats& inputs, bool stripmine)
      : driver(program, stripmine), outputs(driver.walk_narrow(program, inputs)) {}
  ProgramPtr finish(const Repeats& repeats) {
    std::vector<Var> out;
    for (std::size_t i = 0; i < outputs.size(); ++i)
      out.push_back(driver.without(outputs[i], repeats[i], {}));
    return driver.builder().finish(out);
  }
};

// An equation with other params whose operands and results lack dimensions.
Vars emit_narrow(PatternDriver& driver, const Equation& eqn, const Params& params, const Vars& in,
                 const Repeats& inputs, const Repeats& outputs) {
  Types types;
  for (Var v : in) types.push_back(driver.builder().type(v));
  const Types full = infer_types(*eqn.op, types, eqn.params);
  Vars operands;
  for (std::size_t i = 0; i < in.size(); ++i)
    operands.push_back(driver.without(in[i], inputs[i], eqn.location));
  const Vars small = driver.builder().emit(*eqn.op, params, operands, eqn.location);
  Vars out;
  for (std::size_t i = 0; i < small.size(); ++i)
    out.push_back(driver.repeat(small[i], full[i].shape, outputs[i], eqn.location));
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

// Dimensions of an operand as one run sees them, and back for a result.
Ints in_run(const RegionPort& port, const Ints& dims) {
  return port.flow == PortKind::sliced ? sliced(dims) : dims;
}
Ints of_all(const RegionPort& port, const Ints& dims) {
  return port.flow == PortKind::sliced ? stacked(dims) : dims;
}

// The programs of an equation, walked on narrow inputs.
class Narrowing {
 public:
  Narrowing(const Regions& regions, Repeats operands, bool stripmine)
      : regions_(regions), operands_(std::move(operands)), stripmine_(stripmine) {
    for (std::size_t i = 0; i < operands_.size(); ++i)
      operands_[i] = in_run(regions_.operands[i], operands_[i]);
  }

  bool useless() const { return all_empty(operands_) && all_empty(results_); }

  // Finds the dimensions of the carry that stay repeated: in the carry that goes in and in the one
  // that comes out.
  void settle() {
    const auto from = regions_.operands_of(PortKind::carried),
               to = regions_.results_of(PortKind::carried);
    for (bool settled = false; !settled;) {
      walk();
      settled = true;
      for (std::size_t i = 0; i < from.size(); ++i) {
        const Ints both = shared(operands_[from[i]], results_[to[i]]);
        settled = settled && both == operands_[from[i]];
        operands_[from[i]] = results_[to[i]] = both;
      }
    }
  }

  Programs programs() {
    Programs out;
    for (std::size_t k = 0; k < regions_.programs.size(); ++k) {
      const bool gives = regions_.gives_results(k);
      if (!gives) walked_[k] = std::make_unique<Body>(body(k));
      out.push_back(walked_[k]->finish(gives ? results_ : Repeats{Ints{}}));
    }
    return out;
  }
  Repeats operands() const { return with_flow(regions_.operands, operands_); }
  Repeats results() const { return with_flow(regions_.results, results_); }

 private:
  static Repeats with_flow(const std::vector<RegionPort>& ports, const Repeats& repeats) {
    Repeats out;
    for (std::size_t i = 0; i < ports.size(); ++i) out.push_back(of_all(ports[i], repeats[i]));
    return out;
  }

  Body body(std::size_t k) const {
    Repeats inputs;
    for (const std::size_t i : regions_.taken_by(k)) inputs.push_back(operands_[i]);
    return Body(*regions_.programs[k], inputs, stripmine_);
  }

  // Walks the programs; dimensions that repeat in the results of all of them are kept.
  void walk() {
    walked_.clear();
    bool first = true;
    for (std::size_t k = 0; k < regions_.programs.size(); ++k) {
      walked_.push_back(nullptr);
      if (!regions_.gives_results(k)) continue;
      walked_[k] = std::make_unique<Body>(body(k));
      const Repeats own = dims_of(walked_[k]->driver, walked_[k]->outputs);
      results_ = first ? own : shared(results_, own);
      first = false;
    }
  }

  const Regions& regions_;
  Repeats operands_, results_;  // as one run sees them
  bool stripmine_;
  std::vector<std::unique_ptr<Body>> walked_;
};

}  // namespace

std::optional<Vars> sink_broadcasts(PatternDriver& driver, const Equation& eqn, const Vars& in) {
  const Regions regions = regions_of(*eqn.op, eqn.params);
  if (regions.devices) return {};
  Narrowing narrowing(regions, dims_of(driver, in), driver.stripmine());
  if (narrowing.useless()) return {};
  narrowing.settle();
  if (narrowing.useless()) return {};
  Regions small = regions;
  small.programs = narrowing.programs();
  return emit_narrow(driver, eqn, eqn.op->with_regions(eqn.params, small), in, narrowing.operands(),
                     narrowing.results());
}

}  // namespace shardax

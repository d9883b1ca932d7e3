// analysis/partitioner.h - a program of whole arrays, walked with a device's parts of them.
#pragma once

#include <functional>
#include <memory>

#include "analysis/messages.h"
#include "analysis/shardings.h"
#include "control/shard_map.h"
#include "ir/regions.h"

namespace shardax {

// An array, in the forms in which a device has come to have it: the first is how it was made.
struct Parted {
  std::vector<Part> forms;
  std::function<Value(const Split&)> make = {};  // parts of it without the whole; null: cut it
  int made_of = 0;                               // the most ops that `make` goes back
};
using PartedPtr = std::shared_ptr<Parted>;
using HeldList = std::vector<PartedPtr>;

PartedPtr held(Part part);

// An equation with an effect and no results, and its whole operands. The effect happens once, for
// all devices.
struct Effect {
  const Equation* equation;
  Values in;
};

// Has it an effect and no results?
bool is_mere_effect(const Equation& eqn);

class Partitioner {
 public:
  explicit Partitioner(const Sharding& mesh);

  // Effects that `run` has come by, outside of loops and of functions of blocks.
  std::vector<Effect> effects;
  // The program has run already: nothing is to happen again.
  bool without_effects = false;
  // Devices of the mesh are processes with devices of their own: functions of blocks map over these
  // within, and effects happen in each process.
  bool in_processes = false;

  // The nearest split that is even and over this mesh.
  Split even(const ShardingPtr& sharding, const Type& type) const;
  HeldList run(const Program& program, const HeldList& inputs);
  // The array as `split` says, by messages where a device has less.
  Value value_at(const PartedPtr& array, const Split& split);
  // The device's term, if the array is to be the sum of the values along `axes`.
  Value term_at(const PartedPtr& array, const Split& split, const std::vector<std::string>& axes);

 private:
  static const Part& form(const PartedPtr& array);
  Part moved(const Part& part, const Split& split) const;
  Value whole(const PartedPtr& array) { return value_at(array, Split(form(array).split.size())); }
  // Equations, by their kind.
  HeldList step(const Equation& eqn, const HeldList& in, const Types& in_types,
                const Types& out_types);
  PartedPtr constant(const Value& value) const;
  bool happens_outside(const Equation& eqn, const HeldList& in);
  HeldList terms(const Equation& eqn, const PartedPtr& sum, const Type& stacked);
  HeldList on_whole(const Equation& eqn, const HeldList& in);
  HeldList leaf(const Equation& eqn, const HeldList& in, const Types& in_types,
                const Types& out_types);
  HeldList loop(const Equation& eqn, Regions regions, const HeldList& in, const Types& in_types);
  HeldList blocks(const Equation& eqn, const HeldList& in);
  HeldList blocks_of_processes(const Equation& eqn, const HeldList& in);
  std::vector<std::string> open_through(const Op& op, const HeldList& in, const Types& in_types,
                                        const Type& result, const Parts& parts) const;
  // Sets `make` if parts of a result can be computed alone.
  void make_in_parts(Parted& result, const Equation& eqn, const HeldList& in, const Types& in_types,
                     const Type& out);
  Value by_dims(const Op& op, const Params& params, const HeldList& in, const Types& in_types,
                const Type& out, const Split& split);
  Values starts_of(const Type& whole, const Split& split) const;

  const Sharding& mesh_;
  const Messages messages_;
  int loops_ = 0;  // the number of loops around the present equation
  AxisSet names_;
};

}  // namespace shardax

// ir/remat.h - rematerialization: the equations that make values again, and copies of them.
//
//   s = logistic x; d = mul s (sub 1.0 s)        d is made of s by two equations, of x by three
// A policy gives the values that are to be recomputed, and their possible sources. Policies are
// compile/remat (late uses, consumers of loops, tile groups) and ir/sufficient_set.h (residuals).
#pragma once

#include <set>
#include <unordered_map>
#include <vector>

#include "ir/op.h"

namespace shardax {

// The cost of running one equation again.
enum class RematEffort : std::uint8_t {
  cheap,          // as much as a read or a write
  cheap_or_view,  // or nothing
  quick_too,      // or a few times as much, as machine code
};

// The place from which a policy takes a value.
enum class RematSource : std::uint8_t {
  present,       // it is there, at no cost
  read,          // from memory
  made,          // by its equation
  out_of_reach,  // from nowhere: nothing that needs it can be made again
};

// Equations that make values again.
struct RematSlice {
  std::vector<int> equations;  // each after those that it needs
  std::set<Var> made, reads;
};

class Rematerializer {
 public:
  explicit Rematerializer(const Program& program) : program_(program), makers_(makers(program)) {}

  // The place of the equation that makes it; negative: it is given.
  int maker(Var v) const { return makers_[index(v)]; }
  // The equation that makes it, if that has no other result and takes no more; or null.
  const Equation* maker_within(Var v, RematEffort effort) const;
  // The value that `v` is a view of, or a negative number.
  Var viewed(Var v) const;

  // Adds the equations that make `v` to the slice. False where a value is out of reach, or where
  // the slice has more than `most` equations.
  template <class SourceOf>
  bool collect(Var v, const SourceOf& source_of, std::size_t most, RematSlice& slice) const {
    if (slice.made.contains(v) || slice.reads.contains(v)) return true;
    switch (source_of(v)) {
      case RematSource::present: return true;
      case RematSource::out_of_reach: return false;
      case RematSource::read: slice.reads.insert(v); return true;
      case RematSource::made: break;
    }
    slice.made.insert(v);
    if (slice.made.size() > most) return false;
    for (const Var in : program_.equations[index(maker(v))].inputs) {
      if (!collect(in, source_of, most, slice)) return false;
    }
    slice.equations.push_back(maker(v));
    return true;
  }

 private:
  const Program& program_;
  std::vector<int> makers_;
};

using Renamed = std::unordered_map<Var, Var>;
void rename_inputs(Equation& eqn, const Renamed& renamed);
// Appends a copy of an equation with one result, which `renamed` then has.
Var append_copy(Program& program, Equation eqn, Renamed& renamed);

}  // namespace shardax

// ir/sufficient_set.h - the smallest set of values from which others are recomputed.
//
//   s = logistic x; d = mul s (sub 1.0 s); b = broadcast_in_dim w
// Of s, d and b, s and w are enough. Cheap elementwise ops and views of kept or present values take
// less time to run again than results take to write and read.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "ir/remat.h"

namespace shardax {

class SufficientSet {
 public:
  struct Question {
    std::vector<Var> wanted;
    std::vector<bool> is_free;  // per variable: is there anyway; so are constants
    std::set<Var> pinned;       // of those wanted: are kept in any case
    // May a value be made by one op that is quick rather than cheap?
    bool quick = false;
  };
  SufficientSet(const Program& program, Question question);

  bool is_free(Var v) const { return question_.is_free[index(v)]; }
  // Values that are wanted but not kept.
  const std::set<Var>& dropped() const { return dropped_; }
  // The sources of the wanted values, without constants: inputs first, then in the order of
  // computation.
  std::vector<Var> kept() const;
  // The equations that make the wanted values of these, in order.
  std::vector<int> equations() const;
  // The equation that is to make `v` again; null where `v` is kept, or free.
  const Equation* maker(Var v) const;

 private:
  template <class IsLeaf>
  std::optional<RematSlice> sources(Var v, const IsLeaf& is_leaf) const;
  void share_sources();
  void express_by_others();
  template <class Leaf, class Node>
  void visit(Var v, std::set<Var>& seen, const Leaf& leaf, const Node& node) const;

  const Program& program_;
  Question question_;
  Rematerializer remat_;
  std::set<Var> kept_, dropped_;
};

}  // namespace shardax

// analysis/key_reuse.h - jax_debug_key_reuse: errors for PRNG keys that are used twice.
//
// A program has a signature: the input keys that it uses up, the outputs that are unused keys, and
// the outputs that are input keys. It follows from what records say of ops (KeyUse in ir/op.h) and
// from how they run the programs that they carry (ir/regions.h). While the flag is set, programs
// and single ops are asked before they run, and arrays remember which of their keys have been used.
//
//   { lambda ; a:key<fry>[]. let b:key<fry>[2] = random_split a in (b, a) }
//   uses: input 0; fresh: output 0; passed: input 0 as output 1
#pragma once

#include <utility>
#include <vector>

#include "trace/trace.h"

namespace shardax {

// A flag for each key of an array, by position.
using KeyMask = std::vector<bool>;

struct KeySignature {
  struct Use {
    std::size_t index;
    KeyMask mask;
  };
  std::vector<Use> uses;           // keys among the inputs, then among the constants
  std::vector<std::size_t> fresh;  // outputs
  std::vector<std::pair<std::size_t, std::size_t>>
      passed;  // from an input or a constant to an output
};

// Throws KeyReuseError where the program itself uses a key twice.
std::shared_ptr<const KeySignature> key_signature(const Program& program);

void watch_key_reuse(bool watch);
bool watching_key_reuse();

// Throws KeyReuseError where a key that `program` uses has been used; else marks it, and marks
// `out` once there is some. `caller` names the program or op that runs it, for the error.
class KeysInUse {
 public:
  KeysInUse(const Program& program, const Values& in, std::string_view caller);
  void mark(const Values& out) const;

 private:
  std::shared_ptr<const KeySignature> signature_;
  Values in_;  // and the constants
};

}  // namespace shardax

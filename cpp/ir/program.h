// ir/program.h - a typed straight-line program in single-assignment form (JAX: a jaxpr).
//
// Variables are indices into `types`. Each is an input, a constant or the output of one equation,
// and is defined before it is used. Programs are immutable once built and shared. Derived objects
// (transforms, plans) are cached in the program, and live as long as it does.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "array/array.h"
#include "base/index.h"
#include "base/stack.h"
#include "ir/param_keys.h"

namespace shardax {

class Op;

using Var = std::int32_t;
using Vars = SmallVector<Var, 4>;

// The user's line that produced an equation.
struct Location {
  std::string file;
  std::string function;  // with the names of what encloses it: "outer.<locals>.f"
  int line = 0;
  int column = -1;  // from 0; negative where it is not known
};
using LocationPtr = std::shared_ptr<const Location>;
// "file.py:12:4 (f)"
std::string to_string(const Location& location);
// "file.py:12 (f)", without folders
std::string short_string(const Location& location);

// A name that the user gave to a part of a function (named_scope), or a transformation of that
// part; and the names around it.
struct Names {
  std::shared_ptr<const Names> outside;
  std::string name;
  bool transformation;
};
using NamesPtr = std::shared_ptr<const Names>;
// "foo/jvp(bar)/baz": a transformation stands around the first name inside.
std::string names_text(const NamesPtr& names);
// `inside`, all of it inside of `outside`.
NamesPtr nested(const NamesPtr& outside, const NamesPtr& inside);

struct Equation {
  const Op* op;
  Params params;
  Vars inputs;
  Vars outputs;
  LocationPtr location;
  NamesPtr names = nullptr;
};

struct Constant {
  Var var;
  ArrayPtr value;
};

class Program final : public RefCounted {
 public:
  std::string name;  // the user's function
  Types types;       // of each variable
  std::vector<Var> inputs;
  std::vector<Constant> constants;
  std::vector<Equation> equations;
  std::vector<Var> outputs;

  const Type& type(Var v) const { return types[index(v)]; }
  Types input_types() const;
  Types output_types() const;
  Var add(Type type) {
    types.push_back(std::move(type));
    return static_cast<Var>(types.size()) - 1;
  }

  // The object derived from this program under a key; `make` runs at the key's first use. A key
  // starts with the name of the derivation. Values live as long as the program, or until there are
  // many of them (the sizes over which it is batched may come and go).
  template <class T>
  std::shared_ptr<T> derived(const std::string& key,
                             const std::function<std::shared_ptr<T>()>& make) const {
    if (const auto it = derived_.find(key); it != derived_.end()) {
      return std::static_pointer_cast<T>(it->second);
    }
    check_stack("a program within programs");
    std::shared_ptr<T> made = make();
    if (derived_.size() >= most_derived) derived_.clear();
    derived_[key] = made;
    return made;
  }

 private:
  static constexpr std::size_t most_derived = 256;
  mutable std::unordered_map<std::string, std::shared_ptr<void>> derived_;
};

// A program that can be changed: passes make one, change it and hand it out as ProgramPtr.
using MutableProgram = Shared<Program>;
MutableProgram copy_of(const Program& program);

// "{ lambda ; a:f32[3]. let b:f32[3] = mul a 2.0:f32[] in (b,) }", JAX's form.
struct PrintOptions {
  bool shapes = true;      // the types of variables
  bool locations = false;  // the user's lines
  bool effects = false;
};
std::string to_string(const Program& program, const PrintOptions& options);
std::string to_string(const Program& program);
std::string to_string(const Program& program, const Equation& eqn);

// A rank-0 array, as programs show it ("1.600000023841858:f32[]"), and its element, as NumPy shows
// it
// ("1.6").
std::string literal_text(const Array& value);
std::string scalar_text(const Array& value);

// The equation that makes each variable, by its place in the program; -1 for those that are given.
std::vector<int> makers(const Program& program);

// A key for `derived` out of a name and a list of flags.
std::string mask_key(std::string name, const std::vector<bool>& mask);

}  // namespace shardax

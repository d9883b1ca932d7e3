// ir/program.cpp - building, copying and checking programs.
#include "ir/program.h"

#include "base/index.h"

namespace shardax {

Types Program::input_types() const {
  Types out;
  for (Var v : inputs) out.push_back(type(v));
  return out;
}

Types Program::output_types() const {
  Types out;
  for (Var v : outputs) out.push_back(type(v));
  return out;
}

std::string names_text(const NamesPtr& names) {
  std::string first, rest;  // the outermost name so far, and those inside of it
  bool any = false;
  for (const Names* at = names.get(); at; at = at->outside.get()) {
    if (at->transformation) {
      first = at->name + "(" + first + ")";
    } else {
      if (any) rest = "/" + first + rest;
      first = at->name;
    }
    any = true;
  }
  return first + rest;
}

NamesPtr nested(const NamesPtr& outside, const NamesPtr& inside) {
  if (!outside || !inside) return outside ? outside : inside;
  return std::make_shared<const Names>(
      Names{nested(outside, inside->outside), inside->name, inside->transformation});
}

MutableProgram copy_of(const Program& program) {
  MutableProgram copy(new Program);
  copy->name = program.name;
  copy->types = program.types;
  copy->inputs = program.inputs;
  copy->constants = program.constants;
  copy->equations = program.equations;
  copy->outputs = program.outputs;
  return copy;
}

std::vector<int> makers(const Program& program) {
  std::vector<int> out(program.types.size(), -1);
  for (std::size_t e = 0; e < program.equations.size(); ++e) {
    for (Var v : program.equations[e].outputs) out[index(v)] = static_cast<int>(e);
  }
  return out;
}

std::string mask_key(std::string name, const std::vector<bool>& mask) {
  name += ':';
  for (bool b : mask) name += b ? '1' : '0';
  return name;
}

}  // namespace shardax

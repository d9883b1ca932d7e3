// ir/params.cpp - look-up and hashing of parameters.
#include "ir/params.h"

#include "base/errors.h"
#include "base/index.h"
#include "ir/program.h"

namespace shardax {

Params::Params(std::initializer_list<Given> given) {
  entries_.reserve(given.size());
  for (const Given& param : given) entries_.emplace_back(param.name, param.value);
}

void Params::set(ParamName name, ParamValue value) {
  for (Entry& entry : entries_) {
    if (entry.first == name) {
      entry.second = std::move(value);
      return;
    }
  }
  entries_.emplace_back(name, std::move(value));
}

const ParamValue* Params::find(ParamName name) const {
  for (const Entry& entry : entries_) {
    if (entry.first == name) return &entry.second;
  }
  return nullptr;
}

void Params::unfit(std::string_view name, const ParamValue* value, std::string_view expected) {
  throw ParamError(concat("parameter ", name, " is ",
                          value ? to_string(*value) : std::string("missing"), "; ", expected,
                          " was expected."));
}

Params Params::with(ParamName name, ParamValue value) const {
  Params copy = *this;
  copy.set(name, std::move(value));
  return copy;
}

namespace {

struct HashParam {
  std::size_t operator()(std::monostate) const { return 0; }
  std::size_t operator()(bool b) const { return b ? 2 : 1; }
  std::size_t operator()(std::int64_t i) const { return index(i); }
  std::size_t operator()(double d) const { return std::hash<double>{}(d); }
  std::size_t operator()(const std::string& s) const { return hash_bytes(s); }
  std::size_t operator()(const Ints& ints) const { return mix_all(3, ints); }
  std::size_t operator()(DType d) const { return index(d); }
  std::size_t operator()(const AxisNames& a) const { return mix_all(4, a.names); }
  std::size_t operator()(const ProgramPtr& p) const { return std::hash<const void*>{}(p.get()); }
  std::size_t operator()(const Programs& list) const {
    std::size_t seed = list.size();
    for (const ProgramPtr& p : list) seed = mix(seed, (*this)(p));
    return seed;
  }
  std::size_t operator()(const FunctionPtr& f) const { return std::hash<const void*>{}(f.get()); }
  std::size_t operator()(const ShardingPtr& s) const { return std::hash<const void*>{}(s.get()); }
  std::size_t operator()(const Types& types) const {
    std::size_t seed = 6;
    for (const Type& type : types) seed = mix(seed, shardax::hash(type));
    return seed;
  }
};

}  // namespace

std::size_t hash(const Params& params) {
  std::size_t seed = 5;
  for (const auto& [name, value] : params) {
    seed = mix(seed, std::visit(HashParam{}, value));
  }
  return seed;
}

}  // namespace shardax

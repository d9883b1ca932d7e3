// explain/arguments.cpp - looking at arguments without running anything.
#include "explain/arguments.h"

#include <algorithm>
#include <numeric>

#include "analysis/uniform.h"
#include "base/index.h"

namespace shardax {
namespace {

std::int64_t bytes_held(const Array& array) {
  std::int64_t bytes = itemsize(array.dtype());
  for (std::size_t d = 0; d < array.shape().size(); ++d)
    bytes *= array.strides()[d] == 0 ? 1 : array.shape()[d];
  return bytes;
}

}  // namespace

Arguments seen_by(const Program& program, const std::vector<ArrayPtr>& arrays) {
  const std::size_t count = program.inputs.size();
  Arguments out;
  out.equal.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Type& type = program.type(program.inputs[i]);
    const Array* array = arrays[i].get();
    out.options.input_strides.push_back(array ? array->strides() : row_major_strides(type.shape));
    out.held.push_back(array ? bytes_held(*array) : type.bytes());
    for (std::size_t d = 0; array && d < type.rank(); ++d) {
      if (type.shape[d] > 1 && array->strides()[d] == 0)
        out.equal[i].push_back(static_cast<std::int64_t>(d));
    }
  }
  std::vector<std::int64_t> inputs(count);
  std::iota(inputs.begin(), inputs.end(), 0);
  std::vector<Mapped> mapped;
  find_mapped(program, inputs, mapped);
  for (Mapped& m : mapped) {
    if (!arrays[m.input] || !is_uniform(m, *arrays[m.input])) continue;
    out.options.input_strides[m.input][index(m.axis)] = 0;
    Ints& dims = out.equal[m.input];
    if (std::find(dims.begin(), dims.end(), m.axis) == dims.end()) dims.push_back(m.axis);
  }
  return out;
}

}  // namespace shardax

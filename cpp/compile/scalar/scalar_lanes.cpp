// compile/scalar/scalar_lanes.cpp - arrays in lists of registers: elementwise ops, and layout.
#include <algorithm>
#include <cstring>

#include "base/index.h"
#include "compile/scalar/scalar_values.h"
#include "compile/tuning.h"

namespace shardax {

using codegen::Access;
using codegen::Code;

// A node that computes each lane from the same lanes of its operands, of one width.
static bool is_of_lanes(const codegen::VectorProgram& nodes, const codegen::Node& node, int width) {
  const int own = codegen::width_of(node.kind);
  if (own != 0 && own != width) return false;
  switch (node.code) {
    case Code::quotient:
    case Code::remainder: return false;
    case Code::mul:
    case Code::shift_right_arithmetic: return width == 4 || codegen::is_float(node.kind);
    case Code::convert:
      return width == 4 && !codegen::is_unsigned(node.kind) &&
             !codegen::is_unsigned(nodes.node(node.in[0]).kind);
    default: return true;
  }
}

// The op of a kernel on registers.
int ElementWriter::combined(const MapKernel& kernel, int a, int b) {
  const int operands[] = {a, b};
  const int first = nodes().size();
  const int out = kernel.record(nodes(), operands, kernel.extra);
  for (int i = first; i < nodes().size(); ++i) {
    if (!is_of_lanes(nodes(), nodes().node(i), width_)) throw Unsuited();
  }
  return out;
}

// Numbers stand in all lanes: they go with registers.
void ElementWriter::map_lanes(const MapKernel& kernel, const std::vector<ScalarArray*>& in,
                              ScalarArray& out) {
  for (const ScalarArray* held : in) {
    const bool one = held->type.rank() == 0, truth = held->type.dtype == DType::boolean;
    if (!one && (!packed(held->type) || held->type.shape != out.type.shape)) throw Unsuited();
    if (!truth && itemsize(held->type.dtype) != width_) throw Unsuited();
  }
  for (std::int64_t k = 0; k < registers_of(out.type, width_); ++k) {
    SmallVector<int, 4> operands;
    for (const ScalarArray* held : in)
      operands.push_back(held->nodes[held->type.rank() == 0 ? 0 : index(k)]);
    const int first = nodes().size();
    out.nodes.push_back(kernel.record(nodes(), operands.data(), kernel.extra));
    for (int i = first; i < nodes().size(); ++i) {
      if (!is_of_lanes(nodes(), nodes().node(i), width_)) throw Unsuited();
    }
  }
}

// ---- elements from several places ------------------------------------------------------------

std::int64_t ElementWriter::lanes_of_register() const {
  return width_ > 0 ? codegen::scalar_vector_bytes() / width_ : 0;
}

// The last register overlaps the one before.
std::int64_t ElementWriter::first_of_register(const Type& type, std::int64_t k) const {
  const std::int64_t lanes = lanes_of_register();
  if (!in_rows(type.shape, lanes)) return std::min(k * lanes, type.size() - lanes);
  const std::int64_t row = type.shape.back(), each = (row + lanes - 1) / lanes;
  return k / each * row + std::min(k % each * lanes, row - lanes);
}

// The elements in row-major order.
ElementWriter::Source ElementWriter::source_of(ScalarArray& held) {
  Source out{&held};
  if (held.in_memory && held.storage < 0 && is_contiguous(held.type.shape, held.strides)) {
    out.memory = held.start;
    out.extent = held.type.size();
  } else {
    elements(held);
  }
  out.by_number = !packed(held.type) && !held.nodes.empty();
  return out;
}
// The same as they lie in memory that nobody writes.
ElementWriter::Source ElementWriter::strided_source_of(ScalarArray& held) {
  std::int64_t extent = 1;
  for (std::size_t d = 0; d < held.type.rank(); ++d)
    extent += (held.type.shape[d] - 1) * std::max<std::int64_t>(0, held.strides[d]);
  return {&held, held.start, extent};
}

Access ElementWriter::memory_of(Source& from) {
  if (!from.memory) {
    ScalarArray& held = *from.held;
    if (held.copy < 0) held.copy = moved_to_frame(held).start.offset;
    from.memory = Access{.pointer = frame_pointer, .offset = held.copy, .changes = true};
    from.extent = held.type.size() + lanes_of_register();
  }
  return *from.memory;
}

// The bytes of constants; null for other memory.
const std::byte* ElementWriter::known_at(const Access& access) const {
  const int k = access.pointer - out_.constants;
  const bool known =
      access.index < 0 && k >= 0 && k < static_cast<int>(std::ssize(out_.constant_arrays));
  return known ? out_.constant_arrays[index(k)]->data() + access.offset : nullptr;
}

// Known integers are constants: they may be indices.
int ElementWriter::number_at(Source& from, std::int64_t at) {
  if (from.by_number) return from.held->nodes[index(at)];
  const Number kind = number_kind(from.held->type.dtype);
  Access access = memory_of(from);
  access.bytes = itemsize(from.held->type.dtype);
  access.offset += at * access.bytes;
  const std::byte* known = known_at(access);
  if (!known || !codegen::is_integer(kind) || codegen::width_of(kind) != access.bytes)
    return code_.load(kind, access);
  std::int64_t value = 0;
  std::memcpy(&value, known, index(access.bytes));
  return number(value, kind);
}

// As many elements as fill a register, from one on.
Access ElementWriter::register_in(Source& from, std::int64_t at) {
  Access access = in_all_lanes(memory_of(from));
  access.offset += at * itemsize(from.held->type.dtype);
  return access;
}

// A register of neighbours is read as one. Others are put together in the frame. Each run of
// neighbours, or of one number, is written as a whole register, and the next run over its surplus.
int ElementWriter::register_of(std::vector<Source>& from, std::span<const Place> places) {
  const Type& type = from[places[0].source].held->type;
  const Number kind = number_kind(type.dtype);
  const std::int64_t lanes = lanes_of_register();
  const auto run_at = [&](std::size_t i) {
    std::size_t n = 1;
    while (i + n < places.size() && places[i + n].source == places[i].source &&
           places[i + n].at == places[i].at + static_cast<std::int64_t>(n))
      ++n;
    return n;
  };
  const auto register_at = [&](const Place& place) {
    return code_.load(kind, register_in(from[place.source], place.at));
  };
  const auto fits = [&](const Place& place) {
    Source& source = from[place.source];
    memory_of(source);
    return place.at + lanes <= source.extent;
  };
  const auto same = [&](const Place& p) { return p == places[0]; };
  const ScalarArray& first = *from[places[0].source].held;
  if (run_at(0) == places.size() && packed(first.type) && !first.nodes.empty()) {
    for (std::size_t k = 0; k < first.nodes.size(); ++k) {
      if (first_of_register(first.type, static_cast<std::int64_t>(k)) == places[0].at)
        return first.nodes[k];
    }
  }
  if (std::ranges::all_of(places, same)) return number_at(from[places[0].source], places[0].at);
  if (run_at(0) == places.size() && fits(places[0])) return register_at(places[0]);
  const ScalarArray room = in_frame(with_shape(type, {lanes}));
  for (std::size_t i = 0; i < places.size();) {
    const Place& place = places[i];
    std::size_t repeats = 1;
    while (i + repeats < places.size() && places[i + repeats] == place) ++repeats;
    const std::size_t run = run_at(i), neighbours = run > 1 && fits(place) ? run : 1;
    Access to = element(room, static_cast<std::int64_t>(i));
    if (neighbours > 1 || repeats > 1) to = in_all_lanes(to);
    code_.store(neighbours > 1 ? register_at(place) : number_at(from[place.source], place.at), to);
    i += std::max(neighbours, repeats);
  }
  return code_.load(kind, in_all_lanes(room.start));
}

ScalarArray ElementWriter::assembled(const Type& out, std::vector<Source>& from,
                                     const std::vector<Place>& places) {
  if (lane_kind(out.dtype) != lane_kind(from[0].held->type.dtype)) throw Unsuited();
  ScalarArray result{out};
  if (!packed(out)) {
    for (const Place& place : places)
      result.nodes.push_back(number_at(from[place.source], place.at));
    return result;
  }
  if (out.dtype == DType::boolean) throw Unsuited();
  const std::int64_t lanes = lanes_of_register();
  std::vector<std::span<const Place>> made;
  for (std::int64_t k = 0; k < registers_of(out, width_); ++k) {
    const std::span<const Place> part(places.data() + first_of_register(out, k), index(lanes));
    const auto same = std::ranges::find_if(
        made, [&](std::span<const Place> other) { return std::ranges::equal(other, part); });
    result.nodes.push_back(same == made.end() ? register_of(from, part)
                                              : result.nodes[index(same - made.begin())]);
    made.push_back(part);
  }
  return result;
}

// Registers of an array that does not lie in row-major order.
ScalarArray ElementWriter::gathered(ScalarArray& held) {
  std::vector<Source> from{strided_source_of(held)};
  std::vector<Place> places;
  each_offset(held.type.shape, held.strides,
              [&](std::int64_t, std::int64_t at) { places.push_back({0, at}); });
  return assembled(held.type, from, places);
}

const std::shared_ptr<ScalarArray>& ElementWriter::origin_of(ScalarArray& held) {
  if (is_moved(held)) return held.origin;
  if (!held.shared) {
    elements(held);
    held.shared = std::make_shared<ScalarArray>(held);
  }
  return held.shared;
}

// Elements of the operands, one operand after the other, at `positions`. False where these are not
// all of one array in registers.
bool ElementWriter::move_lanes(const std::vector<ScalarArray*>& in,
                               const std::vector<std::int64_t>& positions, ScalarArray& out) {
  std::vector<std::int64_t> all;
  for (ScalarArray* held : in) {
    const bool in_registers = is_moved(*held) || (packed(held->type) && !held->in_memory);
    if (!in_registers || origin_of(*held) != origin_of(*in[0])) return false;
    for (std::int64_t i = 0; i < held->type.size(); ++i)
      all.push_back(is_moved(*held) ? (*held->places)[index(i)] : i);
  }
  std::vector<std::int64_t> places;
  for (const std::int64_t at : positions) places.push_back(all[index(at)]);
  out.origin = origin_of(*in[0]);
  if (lane_kind(out.type.dtype) != lane_kind(out.origin->type.dtype)) throw Unsuited();
  out.places = std::make_shared<const std::vector<std::int64_t>>(std::move(places));
  return true;
}

// Nodes of what has been moved.
void ElementWriter::put_together(ScalarArray& moved) {
  std::vector<Source> from{source_of(*moved.origin)};
  std::vector<Place> places;
  for (const std::int64_t at : *moved.places) places.push_back({0, at});
  moved.nodes = assembled(moved.type, from, places).nodes;
  moved.origin = nullptr;
  moved.places = nullptr;
}

// Views of arrays in registers.
bool ElementWriter::view_lanes(const Equation& eqn, ScalarArray& in, const Type& out,
                               ScalarArray& seen) {
  if (lane_kind(in.type.dtype) != lane_kind(out.dtype)) throw Unsuited();
  if (in.type.size() == 1 && packed(out)) {
    seen = {out};
    seen.nodes.assign(index(registers_of(out, width_)), elements(in)[0]);
    return true;
  }
  if (in.type.dtype == DType::boolean) throw Unsuited();
  ViewLayout layout;
  std::vector<Source> from;
  if (packed(in.type) && !in.in_memory) {
    if (!eqn.op->view(eqn.params, in.type, row_major_strides(in.type.shape), out, layout))
      return false;
    std::vector<std::int64_t> positions;
    each_offset(out.shape, layout.strides,
                [&](std::int64_t, std::int64_t at) { positions.push_back(at + layout.offset); });
    return move_lanes({&in}, positions, seen = {out});
  }
  if (in.in_memory && in.storage < 0 &&
      eqn.op->view(eqn.params, in.type, in.strides, out, layout)) {
    from.push_back(strided_source_of(in));
  } else {
    layout = {};
    if (!eqn.op->view(eqn.params, in.type, row_major_strides(in.type.shape), out, layout))
      return false;
    from.push_back(source_of(in));
  }
  std::vector<Place> places;
  each_offset(out.shape, layout.strides,
              [&](std::int64_t, std::int64_t at) { places.push_back({0, at + layout.offset}); });
  seen = assembled(out, from, places);
  return true;
}

}  // namespace shardax

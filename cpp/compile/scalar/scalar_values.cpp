// compile/scalar/scalar_values.cpp - numbers in memory and in nodes; ops on each element, calls.
#include "compile/scalar/scalar_values.h"

#include <cstring>

#include "base/index.h"
#include "compile/pipeline.h"
#include "compile/tuning.h"

namespace shardax {

using codegen::Access;
using codegen::Code;

codegen::Kind lane_kind(DType dtype) {
  codegen::Kind kind = codegen::Kind::none;
  visit_dtype(dtype, [&](auto zero) { kind = codegen::kind_of<decltype(zero)>; });
  const bool passed_on = codegen::width_of(kind) == 2 || codegen::is_complex(kind);
  return passed_on ? codegen::Kind::none : kind;
}

// Elements that are only passed on are integers of their size.
codegen::Kind number_kind(DType dtype) {
  const codegen::Kind kind = lane_kind(dtype);
  if (kind != codegen::Kind::none) return kind;
  switch (itemsize(dtype)) {
    case 1:
    case 2:
    case 4: return codegen::Kind::u32;
    case 8: return codegen::Kind::u64;
    default: throw Unsuited();
  }
}

// Neighbours in a row are then neighbours in memory, also where parts of rows move. Not where a
// third more registers would be needed for it.
bool in_rows(const Shape& shape, std::int64_t lanes) {
  if (shape.size() < 2 || shape.back() <= lanes || shape.back() % lanes == 0) return false;
  const std::int64_t row = (shape.back() + lanes - 1) / lanes;
  std::int64_t rows = 1;
  for (std::size_t d = 0; d + 1 < shape.size(); ++d) rows *= shape[d];
  return 3 * lanes * rows * row <= 4 * rows * shape.back();
}

std::int64_t registers_of(const Type& type, int width) {
  const codegen::Kind kind = lane_kind(type.dtype);
  if (width == 0 || kind == codegen::Kind::none) return 0;
  if (kind != codegen::Kind::truth && codegen::width_of(kind) != width) return 0;
  const std::int64_t lanes = codegen::scalar_vector_bytes() / width;
  const std::int64_t registers =
      in_rows(type.shape, lanes)
          ? type.size() / type.shape.back() * ((type.shape.back() + lanes - 1) / lanes)
          : (type.size() + lanes - 1) / lanes;
  return registers <= tuning::scalar_values::most_registers ? registers : 0;
}

// ---- memory ----------------------------------------------------------------------------------

ScalarArray ElementWriter::in_memory(const Type& type, const Access& start) {
  return {type, {}, true, start, row_major_strides(type.shape)};
}

std::int64_t ElementWriter::reserve(std::int64_t bytes) {
  const std::int64_t at = out_.frame_bytes;
  out_.frame_bytes += (bytes + 63) / 64 * 64;
  return at;
}

// A register may be read or written past the end.
ScalarArray ElementWriter::in_frame(const Type& type) {
  const std::int64_t at = reserve(type.bytes() + codegen::scalar_vector_bytes());
  return in_memory(type, {.pointer = frame_pointer, .offset = at, .changes = true});
}

void ElementWriter::place_frame() {
  out_.frame = out_.constants + static_cast<int>(out_.constant_arrays.size());
  code_.renumber_pointer(frame_pointer, out_.frame);
  for (FrameAddress& address : out_.addresses) {
    if (address.pointer == frame_pointer) address.pointer = out_.frame;
  }
}

Access ElementWriter::element(const ScalarArray& held, std::int64_t offset) {
  Access access = held.start;
  access.bytes = itemsize(held.type.dtype);
  access.offset += offset * access.bytes;
  return access;
}

Access ElementWriter::in_all_lanes(Access first) {
  first.bytes = codegen::scalar_vector_bytes();
  return first;
}

Access ElementWriter::lanes(const ScalarArray& held, std::int64_t k) const {
  if (held.type.dtype == DType::boolean) throw Unsuited();
  return in_all_lanes(element(held, first_of_register(held.type, k)));
}

void ElementWriter::check_version(const ScalarArray& held) const {
  if (held.storage >= 0 && versions_[index(held.storage)] != held.version) throw Unsuited();
}

const std::vector<int>& ElementWriter::elements(ScalarArray& held) {
  if (is_moved(held)) put_together(held);
  if (!held.in_memory || !held.nodes.empty()) return held.nodes;
  if (large(held.type)) throw Unsuited();
  check_version(held);
  const Number kind = number_kind(held.type.dtype);
  if (packed(held.type)) {
    if (is_contiguous(held.type.shape, held.strides)) {
      for (std::int64_t k = 0; k < registers_of(held.type, width_); ++k)
        held.nodes.push_back(code_.load(kind, lanes(held, k)));
    } else {
      held.nodes = gathered(held).nodes;
    }
    return held.nodes;
  }
  each_offset(held.type.shape, held.strides, [&](std::int64_t, std::int64_t offset) {
    held.nodes.push_back(code_.load(kind, element(held, offset)));
  });
  return held.nodes;
}

void ElementWriter::keep(const ScalarArray& held, const Access& start) {
  const ScalarArray target = in_memory(held.type, start);
  for (std::size_t i = 0; i < held.nodes.size(); ++i) {
    const auto k = static_cast<std::int64_t>(i);
    code_.store(held.nodes[i], packed(held.type) ? lanes(target, k) : element(target, k));
  }
}

ScalarArray ElementWriter::moved_to_frame(const ScalarArray& held) {
  ScalarArray copy = in_frame(held.type);
  copy.nodes = held.nodes;
  keep(copy, copy.start);
  copy.nodes.clear();
  return copy;
}

ScalarArray ElementWriter::constant(const ArrayPtr& value) {
  const Type& type = value->type();
  const Number kind = number_kind(type.dtype);
  ScalarArray held{type};
  if (type.rank() > 0 || kind != lane_kind(type.dtype)) {
    const int pointer = out_.constants + static_cast<int>(out_.constant_arrays.size());
    out_.constant_arrays.push_back(value);
    held = in_memory(type, {.pointer = pointer});
    held.strides = value->strides();
    if (type.size() > tuning::scalar_values::most_elements || kind != lane_kind(type.dtype))
      return held;
  }
  const int bytes = itemsize(type.dtype);
  each_offset(type.shape, value->strides(), [&](std::int64_t, std::int64_t offset) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, value->data() + offset * bytes, index(bytes));
    if (type.dtype == DType::boolean) bits = bits ? ~std::uint64_t{0} : 0;
    held.nodes.push_back(nodes().add({Code::constant, kind, {}, bits}));
  });
  return held;
}

void ElementWriter::advance(Access& access, int node, std::int64_t stride) {
  if (const codegen::Node& n = nodes().node(node); n.code == Code::constant) {
    access.offset += stride * (codegen::width_of(n.kind) == 4 ? static_cast<std::int32_t>(n.bits)
                                                              : static_cast<std::int64_t>(n.bits));
    return;
  }
  if (access.index < 0) {
    access.index = node;
    access.stride = stride;
    return;
  }
  const auto times = [&](int factor, std::int64_t by) {
    return by == 1 ? factor : nodes().add({Code::mul, Number::i64, {factor, number(by)}});
  };
  const int before = times(wide(access.index), access.stride);
  access.index = nodes().add({Code::add, Number::i64, {before, times(wide(node), stride)}});
  access.stride = 1;
}

// ---- ops on each element ---------------------------------------------------------------------

bool ElementWriter::view(const Equation& eqn, ScalarArray& in, const Type& out, ScalarArray& seen) {
  if (itemsize(in.type.dtype) != itemsize(out.dtype)) return false;
  if (packed(in.type) || packed(out)) return view_lanes(eqn, in, out, seen);
  ViewLayout layout;
  if (in.in_memory && in.nodes.empty()) {
    if (eqn.op->view(eqn.params, in.type, in.strides, out, layout)) {
      seen = in;
      seen.type = out;
      seen.strides = layout.strides;
      seen.start.offset += layout.offset * itemsize(out.dtype);
      seen.writable = false;
      if (seen.storage >= 0 &&
          out.size() <= tuning::scalar_values::most_elements) {  // before it is written again
        elements(seen);
        seen.in_memory = false;
        seen.storage = -1;
      }
      return true;
    }
    layout = {};
  }
  const std::vector<int>& from = elements(in);
  const Shape dense = row_major_strides(in.type.shape);
  if (!eqn.op->view(eqn.params, in.type, dense, out, layout)) return false;
  if (out.size() > tuning::scalar_values::most_elements) throw Unsuited();
  seen = {out};
  const Number kind = number_kind(out.dtype);
  each_offset(out.shape, layout.strides, [&](std::int64_t, std::int64_t offset) {
    const int node = from[index(offset + layout.offset)];
    const Number had = nodes().node(node).kind;
    if ((had == Number::truth) != (kind == Number::truth)) throw Unsuited();
    seen.nodes.push_back(had == kind ? node : nodes().add({Code::view, kind, {node}}));
  });
  return true;
}

// The element of an operand of an elementwise op that belongs to element i of the result.
std::size_t ElementWriter::broadcast(const Type& operand, const Type& out, std::int64_t i) {
  if (operand.rank() == 0) return 0;
  const Shape dense = row_major_strides(operand.shape);
  std::int64_t offset = 0;
  for (std::size_t d = out.rank(); d-- > 0;) {
    if (operand.shape[d] != 1) offset += i % out.shape[d] * dense[d];
    i /= out.shape[d];
  }
  return index(offset);
}

bool ElementWriter::map(const Equation& eqn, const std::vector<ScalarArray*>& in,
                        ScalarArray& out) {
  if (large(out.type)) throw Unsuited();
  Types types;
  for (const ScalarArray* held : in) {
    types.push_back(held->type);
    if (is_half(held->type.dtype) && !eqn.op->half_native) return false;
  }
  if (is_half(out.type.dtype) && !eqn.op->half_native) return false;
  const MapKernel kernel = eqn.op->map(types, out.type, eqn.params);
  if (!kernel.function) return false;
  bool records = kernel.record && lane_kind(out.type.dtype) != Number::none;
  for (const Type& type : types) records = records && lane_kind(type.dtype) != Number::none;
  // AVX2 has no instruction that converts these.
  if (types[0].dtype == DType::uint64
          ? is_floating(out.type.dtype)
          : out.type.dtype == DType::uint64 && is_floating(types[0].dtype))
    records = false;
  for (ScalarArray* held : in) elements(*held);
  if (packed(out.type)) {
    if (!records) return false;
    map_lanes(kernel, in, out);
    return true;
  }
  if (!records) {
    tile(kernel, in, out);
    return true;
  }
  const codegen::Branching branching(code_);
  for (std::int64_t i = 0; i < out.type.size(); ++i) {
    SmallVector<int, 4> operands;
    for (const ScalarArray* held : in)
      operands.push_back(held->nodes[broadcast(held->type, out.type, i)]);
    out.nodes.push_back(kernel.record(nodes(), operands.data(), kernel.extra));
  }
  return true;
}

// The tile kernel, of operands in the frame.
void ElementWriter::tile(const MapKernel& kernel, const std::vector<ScalarArray*>& in,
                         ScalarArray& out) {
  const std::int64_t table = reserve(static_cast<std::int64_t>(8 * in.size()));
  for (std::size_t k = 0; k < in.size(); ++k) {
    ScalarArray copy = in_frame(with_dtype(out.type, in[k]->type.dtype));
    for (std::int64_t i = 0; i < out.type.size(); ++i)
      copy.nodes.push_back(in[k]->nodes[broadcast(in[k]->type, out.type, i)]);
    keep(copy, copy.start);
    out_.addresses.push_back(
        {table + static_cast<std::int64_t>(8 * k), frame_pointer, copy.start.offset});
  }
  ScalarArray result = in_frame(out.type);
  code_.call({reinterpret_cast<const void*>(kernel.function),
              {{frame_pointer, result.start.offset},
               {frame_pointer, table},
               {-1, out.type.size()},
               {-1, kernel.extra}}});
  ++out_.calls;
  out.nodes = elements(result);
}

// A plan of one equation. Operands in memory that do not move are read there.
std::vector<ScalarArray> ElementWriter::call(const Equation& eqn,
                                             const std::vector<ScalarArray*>& in,
                                             const Types& out) {
  if (out_.plans.size() >=
      (width_ ? tuning::scalar_values::most_plans_of_lanes : tuning::scalar_values::most_plans))
    throw Unsuited();
  MutableProgram program(new Program);
  Equation inner{eqn.op, eqn.params, {}, {}, eqn.location};
  std::vector<FrameAddress> from;
  for (ScalarArray* held : in) {
    inner.inputs.push_back(program->add(held->type));
    program->inputs.push_back(inner.inputs.back());
    from.push_back(address_of(*held));
  }
  for (const Type& type : out) inner.outputs.push_back(program->add(type));
  program->equations.push_back(inner);
  program->outputs.assign(inner.outputs.begin(), inner.outputs.end());
  auto plan = std::make_unique<PlanCall>();
  plan->plan = compile_body(program);
  plan->in = reserve(static_cast<std::int64_t>(8 * in.size()));
  plan->out = reserve(static_cast<std::int64_t>(8 * out.size()));
  plan->arena = reserve(plan->plan->arena_bytes);
  for (std::size_t k = 0; k < in.size(); ++k) {
    from[k].at = plan->in + static_cast<std::int64_t>(8 * k);
    out_.addresses.push_back(from[k]);
  }
  std::vector<ScalarArray> results;
  for (std::size_t k = 0; k < out.size(); ++k) {
    results.push_back(in_frame(out[k]));
    out_.addresses.push_back(
        {plan->out + static_cast<std::int64_t>(8 * k), frame_pointer, results.back().start.offset});
  }
  code_.call({reinterpret_cast<const void*>(call_plan_),
              {{0, 0}, {-1, reinterpret_cast<std::int64_t>(plan.get())}, {frame_pointer, 0}},
              true});
  out_.plans.push_back(std::move(plan));
  ++out_.calls;
  for (ScalarArray& result : results) read_all(result);
  return results;
}

// Numbers of an array that was written to the frame, where they stay.
void ElementWriter::read_all(ScalarArray& held) {
  elements(held);
  held.in_memory = false;
  held.copy = held.start.offset;
}

FrameAddress ElementWriter::address_of(ScalarArray& held) {
  if (held.in_memory && held.nodes.empty() && held.start.index < 0 &&
      is_contiguous(held.type.shape, held.strides)) {
    check_version(held);
    return {0, held.start.pointer, held.start.offset};
  }
  ScalarArray copy = in_frame(held.type);
  copy.nodes = elements(held);
  keep(copy, copy.start);
  return {0, copy.start.pointer, copy.start.offset};
}

}  // namespace shardax

// compile/scalar/scalar_indexing.cpp - windows at computed places in scalar programs.
#include <algorithm>
#include <utility>

#include "base/index.h"
#include "base/lists.h"
#include "compile/scalar/scalar_values.h"
#include "ir/core_ops.h"
#include "ops/indexing/windows.h"

namespace shardax {
namespace {

// Scatters, with the op that combines an element with its update; null: it replaces it.
struct Scatter {
  const Op* op;
  const Op* combine;
};
const Scatter* find_scatter(const Op* op) {
  static const Scatter all[] = {{&core_ops().scatter, nullptr},
                                {&core_ops().scatter_add, &core_ops().add},
                                {&core_ops().scatter_sub, &core_ops().sub},
                                {&core_ops().scatter_mul, &core_ops().mul}};
  const auto found = std::find_if(std::begin(all), std::end(all),
                                  [&](const Scatter& each) { return each.op == op; });
  return found == std::end(all) ? nullptr : found;
}

}  // namespace

bool ElementWriter::window(const Equation& eqn, const std::vector<ScalarArray*>& in,
                           ScalarArray& out) {
  const auto is_small = [&](std::size_t i) {
    return in[i]->type.size() <= tuning::scalar_values::most_elements;
  };
  if (eqn.op == &core_ops().dynamic_slice) {
    out = slice(in, out.type);
  } else if (eqn.op == &core_ops().dynamic_update_slice && (is_small(1) || packed(in[1]->type))) {
    out = update(in);
  } else if (eqn.op == &core_ops().gather && !large(in[1]->type) && !large(out.type) &&
             ops::window_mode(eqn.params, false) == ops::WindowMode::clip) {
    out = gather(eqn, in, out.type);
  } else if (const Scatter* scatter = find_scatter(eqn.op);
             scatter && !large(in[1]->type) && !large(in[2]->type)) {
    out = this->scatter(eqn, scatter->combine, in);
  } else {
    return false;
  }
  return true;
}

// ---- places ----------------------------------------------------------------------------------

int ElementWriter::wide(int node) {
  switch (nodes().node(node).kind) {
    case Number::i64: return node;
    case Number::i32:
    case Number::u32: return nodes().add({Code::convert, Number::i64, {node}});
    default: throw Unsuited();
  }
}
int ElementWriter::comparable(int node, std::int64_t last) {
  const bool fits = std::in_range<std::int32_t>(last);
  return fits && nodes().node(node).kind == Number::i32 ? node : wide(node);
}
int ElementWriter::between(int node, std::int64_t last) {
  const Number kind = nodes().node(node).kind;
  const int first = number(0, kind), end = number(last, kind);
  const int least = select(less(node, first), first, node);
  return select(less(end, least), end, least);
}

ScalarArray ElementWriter::readable(const ScalarArray& held) {
  ScalarArray out = held.in_memory ? held : moved_to_frame(held);
  out.nodes.clear();
  check_version(out);
  return out;
}

// The array itself if the program may write its memory, else a copy in the frame.
ScalarArray ElementWriter::target(const ScalarArray& held) {
  if (held.storage >= 0 && held.writable && held.nodes.empty()) {
    check_version(held);
    return held;
  }
  ScalarArray copy = held;
  elements(copy);
  ScalarArray moved = moved_to_frame(copy);
  moved.storage = -1;
  return moved;
}
ScalarArray ElementWriter::written(ScalarArray& target) {
  if (target.storage >= 0) {
    target.version = ++versions_[index(target.storage)];
    return target;
  }
  elements(target);
  target.in_memory = false;
  return target;
}

// ---- windows at scalars ----------------------------------------------------------------------

ScalarArray ElementWriter::slice(const std::vector<ScalarArray*>& in, const Type& out) {
  ScalarArray source = readable(*in[0]);
  const int bytes = itemsize(out.dtype);
  for (std::size_t d = 0; d < out.rank(); ++d) {
    const std::int64_t last = source.type.shape[d] - out.shape[d];
    if (last == 0) continue;
    const int at = between(comparable(elements(*in[d + 1])[0], last), last);
    advance(source.start, at, source.strides[d] * bytes);
  }
  source.type = out;
  source.writable = false;
  if (source.start.changes) {  // before it is written again
    elements(source);
    source.in_memory = false;
    source.storage = -1;
  }
  return source;
}

ScalarArray ElementWriter::update(const std::vector<ScalarArray*>& in) {
  elements(*in[1]);
  std::vector<int> starts;
  for (std::size_t d = 0; d + 2 < in.size(); ++d) starts.push_back(elements(*in[d + 2])[0]);
  ScalarArray to = target(*in[0]);
  Access start = to.start;
  const int bytes = itemsize(to.type.dtype);
  const Shape& sizes = in[1]->type.shape;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const std::int64_t last = to.type.shape[d] - sizes[d];
    if (last > 0) advance(start, between(comparable(starts[d], last), last), to.strides[d] * bytes);
  }
  if (packed(in[1]->type) && is_contiguous(sizes, to.strides)) {
    keep(*in[1], start);
    return written(to);
  }
  Source from = source_of(*in[1]);
  ScalarArray part = to;
  part.start = start;
  if (packed(in[1]->type) && sizes.back() >= lanes_of_register() && to.strides.back() == 1) {
    update_rows(from, part, sizes);
    return written(to);
  }
  each_offset(sizes, to.strides, [&](std::int64_t i, std::int64_t offset) {
    code_.store(number_at(from, i), element(part, offset));
  });
  return written(to);
}

// Rows that fill a register: the last register of each overlaps the one before.
void ElementWriter::update_rows(Source& from, const ScalarArray& to, const Shape& sizes) {
  const std::int64_t row = sizes.back(), lanes = lanes_of_register();
  const Number kind = number_kind(to.type.dtype);
  each_offset(Shape(sizes.begin(), sizes.end() - 1), to.strides,
              [&](std::int64_t r, std::int64_t offset) {
                for (std::int64_t c = 0; c < row; c += lanes) {
                  const std::int64_t at = std::min(c, row - lanes);
                  code_.store(code_.load(kind, register_in(from, r * row + at)),
                              in_all_lanes(element(to, offset + at)));
                }
              });
}

// ---- windows at rows of indices --------------------------------------------------------------

// For each element of each window: its place in the operand, its position in the other array, and
// the condition that the window is inside. -1: it is always inside, or moved to be.
struct ElementWriter::Rows {
  struct Element {
    Access at;
    std::int64_t other;
    int inside;
  };
  std::vector<Element> elements;

  // The number of elements from i on that are neighbours in both arrays, and inside.
  std::int64_t run_at(std::size_t i) const {
    std::int64_t n = 0;
    for (; i + index(n) < elements.size(); ++n) {
      const Element &e = elements[i + index(n)], &first = elements[i];
      if (e.inside >= 0 || e.at.offset != first.at.offset + n * first.at.bytes ||
          e.at.index != first.at.index || e.at.stride != first.at.stride ||
          e.other != first.other + n)
        break;
    }
    return n;
  }

  Rows(ElementWriter& writer, const ops::WindowDims& dims, ops::WindowMode mode,
       const ScalarArray& operand, ScalarArray& indices, const Type& other, const Ints& sizes) {
    if (writer.large(other)) throw Unsuited();
    Source components = writer.source_of(indices);
    const Shape rows(indices.type.shape.begin(), indices.type.shape.end() - 1);
    const std::int64_t parts = indices.type.shape.back();
    const Shape dense = row_major_strides(other.shape);
    // Strides of the other array along rows and along windows.
    Shape row_strides, window_strides, window_sizes, operand_strides;
    for (std::size_t d = 0; d < other.rank(); ++d) {
      (has(dims.window_dims, static_cast<std::int64_t>(d)) ? window_strides : row_strides)
          .push_back(dense[d]);
    }
    for (std::size_t d = 0; d < operand.type.rank(); ++d) {
      const auto dim = static_cast<std::int64_t>(d);
      if (has(dims.collapsed, dim) || has(dims.operand_batch, dim)) continue;
      window_sizes.push_back(sizes[d]);
      operand_strides.push_back(operand.strides[d]);
    }
    const int bytes = itemsize(operand.type.dtype);
    each_offset(rows, row_strides, [&](std::int64_t row, std::int64_t start) {
      ScalarArray window = operand;
      std::int64_t rest = row;
      for (std::size_t d = rows.size(); d-- > 0;) {
        const std::int64_t at = rest % rows[d];
        rest /= rows[d];
        for (std::size_t b = 0; b < dims.index_batch.size(); ++b) {
          if (dims.index_batch[b] == static_cast<std::int64_t>(d))
            window.start.offset += at * operand.strides[index(dims.operand_batch[b])] * bytes;
        }
      }
      int inside = -1;
      for (std::int64_t c = 0; c < parts; ++c) {
        const std::size_t d = index(dims.index_map[index(c)]);
        const std::int64_t last = operand.type.shape[d] - sizes[d];
        if (last < 0) throw Unsuited();
        const int at = writer.comparable(writer.number_at(components, row * parts + c), last);
        if (mode == ops::WindowMode::fill) {
          auto& nodes = writer.nodes();
          const Number kind = nodes.node(at).kind;
          const int no = nodes.add({Code::bit_or,
                                    Number::truth,
                                    {writer.less(at, writer.number(0, kind)),
                                     writer.less(writer.number(last, kind), at)}});
          inside = inside < 0 ? no : nodes.add({Code::bit_or, Number::truth, {inside, no}});
        }
        const int placed = writer.between(at, last);
        if (last > 0) writer.advance(window.start, placed, operand.strides[d] * bytes);
      }
      std::vector<std::int64_t> offsets;
      each_offset(window_sizes, operand_strides,
                  [&](auto, std::int64_t offset) { offsets.push_back(offset); });
      each_offset(window_sizes, window_strides, [&](std::int64_t i, std::int64_t place) {
        elements.push_back({element(window, offsets[index(i)]), start + place, inside});
      });
    });
  }
};

ScalarArray ElementWriter::gather(const Equation& eqn, const std::vector<ScalarArray*>& in,
                                  const Type& out) {
  const ScalarArray source = readable(*in[0]);
  const Rows rows(*this, ops::gather_dims(eqn.params), ops::WindowMode::clip, source, *in[1], out,
                  eqn.params.ints(param::slice_sizes));
  ScalarArray result{out};
  if (!packed(out)) {
    result.nodes.resize(index(out.size()));
    for (const auto& each : rows.elements)
      result.nodes[index(each.other)] = code_.load(number_kind(out.dtype), each.at);
    return result;
  }
  result = in_frame(out);
  for (const auto& each : rows.elements)
    code_.store(code_.load(number_kind(out.dtype), each.at), element(result, each.other));
  read_all(result);
  return result;
}

ScalarArray ElementWriter::scatter(const Equation& eqn, const Op* combine,
                                   const std::vector<ScalarArray*>& in) {
  const ops::WindowDims dims = ops::scatter_dims(eqn.params);
  const ops::WindowMode mode = ops::window_mode(eqn.params, true);
  Source updates = source_of(*in[2]);
  elements(*in[1]);
  ScalarArray to = target(*in[0]);
  const Type& type = to.type;
  MapKernel kernel;
  if (combine) {
    kernel = combine->map({type, type}, type, {});
    if (is_half(type.dtype) || is_complex(type.dtype) || !kernel.record) throw Unsuited();
  }
  const Rows rows(*this, dims, mode, to, *in[1], in[2]->type,
                  ops::window_sizes(dims, type.rank(), in[2]->type.shape));
  for (std::size_t i = 0; i < rows.elements.size(); ++i) {
    const auto& each = rows.elements[i];
    Access at = each.at;
    at.changes = true;
    const std::int64_t run = packed(in[2]->type) ? rows.run_at(i) : 0;
    if (run > 0 && run >= lanes_of_register()) {
      scatter_run(updates, each.other, run, at, combine ? &kernel : nullptr);
      i += index(run - 1);
      continue;
    }
    int value = number_at(updates, each.other);
    if (combine || each.inside >= 0) {
      const int before = code_.load(number_kind(type.dtype), at);
      if (combine) {
        const int operands[] = {before, value};
        value = kernel.record(nodes(), operands, kernel.extra);
      }
      if (each.inside >= 0) value = select(each.inside, before, value);
    }
    code_.store(value, at);
  }
  return written(to);
}

// A run that fills registers, of which the last overlaps the one before: all are read first.
void ElementWriter::scatter_run(Source& updates, std::int64_t first, std::int64_t count,
                                const Access& to, const MapKernel* combine) {
  const Number kind = number_kind(updates.held->type.dtype);
  std::vector<std::pair<Access, int>> stores;
  for (std::int64_t i = 0; i < count; i += lanes_of_register()) {
    const std::int64_t at = std::min(i, count - lanes_of_register());
    Access target = in_all_lanes(to);
    target.offset += at * to.bytes;
    int value = code_.load(kind, register_in(updates, first + at));
    if (combine) value = combined(*combine, code_.load(kind, target), value);
    stores.emplace_back(target, value);
  }
  for (const auto& [target, value] : stores) code_.store(value, target);
}

}  // namespace shardax

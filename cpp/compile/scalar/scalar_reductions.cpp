// compile/scalar/scalar_reductions.cpp - reductions of small arrays, and places of extreme values.
#include <algorithm>
#include <optional>

#include "base/index.h"
#include "compile/scalar/scalar_values.h"
#include "compile/tuning.h"
#include "ir/core_ops.h"
#include "kernels/tiles/reduce.h"
#include "kernels/tiles/short_rows.h"
#include "ops/ops.h"

namespace shardax {

using codegen::Code;

bool ElementWriter::reduce(const Equation& eqn, const std::vector<ScalarArray*>& in,
                           ScalarArray& out) {
  if (eqn.op == &core_ops().argmax || eqn.op == &core_ops().argmin)
    return find_places(eqn, *in[0], out);
  return eqn.op->kind == Kind::reduction &&
         (reduce_numbers(eqn, *in[0], out) || reduce_truths(eqn, *in[0], out) ||
          reduce_registers(eqn, *in[0], out) || reduce_rows(eqn, *in[0], out));
}

// The op on scalars that joins two elements of a reduction.
const Op* ElementWriter::pair_of(const Op& reduction) {
  static const Op* const pairs[][2] = {{&core_ops().reduce_and, &core_ops().and_},
                                       {&core_ops().reduce_or, &core_ops().or_},
                                       {&core_ops().reduce_max, &core_ops().max},
                                       {&core_ops().reduce_min, &core_ops().min},
                                       {&core_ops().reduce_sum, &core_ops().add}};
  for (const auto& [op, pair] : pairs) {
    if (op == &reduction) return pair;
  }
  return nullptr;
}

// Along the last dimensions, one element after the other, as kernels/tiles/short_rows.h combines
// rows of fewer than 16. Sums start from 0, others with the first element.
bool ElementWriter::reduce_numbers(const Equation& eqn, ScalarArray& in, ScalarArray& out) {
  const DType dtype = in.type.dtype;
  const Op* pair = pair_of(*eqn.op);
  const std::size_t kept = out.type.rank();
  const std::int64_t results = out.type.size(), n = results > 0 ? in.type.size() / results : 0;
  const bool truth = dtype == DType::boolean;
  if (!pair || in.type.size() > tuning::scalar_values::most_elements || n < 1 ||
      (!truth && n >= kernels::row_lanes) ||
      eqn.params.ints(param::axes) !=
          ops::iota_ints(in.type.rank() - kept, static_cast<std::int64_t>(kept)))
    return false;
  const Number kind = number_kind(dtype);
  const bool is_sum = pair == &core_ops().add;
  const bool is_number =
      itemsize(dtype) == codegen::width_of(kind) && !is_complex(dtype) && !is_key(dtype);
  if (truth ? kind != Number::truth || is_sum : !is_number) return false;
  const Type one = with_shape(in.type, {});
  const MapKernel kernel = pair->map({one, one}, one, {});
  if (!kernel.record) return false;
  const std::vector<int> each = elements(in);
  for (std::size_t r = 0; r < index(results); ++r) {
    std::size_t at = r * index(n);
    const std::size_t end = at + index(n);
    int joined = is_sum ? nodes().add({Code::constant, kind, {}, 0}) : each[at++];
    for (; at < end; ++at) {
      const int operands[] = {joined, each[at]};
      joined = kernel.record(nodes(), operands, kernel.extra);
    }
    out.nodes.push_back(joined);
  }
  return true;
}

// One truth value out of those in registers.
bool ElementWriter::reduce_truths(const Equation& eqn, ScalarArray& in, ScalarArray& out) {
  const bool any = pair_of(*eqn.op) == &core_ops().or_, all = pair_of(*eqn.op) == &core_ops().and_;
  if (in.type.dtype != DType::boolean || !packed(in.type) || out.type.size() != 1 || (!any && !all))
    return false;
  const std::vector<int> each = elements(in);
  int joined = each[0];
  for (const int node : each) {
    const Code code = any ? Code::bit_or : Code::bit_and;
    if (node != joined) joined = nodes().add({code, Number::truth, {joined, node}});
  }
  // The lanes as numbers, one by one.
  const Number kind = width_ == 4 ? Number::i32 : Number::i64;
  const DType dtype = width_ == 4 ? DType::int32 : DType::int64;
  const int no = number(0, kind);
  const ScalarArray lanes = in_frame({dtype, false, {lanes_of_register()}, {}});
  code_.store(select(joined, number(-1, kind), no), in_all_lanes(lanes.start));
  int total = -1;
  for (std::int64_t l = 0; l < lanes_of_register(); ++l) {
    const int lane = code_.load(kind, element(lanes, l));
    total =
        total < 0 ? lane : nodes().add({any ? Code::bit_or : Code::bit_and, kind, {total, lane}});
  }
  const int zero = nodes().add({Code::equal, Number::truth, {total, no}});
  const int yes = nodes().add({Code::constant, Number::truth, {}, ~std::uint64_t{0}});
  out.nodes.push_back(nodes().add({Code::bit_xor, Number::truth, {zero, yes}}));
  return true;
}

namespace {

void run_reduction(std::byte* out, const std::byte* in, std::byte* accumulators,
                   const RowReduction* r) {
  const std::int64_t results = r->outer * r->columns;
  r->kernels.init(accumulators, results);
  if (r->columns == 1) {
    r->kernels.fold(accumulators, in, r->n, r->outer);
  } else {
    for (std::int64_t o = 0; o < r->outer; ++o)
      r->kernels.zip(accumulators + o * r->columns * r->accumulator_size,
                     in + o * r->n * r->columns * r->itemsize, r->columns, r->n, r->columns);
  }
  r->kernels.finish(out, 1, accumulators, results);
}

// Sizes of the dimensions before the reduced ones, of these, and of those after.
struct Extents {
  std::int64_t outer = 1, n = 1, columns = 1;
};
// None where others lie between `axes`.
std::optional<Extents> extents_along(const Shape& shape, const Ints& axes) {
  if (axes.empty() || axes != ops::iota_ints(axes.size(), axes[0])) return {};
  Extents out;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const auto dim = static_cast<std::int64_t>(d);
    (dim < axes[0] ? out.outer : dim <= axes.back() ? out.n : out.columns) *= shape[d];
  }
  return out;
}

}  // namespace

// By the kernels of loops.
bool ElementWriter::reduce_rows(const Equation& eqn, ScalarArray& in, ScalarArray& out) {
  const DType dtype = in.type.dtype;
  const auto extents = extents_along(in.type.shape, eqn.params.ints(param::axes));
  if (is_half(dtype) || dtype == DType::boolean || in.type.size() == 0 ||
      in.type.size() > tuning::scalar_ops::most_reduced || large(out.type) || !eqn.op->reduce ||
      !extents)
    return false;
  // Longer rows meet in the order of tiles and parts.
  const auto [outer, n, columns] = *extents;
  if (n > (columns == 1 ? kernels::fold_block : kernels::ZipParts::least_rows)) return false;
  auto call = std::make_unique<RowReduction>();
  call->outer = outer, call->n = n, call->columns = columns;
  call->kernels = eqn.op->reduce(dtype);
  if (!call->kernels.init) return false;
  call->itemsize = itemsize(dtype);
  call->accumulator_size = itemsize(call->kernels.accumulator);
  const FrameAddress from = address_of(in);
  ScalarArray result = in_frame(out.type);
  const std::int64_t accumulators = reserve(out.type.size() * call->accumulator_size);
  code_.call({reinterpret_cast<const void*>(&run_reduction),
              {{frame_pointer, result.start.offset},
               {from.pointer, from.value},
               {frame_pointer, accumulators},
               {-1, reinterpret_cast<std::int64_t>(call.get())}}});
  out_.reductions.push_back(std::move(call));
  ++out_.calls;
  read_all(result);
  out = result;
  return true;
}

// The better one of the numbers of two parts of a line: of equal ones that of the first part, and
// the first NaN.
ElementWriter::Ranked ElementWriter::better(const Ranked& a, const Ranked& b, bool greatest) {
  int wins = greatest ? less(a.number, b.number) : less(b.number, a.number);
  if (codegen::is_float(nodes().node(a.number).kind)) {
    const int is_nan = nodes().add({Code::not_equal, Number::truth, {b.number, b.number}}),
              was_not = nodes().add({Code::equal, Number::truth, {a.number, a.number}}),
              first = nodes().add({Code::bit_and, Number::truth, {is_nan, was_not}});
    wins = nodes().add({Code::bit_or, Number::truth, {wins, first}});
  }
  return {select(wins, b.number, a.number), select(wins, b.place, a.place)};
}
int ElementWriter::best_place(std::vector<Ranked> line, bool greatest) {
  while (line.size() > 1) {
    std::size_t pairs = 0;
    for (std::size_t i = 0; i < line.size(); i += 2)
      line[pairs++] = i + 1 < line.size() ? better(line[i], line[i + 1], greatest) : line[i];
    line.resize(pairs);
  }
  return line[0].place;
}

// Do registers of an array have columns of one row only?
bool ElementWriter::fills_registers(const Shape& shape, std::int64_t columns) const {
  return columns % lanes_of_register() == 0 && !in_rows(shape, lanes_of_register());
}
// Registers of the same columns of n rows, in row-major order of the columns.
std::vector<std::vector<int>> ElementWriter::register_lines(ScalarArray& in, std::int64_t outer,
                                                            std::int64_t n, std::int64_t columns) {
  const std::vector<int>& registers = elements(in);
  const std::int64_t across = columns / lanes_of_register();
  std::vector<std::vector<int>> out;
  for (std::int64_t k = 0; k < outer * across; ++k) {
    out.emplace_back();
    for (std::int64_t r = 0; r < n; ++r)
      out.back().push_back(registers[index((k / across * n + r) * across + k % across)]);
  }
  return out;
}
// The array whose elements fill these registers. A small one is read from the frame.
ScalarArray ElementWriter::of_registers(const Type& type, std::vector<int> registers) {
  if (packed(type)) return {type, std::move(registers)};
  ScalarArray out = in_frame(type);
  for (std::size_t k = 0; k < registers.size(); ++k) {
    const std::int64_t first = static_cast<std::int64_t>(k) * lanes_of_register();
    code_.store(registers[k], in_all_lanes(element(out, first)));
  }
  read_all(out);
  return out;
}

// Rows that fill registers, in any order: sums of floats have that of the kernels of loops.
bool ElementWriter::reduce_registers(const Equation& eqn, ScalarArray& in, ScalarArray& out) {
  const Op* pair = pair_of(*eqn.op);
  const auto extents = extents_along(in.type.shape, eqn.params.ints(param::axes));
  if (!pair || !packed(in.type) || in.type.dtype == DType::boolean ||
      (pair == &core_ops().add && is_floating(in.type.dtype)) || !extents ||
      !fills_registers(in.type.shape, extents->columns))
    return false;
  const auto [outer, n, columns] = *extents;
  const Type one = with_shape(in.type, {});
  const MapKernel kernel = pair->map({one, one}, one, {});
  if (!kernel.record) return false;
  std::vector<int> results;
  for (const std::vector<int>& rows : register_lines(in, outer, n, columns)) {
    int joined = rows[0];
    for (std::size_t r = 1; r < rows.size(); ++r) joined = combined(kernel, joined, rows[r]);
    results.push_back(joined);
  }
  out = of_registers(out.type, std::move(results));
  return true;
}

// Places of the greatest or the least numbers: of columns that fill registers, or of few lines.
bool ElementWriter::find_places(const Equation& eqn, ScalarArray& in, ScalarArray& out) {
  const bool greatest = eqn.op == &core_ops().argmax;
  if (in.type.size() == 0 || large(in.type)) return false;
  const Number kind = lane_kind(in.type.dtype), place = lane_kind(out.type.dtype);
  const bool is_ordered = codegen::is_float(kind) || kind == Number::i32 || kind == Number::i64;
  if (!is_ordered || (place != Number::i32 && place != Number::i64)) return false;
  const auto extents = extents_along(in.type.shape, eqn.params.ints(param::axes));
  if (!extents) return false;
  const auto [outer, n, columns] = *extents;
  if (packed(in.type) && fills_registers(in.type.shape, columns) &&
      codegen::width_of(place) == width_) {
    std::vector<int> places;
    for (const std::vector<int>& rows : register_lines(in, outer, n, columns)) {
      std::vector<Ranked> line;
      for (const int row : rows) line.push_back({row, number(std::ssize(line), place)});
      places.push_back(best_place(std::move(line), greatest));
    }
    out = of_registers(out.type, std::move(places));
    return true;
  }
  if (packed(out.type) || in.type.size() > tuning::scalar_ops::most_ranked) return false;
  Source from = source_of(in);
  for (std::int64_t i = 0; i < out.type.size(); ++i) {
    const std::int64_t start = i / columns * n * columns + i % columns;
    std::vector<Ranked> line;
    for (std::int64_t r = 0; r < n; ++r)
      line.push_back({number_at(from, start + r * columns), number(r, place)});
    out.nodes.push_back(best_place(std::move(line), greatest));
  }
  return true;
}

}  // namespace shardax

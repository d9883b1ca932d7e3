// compile/scalar/scalar_reductions.cpp - reductions of small arrays, and places of extreme values.
#include <algorithm>

#include "base/index.h"
#include "compile/scalar/scalar_values.h"
#include "compile/tuning.h"
#include "ir/core_ops.h"
#include "kernels/tiles/reduce.h"
#include "kernels/tiles/short_rows.h"
#include "ops/ops.h"

namespace shardax {

using codegen::Code;

bool ElementWriter::reduce(const Equation& eqn, ScalarArray& in, ScalarArray& out) {
  return reduce_numbers(eqn, in, out) || reduce_truths(eqn, in, out) || reduce_rows(eqn, in, out);
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
  codegen::Access whole = lanes.start;
  whole.bytes = codegen::scalar_vector_bytes();
  code_.store(select(joined, number(-1, kind), no), whole);
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

// Rows of `n` elements each, or n rows, become `results` numbers.
void run_reduction(std::byte* out, const std::byte* in, std::byte* accumulators,
                   const RowReduction* r) {
  r->kernels.init(accumulators, r->results);
  if (r->inner) {
    r->kernels.fold(accumulators, in, r->n, r->results);
  } else {
    r->kernels.zip(accumulators, in, r->results, r->n, r->results);
  }
  r->kernels.finish(out, 1, accumulators, r->results);
}

}  // namespace

// Along the first or the last dimensions, by the kernels of loops.
bool ElementWriter::reduce_rows(const Equation& eqn, ScalarArray& in, ScalarArray& out) {
  const DType dtype = in.type.dtype;
  const Ints& axes = eqn.params.ints(param::axes);
  const auto reduced = static_cast<std::int64_t>(axes.size()),
             kept = static_cast<std::int64_t>(out.type.rank());
  const bool inner = axes == ops::iota_ints(index(reduced), kept);
  if (is_half(dtype) || dtype == DType::boolean || in.type.size() == 0 ||
      in.type.size() > tuning::scalar_ops::most_reduced || large(out.type) ||
      (!inner && axes != ops::iota_ints(index(reduced), 0)))
    return false;
  auto call = std::make_unique<RowReduction>();
  call->kernels = eqn.op->reduce ? eqn.op->reduce(dtype) : kernels::ReduceKernels{};
  call->results = out.type.size();
  call->n = in.type.size() / call->results;
  call->inner = inner;
  // Longer rows meet in the order of tiles and parts.
  if (!call->kernels.init ||
      call->n > (inner ? kernels::fold_block : kernels::ZipParts::least_rows))
    return false;
  const FrameAddress from = address_of(in);
  ScalarArray result = in_frame(out.type);
  const std::int64_t accumulators = reserve(call->results * itemsize(call->kernels.accumulator));
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

}  // namespace shardax

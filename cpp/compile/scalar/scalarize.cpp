// compile/scalar/scalarize.cpp - programs, loops and branches as nodes.
#include "compile/scalar/scalarize.h"

#include <algorithm>

#include "base/index.h"
#include "codegen/scalar/range_analysis.h"
#include "compile/pipeline.h"
#include "compile/scalar/scalar_suits.h"
#include "compile/scalar/scalar_values.h"
#include "compile/tuning.h"
#include "ir/core_ops.h"

namespace shardax {
namespace {

using codegen::Access;

class Writer : ElementWriter {
 public:
  using ElementWriter::ElementWriter;

  void run(const Equation& eqn, const Types& in, const std::vector<ArrayPtr>& scalars) {
    const Regions regions = eqn.op->regions(eqn.params);
    out_.results = out_.operands + static_cast<int>(in.size());
    out_.constants = out_.results + static_cast<int>(eqn.outputs.size());
    std::vector<ScalarArray> operands;
    for (std::size_t i = 0; i < in.size(); ++i)
      operands.push_back(scalars[i]
                             ? constant(scalars[i])
                             : in_memory(in[i], {.pointer = out_.operands + static_cast<int>(i)}));
    top_ = true;
    const std::vector<ScalarArray> results = control(regions, operands);
    for (std::size_t k = 0; k < results.size(); ++k) {
      const int pointer = out_.results + static_cast<int>(k);
      if (!results[k].in_memory) {
        keep(results[k], {.pointer = pointer});
      } else if (results[k].start.pointer != pointer) {
        throw Unsuited();
      }
    }
    place_frame();
  }

 private:
  // ---- programs -----------------------------------------------------------------------------

  std::vector<ScalarArray> program(const ProgramPtr& source, const std::vector<ScalarArray>& in) {
    const ProgramPtr body = rewritten_body(source);
    std::vector<ScalarArray> values(body->types.size());
    for (std::size_t i = 0; i < in.size(); ++i) {
      values[index(body->inputs[i])] = in[i];
      values[index(body->inputs[i])].shared = nullptr;  // its copy may be made on one way alone
    }
    for (const Constant& c : body->constants) values[index(c.var)] = constant(c.value);
    for (const Equation& eqn : body->equations) {
      if (nodes().size() > tuning::scalarize::most_nodes) throw Unsuited();
      std::vector<ScalarArray*> operands;
      Types types;
      for (const Var v : eqn.inputs) operands.push_back(&values[index(v)]);
      for (const Var v : eqn.outputs) types.push_back(body->type(v));
      const std::vector<ScalarArray> results = equation(eqn, operands, types);
      for (std::size_t k = 0; k < results.size(); ++k) {
        values[index(eqn.outputs[k])] = results[k];
      }
    }
    std::vector<ScalarArray> out;
    for (const Var v : body->outputs) {
      if (is_moved(values[index(v)])) elements(values[index(v)]);
      out.push_back(values[index(v)]);
    }
    return out;
  }

  std::vector<ScalarArray> equation(const Equation& eqn, const std::vector<ScalarArray*>& in,
                                    const Types& out) {
    if (calls_host(eqn)) throw Unsuited();
    const bool moves = eqn.op->view || eqn.op == &core_ops().concatenate;
    for (ScalarArray* held : in) {
      if (!moves && is_moved(*held)) elements(*held);
    }
    if (eqn.op->kind == Kind::control) {
      if (!eqn.op->regions) throw Unsuited();
      std::vector<ScalarArray> operands;
      for (const ScalarArray* held : in) operands.push_back(*held);
      top_ = false;
      return control(eqn.op->regions(eqn.params), operands);
    }
    ScalarArray made{out.empty() ? Type() : out[0]};
    if (eqn.op->view && view(eqn, *in[0], out[0], made)) return {made};
    const bool written =
        out.size() == 1 &&
        (move(eqn, in, made) || window(eqn, in, made) || product(eqn, in, made) ||
         reduce(eqn, in, made) || (eqn.op->kind == Kind::elementwise && map(eqn, in, made)));
    return written ? std::vector<ScalarArray>{made} : call(eqn, in, out);
  }

  // ---- control ------------------------------------------------------------------------------

  std::vector<ScalarArray> control(const Regions& regions, const std::vector<ScalarArray>& in) {
    switch (regions.runs) {
      case ExecutionKind::one_of: return one_of(regions, in);
      case ExecutionKind::counted: return counted(regions, in);
      case ExecutionKind::looped: return looped(regions, in);
      case ExecutionKind::once: return program(regions.programs[0], in);
      default: throw Unsuited();
    }
  }

  // Numbers of arrays, one after the other; of large ones none.
  std::vector<int> all_elements(std::vector<ScalarArray> arrays) {
    std::vector<int> out;
    for (ScalarArray& held : arrays) {
      if (held.storage >= 0 && large(held.type)) continue;
      const std::vector<int>& each = elements(held);
      out.insert(out.end(), each.begin(), each.end());
    }
    return out;
  }
  // The array whose numbers start at `next`; a large one is `memory`.
  ScalarArray taken(const Type& type, std::vector<int>::const_iterator& next,
                    const ScalarArray& memory) {
    if (large(type)) return memory;
    ScalarArray held{type, {next, next + nodes_of(type)}};
    next += nodes_of(type);
    return held;
  }

  // ---- large arrays that are carried --------------------------------------------------------

  // Memory of the loop's own, where `initial` lies at the start.
  ScalarArray owned(const ScalarArray& initial, bool top, std::size_t result) {
    if (initial.storage >= 0 && initial.writable) {
      check_version(initial);
      return initial;
    }
    if (!top || !initial.in_memory) throw Unsuited();
    ScalarArray held = in_memory(
        initial.type, {.pointer = out_.results + static_cast<int>(result), .changes = true});
    out_.copies.push_back({initial.start.pointer, held.start.pointer, initial.type.bytes()});
    held.storage = static_cast<int>(versions_.size());
    held.writable = true;
    versions_.push_back(0);
    return held;
  }
  // Carries as the body sees them. No other value may read the old version of an array that the
  // loop writes.
  std::vector<ScalarArray> start_carries(std::vector<ScalarArray> carried, bool top,
                                         const std::vector<std::size_t>& results) {
    for (std::size_t k = 0; k < carried.size(); ++k) {
      if (!large(carried[k].type)) continue;
      carried[k] = owned(carried[k], top, results[k]);
      carried[k].version = ++versions_[index(carried[k].storage)];
    }
    return carried;
  }
  void check_carries(const std::vector<ScalarArray>& before,
                     const std::vector<ScalarArray>& after) {
    for (std::size_t k = 0; k < before.size(); ++k) {
      if (!large(before[k].type)) continue;
      if (after[k].storage != before[k].storage || !after[k].writable) throw Unsuited();
      check_version(after[k]);
    }
  }
  // Operands that a loop only reads.
  static ScalarArray read_only(ScalarArray held) {
    held.writable = false;
    return held;
  }

  std::vector<ScalarArray> one_of(const Regions& regions, const std::vector<ScalarArray>& in) {
    ScalarArray choice = in[0];
    const int which = elements(choice)[0];
    return branch(regions, which, 0, {in.begin() + 1, in.end()});
  }
  std::vector<ScalarArray> branch(const Regions& regions, int which, std::size_t k,
                                  const std::vector<ScalarArray>& in) {
    if (k + 1 == regions.programs.size()) {
      std::vector<ScalarArray> out = program(regions.programs[k], in);
      for (ScalarArray& held : out) settle(held);
      return out;
    }
    const int limit =
        nodes().add({Code::constant, Number::i32, {}, static_cast<std::uint64_t>(k + 1)});
    code_.branch(less(which, limit));
    const std::vector<int> before = versions_;
    std::vector<ScalarArray> first = program(regions.programs[k], in);
    for (ScalarArray& held : first) settle(held);
    std::vector<int> after = versions_;
    versions_ = before;
    code_.otherwise(all_elements(first));
    const std::vector<ScalarArray> second = branch(regions, which, k + 1, in);
    // An array that either side has written gets a new version; both sides must give it.
    for (std::size_t s = 0; s < before.size(); ++s) {
      const bool written = after[s] != before[s] || versions_[s] != before[s];
      after[s] = std::max(after[s], versions_[s]) + (written ? 1 : 0);
    }
    for (std::size_t r = 0; r < first.size(); ++r) {
      if (first[r].storage != second[r].storage) throw Unsuited();
    }
    const std::vector<int> joined = code_.join(all_elements(second));
    versions_ = after;
    std::vector<ScalarArray> out;
    auto next = joined.cbegin();
    for (std::size_t r = 0; r < first.size(); ++r) {
      ScalarArray memory = second[r];
      if (memory.storage >= 0) {
        memory.version = versions_[index(memory.storage)];
        memory.writable = first[r].writable && second[r].writable;
      }
      out.push_back(taken(first[r].type, next, memory));
    }
    return out;
  }
  // A result of a branch: numbers, or all of a memory that may be written.
  void settle(ScalarArray& held) {
    check_version(held);
    if (held.storage >= 0 && large(held.type) && held.writable) return;
    elements(held);
    held.in_memory = false;
    held.storage = -1;
  }

  // ---- loops --------------------------------------------------------------------------------

  std::vector<ScalarArray> counted(const Regions& regions, const std::vector<ScalarArray>& in) {
    const bool top = top_;
    const ProgramPtr& body = regions.programs[0];
    const Types types = body->output_types(), in_types = body->input_types();
    const std::vector<ScalarArray> carried =
        start_carries(part_of(in, regions.operands_of(PortKind::carried)), top,
                      regions.results_of(PortKind::carried));
    const std::vector<ScalarArray> stacks = stacked_operands(regions, in);
    std::vector<ScalarArray> out = stacked_results(regions, types, top);
    std::vector<int> initial = all_elements(carried);
    const auto [first, end] = range(regions, top && carried.empty());
    initial.insert(initial.begin(), first);
    const std::vector<int> carries = code_.loop(initial);
    const int turn = carries[0];
    code_.test(less(turn, end));
    const int row = regions.reverse
                        ? nodes().add({Code::sub, Number::i64, {number(regions.length - 1), turn}})
                        : turn;
    std::vector<ScalarArray> body_in;
    auto next = carries.cbegin() + 1;
    std::size_t carry = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const PortKind flow = regions.operands[i].flow;
      body_in.push_back(flow == PortKind::carried  ? taken(in_types[i], next, carried[carry++])
                        : flow == PortKind::sliced ? row_of(stacks[i], in_types[i], row)
                                                   : read_only(in[i]));
    }
    const std::vector<ScalarArray> results = program(body, body_in);
    const std::vector<ScalarArray> after = part_of(results, regions.results_of(PortKind::carried));
    check_carries(carried, after);
    for (const std::size_t k : regions.results_of(PortKind::sliced)) {
      if (large(types[k])) throw Unsuited();
      Access start = out[k].start;
      advance(start, row, types[k].bytes());
      keep({types[k], all_elements({results[k]})}, start);
    }
    std::vector<int> again = all_elements(after);
    again.insert(again.begin(), nodes().add({Code::add, Number::i64, {turn, number(1)}}));
    const std::vector<int> last = code_.again(again);
    next = last.cbegin() + 1;
    carry = 0;
    for (const std::size_t k : regions.results_of(PortKind::carried))
      out[k] = taken(types[k], next, after[carry++]);
    return out;
  }
  // The first turn and the end. Turns that do not depend on each other run in parts.
  std::pair<int, int> range(const Regions& regions, bool in_parts) {
    if (!in_parts) return {number(0), number(regions.length)};
    out_.range = reserve(16);
    const auto bound = [&](std::int64_t at) {
      return code_.load(Number::i64, {.pointer = frame_pointer, .offset = at, .bytes = 8});
    };
    const int first = bound(out_.range);
    return {first, bound(out_.range + 8)};
  }
  static std::vector<ScalarArray> part_of(const std::vector<ScalarArray>& all,
                                          const std::vector<std::size_t>& positions) {
    std::vector<ScalarArray> out;
    for (const std::size_t i : positions) out.push_back(all[i]);
    return out;
  }
  std::vector<ScalarArray> stacked_operands(const Regions& regions, std::vector<ScalarArray> in) {
    for (const std::size_t i : regions.operands_of(PortKind::sliced)) {
      if (!in[i].in_memory) in[i] = moved_to_frame(in[i]);
    }
    return in;
  }
  // The arrays for stacked results of a loop: results of the program, or memory of the frame.
  std::vector<ScalarArray> stacked_results(const Regions& regions, const Types& types, bool top) {
    std::vector<ScalarArray> out(types.size());
    for (const std::size_t k : regions.results_of(PortKind::sliced)) {
      Type type = types[k];
      type.insert_dimension(0, regions.length);
      if (!top && type.bytes() > tuning::scalarize::most_frame_bytes) throw Unsuited();
      out[k] =
          top ? in_memory(type, {.pointer = out_.results + static_cast<int>(k)}) : in_frame(type);
    }
    return out;
  }
  ScalarArray row_of(const ScalarArray& stack, const Type& type, int row) {
    ScalarArray out = read_only(stack);
    out.nodes.clear();
    out.type = type;
    out.strides = Shape(stack.strides.begin() + 1, stack.strides.end());
    advance(out.start, row, stack.strides[0] * itemsize(type.dtype));
    return out;
  }

  std::vector<ScalarArray> looped(const Regions& regions, const std::vector<ScalarArray>& in) {
    const bool top = top_;
    const Types types = regions.programs[1]->output_types();
    const std::vector<ScalarArray> carried =
        start_carries(part_of(in, regions.operands_of(PortKind::carried)), top,
                      regions.results_of(PortKind::carried));
    const std::vector<int> carries = code_.loop(all_elements(carried));
    const auto inputs = [&](std::size_t k) {
      std::vector<ScalarArray> taken_in;
      auto next = carries.cbegin();
      std::size_t carry = 0;
      for (const std::size_t i : regions.taken_by(k)) {
        if (regions.operands[i].flow == PortKind::carried) {
          taken_in.push_back(taken(types[carry], next, carried[carry]));
          ++carry;
        } else {
          taken_in.push_back(read_only(in[i]));
        }
      }
      return taken_in;
    };
    code_.test(all_elements(program(regions.programs[0], inputs(0)))[0]);
    const std::vector<ScalarArray> after = program(regions.programs[1], inputs(1));
    check_carries(carried, after);
    const std::vector<int> last = code_.again(all_elements(after));
    std::vector<ScalarArray> out;
    auto next = last.cbegin();
    for (std::size_t k = 0; k < types.size(); ++k) out.push_back(taken(types[k], next, after[k]));
    return out;
  }

  bool top_ = false;  // the op that is written is the one that the program stands for
};

}  // namespace

std::unique_ptr<ScalarLoop> write_scalar_loop(const Equation& eqn, const Types& in,
                                              const std::vector<ArrayPtr>& scalars,
                                              CallPlan call_plan) {
  const Regions regions = eqn.op->regions(eqn.params);
  for (const int width : {0, 4, 8}) {
    if (!suits(regions, width)) continue;
    auto out = std::make_unique<ScalarLoop>();
    try {
      Writer(*out, call_plan, width).run(eqn, in, scalars);
      if (!is_worth_it(regions, width, *out)) continue;
      codegen::fold_ranges(out->program);
      return out;
    } catch (const Unsuited&) {
    }
  }
  return nullptr;
}

}  // namespace shardax

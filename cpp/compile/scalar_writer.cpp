// compile/scalar_writer.cpp - equations as nodes.
#include "compile/scalar_writer.h"

#include <algorithm>
#include <cstring>

#include "codegen/lane.h"
#include "compile/known.h"
#include "compile/pipeline.h"
#include "ir/op.h"

namespace shardax {
namespace {

using codegen::Access;
using codegen::Code;
using Lanes = codegen::Kind;  // of a number

// Arrays of more elements are not taken apart, programs of more nodes not made.
constexpr std::int64_t most_elements = 16;
constexpr int most_nodes = 4000;

// What ends the writing of a program that is not for us.
struct Unsuited {};

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

Lanes kind_of(DType dtype) {
  Lanes kind = Lanes::none;
  visit_dtype(dtype, [&](auto zero) { kind = codegen::kind_of<decltype(zero)>; });
  return kind;
}
// Elements that are only passed on are integers of their size.
Lanes held_kind(DType dtype) {
  const Lanes kind = kind_of(dtype);
  if (kind != Lanes::none) return kind;
  switch (itemsize(dtype)) {
    case 1:
    case 2:
    case 4: return Lanes::u32;
    case 8: return Lanes::u64;
    default: throw Unsuited();
  }
}

// An array as its elements in row-major order, or in memory, with strides in elements.
struct Held {
  Type type;
  std::vector<int> nodes;
  bool in_memory = false;
  Access start{};
  Shape strides;
};

// Calls f(position in row-major order, offset) for all elements seen through strides.
template <class F>
void each_offset(const Shape& shape, const Shape& strides, F&& f) {
  std::int64_t count = 1;
  for (const std::int64_t d : shape) count *= d;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t rest = i, offset = 0;
    for (std::size_t d = shape.size(); d-- > 0;) {
      offset += rest % shape[d] * strides[d];
      rest /= shape[d];
    }
    f(i, offset);
  }
}

bool calls_host(const Equation& eqn) {
  return !eqn.op->effect.empty() ||
         std::any_of(eqn.params.begin(), eqn.params.end(), [](const Params::Entry& entry) {
           return std::holds_alternative<FunctionPtr>(entry.second);
         });
}

class Writer {
 public:
  Writer(ScalarLoop& out, CallPlan call_plan)
      : out_(out), code_(out.program), call_plan_(call_plan) {}

  void run(const Equation& eqn, const Types& in) {
    const Bodies bodies = eqn.op->bodies(eqn.params);
    out_.results = out_.operands + static_cast<int>(in.size());
    out_.constants = out_.results + static_cast<int>(eqn.outputs.size());
    std::vector<Held> operands;
    for (std::size_t i = 0; i < in.size(); ++i)
      operands.push_back(in_memory(in[i], {.pointer = out_.operands + static_cast<int>(i)}));
    top_ = true;
    const std::vector<Held> results = control(bodies, operands);
    for (std::size_t k = 0; k < results.size(); ++k) {
      if (!results[k].in_memory) keep(results[k], {.pointer = out_.results + static_cast<int>(k)});
    }
    place_frame();
  }

 private:
  codegen::VectorProgram& nodes() { return code_.nodes; }
  void check_size() {
    if (nodes().size() > most_nodes) throw Unsuited();
  }
  int number(std::int64_t value) {
    return nodes().add({Code::constant, Lanes::i64, {}, static_cast<std::uint64_t>(value)});
  }

  // ---- memory -------------------------------------------------------------------------------

  static Held in_memory(const Type& type, const Access& start) {
    return {type, {}, true, start, row_major_strides(type.shape)};
  }
  Access element(const Held& held, std::int64_t offset) const {
    Access access = held.start;
    access.bytes = itemsize(held.type.dtype);
    access.offset += offset * access.bytes;
    return access;
  }
  // The elements as nodes.
  const std::vector<int>& elements(Held& held) {
    if (!held.in_memory || !held.nodes.empty()) return held.nodes;
    if (held.type.size() > most_elements) throw Unsuited();
    const Lanes kind = held_kind(held.type.dtype);
    each_offset(held.type.shape, held.strides, [&](std::int64_t, std::int64_t offset) {
      held.nodes.push_back(code_.load(kind, element(held, offset)));
    });
    return held.nodes;
  }
  // Writes the elements, row-major, at `start`.
  void keep(const Held& held, const Access& start) {
    const Held target = in_memory(held.type, start);
    for (std::size_t i = 0; i < held.nodes.size(); ++i)
      code_.store(held.nodes[i], element(target, static_cast<std::int64_t>(i)));
  }
  std::int64_t reserve(std::int64_t bytes) {
    const std::int64_t at = out_.frame_bytes;
    out_.frame_bytes += (bytes + 63) / 64 * 64;
    return at;
  }
  Held in_frame(const Type& type) {
    return in_memory(type,
                     {.pointer = frame_pointer, .offset = reserve(type.bytes()), .changes = true});
  }
  // The frame has no place among the pointers until all constants are known.
  static constexpr int frame_pointer = 0x10000;
  void place_frame() {
    out_.frame = out_.constants + static_cast<int>(out_.constant_arrays.size());
    code_.renumber_pointer(frame_pointer, out_.frame);
    for (FrameAddress& address : out_.addresses) {
      if (address.pointer == frame_pointer) address.pointer = out_.frame;
    }
  }

  // ---- programs -----------------------------------------------------------------------------

  Held constant(const ArrayPtr& value) {
    const Type& type = value->type();
    if (type.size() > most_elements || held_kind(type.dtype) != kind_of(type.dtype)) {
      const int pointer = out_.constants + static_cast<int>(out_.constant_arrays.size());
      out_.constant_arrays.push_back(value);
      Held held = in_memory(type, {.pointer = pointer});
      held.strides = value->strides();
      return held;
    }
    Held held{type, {}, false, {}, {}};
    const int bytes = itemsize(type.dtype);
    each_offset(type.shape, value->strides(), [&](std::int64_t, std::int64_t offset) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, value->data() + offset * bytes, static_cast<std::size_t>(bytes));
      if (type.dtype == DType::boolean) bits = bits ? ~std::uint64_t{0} : 0;
      held.nodes.push_back(nodes().add({Code::constant, kind_of(type.dtype), {}, bits}));
    });
    return held;
  }

  std::vector<Held> program(const ProgramPtr& source, const std::vector<Held>& in) {
    const ProgramPtr body = rewritten_body(source);
    std::vector<Held> values(body->types.size());
    for (std::size_t i = 0; i < in.size(); ++i) values[index(body->inputs[i])] = in[i];
    for (const Constant& c : body->constants) values[index(c.var)] = constant(c.value);
    for (const Equation& eqn : body->equations) {
      check_size();
      std::vector<Held*> operands;
      Types types;
      for (const Var v : eqn.inputs) operands.push_back(&values[index(v)]);
      for (const Var v : eqn.outputs) types.push_back(body->type(v));
      const std::vector<Held> results = equation(eqn, operands, types);
      for (std::size_t k = 0; k < results.size(); ++k) {
        values[index(eqn.outputs[k])] = results[k];
      }
    }
    std::vector<Held> out;
    for (const Var v : body->outputs) out.push_back(values[index(v)]);
    return out;
  }

  std::vector<Held> equation(const Equation& eqn, const std::vector<Held*>& in, const Types& out) {
    if (calls_host(eqn)) throw Unsuited();
    if (eqn.op->kind == Kind::control) {
      if (!eqn.op->bodies) throw Unsuited();
      std::vector<Held> operands;
      for (const Held* held : in) operands.push_back(*held);
      top_ = false;
      return control(eqn.op->bodies(eqn.params), operands);
    }
    if (eqn.op->view) {
      Held seen;
      if (view(eqn, *in[0], out[0], seen)) return {seen};
    }
    if (eqn.op == &known().dynamic_slice) return {window(in, out[0])};
    if (eqn.op->kind == Kind::elementwise) {
      Held mapped{out[0], {}, false, {}, {}};
      if (map(eqn, in, mapped)) return {mapped};
    }
    return call(eqn, in, out);
  }

  // ---- ops ----------------------------------------------------------------------------------

  bool view(const Equation& eqn, Held& in, const Type& out, Held& seen) {
    if (itemsize(in.type.dtype) != itemsize(out.dtype)) return false;
    ViewLayout layout;
    if (in.in_memory && in.nodes.empty()) {
      if (eqn.op->view(eqn.params, in.type, in.strides, out, layout)) {
        seen = in;
        seen.type = out;
        seen.strides = layout.strides;
        seen.start.offset += layout.offset * itemsize(out.dtype);
        return true;
      }
      layout = {};
    }
    const std::vector<int>& from = elements(in);
    const Shape dense = row_major_strides(in.type.shape);
    if (!eqn.op->view(eqn.params, in.type, dense, out, layout)) return false;
    if (out.size() > most_elements) throw Unsuited();
    seen = {out, {}, false, {}, {}};
    const Lanes kind = held_kind(out.dtype);
    each_offset(out.shape, layout.strides, [&](std::int64_t, std::int64_t offset) {
      const int node = from[index(offset + layout.offset)];
      const Lanes had = nodes().node(node).kind;
      if ((had == Lanes::truth) != (kind == Lanes::truth)) throw Unsuited();
      seen.nodes.push_back(had == kind ? node : nodes().add({Code::view, kind, {node}}));
    });
    return true;
  }

  // The element of an operand of an elementwise op that belongs to element i of the result.
  static std::size_t broadcast(const Type& operand, const Type& out, std::int64_t i) {
    if (operand.rank() == 0) return 0;
    const Shape dense = row_major_strides(operand.shape);
    std::int64_t offset = 0;
    for (std::size_t d = out.rank(); d-- > 0;) {
      if (operand.shape[d] != 1) offset += i % out.shape[d] * dense[d];
      i /= out.shape[d];
    }
    return index(offset);
  }

  bool map(const Equation& eqn, const std::vector<Held*>& in, Held& out) {
    if (out.type.size() > most_elements) throw Unsuited();
    Types types;
    for (const Held* held : in) {
      types.push_back(held->type);
      if (is_half(held->type.dtype) && !eqn.op->half_native) return false;
    }
    if (is_half(out.type.dtype) && !eqn.op->half_native) return false;
    const MapKernel kernel = eqn.op->map(types, out.type, eqn.params);
    if (!kernel.function) return false;
    bool records = kernel.record && kind_of(out.type.dtype) != Lanes::none;
    for (const Type& type : types) records = records && kind_of(type.dtype) != Lanes::none;
    for (Held* held : in) elements(*held);
    if (!records) {
      tile(kernel, in, out);
      return true;
    }
    for (std::int64_t i = 0; i < out.type.size(); ++i) {
      SmallVector<int, 4> operands;
      for (const Held* held : in)
        operands.push_back(held->nodes[broadcast(held->type, out.type, i)]);
      out.nodes.push_back(kernel.record(nodes(), operands.data(), kernel.extra));
    }
    return true;
  }

  // The tile kernel, of operands in the frame.
  void tile(const MapKernel& kernel, const std::vector<Held*>& in, Held& out) {
    const std::int64_t table = reserve(static_cast<std::int64_t>(8 * in.size()));
    for (std::size_t k = 0; k < in.size(); ++k) {
      Held copy = in_frame(with_dtype(out.type, in[k]->type.dtype));
      for (std::int64_t i = 0; i < out.type.size(); ++i)
        copy.nodes.push_back(in[k]->nodes[broadcast(in[k]->type, out.type, i)]);
      keep(copy, copy.start);
      out_.addresses.push_back(
          {table + static_cast<std::int64_t>(8 * k), frame_pointer, copy.start.offset});
    }
    Held result = in_frame(out.type);
    code_.call({reinterpret_cast<const void*>(kernel.function),
                {{frame_pointer, result.start.offset},
                 {frame_pointer, table},
                 {-1, out.type.size()},
                 {-1, kernel.extra}}});
    ++out_.calls;
    out.nodes = elements(result);
  }

  // A plan of one equation. Operands in memory that do not move are read there.
  std::vector<Held> call(const Equation& eqn, const std::vector<Held*>& in, const Types& out) {
    MutableProgram program(new Program);
    Equation inner{eqn.op, eqn.params, {}, {}, eqn.location};
    std::vector<FrameAddress> from;
    for (Held* held : in) {
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
    std::vector<Held> results;
    for (std::size_t k = 0; k < out.size(); ++k) {
      results.push_back(in_frame(out[k]));
      out_.addresses.push_back({plan->out + static_cast<std::int64_t>(8 * k), frame_pointer,
                                results.back().start.offset});
    }
    code_.call({reinterpret_cast<const void*>(call_plan_),
                {{0, 0}, {-1, reinterpret_cast<std::int64_t>(plan.get())}, {frame_pointer, 0}},
                true});
    out_.plans.push_back(std::move(plan));
    ++out_.calls;
    for (Held& result : results) result.nodes = elements(result);
    for (Held& result : results) result.in_memory = false;
    return results;
  }
  FrameAddress address_of(Held& held) {
    if (held.in_memory && held.start.index < 0 && is_contiguous(held.type.shape, held.strides)) {
      return {0, held.start.pointer, held.start.offset};
    }
    Held copy = in_frame(held.type);
    copy.nodes = elements(held);
    keep(copy, copy.start);
    return {0, copy.start.pointer, copy.start.offset};
  }

  // ---- windows that move --------------------------------------------------------------------

  // An index as an int64.
  int wide(int node) {
    switch (nodes().node(node).kind) {
      case Lanes::i64: return node;
      case Lanes::i32:
      case Lanes::u32: return nodes().add({Code::convert, Lanes::i64, {node}});
      default: throw Unsuited();
    }
  }
  int less(int a, int b) { return nodes().add({Code::less, Lanes::truth, {a, b}}); }
  int choose(int condition, int yes, int no) {
    return nodes().add({Code::select, Lanes::i64, {condition, yes, no}});
  }
  int between(int node, std::int64_t last) {
    const int least = choose(less(node, number(0)), number(0), node);
    return choose(less(number(last), least), number(last), least);
  }

  // The operand where it lies, from the place that further operands say.
  Held window(const std::vector<Held*>& in, const Type& out) {
    Held source = *in[0];
    if (!source.in_memory) {
      Held copy = in_frame(source.type);
      copy.nodes = source.nodes;
      keep(copy, copy.start);
      copy.nodes.clear();
      source = copy;
    }
    source.nodes.clear();
    const int bytes = itemsize(out.dtype);
    for (std::size_t d = 0; d < out.rank(); ++d) {
      const std::int64_t last = source.type.shape[d] - out.shape[d];
      if (last == 0) continue;
      const int at = between(wide(elements(*in[d + 1])[0]), last);
      advance(source.start, at, source.strides[d] * bytes);
    }
    source.type = out;
    if (source.start.changes) {  // what lies there is written anew
      elements(source);
      source.in_memory = false;
    }
    return source;
  }
  // Further by node * stride bytes.
  void advance(Access& access, int node, std::int64_t stride) {
    if (access.index < 0) {
      access.index = node;
      access.stride = stride;
      return;
    }
    const auto times = [&](int factor, std::int64_t by) {
      return by == 1 ? factor : nodes().add({Code::mul, Lanes::i64, {factor, number(by)}});
    };
    access.index = nodes().add(
        {Code::add, Lanes::i64, {times(access.index, access.stride), times(node, stride)}});
    access.stride = 1;
  }

  // ---- control ------------------------------------------------------------------------------

  std::vector<Held> control(const Bodies& bodies, const std::vector<Held>& in) {
    switch (bodies.runs) {
      case Runs::one_of: return one_of(bodies, in);
      case Runs::counted: return counted(bodies, in);
      case Runs::looped: return looped(bodies, in);
      case Runs::once: return program(bodies.programs[0], in);
      default: throw Unsuited();
    }
  }

  // Numbers of arrays, one after the other.
  std::vector<int> all_elements(std::vector<Held> arrays) {
    std::vector<int> out;
    for (Held& held : arrays) {
      const std::vector<int>& each = elements(held);
      out.insert(out.end(), each.begin(), each.end());
    }
    return out;
  }
  // The arrays whose numbers start at `next`.
  static Held taken(const Type& type, std::vector<int>::const_iterator& next) {
    Held held{type, {next, next + type.size()}, false, {}, {}};
    next += type.size();
    return held;
  }

  std::vector<Held> one_of(const Bodies& bodies, const std::vector<Held>& in) {
    Held choice = in[0];
    const int which = elements(choice)[0];
    const std::vector<Held> operands(in.begin() + 1, in.end());
    const Types types = bodies.programs[0]->output_types();
    const std::vector<int> results = branch(bodies, which, 0, operands);
    std::vector<Held> out;
    auto next = results.cbegin();
    for (const Type& type : types) out.push_back(taken(type, next));
    return out;
  }
  std::vector<int> branch(const Bodies& bodies, int which, std::size_t k,
                          const std::vector<Held>& in) {
    if (k + 1 == bodies.programs.size()) return all_elements(program(bodies.programs[k], in));
    const int limit =
        nodes().add({Code::constant, Lanes::i32, {}, static_cast<std::uint64_t>(k + 1)});
    code_.branch(less(which, limit));
    code_.otherwise(all_elements(program(bodies.programs[k], in)));
    return code_.join(branch(bodies, which, k + 1, in));
  }

  std::vector<Held> counted(const Bodies& bodies, const std::vector<Held>& in) {
    const bool top = top_;
    const Types types = bodies.programs[0]->output_types();
    const Types in_types = bodies.programs[0]->input_types();
    std::vector<Held> carried, body_in;
    for (const std::size_t i : bodies.operands_of(Flow::carried)) carried.push_back(in[i]);
    std::vector<Held> slices = in;
    for (const std::size_t i : bodies.operands_of(Flow::sliced)) {
      if (!slices[i].in_memory) slices[i] = moved_to_frame(slices[i]);
    }
    std::vector<Held> out = stacked(bodies, types, top);
    std::vector<int> initial = all_elements(carried);
    int first = number(0), end = number(bodies.length);
    if (top && carried.empty()) {  // turns that do not depend on each other run in parts
      out_.range = reserve(16);
      first = code_.load(Lanes::i64, {.pointer = frame_pointer, .offset = out_.range, .bytes = 8});
      end =
          code_.load(Lanes::i64, {.pointer = frame_pointer, .offset = out_.range + 8, .bytes = 8});
    }
    initial.insert(initial.begin(), first);
    const std::vector<int> carries = code_.loop(initial);
    const int turn = carries[0];
    code_.test(less(turn, end));
    const int row = bodies.reverse
                        ? nodes().add({Code::sub, Lanes::i64, {number(bodies.length - 1), turn}})
                        : turn;
    auto next = carries.cbegin() + 1;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const Flow flow = bodies.operands[i].flow;
      body_in.push_back(flow == Flow::carried  ? taken(in_types[i], next)
                        : flow == Flow::sliced ? slice(slices[i], in_types[i], row)
                                               : in[i]);
    }
    const std::vector<Held> results = program(bodies.programs[0], body_in);
    std::vector<int> again{nodes().add({Code::add, Lanes::i64, {turn, number(1)}})};
    for (std::size_t k = 0; k < results.size(); ++k) {
      const std::vector<int> each = all_elements({results[k]});
      if (bodies.results[k].flow == Flow::carried) {
        again.insert(again.end(), each.begin(), each.end());
        continue;
      }
      Access start = out[k].start;
      advance(start, row, types[k].bytes());
      Held kept{types[k], each, false, {}, {}};
      keep(kept, start);
    }
    const std::vector<int> last = code_.again(again);
    next = last.cbegin() + 1;
    for (std::size_t k = 0; k < results.size(); ++k) {
      if (bodies.results[k].flow == Flow::carried) out[k] = taken(types[k], next);
    }
    return out;
  }
  // Where the stacked results of a loop go: to results of the program, or to the frame.
  std::vector<Held> stacked(const Bodies& bodies, const Types& types, bool top) {
    std::vector<Held> out(types.size());
    for (const std::size_t k : bodies.results_of(Flow::sliced)) {
      Type type = types[k];
      type.insert_dimension(0, bodies.length);
      out[k] =
          top ? in_memory(type, {.pointer = out_.results + static_cast<int>(k)}) : in_frame(type);
    }
    return out;
  }
  Held moved_to_frame(const Held& held) {
    Held copy = in_frame(held.type);
    copy.nodes = held.nodes;
    keep(copy, copy.start);
    copy.nodes.clear();
    return copy;
  }
  Held slice(const Held& stack, const Type& type, int row) {
    Held out = stack;
    out.nodes.clear();
    out.type = type;
    out.strides = Shape(stack.strides.begin() + 1, stack.strides.end());
    advance(out.start, row, stack.strides[0] * itemsize(type.dtype));
    return out;
  }

  std::vector<Held> looped(const Bodies& bodies, const std::vector<Held>& in) {
    const Types types = bodies.programs[1]->output_types();
    std::vector<Held> carried;
    for (const std::size_t i : bodies.operands_of(Flow::carried)) carried.push_back(in[i]);
    const std::vector<int> carries = code_.loop(all_elements(carried));
    const auto inputs = [&](std::size_t k) {
      std::vector<Held> taken_in;
      auto next = carries.cbegin();
      std::size_t carry = 0;
      for (const std::size_t i : bodies.taken_by(k)) {
        taken_in.push_back(bodies.operands[i].flow == Flow::carried ? taken(types[carry++], next)
                                                                    : in[i]);
      }
      return taken_in;
    };
    code_.test(all_elements(program(bodies.programs[0], inputs(0)))[0]);
    const std::vector<int> last = code_.again(all_elements(program(bodies.programs[1], inputs(1))));
    std::vector<Held> out;
    auto next = last.cbegin();
    for (const Type& type : types) out.push_back(taken(type, next));
    return out;
  }

  ScalarLoop& out_;
  codegen::ScalarProgram& code_;
  const CallPlan call_plan_;
  bool top_ = false;
};

}  // namespace

std::unique_ptr<ScalarLoop> write_scalar_loop(const Equation& eqn, const Types& in,
                                              CallPlan call_plan) {
  if (any_equation(eqn, calls_host)) return nullptr;
  const Bodies bodies = eqn.op->bodies(eqn.params);
  for (const std::size_t k : bodies.results_of(Flow::carried)) {
    const ProgramPtr& body = bodies.programs.back();
    if (body->type(body->outputs[k]).size() > most_elements) return nullptr;
  }
  auto out = std::make_unique<ScalarLoop>();
  try {
    Writer(*out, call_plan).run(eqn, in);
  } catch (const Unsuited&) {
    return nullptr;
  }
  return out;
}

}  // namespace shardax

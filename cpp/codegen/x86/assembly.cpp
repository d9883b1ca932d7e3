// codegen/x86/assembly.cpp - operands, and the nodes that every machine computes alike.
#include "codegen/x86/assembly.h"

#include <algorithm>
#include <utility>

#include "base/index.h"

namespace shardax::codegen {
namespace {

// The least number of instructions of a body for interleaving two copies, so that one computes
// while the other waits for results. 16 000 elements of softplus take 16.4 us in place of 21.2 on
// Zen 4. Chains of five instructions take the same time either way.
constexpr int least_work_of_pairs = 12;
// The most values that interleaved bodies may spill: lgamma takes 73 us in place of 85.
constexpr int spilled_by_pairs = 6;
constexpr std::array address_registers{General::rdx, General::r8, General::r9, General::r10,
                                       General::r11};

}  // namespace

bool commutes(Code code) {
  switch (code) {
    case Code::add:
    case Code::mul:
    case Code::bit_and:
    case Code::bit_or:
    case Code::bit_xor:
    case Code::equal:
    case Code::not_equal: return true;
    default: return false;
  }
}

std::vector<std::uint8_t> Assembly::run() {
  const VectorProgram* const single = program_;
  VectorProgram pair;
  if (single->work() >= least_work_of_pairs && registers_.fits(2, spilled_by_pairs)) {
    vectors_ = 2;
    pair = single->interleaved(2);
    program_ = &pair;
    registers_ = Registers(pair, machine_.vectors, machine_.masks);
  }
  encoder_.open_frame();
  place_pointers();
  encoder_.clear(at);
  open();
  // While whole vectors are left: count is where the last of them start.
  encoder_.add(count, -step());
  encoder_.compare(at, count);
  const std::size_t none = encoder_.jump(Condition::greater);
  const std::size_t start = encoder_.here();
  for (int i = 0; i < program_->size(); ++i) {
    registers_.advance(i);
    if (registers_.needed(i) && !emit(i)) return {};
  }
  if (!store_outputs()) return {};
  encoder_.add(at, step());
  encoder_.compare(at, count);
  encoder_.jump_back(Condition::less_equal, start);
  encoder_.land(none);
  rest(start);
  encoder_.close_frame(slot_address(registers_.slots()).offset);
  encoder_.zero_upper();
  encoder_.ret();
  return encoder_.finish(pool_, machine_.constant, program_->tables());
}

// ---- memory --------------------------------------------------------------------------------

void Assembly::place_pointers() {
  std::vector<int> used;
  for (int i = 0; i < program_->size(); ++i) {
    if (node(i).code == Code::input && registers_.needed(i)) used.push_back(operand_of(node(i)));
  }
  for (const Output& output : program_->outputs) used.push_back(output.operand);
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  used.resize(std::min(used.size(), address_registers.size()));
  held_ = used;
  for (std::size_t k = 0; k < held_.size(); ++k)
    encoder_.load(address_registers[k], {pointers, 8 * held_[k]});
}

Address Assembly::element(int operand, int vector) {
  const auto found = std::find(held_.begin(), held_.end(), operand);
  General base = General::rax;
  if (found != held_.end()) {
    base = address_registers[index(found - held_.begin())];
  } else {
    encoder_.load(base, {pointers, 8 * operand});
  }
  const auto [bytes, repeats] = operands_[index(operand)];
  if (repeats) return {base};
  return {base, vector * machine_.lanes * bytes, true, at, bytes, guard(vector)};
}

Address Assembly::slot_address(int slot) const {
  const int bytes = machine_.masks > 0 ? 64 : 32;
  return {General::rsp, bytes * slot};
}

std::size_t Assembly::pool_entry(int v) {
  std::uint64_t bits = node(v).bits;  // copies of it fill 64 bits
  const int width = width_of(node(v).kind);
  if (width == 2) bits = (bits & 0xffff) * 0x0001000100010001;
  if (width == 4) bits = (bits & 0xffffffff) * 0x0000000100000001;
  const auto found = std::find(pool_.begin(), pool_.end(), bits);
  const auto entry = index(found - pool_.begin());
  if (found == pool_.end()) pool_.push_back(bits);
  return entry;
}

// ---- registers -----------------------------------------------------------------------------

std::uint8_t Assembly::free_register(bool mask) {
  const auto [reg, evicted] = registers_.choose(mask);
  if (evicted >= 0) {
    registers_.give_slot(evicted);
    spill(evicted);
    registers_.release(evicted);
  }
  return reg;
}

Vector Assembly::need(int v) {
  registers_.pin(v);
  if (registers_.in_place(v)) return vector(v);
  const std::uint8_t reg = free_register(registers_.is_mask(v));
  registers_.give(v, reg);
  if (registers_.slot(v) >= 0)
    reload(v, reg);
  else
    fetch(v, reg);
  return {reg};
}

Encoder::Operand Assembly::last(int v, bool everywhere) {
  if (registers_.in_place(v)) return need(v);
  if (registers_.slot(v) >= 0) return slot_address(registers_.slot(v));
  if (node(v).code == Code::constant) return constant(v);
  if (node(v).code == Code::input && !is_truth(node(v).kind) && !repeats(v) && registers_.dies(v) &&
      (!everywhere || guard(0) == 0))
    return element(v);
  return need(v);
}

std::uint8_t Assembly::result(int i) {
  for (int in : node(i).in) {
    if (in >= 0 && registers_.dies(stored(in))) registers_.release(stored(in));
  }
  const std::uint8_t reg = free_register(registers_.is_mask(i));
  registers_.give(i, reg);
  return reg;
}

// ---- nodes ---------------------------------------------------------------------------------

bool Assembly::emit(int i) {
  const Node& n = node(i);
  if (registers_.reread(i) || n.code == Code::view) return true;
  if (n.code == Code::convert) return convert(i);
  const Kind kind = compares(n.code) ? node(n.in[0]).kind : n.kind;
  const Opcode* op = find(n.code, kind);
  if (!op) return false;
  const int a = stored(n.in[0]);
  switch (n.code) {
    case Code::fma: fused(i, a, stored(n.in[1]), stored(n.in[2])); return true;
    case Code::mul_high: upper_half(i); return true;
    case Code::select: select(i, *op); return true;
    case Code::shift_left:
    case Code::shift_right:
    case Code::shift_right_arithmetic: {
      const Vector from = need(a);
      const Vector to{result(i)};
      encoder_.vector(*op, op->extension, to, from, size(kind));
      encoder_.immediate(static_cast<std::uint8_t>(n.bits));
      return true;
    }
    case Code::sqrt:
    case Code::round: {
      const Encoder::Operand from = last(a);
      encoder_.vector(*op, result(i), unused, from, size(kind));
      // The precision exception is suppressed; the other bits say how to round.
      if (n.code == Code::round) encoder_.immediate(static_cast<std::uint8_t>(n.bits | 8));
      return true;
    }
    case Code::table_lookup: {
      const Vector which = need(a);
      // It has no form for the shortest registers.
      encoder_.vector(*op, result(i), which, Encoder::Operand::table(n.bits),
                      std::max(size(kind), Size::ymm));
      return true;
    }
    default: break;
  }
  if (is_truth(kind))
    of_truths(i, *op);
  else if (compares(n.code))
    compare(i, *op);
  else
    two_operands(i, *op, a, stored(n.in[1]), size(kind));
  return true;
}

bool Assembly::convert(int i) {
  const Kind from = node(node(i).in[0]).kind, to = node(i).kind;
  const Opcode* op = find_conversion(from, to);
  if (!op) return false;
  const int a = stored(node(i).in[0]);
  const Size longer = std::max(size(from), size(to));
  if (op->form == Form::store) {
    const Vector first = need(a);
    encoder_.vector(*op, first.number, unused, Vector{result(i)}, longer);
    if ((op == &opcodes::cvtps2ph || op == &opcodes::vex_cvtps2ph))
      encoder_.immediate(0);  // to the nearest, ties to even
  } else {
    // Not all of these instructions repeat a number in memory.
    const Encoder::Operand first = is_constant(a) ? need(a) : last(a);
    encoder_.vector(*op, result(i), unused, first, longer);
  }
  return true;
}

void Assembly::two_operands(int i, const Opcode& op, int a, int b, Size size) {
  if (commutes(node(i).code) && goes_last(a, b)) std::swap(a, b);
  const Vector first = need(a);
  const Encoder::Operand second = last(b);
  encoder_.vector(op, result(i), first, second, size);
}

// a * b + c: the instruction writes over one of its operands, if possible one that dies.
void Assembly::fused(int i, int a, int b, int c) {
  const Kind kind = node(i).kind;
  const Size size = this->size(kind);
  const Opcode& into_c = kind == Kind::f64 ? opcodes::fmadd231pd : opcodes::fmadd231ps;
  const Opcode& into_a = kind == Kind::f64 ? opcodes::fmadd213pd : opcodes::fmadd213ps;
  const auto dies = [&](int v) { return registers_.dies(v); };
  if (registers_.in_place(c) && dies(c) && c != a && c != b) {
    if (registers_.reread(a) && !registers_.in_place(a)) std::swap(a, b);
    const Vector to = need(c), first = need(a);
    encoder_.vector(into_c, to.number, first, last(b), size);
    replace(i, c, {a, b});
    return;
  }
  if (dies(b) && !(dies(a) && registers_.in_place(a))) std::swap(a, b);
  if (dies(a) && a != b && a != c && node(a).code != Code::constant) {
    const Vector to = need(a), second = need(b);
    encoder_.vector(into_a, to.number, second, last(c), size);
    replace(i, a, {b, c});
    return;
  }
  // No operand's register can be taken: a constant is brought into that of the result, else one is
  // copied.
  if (is_constant(b)) std::swap(a, b);
  const bool adds_constant = is_constant(c) && !is_constant(a);
  const int copied = adds_constant ? c : a;
  if (copied == c) need(a);
  const Vector second = need(b);
  if (!is_constant(copied)) need(copied);
  const std::uint8_t to = free_register(false);
  registers_.give(i, to);
  registers_.pin(i);
  if (is_constant(copied) && !registers_.in_place(copied))
    fetch(copied, to);
  else
    encoder_.vector(opcodes::load, to, unused, vector(copied), size);
  if (adds_constant)
    encoder_.vector(into_c, to, vector(a), second, size);
  else
    encoder_.vector(into_a, to, second, last(c), size);
  for (int v : {a, b, c}) {
    if (dies(v)) registers_.release(v);
  }
}

// Node i has the register of `old`; of `others`, those that die leave theirs.
void Assembly::replace(int i, int old, std::initializer_list<int> others) {
  const std::uint8_t reg = registers_.number(old);
  registers_.release(old);
  registers_.give(i, reg);
  for (int v : others) {
    if (v != old && registers_.dies(v)) registers_.release(v);
  }
}

// ---- outputs -------------------------------------------------------------------------------

bool Assembly::store_outputs() {
  registers_.advance(program_->size() - 1);  // outputs are still used
  // Outputs that are inputs are read before anything is written.
  for (const Output& output : program_->outputs) {
    if (node(stored(output.node)).code == Code::input) need(stored(output.node));
  }
  const std::size_t inputs = registers_.pinned();
  if (static_cast<int>(inputs) >= (machine_.masks > 0 ? machine_.masks : machine_.vectors / 2))
    return false;
  for (const Output& output : program_->outputs) {
    registers_.unpin(inputs);
    const int v = stored(output.node);
    need(v);
    store(v, element(output.operand, output.vector));
  }
  return true;
}

}  // namespace shardax::codegen

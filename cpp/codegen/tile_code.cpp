// codegen/tile_code.cpp - instructions and registers of a vector program.
//
// One pass over the nodes. Each result gets a register; where none is free, the value whose next
// use lies furthest away leaves its own (Belady 1966): to the stack, unless it can be read again
// from where it came. An operand that is used once, and a constant, is read by its instruction.
#include "codegen/tile_code.h"

#include <algorithm>
#include <initializer_list>
#include <tuple>
#include <utility>

#include "codegen/opcodes.h"

namespace shardax::codegen {
namespace {

constexpr int allocatable = 14;  // the last two vector registers are for sequences of instructions
constexpr Vector scratch0{14}, scratch1{15}, unused{0};
constexpr std::array address_registers{General::rdx, General::r8, General::r9, General::r10,
                                       General::r11};
constexpr General pointers = General::rdi, count = General::rsi, at = General::rcx;

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

class Assembly {
 public:
  Assembly(const VectorProgram& program, std::span<const int> item_bytes, std::string* listing)
      : program_(program), item_bytes_(item_bytes), width_(program.width()), encoder_(listing) {}

  std::vector<std::uint8_t> run() {
    if (width_ == 0) return {};
    find_uses();
    encoder_.open_frame();
    place_pointers();
    encoder_.clear(at);
    const std::size_t start = encoder_.here();
    for (position_ = 0; position_ < program_.size(); ++position_) {
      if (!uses_[index(position_)].empty() && !emit(position_)) return {};
    }
    if (!store_outputs()) return {};
    encoder_.add(at, lanes_of(width_));
    encoder_.compare(at, count);
    encoder_.jump_below(start);
    encoder_.close_frame(32 * slots_);
    encoder_.zero_upper();
    encoder_.ret();
    return encoder_.finish(pool_, width_);
  }

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  const Node& node(int i) const { return program_.node(i); }
  // The node whose register a value has.
  int stored(int i) const {
    while (node(i).code == Code::view) i = node(i).in[0];
    return i;
  }
  bool reread(int v) const { return node(v).code == Code::input || node(v).code == Code::constant; }

  // Positions at which each value is used, that of an output being the end; without dead nodes.
  void find_uses() {
    const auto n = index(program_.size());
    uses_.resize(n);
    place_.resize(n);
    for (const Output& output : program_.outputs)
      uses_[index(stored(output.node))].push_back(program_.size());
    for (int i = program_.size(); i-- > 0;) {
      if (uses_[index(i)].empty()) continue;
      for (int in : node(i).in) {
        if (in >= 0) uses_[index(stored(in))].push_back(i);
      }
    }
  }
  // The next use after the current position, or -1. Uses are in falling order.
  int next_use(int v) const {
    const auto& uses = uses_[index(v)];
    const auto end =
        std::partition_point(uses.begin(), uses.end(), [&](int use) { return use > position_; });
    return end == uses.begin() ? -1 : *(end - 1);
  }
  bool dies(int v) const { return next_use(v) < 0; }

  // ---- memory ------------------------------------------------------------------------------

  void place_pointers() {
    std::vector<int> used;
    for (int i = 0; i < program_.size(); ++i) {
      if (node(i).code == Code::input && !uses_[index(i)].empty())
        used.push_back(static_cast<int>(node(i).bits));
    }
    for (const Output& output : program_.outputs) used.push_back(output.operand);
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    used.resize(std::min(used.size(), address_registers.size()));
    held_ = used;
    for (std::size_t k = 0; k < held_.size(); ++k)
      encoder_.load(address_registers[k], {pointers, 8 * held_[k]});
  }

  // The current element of an operand; valid until the next call.
  Address element(int operand) {
    const auto found = std::find(held_.begin(), held_.end(), operand);
    General base = General::rax;
    if (found != held_.end()) {
      base = address_registers[static_cast<std::size_t>(found - held_.begin())];
    } else {
      encoder_.load(base, {pointers, 8 * operand});
    }
    return {base, 0, true, at, item_bytes_[index(operand)]};
  }
  static Address slot_address(int slot) { return {General::rsp, 32 * slot}; }
  Encoder::Operand constant(int v) {
    const std::uint64_t bits = node(v).bits;
    const auto found = std::find(pool_.begin(), pool_.end(), bits);
    const auto entry = static_cast<std::size_t>(found - pool_.begin());
    if (found == pool_.end()) pool_.push_back(bits);
    return Encoder::Operand::constant(entry);
  }

  // ---- registers ---------------------------------------------------------------------------

  Vector vector(int v) const { return {static_cast<std::uint8_t>(place_[index(v)].reg)}; }
  bool in_place(int v) const { return place_[index(v)].reg >= 0; }

  void release(int v) {
    if (!in_place(v)) return;
    holds_[index(place_[index(v)].reg)] = -1;
    place_[index(v)].reg = -1;
  }
  void give(int v, int reg) {
    holds_[index(reg)] = v;
    place_[index(v)].reg = reg;
  }

  // A free register, for which the value that is needed last makes room.
  int free_register() {
    int worst = -1, furthest = -2;
    for (int r = 0; r < allocatable; ++r) {
      const int v = holds_[index(r)];
      if (v < 0) return r;
      if (std::find(pinned_.begin(), pinned_.end(), v) != pinned_.end()) continue;
      const int next = next_use(v);
      if (next > furthest) std::tie(worst, furthest) = std::pair(r, next);
    }
    const int v = holds_[index(worst)];
    if (!reread(v) && place_[index(v)].slot < 0 && furthest >= 0) {
      place_[index(v)].slot = slots_++;
      encoder_.vector(opcodes::store, vector(v).number, unused,
                      slot_address(place_[index(v)].slot));
    }
    release(v);
    return worst;
  }

  // Brings a value into a register, where it stays during the current instruction.
  Vector need(int v) {
    pinned_.push_back(v);
    if (in_place(v)) return vector(v);
    const int reg = free_register();
    give(v, reg);
    const auto number = static_cast<std::uint8_t>(reg);
    if (place_[index(v)].slot >= 0) {
      encoder_.vector(opcodes::load, number, unused, slot_address(place_[index(v)].slot));
    } else if (node(v).code == Code::constant) {
      encoder_.vector(opcodes::load, number, unused, constant(v));
    } else if (node(v).kind == Kind::truth) {  // bytes 0 and 1
      const auto& widen = width_ == 4 ? opcodes::widen_bytes_to_4 : opcodes::widen_bytes_to_8;
      encoder_.vector(widen, number, unused, element(static_cast<int>(node(v).bits)));
      encoder_.vector(opcodes::pxor, scratch0.number, scratch0, scratch0);
      encoder_.vector(width_ == 4 ? opcodes::psubd : opcodes::psubq, number, scratch0,
                      Vector{number});
    } else {
      encoder_.vector(opcodes::load, number, unused, element(static_cast<int>(node(v).bits)));
    }
    return {number};
  }

  // The last operand of an instruction, which may lie in memory.
  Encoder::Operand last(int v) {
    if (in_place(v)) return need(v);
    if (place_[index(v)].slot >= 0) return slot_address(place_[index(v)].slot);
    if (node(v).code == Code::constant) return constant(v);
    if (node(v).code == Code::input && node(v).kind != Kind::truth && dies(v))
      return element(static_cast<int>(node(v).bits));
    return need(v);
  }

  // The register of a result, after its operands have been brought: that of one that dies, if any.
  std::uint8_t result(int i) {
    for (int in : node(i).in) {
      if (in >= 0 && dies(stored(in))) release(stored(in));
    }
    const int reg = free_register();
    give(i, reg);
    return static_cast<std::uint8_t>(reg);
  }

  // ---- nodes -------------------------------------------------------------------------------

  bool emit(int i) {
    const Node& n = node(i);
    if (reread(i) || n.code == Code::view) return true;
    pinned_.clear();
    const bool compares = n.code == Code::equal || n.code == Code::not_equal ||
                          n.code == Code::less || n.code == Code::less_equal;
    const Kind kind = compares || n.code == Code::to_float ? node(n.in[0]).kind : n.kind;
    const Opcode* op = opcodes::find(n.code, kind);
    if (!op) return false;
    int a = stored(n.in[0]), b = n.in[1] < 0 ? -1 : stored(n.in[1]);
    switch (n.code) {
      case Code::fma: fused(i, a, b, stored(n.in[2])); return true;
      case Code::select: {
        const Vector mask = need(a), no = need(stored(n.in[2]));
        const Encoder::Operand yes = last(b);
        encoder_.vector(*op, result(i), no, yes);
        encoder_.immediate(static_cast<std::uint8_t>(mask.number << 4));
        return true;
      }
      case Code::shift_left:
      case Code::shift_right:
      case Code::shift_right_arithmetic: {
        const Vector from = need(a);
        const Vector to{result(i)};
        encoder_.vector(*op, op->extension, to, from);
        encoder_.immediate(static_cast<std::uint8_t>(n.bits));
        return true;
      }
      case Code::sqrt:
      case Code::round:
      case Code::to_float: {
        const Encoder::Operand from = last(a);
        encoder_.vector(*op, result(i), unused, from);
        if (n.code == Code::round) encoder_.immediate(static_cast<std::uint8_t>(n.bits | 8));
        return true;
      }
      default: break;
    }
    const bool floats = is_float(kind);
    if ((commutes(n.code) && reread(a) && !in_place(a)) || (n.code == Code::less && !floats))
      std::swap(a, b);
    const Vector first = need(a);
    const Encoder::Operand second = last(b);
    encoder_.vector(*op, result(i), first, second);
    if (compares && floats) {
      encoder_.immediate(n.code == Code::equal       ? opcodes::equal
                         : n.code == Code::not_equal ? opcodes::not_equal
                         : n.code == Code::less      ? opcodes::less
                                                     : opcodes::less_equal);
    }
    return true;
  }

  // a * b + c: the instruction writes over one of its operands, if possible one that dies.
  void fused(int i, int a, int b, int c) {
    const bool wide = width_ == 8;
    const Opcode& into_c = wide ? opcodes::fmadd231pd : opcodes::fmadd231ps;
    const Opcode& into_a = wide ? opcodes::fmadd213pd : opcodes::fmadd213ps;
    if (in_place(c) && dies(c) && c != a && c != b) {
      if (reread(a) && !in_place(a)) std::swap(a, b);
      const Vector to = need(c), first = need(a);
      encoder_.vector(into_c, to.number, first, last(b));
      replace(i, c, {a, b});
      return;
    }
    if (dies(b) && !(dies(a) && in_place(a))) std::swap(a, b);
    if (dies(a) && a != b && a != c && node(a).code != Code::constant) {
      const Vector to = need(a), second = need(b);
      encoder_.vector(into_a, to.number, second, last(c));
      replace(i, a, {b, c});
      return;
    }
    const Vector first = need(a), second = need(b);
    const int reg = free_register();
    give(i, reg);
    pinned_.push_back(i);
    const auto to = static_cast<std::uint8_t>(reg);
    encoder_.vector(opcodes::load, to, unused, first);
    encoder_.vector(into_a, to, second, last(c));
    for (int v : {a, b, c}) {
      if (dies(v)) release(v);
    }
  }
  // Node i has the register of `old`; of `others`, those that die leave theirs.
  void replace(int i, int old, std::initializer_list<int> others) {
    const int reg = place_[index(old)].reg;
    release(old);
    give(i, reg);
    for (int v : others) {
      if (v != old && dies(v)) release(v);
    }
  }

  // ---- outputs -----------------------------------------------------------------------------

  bool store_outputs() {
    position_ = program_.size() - 1;  // outputs are still used
    pinned_.clear();
    // What is an input itself is read before anything is written.
    for (const Output& output : program_.outputs) {
      if (node(stored(output.node)).code == Code::input) need(stored(output.node));
    }
    if (pinned_.size() > allocatable / 2) return false;
    const std::size_t inputs = pinned_.size();
    for (const Output& output : program_.outputs) {
      pinned_.resize(inputs);
      const Vector from = need(stored(output.node));
      if (node(output.node).kind == Kind::truth) {
        store_truth(from, output.operand);
      } else {
        encoder_.vector(opcodes::store, from.number, unused, element(output.operand));
      }
    }
    for (int& v : holds_) v = -1;
    return true;
  }

  // Lanes of ones and zeros as bytes 1 and 0.
  void store_truth(Vector from, int operand) {
    encoder_.vector(opcodes::upper_half, from.number, unused, scratch0);
    encoder_.immediate(1);
    Vector low = from;
    if (width_ == 8) {  // the low words of four lanes
      encoder_.vector(opcodes::shuffle, scratch0.number, from, scratch0, false);
      encoder_.immediate(0x88);
      low = scratch0;
    }
    encoder_.vector(opcodes::pack_to_2, scratch0.number, low, scratch0, false);
    encoder_.vector(opcodes::pack_to_1, scratch0.number, scratch0, scratch0, false);
    // -1 becomes 1: zero less it.
    encoder_.vector(opcodes::pxor, scratch1.number, scratch1, scratch1);
    encoder_.vector(opcodes::psubb, scratch0.number, scratch1, scratch0, false);
    const auto& write = width_ == 4 ? opcodes::store_low : opcodes::store_lowest;
    encoder_.vector(write, scratch0.number, unused, element(operand), false);
  }

  struct Place {
    int reg = -1;
    int slot = -1;
  };

  const VectorProgram& program_;
  std::span<const int> item_bytes_;
  int width_;
  Encoder encoder_;
  int position_ = 0;
  int slots_ = 0;
  std::vector<std::vector<int>> uses_;
  std::vector<Place> place_;
  std::array<int, allocatable> holds_ = [] {
    std::array<int, allocatable> none{};
    none.fill(-1);
    return none;
  }();
  std::vector<int> pinned_;
  std::vector<int> held_;  // operands whose addresses are in registers
  std::vector<std::uint64_t> pool_;
};

}  // namespace

std::vector<std::uint8_t> tile_code(const VectorProgram& program, std::span<const int> item_bytes,
                                    std::string* listing) {
  std::vector<std::uint8_t> code = Assembly(program, item_bytes, listing).run();
  if (code.empty() && listing) listing->clear();
  return code;
}

}  // namespace shardax::codegen

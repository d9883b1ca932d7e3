// codegen/vector/program.cpp - nodes of vector programs, each once.
#include "codegen/vector/program.h"

#include <algorithm>
#include <bit>

#include "base/index.h"
#include "codegen/vector/lower_int_division.h"

namespace shardax::codegen {
namespace {

std::size_t hash_of(const Node& node) {
  std::size_t hash = index(node.code) * 16 + index(node.kind);
  constexpr std::size_t factor = 0x9E3779B97F4A7C15;
  for (const int in : node.in) hash = hash * factor + index(in + 1);
  hash = hash * factor + node.bits;
  return (hash ^ hash >> 32) * factor >> 32;
}

std::size_t operands_of(Code code) {
  switch (code) {
    case Code::input:
    case Code::constant:
    case Code::unique: return 0;
    case Code::sqrt:
    case Code::round:
    case Code::shift_left:
    case Code::shift_right:
    case Code::shift_right_arithmetic:
    case Code::convert:
    case Code::view:
    case Code::table_lookup: return 1;
    case Code::select:
    case Code::fma: return 3;
    default: return 2;
  }
}

// The same value by fewer instructions: bfloat16 that are rounded only to be computed with again
// stay in their lanes, too.
Node simpler(VectorProgram& program, const Node& node) {
  const auto constant = [](const Node& n) { return n.code == Code::constant; };
  if (node.code == Code::select && (is_float(node.kind) || node.kind == Kind::i32)) {
    const Node& test = program.node(node.in[0]);
    if (test.code == Code::less && test.in[0] == node.in[2] && test.in[1] == node.in[1])
      return {Code::max, node.kind, {node.in[1], node.in[2], -1}};
    if (test.code == Code::less && test.in[0] == node.in[1] && test.in[1] == node.in[2])
      return {Code::min, node.kind, {node.in[1], node.in[2], -1}};
  }
  if (node.code == Code::bit_xor || node.code == Code::bit_and) {
    const Node &a = program.node(node.in[0]), &b = program.node(node.in[1]);
    if (constant(a) && constant(b)) {
      const std::uint64_t bits = node.code == Code::bit_xor ? a.bits ^ b.bits : a.bits & b.bits;
      return {Code::constant, node.kind, {-1, -1, -1}, bits};
    }
    // The same mask again.
    if (node.code == Code::bit_and && a.code == Code::bit_and && a.in[1] == node.in[1]) return a;
  }
  // The high half of a word, moved down and up again.
  if (node.code == Code::shift_left && node.bits == 16) {
    const Node& down = program.node(node.in[0]);
    if (down.code == Code::shift_right && down.bits == 16 && node.kind == Kind::u32) {
      const int from = down.in[0];
      const int mask = program.add({Code::constant, Kind::u32, {}, 0xffff0000});
      return simpler(program, {Code::bit_and, Kind::u32, {from, mask, -1}});
    }
  }
  // As bfloat16 and back; these fit.
  if (node.code == Code::convert && node.kind == Kind::u32) {
    const Node& from = program.node(node.in[0]);
    if (from.kind == Kind::bf16 && from.code == Code::convert &&
        program.node(from.in[0]).code == Code::shift_right && program.node(from.in[0]).bits == 16)
      return program.node(from.in[0]);
  }
  return node;
}

}  // namespace

// The constant that a node of integers or truth values is, if its operands are.
std::optional<Node> VectorProgram::folded(const Node& n) const {
  const auto at = [&](int k) { return node(n.in[index(k)]); };
  const auto constant = [&](int k) { return n.in[index(k)] >= 0 && at(k).code == Code::constant; };
  const auto truth = [](bool x) {
    return Node{Code::constant, Kind::truth, {}, x ? ~std::uint64_t{0} : 0};
  };
  if (n.code == Code::view && constant(0)) return Node{Code::constant, n.kind, {}, at(0).bits};
  if (!constant(0) || !constant(1) || is_float(at(0).kind)) return {};
  const std::uint64_t a = at(0).bits, b = at(1).bits;
  switch (n.code) {
    case Code::equal: return truth(a == b);
    case Code::less:
      return truth(width_of(at(0).kind) == 4
                       ? static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b)
                       : static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b));
    case Code::bit_and: return Node{Code::constant, n.kind, {}, a & b};
    case Code::bit_or: return Node{Code::constant, n.kind, {}, a | b};
    case Code::bit_xor: return Node{Code::constant, n.kind, {}, a ^ b};
    default: return {};
  }
}

// A shift by a constant: the instruction with a number in it, or nothing that is left.
int VectorProgram::by_constant(const Node& n) {
  const Node& count = node(n.in[1]);
  if (count.code != Code::constant) return -1;
  const auto width = static_cast<std::uint64_t>(8 * width_of(n.kind));
  const std::uint64_t bits = width == 32 ? count.bits & 0xffffffff : count.bits;
  if (n.code == Code::shift_right_arithmetic_by)
    return add({Code::shift_right_arithmetic, n.kind, {n.in[0]}, std::min(bits, width - 1)});
  if (bits >= width) return add({Code::constant, n.kind, {}, 0});
  const Code code = n.code == Code::shift_left_by ? Code::shift_left : Code::shift_right;
  return bits == 0 ? n.in[0] : add({code, n.kind, {n.in[0]}, bits});
}

// The operand that a node is equal to, or -1.
int VectorProgram::same_as(const Node& n) const {
  const auto bits = [&](int k) -> std::optional<std::uint64_t> {
    const Node& operand = node(n.in[index(k)]);
    if (operand.code != Code::constant) return {};
    return operand.bits;
  };
  if (n.code == Code::select) {
    if (n.in[1] == n.in[2]) return n.in[1];
    if (const auto which = bits(0)) return *which ? n.in[1] : n.in[2];
  }
  if (n.kind != Kind::truth || operands_of(n.code) < 2) return -1;
  for (const int k : {0, 1}) {
    const int other = n.in[index(1 - k)];
    if (n.code == Code::bit_and && bits(k)) return *bits(k) ? other : n.in[index(k)];
    if (n.code == Code::bit_or && bits(k)) return *bits(k) ? n.in[index(k)] : other;
    if (n.code == Code::bit_xor && bits(k) == std::uint64_t{0}) return other;
    if (n.code == Code::equal && node(other).kind == Kind::truth && bits(k) && *bits(k))
      return other;
    // Not not x.
    const Node& inner = node(other);
    if (n.code == Code::bit_xor && bits(k) && inner.code == Code::bit_xor) {
      for (const int j : {0, 1}) {
        if (inner.in[index(j)] == n.in[index(k)]) return inner.in[index(1 - j)];
      }
    }
  }
  return -1;
}

// Division of integers by a power of two, of which 32 bits, or without a sign: shifts.
int VectorProgram::by_power_of_two(const Node& n) {
  const Node divisor = node(n.in[1]);
  const bool has_sign = !is_unsigned(n.kind);
  const std::uint64_t d = divisor.bits;
  if (divisor.code != Code::constant || !std::has_single_bit(d) || n.kind == Kind::i64 ||
      (has_sign && d > INT32_MAX))
    return -1;
  const auto shift = static_cast<std::uint64_t>(std::countr_zero(d));
  const auto constant = [&](std::uint64_t bits) { return add({Code::constant, n.kind, {}, bits}); };
  const int a = n.in[0];
  if (shift == 0) return n.code == Code::quotient ? a : constant(0);
  const auto known = [&](int result) {
    divisions_.emplace(result, n);
    return result;
  };
  if (!has_sign) {
    return n.code == Code::quotient ? add({Code::shift_right, n.kind, {a}, shift})
                                    : add({Code::bit_and, n.kind, {a, constant(d - 1)}});
  }
  // Negative numbers are rounded up.
  const int sign = add({Code::shift_right_arithmetic, n.kind, {a}, 31});
  const int more = add({Code::shift_right, n.kind, {sign}, 32 - shift});
  const int sum = add({Code::add, n.kind, {a, more}});
  if (n.code == Code::quotient)
    return known(add({Code::shift_right_arithmetic, n.kind, {sum}, shift}));
  const int whole = add({Code::bit_and, n.kind, {sum, constant((0 - d) & 0xFFFFFFFF)}});
  return known(add({Code::sub, n.kind, {a, whole}}));
}

// Powers of two by their bits: two of them, so that a result that is denormal is rounded once.
int VectorProgram::by_power(const Node& n) {
  const bool single = n.kind == Kind::f32;
  const Kind word = single ? Kind::u32 : Kind::u64;
  const auto constant = [&](Kind kind, std::uint64_t bits) {
    return add({Code::constant, kind, {}, bits});
  };
  // A sum with this number has a whole number's two's complement in its low bits.
  const std::uint64_t magic =
      single ? std::bit_cast<std::uint32_t>(0x1.8p23f) : std::bit_cast<std::uint64_t>(0x1.8p52);
  const Node& whole = node(n.in[1]);
  const auto is_magic = [&](int i) {
    return i >= 0 && node(i).code == Code::constant && node(i).bits == magic;
  };
  const int sum = whole.code == Code::sub && is_magic(whole.in[1])
                      ? whole.in[0]
                      : add({Code::add, n.kind, {n.in[1], constant(n.kind, magic)}});
  const auto two = [&](Code code, int a, int b) { return add({code, word, {a, b}}); };
  const auto number = [&](std::uint64_t bits) { return constant(word, bits); };
  const int power = two(Code::sub, add({Code::view, word, {sum}}), number(magic));
  const auto of = [&](int k) {
    const int biased = two(Code::add, k, number(single ? 127 : 1023));
    return add({Code::view,
                n.kind,
                {add({Code::shift_left, word, {biased}, std::uint64_t{single ? 23u : 52u}})}});
  };
  const auto times = [&](int a, int k) { return add({Code::mul, n.kind, {a, of(k)}}); };
  if (n.bits != 0) {
    const std::uint64_t one =
        single ? std::bit_cast<std::uint32_t>(1.0f) : std::bit_cast<std::uint64_t>(1.0);
    const Node& factor = node(n.in[0]);
    return factor.code == Code::constant && factor.bits == one ? of(power) : times(n.in[0], power);
  }
  int half;
  if (single) {
    const int with_sign = add({Code::view, Kind::i32, {power}});
    half =
        add({Code::view, word, {add({Code::shift_right_arithmetic, Kind::i32, {with_sign}, 1})}});
  } else {
    const int positive = two(Code::add, power, number(4096));
    half = two(Code::sub, add({Code::shift_right, word, {positive}, 1}), number(2048));
  }
  return times(times(n.in[0], half), two(Code::sub, power, half));
}

void VectorProgram::replace(int i, Node node) {
  for (std::size_t k = operands_of(node.code); k < node.in.size(); ++k) node.in[k] = -1;
  nodes_[index(i)] = node;
}

int VectorProgram::add(const Node& given) {
  Node node = given;
  for (std::size_t k = operands_of(node.code); k < node.in.size(); ++k) node.in[k] = -1;
  node = simpler(*this, node);
  node = folded(node).value_or(node);
  if (node.code == Code::equal) {  // x == false
    for (const std::size_t k : {0u, 1u}) {
      const Node& other = this->node(node.in[k]);
      if (other.kind == Kind::truth && other.code == Code::constant && other.bits == 0)
        return add({Code::bit_xor,
                    Kind::truth,
                    {node.in[1 - k], add({Code::constant, Kind::truth, {}, ~std::uint64_t{0}})}});
    }
  }
  if (const int same = same_as(node); same >= 0) return same;
  if (const int simple = by_signs(*this, node); simple >= 0) return simple;
  if (node.code == Code::shift_left_by || node.code == Code::shift_right_by ||
      node.code == Code::shift_right_arithmetic_by) {
    if (const int shifted = by_constant(node); shifted >= 0) return shifted;
  }
  if (node.code == Code::scale && !scales_) return by_power(node);
  if (node.code == Code::quotient || node.code == Code::remainder) {
    if (const int shifted = by_power_of_two(node); shifted >= 0) return shifted;
    if (const int product = multiplies_ ? by_multiplication(node) : -1; product >= 0)
      return product;
  }
  if (2 * nodes_.size() >= places_.size()) {
    places_.assign(std::max<std::size_t>(128, 2 * places_.size()), -1);
    for (int i = 0; i < size(); ++i) {
      if (!is_forgotten(i)) *place(this->node(i)) = i;
    }
  }
  int* found = place(node);
  if (*found < 0) {
    *found = size();
    nodes_.push_back(node);
  }
  return *found;
}

std::uint64_t VectorProgram::add(const Table& table) {
  const auto found = std::find(tables_.begin(), tables_.end(), table);
  const auto place = static_cast<std::uint64_t>(found - tables_.begin());
  if (found == tables_.end()) tables_.push_back(table);
  return place;
}

// The entry for the node's position, or the free entry for it.
int* VectorProgram::place(const Node& node) {
  std::size_t at = hash_of(node) % places_.size();
  while (places_[at] >= 0 && (is_forgotten(places_[at]) || !(this->node(places_[at]) == node)))
    at = (at + 1) % places_.size();
  return &places_[at];
}

void VectorProgram::forget(int first) {
  forgotten_.resize(nodes_.size());
  std::fill(forgotten_.begin() + first, forgotten_.end(), true);
}

VectorProgram VectorProgram::interleaved(int vectors) const {
  VectorProgram out;
  out.tables_ = tables_;
  out.nodes_.reserve(nodes_.size() * index(vectors));
  std::vector<int> first(nodes_.size());  // of the copies, which stand one after the other
  const auto copy_of = [&](int i, int vector) {
    if (i < 0) return i;
    const int at = first[index(i)];
    return node(i).code == Code::constant ? at : at + vector;
  };
  for (int i = 0; i < size(); ++i) {
    first[index(i)] = out.size();
    const int copies = node(i).code == Code::constant ? 1 : vectors;
    for (int vector = 0; vector < copies; ++vector) {
      Node copy = node(i);
      if (copy.code == Code::input) copy.bits |= static_cast<std::uint64_t>(vector) << 32;
      for (int& in : copy.in) in = copy_of(in, vector);
      out.nodes_.push_back(copy);
    }
  }
  for (const Output& output : outputs) {
    for (int vector = 0; vector < vectors; ++vector)
      out.outputs.push_back({copy_of(output.node, vector), output.operand, vector});
  }
  return out;
}

int VectorProgram::work() const {
  std::vector<bool> needed(nodes_.size());
  for (const Output& output : outputs) needed[index(output.node)] = true;
  int count = 0;
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    if (!needed[i]) continue;
    const Code code = nodes_[i].code;
    count +=
        code != Code::input && code != Code::constant && code != Code::view && code != Code::pair;
    for (const int in : nodes_[i].in) {
      if (in >= 0) needed[index(in)] = true;
    }
  }
  return count;
}

int VectorProgram::width() const {
  int width = 4;
  for (const Node& node : nodes_) width = std::max(width, width_of(node.kind));
  return width;
}

}  // namespace shardax::codegen

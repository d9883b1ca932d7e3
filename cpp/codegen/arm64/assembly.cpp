// codegen/arm64/assembly.cpp - registers, the loop, loads and stores.
#include "codegen/arm64/assembly.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace shardax::codegen::arm64 {
namespace {

constexpr General pointers{0}, left{1}, last_start{2};
constexpr General scratch{16}, offset{17};
constexpr std::uint8_t first_address = 3, last_address = 15;
constexpr int value_registers = 29, kept_by_callee_from = 21;
constexpr int vector_bytes = 16;
// Nodes of a turn up to which it has four vectors.
constexpr int most_work_of_four = 96;
// Registers for a constant and an operand beside what is alive.
constexpr int spare = 2;
// Constants that have room in a turn of two vectors.
constexpr int least_constants_of_two = 4;

// Those that a function has to keep come last.
constexpr Vector physical(int reg) {
  return {static_cast<std::uint8_t>(reg < 8                     ? reg
                                    : reg < kept_by_callee_from ? reg + 8
                                                                : reg - 13)};
}
int log2(int bytes) { return std::countr_zero(static_cast<unsigned>(bytes)); }

}  // namespace

Assembly::Assembly(const VectorProgram& program, std::span<const OperandForm> operands, bool lists)
    : program_(&program),
      operands_(operands),
      width_(program.width()),
      lanes_(vector_bytes / width_),
      registers_(program, value_registers, 0),
      encoder_(lists) {}

int Assembly::bytes(Kind kind) const {
  switch (kind) {
    case Kind::truth: return width_;
    case Kind::truth_4: return 4;
    case Kind::truth_2: return 2;
    default: return width_of(kind);
  }
}
Arrangement Assembly::arrangement(Kind kind) const {
  const int lane = bytes(kind);
  return {static_cast<std::uint8_t>(log2(lane)), lanes_ * lane == vector_bytes};
}
int Assembly::memory_bytes(Kind kind) const {
  return lanes_ * (is_truth(kind) ? 1 : width_of(kind));
}
Vector Assembly::vector(int v) const {
  const int hoisted = hoisted_of_[index(v)];
  return physical(hoisted >= 0 ? hoisted_[index(hoisted)].reg : registers_.number(v));
}

// ---- the function --------------------------------------------------------------------------

std::vector<std::uint8_t> Assembly::run(std::string* listing) {
  choose_registers();
  find_pointers();
  if (!loop()) return {};
  end();
  encoder_.put_before(start());
  return encoder_.finish(listing);
}

namespace {
bool same_everywhere(const Node& a, const Node& b) {
  if (a.code != b.code || a.kind != b.kind) return false;
  return a.code == Code::constant ? a.bits == b.bits : operand_of(a) == operand_of(b);
}
}  // namespace

// Nodes with the same value in every turn, the most used ones first.
std::vector<Node> Assembly::invariants() const {
  std::vector<std::pair<Node, int>> found;
  const auto count = [&](int v) {
    if (node(v).code != Code::constant && !repeats(v)) return;
    for (auto& [other, uses] : found) {
      if (same_everywhere(node(v), other)) return void(++uses);
    }
    found.emplace_back(node(v), 1);
  };
  for (int i = 0; i < program_->size(); ++i) {
    if (!registers_.needed(i)) continue;
    for (const int in : node(i).in) {
      if (in >= 0) count(stored(in));
    }
  }
  for (const Output& output : program_->outputs) count(stored(output.node));
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<Node> out;
  for (const auto& [node, uses] : found) out.push_back(node);
  return out;
}

// Chooses the number of vectors in a turn, and the nodes that stay in registers.
void Assembly::choose_registers() {
  std::vector<Node> kept = invariants();
  int alive = registers_.pressure();
  for (const Output& output : program_->outputs)  // those are brought before anything is written
    alive += node(stored(output.node)).code == Code::input;
  const int constants = static_cast<int>(kept.size());
  const int room = value_registers - spare;
  if (4 * alive + constants <= room && 4 * program_->work() <= most_work_of_four)
    vectors_ = 4;
  else if (2 * alive + std::min(constants, least_constants_of_two) <= room)
    vectors_ = 2;
  if (vectors_ > 1) {
    interleaved_ = program_->interleaved(vectors_);
    program_ = &interleaved_;
  }
  kept.resize(index(std::clamp(room - vectors_ * alive, 0, constants)));
  const int values = value_registers - static_cast<int>(kept.size());
  registers_ = Registers(*program_, values, 0);
  hoisted_of_.assign(index(program_->size()), -1);
  for (std::size_t k = 0; k < kept.size(); ++k) {
    const auto reg = static_cast<std::uint8_t>(index(values) + k);
    for (int i = 0; i < program_->size(); ++i) {
      if (!registers_.reread(i) || !same_everywhere(node(i), kept[k])) continue;
      if (hoisted_.size() == k) hoisted_.push_back({i, reg});
      hoisted_of_[index(i)] = static_cast<int>(k);
    }
  }
}

// The operands whose addresses are in registers; those of hoisted ones are read once.
void Assembly::find_pointers() {
  for (int i = 0; i < program_->size(); ++i) {
    if (node(i).code == Code::input && registers_.needed(i) && !is_hoisted(i))
      held_.push_back(operand_of(node(i)));
  }
  for (const Output& output : program_->outputs) held_.push_back(output.operand);
  std::sort(held_.begin(), held_.end());
  held_.erase(std::unique(held_.begin(), held_.end()), held_.end());
  held_.resize(std::min<std::size_t>(held_.size(), last_address - first_address + 1));
}

namespace {
General address_register(std::size_t k) { return {static_cast<std::uint8_t>(first_address + k)}; }
}  // namespace

// While whole vectors are left; then a turn that ends with the last element, which computes some of
// them again.
bool Assembly::loop() {
  for (const Hoisted& h : hoisted_) {
    used_ |= std::uint32_t{1} << physical(h.reg).number;
    fetch(h.node, physical(h.reg));
  }
  for (std::size_t k = 0; k < held_.size(); ++k)
    encoder_.load(address_register(k), {pointers, 8 * held_[k]});
  const auto moves = [&](std::size_t k) { return !operands_[index(held_[k])].repeats; };
  encoder_.subtract_and_compare(left, left, static_cast<std::uint32_t>(step()));
  const std::size_t none = encoder_.jump(Condition::less);
  encoder_.move(last_start, left);
  const std::size_t start = encoder_.here();
  for (int i = 0; i < program_->size(); ++i) {
    registers_.advance(i);
    if (registers_.needed(i) && !emit(i)) return false;
  }
  if (!store_outputs()) return false;
  for (std::size_t k = 0; k < held_.size(); ++k) {
    const General at = address_register(k);
    if (moves(k)) encoder_.add(at, at, step() * operands_[index(held_[k])].bytes);
  }
  encoder_.subtract_and_compare(left, left, static_cast<std::uint32_t>(step()));
  encoder_.jump_back(Condition::greater_equal, start);
  encoder_.add(offset, left, step());
  const std::size_t done = encoder_.jump_if(true, offset, true);
  for (std::size_t k = 0; k < held_.size(); ++k) {
    const General at = address_register(k);
    if (moves(k)) encoder_.add_shifted(at, at, left, log2(operands_[index(held_[k])].bytes));
  }
  encoder_.set(left, 0);
  encoder_.jump_back(start);
  encoder_.land(done);
  encoder_.land(none);
  return true;
}

namespace {
constexpr std::array kept_vectors{8, 10, 12, 14};  // of each two
}

Encoder Assembly::start() const {
  Encoder out(encoder_.lists());
  if (registers_.slots() > 0 || (used_ & 0xFF00) != 0) out.add(stack, stack, -64);
  for (const int first : kept_vectors) {
    if ((used_ >> first & 3) != 0) out.two(true, true, first, first + 1, {stack, 8 * (first - 8)});
  }
  if (registers_.slots() > 0) out.add(stack, stack, -vector_bytes * registers_.slots());
  return out;
}

void Assembly::end() {
  if (registers_.slots() > 0) encoder_.add(stack, stack, vector_bytes * registers_.slots());
  for (const int first : kept_vectors) {
    if ((used_ >> first & 3) != 0)
      encoder_.two(false, true, first, first + 1, {stack, 8 * (first - 8)});
  }
  if (registers_.slots() > 0 || (used_ & 0xFF00) != 0) encoder_.add(stack, stack, 64);
  encoder_.ret();
}

// ---- memory --------------------------------------------------------------------------------

void Assembly::bring(General to, int operand) {
  encoder_.load(to, {pointers, 8 * operand});
  if (operands_[index(operand)].repeats) return;
  encoder_.general(opcodes::sub_register, offset, last_start, left);
  encoder_.add_shifted(to, to, offset, log2(operands_[index(operand)].bytes));
}

Address Assembly::element(int operand, Kind kind, int vector) {
  const auto found = std::find(held_.begin(), held_.end(), operand);
  General base = scratch;
  if (found != held_.end())
    base = address_register(index(found - held_.begin()));
  else
    bring(base, operand);
  if (operands_[index(operand)].repeats) return {base};
  return {base, std::int64_t{vector} * memory_bytes(kind)};
}

void Assembly::fetch(int v, Vector to) {
  const Node& n = node(v);
  if (n.code == Code::constant) return write_constant(encoder_, to, n);
  const Address from = element(operand_of(n), n.kind, vector_of(n));
  if (is_truth(n.kind))
    fetch_truth(n.kind, from, to);
  else if (repeats(v))
    encoder_.load_all(arrangement(n.kind), to, from.base);
  else
    encoder_.load(to, from, memory_bytes(n.kind));
}

// Bytes 0 and 1 become lanes of zeros and of ones.
void Assembly::fetch_truth(Kind kind, const Address& from, Vector to) {
  const Arrangement lane = arrangement(kind);
  encoder_.load(to, from, memory_bytes(kind));
  for (std::uint8_t size = 0; size < lane.size; ++size)
    encoder_.vector(opcodes::uxtl, {size, false}, to, to);
  encoder_.vector(opcodes::neg, lane, to, to);
}

void Assembly::store_truth(Kind kind, Vector from, const Address& to) {
  Vector low = from;
  for (int size = log2(bytes(kind)); size-- > 0; low = scratch0)
    encoder_.vector(opcodes::xtn, {static_cast<std::uint8_t>(size), false}, scratch0, low);
  encoder_.vector(opcodes::neg, {0, false}, scratch0, low);
  encoder_.store(scratch0, to, memory_bytes(kind));
}

// ---- values --------------------------------------------------------------------------------

std::uint8_t Assembly::free_register() {
  const auto [reg, evicted] = registers_.choose(false);
  if (evicted >= 0) {
    registers_.give_slot(evicted);
    encoder_.store(vector(evicted), {stack, vector_bytes * registers_.slot(evicted)}, vector_bytes);
    registers_.release(evicted);
  }
  used_ |= std::uint32_t{1} << physical(reg).number;
  return reg;
}

Vector Assembly::need(int v) {
  if (is_hoisted(v)) return vector(v);
  registers_.pin(v);
  if (registers_.in_place(v)) return vector(v);
  registers_.give(v, free_register());
  if (registers_.slot(v) >= 0)
    encoder_.load(vector(v), {stack, vector_bytes * registers_.slot(v)}, vector_bytes);
  else
    fetch(v, vector(v));
  return vector(v);
}

void Assembly::release_dying(int i) {
  for (const int in : node(i).in) {
    if (in >= 0 && registers_.dies(stored(in))) registers_.release(stored(in));
  }
}

// The register of a result, after its operands have been brought: that of one that dies, if any. Of
// fma only the sum's may be taken.
Vector Assembly::result(int i) {
  const Node& n = node(i);
  const auto taken = [&](std::size_t k) {
    const int v = n.in[k] < 0 ? -1 : stored(n.in[k]);
    return v >= 0 && registers_.in_place(v) && registers_.dies(v) ? v : -1;
  };
  int from = -1;
  if (n.code == Code::fma) {
    from = taken(2);
    if (from == stored(n.in[0]) || from == stored(n.in[1])) from = -1;
  } else {
    for (std::size_t k = 0; k < n.in.size() && from < 0; ++k) from = taken(k);
  }
  const std::uint8_t reg = from >= 0 ? registers_.number(from) : free_register();
  release_dying(i);
  registers_.give(i, reg);
  return physical(reg);
}

bool Assembly::emit(int i) {
  const Node& n = node(i);
  if (registers_.reread(i) || n.code == Code::view) return true;
  Instruction instruction{n, n.kind, {}, {0}, {Vector{0}, Vector{0}, Vector{0}}};
  for (std::size_t k = 0; k < n.in.size(); ++k) {
    if (n.in[k] >= 0) instruction.in[k] = need(stored(n.in[k]));
  }
  if (n.in[0] >= 0) instruction.from = node(n.in[0]).kind;
  instruction.a = arrangement(n.kind);
  instruction.to = result(i);
  return write_node(encoder_, instruction, program_->tables());
}

bool Assembly::store_outputs() {
  registers_.advance(program_->size() - 1);  // outputs are still used
  // An output that is an input is read before anything is written.
  for (const Output& output : program_->outputs) {
    if (node(stored(output.node)).code == Code::input) need(stored(output.node));
  }
  const std::size_t inputs = registers_.pinned();
  if (static_cast<int>(inputs) + spare >= registers_.vectors()) return false;
  for (const Output& output : program_->outputs) {
    registers_.unpin(inputs);
    const int v = stored(output.node);
    const Vector from = need(v);
    const Kind kind = node(v).kind;
    const Address to = element(output.operand, kind, output.vector);
    if (is_truth(kind))
      store_truth(kind, from, to);
    else
      encoder_.store(from, to, memory_bytes(kind));
  }
  return true;
}

}  // namespace shardax::codegen::arm64

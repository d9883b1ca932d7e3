// codegen/arm64/legalize_neon.cpp - conversions, and places of bytes in tables.
#include "codegen/arm64/legalize_neon.h"

#include "codegen/vector/legalizer.h"

namespace shardax::codegen {
namespace {

class NeonLegalizer final : public Legalizer {
 public:
  using Legalizer::Legalizer;

 private:
  int convert(int x, Kind to) override {
    const Kind from = kind(x);
    const int from_bytes = width_of(from), to_bytes = width_of(to);
    const bool from_integer = from_bytes >= 4 && !is_float(from);
    const bool to_integer = to_bytes >= 4 && !is_float(to);
    if (from_integer && to_integer && from_bytes == to_bytes) return view(to, x);
    if (from_integer && from_bytes == 4 && to == Kind::f64)
      return convert(convert(x, from == Kind::i32 ? Kind::i64 : Kind::u64), to);
    if (from_integer && from_bytes == 8 && to == Kind::f32)
      return convert(convert(without_middle(x), Kind::f64), to);
    if (from == Kind::f32 && to_integer && to_bytes == 8) return convert(convert(x, Kind::f64), to);
    return add(Code::convert, to, x);
  }

  int other(const Node& node) override {
    if (node.code != Code::table_lookup) return out_.add(node);
    const auto number = [&](std::uint64_t bits) { return constant(Kind::u32, bits); };
    const int which = add(Code::bit_and, Kind::u32, node.in[0], number(7));
    const int first = add(Code::mul, Kind::u32, which, number(0x04040404));
    const int bytes = add(Code::add, Kind::u32, first, number(0x03020100));
    return out_.add({Code::table_lookup, node.kind, {bytes}, node.bits});
  }
};

}  // namespace

VectorProgram legalize_neon(const VectorProgram& program) { return NeonLegalizer(program).write(); }

}  // namespace shardax::codegen

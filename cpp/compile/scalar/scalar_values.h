// compile/scalar/scalar_values.h - arrays as lists of scalar values, and ops on these.
//
// An array of few elements is a list of nodes. A larger one is a list of registers, or stays in
// memory: windows of it are read and, if a loop carries it, written. Such memory has a version,
// which each writing changes: who holds an older one cannot be written for (Unsuited).
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "codegen/vector/lane.h"
#include "compile/scalar/scalarize.h"
#include "compile/tuning.h"
#include "ir/op.h"

namespace shardax {

// Ends the writing of a program that does not suit machine code.
struct Unsuited {};

codegen::Kind number_kind(DType dtype);
// none: numbers that are only passed on.
codegen::Kind lane_kind(DType dtype);

// Does each row of an array start a register? The last one of a row overlaps the one before.
// Registers of other arrays go on over the ends of rows.
bool in_rows(const Shape& shape, std::int64_t lanes);

// The number of registers of numbers of `width` bytes (also of truth values) that an array takes;
// 0: it cannot be in registers.
std::int64_t registers_of(const Type& type, int width);

// An array as its elements in row-major order, or in memory, with strides in elements.
struct ScalarArray {
  Type type;
  std::vector<int> nodes = {};
  bool in_memory = false;
  codegen::Access start = {};
  Shape strides = {};
  int storage = -1;  // memory that the program writes: which, and since which writing
  int version = 0;
  bool writable = false;  // nobody else needs what lies there
  // A copy in the frame, row-major, that lasts as long as the program of the array; -1: none.
  std::int64_t copy = -1;
  // Elements of an array in registers that are only moved so far, and have no nodes: `places` of
  // `origin`. An origin is `shared` by all that are moved from it.
  std::shared_ptr<ScalarArray> origin = {}, shared = {};
  std::shared_ptr<const std::vector<std::int64_t>> places = {};
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

class ElementWriter {
 public:
  ElementWriter(ScalarLoop& out, CallPlan call_plan, int width)
      : out_(out), code_(out.program), width_(width), call_plan_(call_plan) {}

 protected:
  using Access = codegen::Access;
  using Code = codegen::Code;
  using Number = codegen::Kind;

  codegen::VectorProgram& nodes() { return code_.nodes; }
  int number(std::int64_t value, Number kind = Number::i64) {
    return nodes().add({Code::constant, kind, {}, static_cast<std::uint64_t>(value)});
  }
  int less(int a, int b) { return nodes().add({Code::less, Number::truth, {a, b}}); }
  int select(int condition, int yes, int no) {
    return nodes().add({Code::select, nodes().node(yes).kind, {condition, yes, no}});
  }

  // ---- memory (scalar_values.cpp) -------------------------------------------------------------
  static ScalarArray in_memory(const Type& type, const Access& start);
  // Is it a list of registers? The last one overlaps the one before.
  bool packed(const Type& type) const {
    return type.size() > tuning::scalar_values::most_elements && registers_of(type, width_) > 0;
  }
  // Neither a list of elements nor of registers.
  bool large(const Type& type) const {
    return type.size() > tuning::scalar_values::most_elements && !packed(type);
  }
  // The number of nodes of a value.
  std::int64_t nodes_of(const Type& type) const {
    return packed(type) ? registers_of(type, width_) : type.size();
  }
  ScalarArray in_frame(const Type& type);
  std::int64_t reserve(std::int64_t bytes);  // in the frame
  // The frame has no place among the pointers until all constants are known.
  static constexpr int frame_pointer = 0x10000;
  void place_frame();
  static Access element(const ScalarArray& held, std::int64_t offset);
  static Access in_all_lanes(Access first);  // a register that starts at an element
  Access lanes(const ScalarArray& held, std::int64_t k) const;  // of register k of dense memory
  const std::vector<int>& elements(ScalarArray& held);
  static bool is_moved(const ScalarArray& held) { return held.places != nullptr; }
  // Writes the elements, row-major, at `start`.
  void keep(const ScalarArray& held, const Access& start);
  ScalarArray moved_to_frame(const ScalarArray& held);
  ScalarArray constant(const ArrayPtr& value);
  // Further by node * stride bytes.
  void advance(Access& access, int node, std::int64_t stride);
  void check_version(const ScalarArray& held) const;

  // ---- ops (scalar_values.cpp) ----------------------------------------------------------------
  // False where the op is not of this kind.
  bool view(const Equation& eqn, ScalarArray& in, const Type& out, ScalarArray& seen);
  bool map(const Equation& eqn, const std::vector<ScalarArray*>& in, ScalarArray& out);
  // By a plan of one equation. Programs with many are no faster, and are compiled for long.
  std::vector<ScalarArray> call(const Equation& eqn, const std::vector<ScalarArray*>& in,
                                const Types& out);

  // ---- ops (scalar_ops.cpp) -------------------------------------------------------------------
  bool move(const Equation& eqn, const std::vector<ScalarArray*>& in, ScalarArray& out);
  bool product(const Equation& eqn, const std::vector<ScalarArray*>& in, ScalarArray& out);

  // ---- reductions (scalar_reductions.cpp) -----------------------------------------------------
  bool reduce(const Equation& eqn, const std::vector<ScalarArray*>& in, ScalarArray& out);

  // ---- windows whose place is computed (scalar_indexing.cpp) ----------------------------------
  bool window(const Equation& eqn, const std::vector<ScalarArray*>& in, ScalarArray& out);

  ScalarLoop& out_;
  codegen::ScalarProgram& code_;
  const int width_;            // of the numbers in lists of registers; 0: there are none
  std::vector<int> versions_;  // of each storage

 private:
  static std::size_t broadcast(const Type& operand, const Type& out, std::int64_t i);
  void read_all(ScalarArray& held);

  // ---- lists of registers (scalar_lanes.cpp) --------------------------------------------------
  // An array whose elements become others' elements: each is a number of its own, or read.
  struct Source {
    ScalarArray* held;
    std::optional<Access> memory = {};  // of element 0
    std::int64_t extent = 0;            // of the memory, in elements
    bool by_number = false;
  };
  struct Place {
    std::size_t source;
    std::int64_t at;
    friend bool operator==(const Place&, const Place&) = default;
  };
  std::int64_t lanes_of_register() const;
  std::int64_t first_of_register(const Type& type, std::int64_t k) const;
  Source source_of(ScalarArray& held);
  static Source strided_source_of(ScalarArray& held);
  Access memory_of(Source& from);
  int number_at(Source& from, std::int64_t at);
  const std::byte* known_at(const Access& access) const;
  Access register_in(Source& from, std::int64_t at);
  int register_of(std::vector<Source>& from, std::span<const Place> places);
  int combined(const MapKernel& kernel, int a, int b);
  ScalarArray assembled(const Type& out, std::vector<Source>& from,
                        const std::vector<Place>& places);
  ScalarArray gathered(ScalarArray& held);
  const std::shared_ptr<ScalarArray>& origin_of(ScalarArray& held);
  bool move_lanes(const std::vector<ScalarArray*>& in, const std::vector<std::int64_t>& positions,
                  ScalarArray& out);
  void put_together(ScalarArray& moved);
  void map_lanes(const MapKernel& kernel, const std::vector<ScalarArray*>& in, ScalarArray& out);
  bool view_lanes(const Equation& eqn, ScalarArray& in, const Type& out, ScalarArray& seen);
  void tile(const MapKernel& kernel, const std::vector<ScalarArray*>& in, ScalarArray& out);
  FrameAddress address_of(ScalarArray& held);

  static const Op* pair_of(const Op& reduction);
  bool reduce_numbers(const Equation& eqn, ScalarArray& in, ScalarArray& out);
  bool reduce_truths(const Equation& eqn, ScalarArray& in, ScalarArray& out);
  bool reduce_rows(const Equation& eqn, ScalarArray& in, ScalarArray& out);
  bool reduce_registers(const Equation& eqn, ScalarArray& in, ScalarArray& out);
  bool fills_registers(const Shape& shape, std::int64_t columns) const;
  std::vector<std::vector<int>> register_lines(ScalarArray& in, std::int64_t outer, std::int64_t n,
                                               std::int64_t columns);
  ScalarArray of_registers(const Type& type, std::vector<int> registers);
  struct Ranked {
    int number, place;
  };
  Ranked better(const Ranked& a, const Ranked& b, bool greatest);
  int best_place(std::vector<Ranked> line, bool greatest);
  bool find_places(const Equation& eqn, ScalarArray& in, ScalarArray& out);

  struct Rows;
  // An index as an int64.
  int wide(int node);
  // The same, or an int32 where `last` is one.
  int comparable(int node, std::int64_t last);
  // Moved to 0 ... last.
  int between(int node, std::int64_t last);
  ScalarArray slice(const std::vector<ScalarArray*>& in, const Type& out);
  ScalarArray update(const std::vector<ScalarArray*>& in);
  void update_rows(Source& from, const ScalarArray& to, const Shape& sizes);
  ScalarArray gather(const Equation& eqn, const std::vector<ScalarArray*>& in, const Type& out);
  ScalarArray scatter(const Equation& eqn, const Op* combine, const std::vector<ScalarArray*>& in);
  void scatter_run(Source& updates, std::int64_t first, std::int64_t count, const Access& to,
                   const MapKernel* combine);
  // The place of the operand for reading, or of its new version for writing.
  ScalarArray readable(const ScalarArray& held);
  ScalarArray target(const ScalarArray& held);
  ScalarArray written(ScalarArray& target);

  const CallPlan call_plan_;
};

}  // namespace shardax

// codegen/scalar/function.h - the body of a scalar program's function, alike on every machine.
//
// A schedule says what is computed when, and where each number is. A machine says by which
// instructions: it computes numbers, moves them, jumps.
#pragma once

#include <vector>

#include "base/index.h"
#include "codegen/scalar/schedule.h"

namespace shardax::codegen {

class ScalarFunction {
 public:
  virtual ~ScalarFunction() = default;

 protected:
  // `vectors`, `general`: how many registers of each kind there are for numbers.
  ScalarFunction(const ScalarProgram& program, int vectors, int general)
      : program_(program), nodes_(program.nodes), schedule_(schedule(program, vectors, general)) {}

  // False where a node has no instruction.
  bool write_body();

  const Node& node(int i) const { return nodes_.node(i); }
  bool is_wide(int i) const { return width_of(node(i).kind) == 8; }
  bool is_constant(int i) const { return node(stored(nodes_, i)).code == Code::constant; }
  Place place(int i) const { return schedule_.places[index(stored(nodes_, i))]; }
  bool is_general(int i) const { return schedule_.homes.general[index(stored(nodes_, i))]; }
  // The place from which vectors read it.
  Place lanes(int i) const {
    return is_general(i) ? schedule_.spread[index(stored(nodes_, i))] : place(i);
  }

  // A number on its way from its place to that of a carry or result.
  struct Pending {
    Place to;
    bool general;  // the registers of `to`
    int from;
    bool aside = false;  // it waits in a register for that
  };

  virtual bool compute(int i) = 0;
  virtual void load(int i, const Access& access) = 0;
  virtual void spread(int i) = 0;  // to its second place
  virtual void store(int i, const Access& access) = 0;
  virtual void call(const Call& call) = 0;
  virtual void step_aside(const Pending& p) = 0;
  virtual void bring(const Pending& p) = 0;

  // Jumps lead where they land() later.
  virtual std::size_t here() const = 0;
  virtual std::size_t jump() = 0;
  virtual std::size_t jump_unless(int condition) = 0;
  virtual void land(std::size_t jump) = 0;
  // To the head of a loop; once in a while it asks the poll before.
  virtual void turn_again(std::size_t head) = 0;

  const ScalarProgram& program_;
  const VectorProgram& nodes_;
  const Schedule schedule_;

 private:
  struct Open {
    std::size_t head = 0;
    std::vector<std::size_t> jumps;
  };
  void happen(int e);
  void close();
  void move(const std::vector<Move>& moves);

  std::vector<Open> open_;
};

}  // namespace shardax::codegen

// codegen/scalar/program.h - programs of single numbers, with loops, branches, memory and calls.
//
// A vector program (codegen/vector/program.h) has the computations; marks between its nodes give
// their order, number and conditions. Numbers of any widths meet: each stands in all lanes of a
// register.
//
//   i, x = loop from 0, x0            Mark::loop    carries, with the numbers that they start with
//     i < n ?                         Mark::test    leaves the loop where it is false
//     i + 1, x * x                    Mark::again   the carries of the next turn
//                                                   results: the carries where the test failed
//
// The functions below write it in order, as the nodes are added.
#pragma once

#include <unordered_map>
#include <utility>

#include "codegen/vector/program.h"

namespace shardax::codegen {

// Bytes of a vector register: of 256 bits on x86-64, of 128 on AArch64.
int scalar_vector_bytes();

constexpr bool is_integer(Kind kind) {
  return kind == Kind::i32 || kind == Kind::u32 || kind == Kind::i64 || kind == Kind::u64;
}

// An element in memory: at pointers[pointer] + offset + index * stride, in bytes.
struct Access {
  int pointer;
  std::int64_t offset = 0;
  int index = -1;  // a node, int64 or int32, or none
  std::int64_t stride = 0;
  int bytes = 4;         // of the element: 1, 2, 4, 8; scalar_vector_bytes(): a register's lanes
  bool changes = false;  // while the program runs
};

// An argument of a call: a number, or pointers[pointer] + value.
struct Argument {
  int pointer;  // -1: none
  std::int64_t value;
};

// A function of C++ that is called with at most four numbers. With `checked`, a result other than 0
// ends the program.
struct Call {
  const void* function;
  std::vector<Argument> arguments;
  bool checked = false;
};

enum class Mark : std::uint8_t { loop, test, again, branch, otherwise, join, store, call };

// One node takes the value of another.
struct Move {
  int to, from;
};

struct Event {
  Mark mark;
  int before;                      // the node that comes after it
  int node = -1;                   // of test and branch: the condition; of store: the number
  std::size_t place = 0;           // in accesses() or calls()
  std::vector<Move> moves = {};    // of loop, again, otherwise, join
  std::vector<Move> leaving = {};  // of again: the results of the loop
};

class ScalarProgram {
 public:
  ScalarProgram();

  VectorProgram nodes;

  int load(Kind kind, const Access& access);
  void store(int node, const Access& access);
  void call(Call call);

  // A loop gives the carries. The nodes of the condition, `test`, the nodes of the turn, and
  // `again` follow. `again` gives the results.
  std::vector<int> loop(const std::vector<int>& initial);
  void test(int condition);
  std::vector<int> again(const std::vector<int>& next);

  // A choice: `branch`, the code for a true condition, `otherwise` with its results, the code for a
  // false one, and `join`. `join` gives the results.
  void branch(int condition);
  void otherwise(const std::vector<int>& results);
  std::vector<int> join(const std::vector<int>& results);

  // Accesses and calls through pointers[from] go through pointers[to].
  void renumber_pointer(int from, int to);

  const std::vector<Event>& events() const { return events_; }
  const Access& access(std::size_t i) const { return accesses_[i]; }
  const Call& call_at(std::size_t i) const { return calls_[i]; }
  // The access of a `unique` node that is loaded; null for others.
  const Access* loaded(int node) const;

 private:
  int unique(Kind kind);
  struct Open {
    int first;                // node of the region
    std::vector<int> values;  // carries, or results of the first side of a choice
  };
  std::vector<Event> events_;
  std::vector<Access> accesses_;
  std::vector<Call> calls_;
  std::vector<Open> open_;
  std::unordered_map<int, std::size_t> loads_;  // node -> access
  std::uint64_t uniques_ = 0;
};

}  // namespace shardax::codegen

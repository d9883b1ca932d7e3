// codegen/scalar/schedule.h - the order of a scalar program, and registers of its values.
//
// Values that a loop computes anew each turn from the same numbers are computed before it. Then
// each number has one place for the whole of its life: a register, general or of vectors, or memory
// on the stack. Memory serves if there are more numbers than registers, or during a call of a C++
// function (linear scan: Poletto and Sarkar 1999; of two numbers the one that loops use less goes
// to memory). A number in a general register has a second place if vectors need it.
#pragma once

#include "codegen/scalar/register_bank_select.h"

namespace shardax::codegen {

// A node is computed, or brought to its second place, or an event happens.
struct Item {
  int node = -1;
  int event = -1;
  bool spreads = false;
};

struct Place {
  int reg = -1;
  int slot = -1;
  bool none() const { return reg < 0 && slot < 0; }
  bool operator==(const Place&) const = default;
};

struct Schedule {
  RegisterBanks homes;
  std::vector<Item> items;
  std::vector<Place> places;  // of each node; none for constants, views and what nothing needs
  std::vector<Place> spread;  // the second ones
  std::vector<int> partner;   // of each event: `again` of test and loop, `join` of its choice
  int slots = 0;
};

// `vectors`, `general`: how many registers there are of each kind.
Schedule schedule(const ScalarProgram& program, int vectors, int general);

}  // namespace shardax::codegen

// analysis/messages.h - collectives that bring a device another part of an array.
#pragma once

#include "ops/collectives/collective.h"

namespace shardax {

// The part of an array that a device of a mesh has, still to be added up over the devices along
// `open`.
struct Part {
  Value value;
  Split split;  // an entry for each dimension
  std::vector<std::string> open = {};
  LocationPtr location = nullptr;  // of what is open: the line that made it
};

class Messages {
 public:
  explicit Messages(const Sharding& mesh) : mesh_(mesh) {}

  ops::Devices devices(const std::vector<std::string>& axes) const;
  // Adds up the open axes; each device keeps its part of the sum if `split` asks for parts.
  Part summed(Part part, const Split& split) const;
  // The part that `split` says.
  Part resplit(Part part, const Split& split) const;
  // With elements of the parts beside it, along a dimension that is split over `axis`.
  Value with_halo(const Value& part, const std::string& axis, const Halo& halo) const;

 private:
  void exchange(Part& part, const Split& split) const;
  void gather(Part& part, std::size_t d, const std::vector<std::string>& want) const;
  void cut(Part& part, std::size_t d, const std::vector<std::string>& want) const;

  const Sharding& mesh_;
};

}  // namespace shardax

// ir/limits.cpp - the checks that every type of a result passes.
#include "ir/limits.h"

#include "base/errors.h"

namespace shardax {

void check_limits(std::string_view user, const Type& type) {
  if (type.rank() > max_rank) {
    value_error(user, ": an array of ", type.rank(), " dimensions; arrays have at most ", max_rank,
                ", mapped axes included. Join some of them with reshape.");
  }
  std::int64_t bytes = itemsize(type.dtype);
  bool empty = false, overflow = false;
  for (const std::int64_t extent : type.shape) {
    empty |= extent == 0;
    overflow |= __builtin_mul_overflow(bytes, extent, &bytes);
  }
  if (overflow && !empty) {
    value_error(user, ": an array of shape ", to_string(type.shape), " and dtype ",
                name(type.dtype), " has more bytes than can be counted; sizes end at 2**63 - 1.");
  }
}

}  // namespace shardax

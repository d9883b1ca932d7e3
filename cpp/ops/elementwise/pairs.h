// ops/elementwise/pairs.h - pairs of numbers that are held one after another.
#pragma once

#include <string>

#include "base/errors.h"
#include "ir/params.h"

namespace shardax::ops {

// Python's tuple of pairs.
inline std::string pairs_text(const Ints& flat) {
  std::string text;
  for (std::size_t i = 0; i + 1 < flat.size(); i += 2)
    text += concat(i ? ", (" : "(", flat[i], ", ", flat[i + 1], ")");
  return concat("(", text, flat.size() == 2 ? ",)" : ")");
}

}  // namespace shardax::ops

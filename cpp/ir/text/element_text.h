// ir/text/element_text.h - elements of arrays as text that reads back as the same bits.
//
// The shortest decimal of a number of that dtype, as Python writes it: 1.0, 1e-05, 3, True, nan.
// Complex numbers are pairs, (1.0, -2.0), keys tuples of their words, (0, 42). NaNs with other bits
// than the usual are written as these: bits(0xffc00000).
#pragma once

#include <cstddef>
#include <string>

#include "array/dtype.h"

namespace shardax {

// The shortest decimal that reads back as the same number, as Python writes it.
std::string real_text(float v);
std::string real_text(double v);

std::string exact_text(DType dtype, const std::byte* element);

// A number as a program's text has it: "-12", "1e-05", "nan", "True", or bits.
struct NumberText {
  std::string text;
  bool bits = false;  // `text` is that of an unsigned integer: the element's bits
};
// Writes an element of a dtype that is neither complex nor a key, or a part of such an element.
// False if the text is no number of that dtype.
bool read_number(DType dtype, const NumberText& number, std::byte* element);

// The number of parts that an element is written as, and their dtype.
struct ElementParts {
  int count;
  DType dtype;
};
ElementParts element_parts(DType dtype);

}  // namespace shardax

// ir/text/parse_values.h - reads what programs are made of: types, shardings, elements of arrays.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "array/array.h"
#include "ir/text/element_text.h"
#include "ir/text/lexer.h"

namespace shardax {

class ValueParser {
 public:
  explicit ValueParser(std::string_view text) : lexer_(text) {}

 protected:
  Type type();
  // A dtype by the name that types show, or by its own.
  DType dtype(std::string_view (*named)(DType));
  // A mapped axis 'i', or V:'x', a checked one in one of its states.
  AxisName axis();
  // After `sharding`: its fields in parentheses; null for none.
  ShardingPtr sharding();
  std::int64_t integer();
  std::string string(const std::string& what);
  // Is the next token, or what begins with it, an element?
  bool at_element() const;
  // An array of that type: the elements in brackets, `splat` and one, or a scalar as it is.
  ArrayPtr elements(const Type& type);
  ArrayPtr scalar();  // "2.0:f32[]"
  NumberText number();

  // Calls `item` for each of a list up to `close`, which is taken.
  void list(std::string_view close, const std::function<void()>& item);

  Lexer lexer_;
  std::vector<ShardingPtr> shardings_;  // %0, %1, ...

 private:
  // An element as the text has it: one number, or a tuple of them.
  struct Element {
    Token at;
    std::vector<NumberText> numbers;
  };
  Element element();
  void write(const Element& element, DType dtype, std::byte* out) const;
  void sharding_field(Sharding& s);
  std::vector<std::string> names();
};

}  // namespace shardax

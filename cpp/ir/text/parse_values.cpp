// ir/text/parse_values.cpp - types, shardings, elements.
#include "ir/text/parse_values.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <system_error>

#include "base/errors.h"
#include "base/index.h"
#include "ir/limits.h"
#include "ir/text/axis_marks.h"

namespace shardax {
namespace {

// Text of a few lines is no place for larger arrays.
constexpr std::int64_t most_constant_bytes = std::int64_t{1} << 26;

bool is_number_word(const Token& token) {
  static constexpr std::string_view words[] = {"True", "False", "nan", "inf", "-inf", "bits"};
  return token.kind == TokenKind::word &&
         std::find(std::begin(words), std::end(words), token.text) != std::end(words);
}

}  // namespace

void ValueParser::list(std::string_view close, const std::function<void()>& item) {
  while (!lexer_.take_if(close)) {
    item();
    if (!lexer_.take_if(",") && !lexer_.is(close)) lexer_.expected(concat("',' or '", close, "'"));
  }
}

std::int64_t ValueParser::integer() {
  std::int64_t n = 0;
  const std::string& text = lexer_.peek().text;
  const char* end = text.data() + text.size();
  if (lexer_.peek().kind != TokenKind::number) lexer_.expected("an integer");
  const auto [at, error] = std::from_chars(text.data(), end, n);
  if (error != std::errc() || at != end) lexer_.expected("an integer of 64 bits");
  lexer_.take();
  return n;
}

std::string ValueParser::string(const std::string& what) {
  if (lexer_.peek().kind != TokenKind::string) lexer_.expected(what);
  return lexer_.take().text;
}

DType ValueParser::dtype(std::string_view (*named)(DType)) {
  const Token first = lexer_.peek();
  if (first.kind != TokenKind::word) lexer_.expected("a dtype");
  std::string text = lexer_.take().text;
  if (text == "key") {
    lexer_.expect("<");
    text += "<" + lexer_.take().text + ">";
    lexer_.expect(">");
  }
  for (int d = 0; d < dtype_count; ++d) {
    const auto dtype = static_cast<DType>(d);
    if (named(dtype) == text && !text.empty()) return dtype;
  }
  lexer_.fail_at(first, concat("a dtype was expected, such as '", named(DType::float32), "', not '",
                               text, "'"));
}

AxisName ValueParser::axis() {
  const Token first = lexer_.peek();
  const bool marked = first.kind == TokenKind::word;
  if (marked) {
    lexer_.take();
    lexer_.expect(":");
  }
  const std::string name = string("the name of an axis, such as 'i' or V:'i',");
  const auto axis = marked_axis(marked ? first.text : "", name);
  if (!axis) lexer_.fail_at(first, "the state of an axis is V, U or R");
  return *axis;
}

Type ValueParser::type() {
  const Token first = lexer_.peek();
  Type t;
  t.dtype = dtype(short_name);
  t.weak = lexer_.take_if("*");
  if (lexer_.take_if("<")) {
    lexer_.expect("host");
    lexer_.expect(">");
    t.host = true;
  }
  lexer_.expect("[");
  list("]", [&] {
    const Token at = lexer_.peek();
    t.shape.push_back(integer());
    if (t.shape.back() < 0) lexer_.fail_at(at, "a size is at least 0");
  });
  if (lexer_.take_if("{")) list("}", [&] { t.varying = join(t.varying, AxisSet{axis()}); });
  if (lexer_.take_if("%")) {
    const Token at = lexer_.peek();
    const std::int64_t place = integer();
    if (place < 0 || place >= static_cast<std::int64_t>(shardings_.size()))
      lexer_.fail_at(at, concat("there is no sharding %", place));
    t.sharding = shardings_[index(place)];
    if (t.sharding->spec.size() > t.rank())
      lexer_.fail_at(at, "a sharding of more dimensions than the array has");
  }
  try {
    check_limits("a type", t);
  } catch (const UserError& error) {
    lexer_.fail_at(first, error.what());
  }
  return t;
}

std::vector<std::string> ValueParser::names() {
  std::vector<std::string> out;
  lexer_.expect("(");
  list(")", [&] { out.push_back(string("a name in quotes")); });
  return out;
}

void ValueParser::sharding_field(Sharding& s) {
  const Token key = lexer_.take();
  lexer_.expect("=");
  const auto tuple = [&](auto item) {
    lexer_.expect("(");
    list(")", item);
  };
  if (key.text == "mesh") {
    tuple([&] {
      s.mesh_axes.push_back(string("the name of a mesh axis in quotes"));
      lexer_.expect(":");
      s.mesh_shape.push_back(integer());
    });
  } else if (key.text == "devices") {
    tuple([&] {
      const Token at = lexer_.peek();
      const std::int64_t device = integer();
      if (device < 0 || device > std::numeric_limits<int>::max())
        lexer_.fail_at(at, "this is no device");
      s.devices.push_back(static_cast<int>(device));
    });
  } else if (key.text == "spec") {
    tuple([&] { s.spec.push_back(names()); });
  } else if (key.text == "named") {
    s.named = lexer_.take_if("True");
    if (!s.named) lexer_.expect("False");
  } else if (key.text == "axis_types") {
    s.axis_types = string("a text in quotes");
  } else if (key.text == "unreduced") {
    s.unreduced = names();
  } else if (key.text == "reduced") {
    s.reduced = names();
  } else if (key.text == "memory") {
    s.memory = string("a text in quotes");
  } else if (key.text == "layout") {
    tuple([&] { s.layout.push_back(integer()); });
  } else {
    lexer_.fail_at(key, concat("a sharding has no field '", key.text, "'"));
  }
}

ShardingPtr ValueParser::sharding() {
  const Token first = lexer_.peek();
  lexer_.expect("(");
  if (lexer_.take_if(")")) return nullptr;
  const Shared<Sharding> s(new Sharding);
  while (!lexer_.take_if(")")) sharding_field(*s);
  try {
    check_sharding(*s);
  } catch (const UserError& error) {
    lexer_.fail_at(first, error.what());
  }
  return s;
}

bool ValueParser::at_element() const {
  const Token& next = lexer_.peek();
  if (next.kind == TokenKind::number || is_number_word(next)) return true;
  if (!lexer_.is("(")) return false;
  const Token second = lexer_.peek_second();
  return second.kind == TokenKind::number || is_number_word(second);
}

NumberText ValueParser::number() {
  if (lexer_.peek().kind != TokenKind::number && !is_number_word(lexer_.peek()))
    lexer_.expected("a number");
  if (!lexer_.take_if("bits")) return {lexer_.take().text};
  lexer_.expect("(");
  NumberText out{lexer_.take().text, true};
  lexer_.expect(")");
  return out;
}

ValueParser::Element ValueParser::element() {
  Element out{lexer_.peek(), {}};
  if (lexer_.take_if("(")) {
    list(")", [&] { out.numbers.push_back(number()); });
  } else {
    out.numbers.push_back(number());
  }
  return out;
}

void ValueParser::write(const Element& element, DType dtype, std::byte* out) const {
  const ElementParts parts = element_parts(dtype);
  if (element.numbers.size() != index(parts.count)) {
    lexer_.fail_at(element.at, concat("an element of dtype ", name(dtype), " has ", parts.count,
                                      " numbers, not ", element.numbers.size()));
  }
  for (const NumberText& number : element.numbers) {
    if (!read_number(parts.dtype, number, out))
      lexer_.fail_at(element.at, concat("'", number.text, "' is no ", name(parts.dtype)));
    out += itemsize(parts.dtype);
  }
}

ArrayPtr ValueParser::elements(const Type& type) {
  const Token first = lexer_.peek();
  if (lexer_.is("elided"))
    lexer_.fail_at(first, "the elements of this constant are left out; write them, or 'splat' one");
  if (type.bytes() > most_constant_bytes)
    lexer_.fail_at(
        first, concat("a constant of ", type.bytes(), " bytes; texts hold ", most_constant_bytes));
  ArrayPtr out = empty_array(type);
  if (type.sharding) out->set_sharding(type.sharding);
  const std::int64_t count = type.size(), size = itemsize(type.dtype);
  if (lexer_.take_if("splat")) {
    const Element all = element();
    for (std::int64_t i = 0; i < count; ++i) write(all, type.dtype, out->data() + i * size);
    return out;
  }
  lexer_.expect("[");
  std::int64_t given = 0;
  list("]", [&] {
    const Element one = element();
    if (given < count) write(one, type.dtype, out->data() + given * size);
    ++given;
  });
  if (given != count)
    lexer_.fail_at(first, concat(given, " elements of a constant that has ", count));
  return out;
}

ArrayPtr ValueParser::scalar() {
  const Element value = element();
  lexer_.expect(":");
  const Type t = type();
  if (t.rank() > 0) lexer_.fail_at(value.at, "a literal of more than one element");
  ArrayPtr out = empty_array(t);
  if (t.sharding) out->set_sharding(t.sharding);
  write(value, t.dtype, out->data());
  return out;
}

}  // namespace shardax

// ir/text/parse.cpp - a recursive-descent parser: programs, equations, params.
#include "ir/text/parse.h"

#include <charconv>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/errors.h"
#include "base/index.h"
#include "base/stack.h"
#include "ir/op.h"
#include "ir/param_name.h"
#include "ir/text/element_text.h"
#include "ir/text/parse_values.h"
#include "ir/verify.h"

namespace shardax {
namespace {

class Parser : public ValueParser {
 public:
  using ValueParser::ValueParser;

  ProgramPtr all() {
    while (lexer_.take_if("let")) {
      definition();
      lexer_.expect("in");
    }
    ProgramPtr out = program();
    if (lexer_.peek().kind != TokenKind::end) lexer_.expected("the end of the text");
    return out;
  }

 private:
  // The variables of one program, by name, and its literals, by type and bits.
  struct Scope {
    const MutableProgram program{new Program};
    std::unordered_map<std::string, Var> names = {};
    std::unordered_map<std::string, Var> literals = {};
  };

  // "%0 = sharding(...)" or "@f = { lambda ... }"
  void definition() {
    if (lexer_.take_if("%")) {
      const Token at = lexer_.peek();
      if (integer() != static_cast<std::int64_t>(shardings_.size()))
        lexer_.fail_at(at, concat("%", shardings_.size(), " was expected"));
      lexer_.expect("=");
      lexer_.expect("sharding");
      shardings_.push_back(sharding());
      if (!shardings_.back()) lexer_.fail_at(at, "a sharding without a mesh");
      return;
    }
    lexer_.expect("@");
    const Token name = word("the name of a program");
    lexer_.expect("=");
    if (!programs_.emplace(name.text, program()).second)
      lexer_.fail_at(name, concat("'@", name.text, "' is defined twice"));
  }

  Token word(const std::string& what) {
    if (lexer_.peek().kind != TokenKind::word) lexer_.expected(what);
    return lexer_.take();
  }

  ProgramPtr program() {
    const Nesting nested(*this);
    Scope scope;
    Program& p = *scope.program;
    p.name = "program";
    lexer_.expect("{");
    lexer_.expect("lambda");
    while (!lexer_.take_if(";")) {
      const Var v = define(scope, "a constant or ';'");
      lexer_.expect("=");
      p.constants.push_back({v, elements(p.type(v))});
    }
    while (!lexer_.take_if(".")) p.inputs.push_back(define(scope, "an input or '.'"));
    lexer_.expect("let");
    while (!lexer_.take_if("in")) {
      p.equations.push_back(equation(scope));
      lexer_.take_if(";");
    }
    lexer_.expect("(");
    list(")", [&] { p.outputs.push_back(operand(scope)); });
    lexer_.expect("}");
    return scope.program;
  }

  // "a:f32[3]"
  Var define(Scope& scope, const std::string& what) {
    const Token name = word(what);
    lexer_.expect(":");
    const Var v = scope.program->add(type());
    if (name.text != "_" && !scope.names.emplace(name.text, v).second)
      lexer_.fail_at(name, concat("variable '", name.text, "' is defined twice"));
    return v;
  }

  // A variable or a literal.
  Var operand(Scope& scope) {
    if (at_element()) return literal(scope);
    const Token name = word("a variable or a literal, such as 2.0:f32[],");
    const auto known = scope.names.find(name.text);
    if (known == scope.names.end())
      lexer_.fail_at(name, concat("no variable '", name.text, "' is defined before this"));
    return known->second;
  }

  Var literal(Scope& scope) {
    ArrayPtr value = scalar();
    const Type& type = value->type();
    std::string key = concat(hash(type), short_string(type), type.weak, ":");
    key.append(reinterpret_cast<const char*>(value->data()), index(type.bytes()));
    const auto [at, added] = scope.literals.try_emplace(key, -1);
    if (added) {
      at->second = scope.program->add(type);
      scope.program->constants.push_back({at->second, std::move(value)});
    }
    return at->second;
  }

  // "b:f32[] c:i32[] = op[name=value] d 2.0:f32[]"
  Equation equation(Scope& scope) {
    std::vector<std::pair<Token, Type>> results;
    if (lexer_.take_if("(")) {
      lexer_.expect(")");
    } else {
      do {
        Token name = word("an equation or 'in'");
        lexer_.expect(":");
        results.emplace_back(std::move(name), type());
      } while (!lexer_.is("="));
    }
    lexer_.expect("=");
    const Token name = word("an op");
    const auto [line, column] = lexer_.place(name);
    Equation eqn{find_op(name.text),
                 {},
                 {},
                 {},
                 std::make_shared<Location>(Location{"text", "program", line, column})};
    if (!eqn.op) lexer_.fail_at(name, concat("there is no op '", name.text, "'"));
    if (lexer_.take_if("[")) params(eqn);
    while (at_operand()) eqn.inputs.push_back(operand(scope));
    for (const auto& [result, type] : results) {
      eqn.outputs.push_back(scope.program->add(type));
      if (result.text != "_" && !scope.names.emplace(result.text, eqn.outputs.back()).second)
        lexer_.fail_at(result, concat("variable '", result.text, "' is defined twice"));
    }
    return eqn;
  }
  // Rather than at the next equation, ';' or 'in'?
  bool at_operand() const {
    if (at_element()) return true;
    return lexer_.peek().kind == TokenKind::word && !lexer_.is("in") &&
           lexer_.peek_second().text != ":";
  }

  void params(Equation& eqn) {
    while (!lexer_.take_if("]")) {
      const Token name = word("a param or ']'");
      const ParamName key = ParamName::from_outside(name.text);
      lexer_.expect("=");
      if (eqn.params.has(key))
        lexer_.fail_at(name, concat("param '", name.text, "' is given twice"));
      if (lexer_.is("function")) {
        lexer_.fail_at(name, concat("param '", name.text, "' of ", eqn.op->name,
                                    " is a Python function, which no text can hold"));
      }
      eqn.params.set(key, param());
    }
  }

  ParamValue param() {
    const Token next = lexer_.peek();
    if (next.kind == TokenKind::string) return lexer_.take().text;
    if (at_number()) return number_param();
    if (lexer_.is("{") || lexer_.is("@")) return carried();
    if (lexer_.take_if("[")) {
      Programs out;
      list("]", [&] { out.push_back(carried()); });
      return out;
    }
    if (lexer_.take_if("(")) return tuple();
    if (lexer_.take_if("%")) return known_sharding(next);
    if (lexer_.take_if("None")) return std::monostate();
    if (lexer_.take_if("True")) return true;
    if (lexer_.take_if("False")) return false;
    if (lexer_.take_if("sharding")) return sharding();
    if (lexer_.take_if("types")) {
      Types out;
      lexer_.expect("(");
      list(")", [&] { out.push_back(type()); });
      return out;
    }
    if (lexer_.take_if("axes") || lexer_.take_if("program")) {
      lexer_.expect("(");
      lexer_.expect(")");
      return next.text == "axes" ? ParamValue(AxisNames()) : ParamValue(ProgramPtr());
    }
    return dtype(name);
  }

  bool at_number() const {
    return at_element() && !lexer_.is("True") && !lexer_.is("False") && !lexer_.is("(");
  }
  // An integer, or a float where it is written as one.
  ParamValue number_param() {
    if (lexer_.peek().kind == TokenKind::number &&
        lexer_.peek().text.find_first_of(".e") == std::string::npos)
      return integer();
    double x = 0;
    const Token at = lexer_.peek();
    if (!read_number(DType::float64, number(), reinterpret_cast<std::byte*>(&x)))
      lexer_.fail_at(at, concat("'", at.text, "' is no number"));
    return x;
  }
  // After '(': integers or the names of axes.
  ParamValue tuple() {
    if (lexer_.peek().kind == TokenKind::number || lexer_.is(")")) {
      Ints out;
      list(")", [&] { out.push_back(integer()); });
      return out;
    }
    AxisNames out;
    list(")", [&] { out.names.push_back(axis()); });
    return out;
  }
  ShardingPtr known_sharding(const Token& at) {
    const std::int64_t place = integer();
    if (place < 0 || place >= static_cast<std::int64_t>(shardings_.size()))
      lexer_.fail_at(at, concat("there is no sharding %", place));
    return shardings_[index(place)];
  }
  // A program, or "@f".
  ProgramPtr carried() {
    if (!lexer_.take_if("@")) return program();
    const Token name = word("the name of a program");
    const auto known = programs_.find(name.text);
    if (known == programs_.end())
      lexer_.fail_at(name, concat("no program '@", name.text, "' is defined before this"));
    return known->second;
  }

  class Nesting {
   public:
    explicit Nesting(Parser& parser) : parser_(parser) {
      check_stack("parsing a program within programs");
      if (++parser_.depth_ > max_nesting)
        parser_.lexer_.fail_at(
            parser_.lexer_.peek(),
            concat("programs lie within each other more than ", max_nesting, " deep"));
    }
    ~Nesting() { --parser_.depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    Parser& parser_;
  };

  std::map<std::string, ProgramPtr> programs_;
  int depth_ = 0;
};

}  // namespace

ProgramPtr parse_program(std::string_view text, bool closed) {
  ProgramPtr program = Parser(text).all();
  check_program(*program, "parse: no valid program", closed);
  return program;
}

}  // namespace shardax

// ir/text/print.cpp - programs as text, in JAX's form.
#include <cmath>
#include <unordered_map>

#include "array/half.h"
#include "array/narrow.h"
#include "base/errors.h"
#include "base/index.h"
#include "base/stack.h"
#include "ir/regions.h"
#include "ir/text/element_text.h"
#include "ir/text/grouped_values.h"
#include "ir/text/pretty_printer.h"
#include "ir/text/print_captured.h"

namespace shardax {
namespace {

constexpr int line_width = 80;

// As Python writes complex numbers: 2j, (1-2j).
std::string complex_text(std::complex<double> z) {
  const auto part = [](double v) {
    const std::string text = real_text(v);
    return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
  };
  const std::string imaginary = part(z.imag()) + "j";
  if (z.real() == 0 && !std::signbit(z.real())) return imaginary;
  return concat("(", part(z.real()), imaginary[0] == '-' ? "" : "+", imaginary, ")");
}

// The element of a rank-0 array. Python's literals are doubles: with `widened`, so are floats.
std::string element_text(const Array& value, bool widened) {
  const std::byte* data = value.data();
  return visit_dtype(value.dtype(), [&](auto zero) -> std::string {
    using T = decltype(zero);
    T x;
    std::memcpy(&x, data, sizeof x);
    if constexpr (std::is_same_v<T, bool>)
      return x ? "True" : "False";
    else if constexpr (std::is_same_v<T, bfloat16_t> || std::is_same_v<T, float16_t>)
      return real_text(static_cast<double>(to_float(x)));
    else if constexpr (std::is_same_v<T, narrow_t>)
      return is_narrow_float(value.dtype())
                 ? real_text(static_cast<double>(narrow_float(value.dtype(), x)))
                 : std::to_string(narrow_integer(value.dtype(), x));
    else if constexpr (is_opaque<T>)
      return "key";
    else if constexpr (std::is_integral_v<T>)
      return std::to_string(x);
    else if constexpr (std::is_floating_point_v<T>)
      return widened ? real_text(static_cast<double>(x)) : real_text(x);
    else
      return complex_text(std::complex<double>(x));
  });
}

}  // namespace

std::string literal_text(const Array& value) {
  return concat(element_text(value, true), ":", short_string(value.type()));
}

namespace {

bool contains(const auto& list, const auto& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

// The programs that an equation carries, in the order of its params.
std::vector<const Program*> regions(const Equation& eqn) {
  std::vector<const Program*> out;
  for (const auto& [name, value] : eqn.params) {
    if (const auto* body = std::get_if<ProgramPtr>(&value)) {
      out.push_back(body->get());
    } else if (const auto* list = std::get_if<Programs>(&value)) {
      for (const ProgramPtr& body : *list) out.push_back(body.get());
    }
  }
  return out;
}

// Programs that are shown once, ahead of the others, under a name: those with more than one use,
// and long ones.
struct SharedProgram {
  const Program* program;
  std::string name;
};
std::vector<SharedProgram> shared_programs(const Program& top) {
  constexpr std::size_t long_program = 10;
  struct Seen {
    const Program* program;
    std::string name;
    int uses;
  };
  std::vector<Seen> seen;
  std::vector<std::pair<const Program*, std::string>> queue{{&top, ""}};
  for (std::size_t next = 0; next < queue.size(); ++next) {
    const auto [program, name] = queue[next];
    auto at = std::find_if(seen.begin(), seen.end(),
                           [p = program](const Seen& s) { return s.program == p; });
    if (at == seen.end()) at = seen.insert(at, {program, name, 0});
    at->uses += program != &top && program->equations.size() > long_program ? 2 : 1;
    for (const Equation& eqn : program->equations) {
      std::string called = eqn.params.has("name") ? eqn.params.text(param::name) : "jaxpr";
      std::erase_if(called, [](char c) { return c == '<' || c == '>'; });
      for (const Program* body : regions(eqn)) queue.emplace_back(body, called);
    }
  }
  std::vector<SharedProgram> shared;
  std::unordered_map<std::string, int> names;
  for (const Seen& s : seen) {
    if (s.uses == 1) continue;
    std::string name = s.name;
    if (const int count = names[s.name]++; count > 0) ++names[name += std::to_string(count)];
    shared.push_back({s.program, name});
  }
  return shared;
}

class Printer {
 public:
  explicit Printer(PrintOptions options) : options_(options) {}

  PrettyPrinter top(const Program& p, std::size_t captured = 0) {
    shared_ = shared_programs(p);
    std::vector<PrettyPrinter> parts;
    for (const SharedProgram& s : shared_) {
      parts.insert(parts.end(),
                   {"let " + s.name + " = ", program(*s.program), " in", PrettyPrinter::line()});
    }
    parts.push_back(program(p, {}, {}, captured));
    return PrettyPrinter::chain(std::move(parts));
  }

  PrettyPrinter equation(const Program& p, const Equation& eqn) {
    const GroupedValues joined(p);
    Scope scope;
    for (const Constant& c : p.constants) declare_literal(scope, c);
    return equation(p, eqn, joined, scope, std::vector<bool>(p.types.size(), true));
  }

 private:
  using Scope = std::unordered_map<Var, std::string>;
  using Texts = std::vector<std::string>;

  // a, b, ..., z, ba, bb, ... in order of first mention.
  std::string fresh() {
    std::string name;
    int n = next_++;
    do {
      name.insert(name.begin(), static_cast<char>('a' + n % 26));
      n /= 26;
    } while (n > 0);
    const bool taken = std::any_of(shared_.begin(), shared_.end(),
                                   [&](const SharedProgram& s) { return s.name == name; });
    return taken ? fresh() : name;
  }

  std::string name(Scope& scope, Var v) {
    const auto [it, added] = scope.try_emplace(v);
    if (added) it->second = fresh();
    return it->second;
  }
  // Adds a variable to a list, unless it is shown with another.
  void declare(Texts& out, Scope& scope, const Program& p, const GroupedValues& joined, Var v) {
    if (joined.hides(v)) return;
    const std::string text = name(scope, v);
    const std::string* own = joined.type(v);
    out.push_back(options_.shapes ? concat(text, ":", own ? *own : short_string(p.type(v))) : text);
  }
  void mention(Texts& out, Scope& scope, const GroupedValues& joined, Var v) {
    if (!joined.hides(v)) out.push_back(name(scope, v));
  }
  bool declare_literal(Scope& scope, const Constant& c) {
    const bool literal = c.value->type().rank() == 0;
    if (literal) scope[c.var] = literal_text(*c.value);
    return literal;
  }

  // As many on a line as fit.
  static PrettyPrinter list(const Texts& items, const std::string& separator = "") {
    std::vector<PrettyPrinter> parts;
    for (const std::string& item : items) {
      if (!parts.empty())
        parts.insert(parts.end(), {separator, PrettyPrinter::group({PrettyPrinter::line()})});
      parts.emplace_back(item);
    }
    return PrettyPrinter::nest(2, {PrettyPrinter::group(std::move(parts))});
  }

  // `inputs`, `outputs`: names that those of a called program take from the call. The last
  // `captured` inputs are shown as constants.
  PrettyPrinter program(const Program& p, const Texts& inputs = {}, const Texts& outputs = {},
                        std::size_t captured = 0) {
    check_stack("printing a program within programs");
    const GroupedValues joined(p);
    Scope scope;
    std::vector<bool> used(p.types.size(), false);
    for (const Equation& eqn : p.equations) {
      for (Var v : eqn.inputs) used[index(v)] = true;
    }
    for (Var v : p.outputs) used[index(v)] = true;
    Texts constants, parameters, results;
    for (const Constant& c : p.constants) {
      if (!declare_literal(scope, c) && used[index(c.var)])
        declare(constants, scope, p, joined, c.var);
    }
    const std::size_t given = p.inputs.size() - captured;
    for (std::size_t i = given; i < p.inputs.size(); ++i) {
      if (used[index(p.inputs[i])]) declare(constants, scope, p, joined, p.inputs[i]);
    }
    suggest(scope, p.inputs, inputs);
    suggest(scope, p.outputs, outputs);
    for (Var v : std::span(p.inputs).first(given)) declare(parameters, scope, p, joined, v);
    std::vector<PrettyPrinter> equations{PrettyPrinter::line()};
    for (const Equation& eqn : p.equations) {
      if (equations.size() > 1) equations.push_back(PrettyPrinter::line("; "));
      equations.push_back(equation(p, eqn, joined, scope, used));
    }
    for (Var v : p.outputs) mention(results, scope, joined, v);
    std::string end = results.size() == 1 ? ",)" : ")";
    if (options_.effects) {
      end += " : { ";
      for (const std::string_view effect : effects(p))
        end += concat(end.ends_with("{ ") ? "" : ", ", effect);
      end += " }";
    }
    return PrettyPrinter::group(
        {PrettyPrinter::nest(2, {"{ lambda ", list(constants), "; ", list(parameters), ". let",
                                 PrettyPrinter::nest(2, std::move(equations)),
                                 PrettyPrinter::line(), "in (", list(results, ","), end}),
         " }"});
  }

  // Each name goes to one variable, except that of results that nothing uses.
  static void suggest(Scope& scope, const std::vector<Var>& vars, const Texts& names) {
    Texts given;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i].empty() || (names[i] != "_" && contains(given, names[i]))) continue;
      if (scope.try_emplace(vars[i], names[i]).second) given.push_back(names[i]);
    }
  }

  PrettyPrinter equation(const Program& p, const Equation& eqn, const GroupedValues& joined,
                         Scope& scope, const std::vector<bool>& used) {
    Texts left, right, in, out;
    const bool call = eqn.op->name == "jit";
    for (std::size_t i = 0; call && i < eqn.inputs.size(); ++i) {
      const std::string text = joined.hides(eqn.inputs[i]) ? "" : name(scope, eqn.inputs[i]);
      in.push_back(text.find(':') == std::string::npos ? text : "");  // not those of literals
    }
    for (Var v : eqn.outputs) {
      if (!used[index(v)]) scope.try_emplace(v, "_");
      declare(left, scope, p, joined, v);
      if (call) out.push_back(joined.hides(v) ? "" : name(scope, v));
    }
    std::vector<PrettyPrinter> line;
    if (!left.empty()) {
      const std::string note = eqn.location ? to_string(*eqn.location) : "";
      line = {list(left), options_.locations ? PrettyPrinter::noted(" = ", note) : " = "};
    }
    line.emplace_back(std::string(eqn.op->name));
    std::vector<PrettyPrinter> params = parameters(eqn, in, out);
    if (!params.empty()) {
      std::vector<PrettyPrinter> inner{"["};
      for (std::size_t i = 0; i < params.size(); ++i) {
        inner.push_back(PrettyPrinter::line(i ? " " : ""));
        inner.push_back(std::move(params[i]));
      }
      line.push_back(PrettyPrinter::group(
          {PrettyPrinter::nest(2, std::move(inner)), PrettyPrinter::line(""), "]"}));
    }
    for (Var v : eqn.inputs) mention(right, scope, joined, v);
    line.insert(line.end(), {" ", list(right)});
    return PrettyPrinter::chain(std::move(line));
  }

  // The program, or the name under which it has been shown.
  PrettyPrinter mention(const Program& p, const Texts& inputs = {}, const Texts& outputs = {}) {
    for (const SharedProgram& s : shared_) {
      if (s.program == &p) return s.name;
    }
    return program(p, inputs, outputs);
  }

  std::vector<PrettyPrinter> parameters(const Equation& eqn, const Texts& in, const Texts& out) {
    std::vector<PrettyPrinter> shown;
    if (eqn.op->show) {
      for (const std::string& text : eqn.op->show(eqn.params)) shown.emplace_back(text);
      return shown;
    }
    const Params own = eqn.op->shown_params ? eqn.op->shown_params(eqn.params) : Params();
    std::vector<const Params::Entry*> sorted;
    for (const Params::Entry& entry : eqn.op->shown_params ? own : eqn.params)
      sorted.push_back(&entry);
    if (!called_program(*eqn.op, eqn.params)) {
      std::sort(sorted.begin(), sorted.end(),
                [](const auto* a, const auto* b) { return a->first < b->first; });
    }
    for (const Params::Entry* entry : sorted) {
      const auto& [name, value] = *entry;
      std::vector<PrettyPrinter> text{std::string(name) + "="};
      if (const auto* body = std::get_if<ProgramPtr>(&value)) {
        text.push_back(mention(**body, in, out));
      } else if (const auto* regions = std::get_if<Programs>(&value)) {
        std::vector<PrettyPrinter> list{"("};
        for (const ProgramPtr& body : *regions) {
          list.push_back(PrettyPrinter::line(list.size() > 1 ? " " : ""));
          list.push_back(mention(*body));
        }
        text.push_back(PrettyPrinter::group(
            {PrettyPrinter::nest(2, std::move(list)), PrettyPrinter::line(""), ")"}));
      } else {
        text.emplace_back(to_string(value));
      }
      shown.push_back(PrettyPrinter::chain(std::move(text)));
    }
    return shown;
  }

  const PrintOptions options_;
  std::vector<SharedProgram> shared_;
  int next_ = 0;
};

struct ParamText {
  std::string operator()(std::monostate) const { return "None"; }
  std::string operator()(bool b) const { return b ? "True" : "False"; }
  std::string operator()(std::int64_t i) const { return std::to_string(i); }
  std::string operator()(double d) const { return std::to_string(d); }
  std::string operator()(const std::string& s) const { return s; }
  std::string operator()(const Ints& ints) const { return to_string(ints); }
  std::string operator()(DType d) const { return std::string(name(d)); }
  std::string operator()(const AxisNames& a) const {
    std::string out;
    for (AxisName n : a.names) out += (out.empty() ? "" : ", ") + ("'" + axis_text(n) + "'");
    return concat("(", out, a.names.size() == 1 ? ",)" : ")");
  }
  std::string operator()(const ProgramPtr& p) const { return to_string(*p); }
  std::string operator()(const Programs& list) const {
    std::string out;
    for (const ProgramPtr& p : list) out += to_string(*p) + " ";
    return out;
  }
  std::string operator()(const FunctionPtr& f) const { return f->text(); }
  std::string operator()(const Types& types) const {
    std::string out;
    for (const Type& type : types) out += (out.empty() ? "" : ", ") + to_string(type);
    return concat("(", out, types.size() == 1 ? ",)" : ")");
  }
  std::string operator()(const ShardingPtr& sharding) const { return to_string(*sharding); }
};

}  // namespace

std::string scalar_text(const Array& value) { return element_text(value, false); }

std::string to_string(const Location& location) {
  const std::string column = location.column <= 0 ? "" : concat(":", location.column);
  return concat(location.file, ":", location.line, column, " (", location.function, ")");
}

std::string short_string(const Location& location) {
  const std::string file = location.file.substr(location.file.rfind('/') + 1);
  return concat(file, ":", location.line, " (", location.function, ")");
}

std::string to_string(const ParamValue& value) { return std::visit(ParamText{}, value); }

std::string to_string(const Program& program, const PrintOptions& options) {
  return to_string(program, options, 0);
}
std::string to_string(const Program& program, const PrintOptions& options, std::size_t captured) {
  return Printer(options).top(program, captured).layout(line_width);
}
std::string to_string(const Program& program) { return to_string(program, PrintOptions{}); }

std::string to_string(const Program& program, const Equation& eqn) {
  return Printer(PrintOptions{}).equation(program, eqn).layout(line_width);
}

}  // namespace shardax

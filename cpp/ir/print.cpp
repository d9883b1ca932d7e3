// ir/print.cpp - programs as text, in JAX's form.
#include <charconv>
#include <cmath>
#include <unordered_map>

#include "array/half.h"
#include "array/narrow.h"
#include "base/errors.h"
#include "ir/document.h"
#include "ir/op.h"

namespace shardax {
namespace {

constexpr int line_width = 80;

// a, b, ..., z, ba, bb, ... in order of first mention.
class Names {
 public:
  std::string fresh() {
    int n = next_++;
    std::string name;
    do {
      name.insert(name.begin(), static_cast<char>('a' + n % 26));
      n /= 26;
    } while (n > 0);
    return name;
  }

 private:
  int next_ = 0;
};

// The shortest decimal that reads back as the same number, as Python writes it.
template <class T>
std::string real_text(T v) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v > 0 ? "inf" : "-inf";
  const double size = std::abs(static_cast<double>(v));
  const bool fixed = size == 0 || (size >= 1e-4 && size < 1e16);
  char buffer[48];
  const auto format = fixed ? std::chars_format::fixed : std::chars_format::scientific;
  std::string out(buffer, std::to_chars(buffer, std::end(buffer), v, format).ptr);
  if (fixed && out.find('.') == std::string::npos) out += ".0";
  return out;
}

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

class Printer {
 public:
  using Scope = std::unordered_map<Var, std::string>;

  // `given`: names that the inputs and outputs of a called program take from the call.
  Document program(const Program& p, const std::vector<std::string>& inputs = {},
                   const std::vector<std::string>& outputs = {}) {
    Scope scope;
    std::vector<bool> used(p.types.size(), false);
    for (const Equation& eqn : p.equations) {
      for (Var v : eqn.inputs) used[static_cast<std::size_t>(v)] = true;
    }
    for (Var v : p.outputs) used[static_cast<std::size_t>(v)] = true;
    std::vector<std::string> constants, parameters;
    for (const Constant& c : p.constants) {
      if (c.value->type().rank() == 0) {
        scope[c.var] = literal_text(*c.value);
      } else if (used[static_cast<std::size_t>(c.var)]) {
        constants.push_back(declare(scope, p, c.var));
      }
    }
    for (std::size_t i = 0; i < p.inputs.size(); ++i) {
      if (i < inputs.size() && !inputs[i].empty()) scope.try_emplace(p.inputs[i], inputs[i]);
      parameters.push_back(declare(scope, p, p.inputs[i]));
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) scope.try_emplace(p.outputs[i], outputs[i]);
    std::vector<Document> equations;
    for (const Equation& eqn : p.equations) {
      equations.push_back(Document::line(equations.empty() ? " " : "; "));
      equations.push_back(equation(p, eqn, scope, used));
    }
    std::string results;
    for (std::size_t i = 0; i < p.outputs.size(); ++i)
      results += (i ? ", " : "") + scope[p.outputs[i]];
    if (p.outputs.size() == 1) results += ",";
    if (equations.empty()) equations.push_back(Document::line());
    const std::string head = "{ lambda" + (constants.empty() ? " ;" : spaced(constants) + ";") +
                             (parameters.empty() ? " " : spaced(parameters)) + ". let";
    return Document::group({head, Document::nest(4, std::move(equations)),
                            Document::nest(2, {Document::line(), "in (" + results + ") }"})});
  }

 private:
  static std::string spaced(const std::vector<std::string>& items) {
    std::string out;
    for (const std::string& item : items) out += " " + item;
    return out;
  }

  std::string declare(Scope& scope, const Program& p, Var v) {
    const auto [it, added] = scope.try_emplace(v);
    if (added) it->second = names_.fresh();
    return it->second + ":" + short_string(p.type(v));
  }

  Document equation(const Program& p, const Equation& eqn, Scope& scope,
                    const std::vector<bool>& used) {
    std::string left, right;
    std::vector<std::string> in, out;
    for (Var v : eqn.inputs) {
      right += " " + scope[v];
      in.push_back(p.constants.empty() || scope[v].find(':') == std::string::npos ? scope[v] : "");
    }
    for (Var v : eqn.outputs) {
      if (!used[static_cast<std::size_t>(v)]) scope.try_emplace(v, "_");
      if (!left.empty()) left += " ";
      left += declare(scope, p, v);
      out.push_back(scope[v]);
    }
    if (eqn.inputs.empty()) right = " ";
    if (!left.empty()) left += " = ";
    std::vector<Document> line{left + std::string(eqn.op->name)};
    std::vector<Document> params = parameters(eqn, in, out);
    if (!params.empty()) {
      std::vector<Document> inner;
      for (std::size_t i = 0; i < params.size(); ++i) {
        inner.push_back(Document::line(i ? " " : ""));
        inner.push_back(std::move(params[i]));
      }
      line.push_back(
          Document::group({"[", Document::nest(2, std::move(inner)), Document::line(""), "]"}));
    }
    line.push_back(right);
    return Document::chain(std::move(line));
  }

  std::vector<Document> parameters(const Equation& eqn, const std::vector<std::string>& in,
                                   const std::vector<std::string>& out) {
    if (eqn.op->show) {
      std::vector<Document> shown;
      for (const std::string& text : eqn.op->show(eqn.params)) shown.emplace_back(text);
      return shown;
    }
    std::vector<const Params::Entry*> sorted;
    for (const Params::Entry& entry : eqn.params) sorted.push_back(&entry);
    const bool call = eqn.op->name == "jit";
    if (!eqn.op->body) {
      std::sort(sorted.begin(), sorted.end(),
                [](const auto* a, const auto* b) { return a->first < b->first; });
    }
    std::vector<Document> shown;
    for (const Params::Entry* entry : sorted) {
      const auto& [name, value] = *entry;
      std::vector<Document> text{std::string(name) + "="};
      if (const auto* body = std::get_if<ProgramPtr>(&value)) {
        text.push_back(call ? program(**body, in, out) : program(**body));
      } else if (const auto* bodies = std::get_if<Programs>(&value)) {
        std::vector<Document> list;
        for (const ProgramPtr& body : *bodies) {
          list.push_back(Document::line());
          list.push_back(program(*body));
        }
        text.push_back(
            Document::group({"(", Document::nest(2, std::move(list)), Document::line(), ")"}));
      } else {
        text.emplace_back(to_string(value));
      }
      shown.push_back(Document::chain(std::move(text)));
    }
    return shown;
  }

  Names names_;
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

std::string to_string(const ParamValue& value) { return std::visit(ParamText{}, value); }

std::string to_string(const Program& program) {
  return Printer().program(program).layout(line_width);
}

}  // namespace shardax

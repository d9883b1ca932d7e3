// ir/text/text_form.cpp - writes programs in their textual form.
#include "ir/text/text_form.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "base/errors.h"
#include "base/index.h"
#include "base/stack.h"
#include "ir/op.h"
#include "ir/text/axis_marks.h"
#include "ir/text/element_text.h"
#include "ir/text/lexer.h"
#include "ir/text/pretty_printer.h"
#include "kernels/copy/copy.h"

namespace shardax {
namespace {

constexpr int text_width = 100;

// "x, y", and with `open`: "(x, y)", "(x,)".
template <class List, class Text>
std::string listed(const List& items, Text text, std::string_view open = "") {
  std::string out(open);
  for (std::size_t i = 0; i < items.size(); ++i) out += (i ? ", " : "") + text(items[i]);
  if (open.empty()) return out;
  const bool tuple = open.ends_with('(') && items.size() == 1;
  return out + (open.ends_with('[') ? "]" : tuple ? ",)" : ")");
}

std::string name_text(const std::string& name) { return quoted_text(name, '\''); }
// A mapped axis 'i', or a checked one in one of its states, V:'x'.
std::string axis_mark(AxisName axis) {
  if (axis < 0) return name_text("?");  // no name
  const std::string_view mark = mark_of(axis);
  return concat(mark, mark.empty() ? "" : ":", name_text(axis_text(axis)));
}
std::string number_text(std::int64_t n) { return std::to_string(n); }
std::string names_list(const std::vector<std::string>& names) {
  return listed(names, name_text, "(");
}

std::string sharding_text(const Sharding& s) {
  std::string out = "sharding(mesh=(";
  for (std::size_t i = 0; i < s.mesh_axes.size(); ++i)
    out += concat(i ? ", " : "", name_text(s.mesh_axes[i]), ": ", s.mesh_shape[i]);
  out += ") devices=" + listed(s.devices, number_text, "(") +
         " spec=" + listed(s.spec, names_list, "(");
  if (!s.named) out += " named=False";
  if (!s.axis_types.empty()) out += " axis_types=" + quoted_text(s.axis_types, '"');
  if (!s.unreduced.empty()) out += " unreduced=" + names_list(s.unreduced);
  if (!s.reduced.empty()) out += " reduced=" + names_list(s.reduced);
  if (!s.memory.empty()) out += " memory=" + quoted_text(s.memory, '"');
  if (!s.layout.empty()) out += " layout=" + listed(s.layout, number_text, "(");
  return out + ")";
}

// An op's name, without characters that cannot be in a name.
std::string plain_name(const std::string& name) {
  std::string out;
  for (const char c : name) {
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_')
      out += c;
  }
  return out.empty() ? "f" : out;
}

// The programs with several uses, each after those that it carries, and all shardings.
class SharedParts {
 public:
  explicit SharedParts(const Program& top) {
    visit(top, "");
    std::unordered_map<std::string, int> taken;
    for (const Program* p : order_) {
      Seen& seen = seen_[p];
      if (p == &top || seen.uses < 2) continue;
      const int before = taken[seen.name]++;
      if (before) seen.name += "_" + std::to_string(before);
      programs_.push_back(p);
    }
  }
  const std::vector<const Program*>& programs() const { return programs_; }
  // Its name; null where it stands where it is used.
  const std::string* name(const Program& p) const {
    const auto at = seen_.find(&p);
    return at != seen_.end() && at->second.uses > 1 ? &at->second.name : nullptr;
  }
  std::string name(const Sharding& s) const {
    const std::string text = sharding_text(s);
    return concat("%", std::find(shardings_.begin(), shardings_.end(), text) - shardings_.begin());
  }
  const std::vector<std::string>& shardings() const { return shardings_; }

 private:
  struct Seen {
    int uses = 0;
    std::string name;
  };

  void visit(const Program& p, const std::string& name) {
    check_stack("printing a program within programs");
    Seen& seen = seen_[&p];
    if (++seen.uses > 1) return;
    seen.name = name;
    const auto defined = [&](Var v) {
      if (v >= 0 && index(v) < p.types.size()) note(p.type(v).sharding);
    };
    for (const Constant& c : p.constants) defined(c.var);
    std::for_each(p.inputs.begin(), p.inputs.end(), defined);
    for (const Equation& eqn : p.equations) {
      std::for_each(eqn.outputs.begin(), eqn.outputs.end(), defined);
      for (const auto& [param, value] : eqn.params) {
        const auto* text = std::get_if<std::string>(eqn.params.find("name"));
        const std::string called = plain_name(text ? *text : std::string(param));
        if (const auto* body = std::get_if<ProgramPtr>(&value); body && *body)
          visit(**body, called);
        if (const auto* list = std::get_if<Programs>(&value)) {
          for (const ProgramPtr& body : *list) visit(*body, called);
        }
        if (const auto* sharding = std::get_if<ShardingPtr>(&value)) note(*sharding);
        if (const auto* types = std::get_if<Types>(&value)) {
          for (const Type& type : *types) note(type.sharding);
        }
      }
    }
    order_.push_back(&p);
  }
  void note(const ShardingPtr& s) {
    if (!s) return;
    std::string text = sharding_text(*s);
    if (std::find(shardings_.begin(), shardings_.end(), text) == shardings_.end())
      shardings_.push_back(std::move(text));
  }

  std::unordered_map<const Program*, Seen> seen_;
  std::vector<const Program*> order_, programs_;
  std::vector<std::string> shardings_;
};

class TextWriter {
 public:
  TextWriter(const Program& top, const TextOptions& options) : options_(options), shared_(top) {}

  PrettyPrinter all(const Program& top) {
    std::vector<PrettyPrinter> parts;
    for (const std::string& sharding : shared_.shardings()) {
      const auto place = &sharding - shared_.shardings().data();
      parts.insert(parts.end(),
                   {concat("let %", place, " = ", sharding, " in"), PrettyPrinter::line()});
    }
    for (const Program* p : shared_.programs()) {
      parts.insert(parts.end(), {"let @" + *shared_.name(*p) + " = ", program(*p), " in",
                                 PrettyPrinter::line()});
    }
    parts.push_back(program(top));
    return PrettyPrinter::chain(std::move(parts));
  }

 private:
  using Texts = std::vector<std::string>;
  struct Scope {
    const Program& program;
    std::unordered_map<Var, std::string> names;
    std::vector<bool> used;
    // Programs that are shown because they are wrong may have others.
    bool known(Var v) const { return v >= 0 && index(v) < used.size(); }
  };

  // a, b, ..., z, ba, bb, ... in the order of the text.
  std::string fresh() {
    static constexpr std::string_view reserved[] = {"in",   "let",   "nan",   "inf",
                                                    "bits", "splat", "elided"};
    std::string name;
    int n = next_++;
    do {
      name.insert(name.begin(), static_cast<char>('a' + n % 26));
      n /= 26;
    } while (n > 0);
    return std::find(std::begin(reserved), std::end(reserved), name) == std::end(reserved)
               ? name
               : fresh();
  }
  std::string name(Scope& scope, Var v) {
    const auto [it, added] = scope.names.try_emplace(v);
    if (added) it->second = fresh();
    return it->second;
  }
  std::string declared(Scope& scope, Var v) {
    return name(scope, v) + ":" + (scope.known(v) ? type(scope.program.type(v)) : "?");
  }

  std::string type(const Type& t) const {
    std::string out(short_name(t.dtype));
    if (t.weak) out += '*';
    if (t.host) out += "<host>";
    out += "[";
    for (std::size_t i = 0; i < t.shape.size(); ++i) out += concat(i ? "," : "", t.shape[i]);
    out += "]";
    if (!t.varying.empty()) {
      Texts axes;
      for (const AxisName axis : t.varying) axes.push_back(axis_mark(axis));
      std::sort(axes.begin(), axes.end());  // their numbers differ from process to process
      out += "{" + listed(axes, [](const std::string& axis) { return axis; }) + "}";
    }
    return t.sharding ? out + shared_.name(*t.sharding) : out;
  }

  // As many on a line as fit, with a space between them; `close` follows the last.
  static PrettyPrinter filled(std::vector<PrettyPrinter> items, const std::string& close = "") {
    if (!items.empty()) items.back() = PrettyPrinter::chain({std::move(items.back()), close});
    std::vector<PrettyPrinter> parts;
    for (PrettyPrinter& item : items) {
      const bool first = parts.empty();
      parts.push_back(first ? std::move(item)
                            : PrettyPrinter::group({PrettyPrinter::line(), std::move(item)}));
    }
    return PrettyPrinter::nest(4, std::move(parts));
  }
  static PrettyPrinter list(const Texts& items) { return filled({items.begin(), items.end()}); }

  PrettyPrinter program(const Program& p) {
    check_stack("printing a program within programs");
    Scope scope{p, {}, std::vector<bool>(p.types.size(), false)};
    const auto use = [&](Var v) {
      if (scope.known(v)) scope.used[index(v)] = true;
    };
    for (const Equation& eqn : p.equations)
      std::for_each(eqn.inputs.begin(), eqn.inputs.end(), use);
    std::for_each(p.outputs.begin(), p.outputs.end(), use);
    Texts constants, inputs, outputs;
    for (const Constant& c : p.constants) {
      if (c.value->type().rank() == 0) {
        scope.names[c.var] = exact_text(c.value->dtype(), c.value->data()) + ":" +
                             (scope.known(c.var) ? type(p.type(c.var)) : "?");
      } else {
        constants.push_back(declared(scope, c.var) + "=" + elements(*c.value));
      }
    }
    for (const Var v : p.inputs) inputs.push_back(declared(scope, v));
    std::vector<PrettyPrinter> equations;
    for (const Equation& eqn : p.equations) {
      equations.push_back(PrettyPrinter::line(equations.empty() ? " " : "; "));
      equations.push_back(equation(scope, eqn));
    }
    for (const Var v : p.outputs)
      outputs.push_back(name(scope, v) + (outputs.size() + 1 < p.outputs.size() ? "," : ""));
    return PrettyPrinter::group(
        {PrettyPrinter::nest(2, {"{ lambda ", list(constants), "; ", list(inputs), ". let",
                                 PrettyPrinter::nest(2, std::move(equations)),
                                 PrettyPrinter::line(), "in (", list(outputs), ")"}),
         " }"});
  }

  std::string elements(const Array& array) const {
    const std::int64_t count = array.type().size();
    const DType dtype = array.dtype();
    const auto size = index(itemsize(dtype));
    std::vector<std::byte> dense(index(array.type().bytes()));
    kernels::copy_strided(dense.data(), row_major_strides(array.shape()), array.data(),
                          array.strides(), array.shape(), itemsize(dtype));
    const auto at = [&](std::int64_t i) { return dense.data() + index(i) * size; };
    bool same = count > 1;
    for (std::int64_t i = 1; same && i < count; ++i) same = std::memcmp(at(0), at(i), size) == 0;
    if (same) return "splat " + exact_text(dtype, at(0));
    if (count > options_.most_elements) return "elided";
    std::string out = "[";
    for (std::int64_t i = 0; i < count; ++i) out += (i ? ", " : "") + exact_text(dtype, at(i));
    return out + "]";
  }

  PrettyPrinter equation(Scope& scope, const Equation& eqn) {
    Texts results, operands;
    for (const Var v : eqn.outputs) {
      if (scope.known(v) && !scope.used[index(v)]) scope.names.try_emplace(v, "_");
      results.push_back(declared(scope, v));
    }
    if (results.empty()) results.emplace_back("()");
    std::vector<PrettyPrinter> line{list(results), " = ", std::string(eqn.op->name)};
    std::vector<PrettyPrinter> params;
    for (const auto& [key, value] : eqn.params)
      params.push_back(PrettyPrinter::chain({std::string(key) + "=", std::visit(*this, value)}));
    if (!params.empty()) line.insert(line.end(), {"[", filled(std::move(params), "]")});
    for (const Var v : eqn.inputs) operands.push_back(name(scope, v));
    if (!operands.empty()) line.insert(line.end(), {" ", list(operands)});
    return PrettyPrinter::chain(std::move(line));
  }

  PrettyPrinter mention(const Program& p) {
    const std::string* known = shared_.name(p);
    return known ? PrettyPrinter("@" + *known) : program(p);
  }

 public:
  // A param.
  PrettyPrinter operator()(std::monostate) { return "None"; }
  PrettyPrinter operator()(bool b) { return b ? "True" : "False"; }
  PrettyPrinter operator()(std::int64_t n) { return std::to_string(n); }
  PrettyPrinter operator()(double x) {
    return exact_text(DType::float64, reinterpret_cast<const std::byte*>(&x));
  }
  PrettyPrinter operator()(const std::string& text) { return quoted_text(text, '"'); }
  PrettyPrinter operator()(const Ints& ints) { return to_string(ints); }
  PrettyPrinter operator()(DType dtype) { return std::string(shardax::name(dtype)); }
  PrettyPrinter operator()(const AxisNames& axes) {
    if (axes.names.empty()) return "axes()";
    return listed(axes.names, axis_mark, "(");
  }
  PrettyPrinter operator()(const ProgramPtr& p) {
    return p ? mention(*p) : PrettyPrinter("program()");
  }
  PrettyPrinter operator()(const Programs& programs) {
    std::vector<PrettyPrinter> list;
    for (const ProgramPtr& p : programs)
      list.push_back(
          PrettyPrinter::chain({mention(*p), list.size() + 1 < programs.size() ? "," : ""}));
    return PrettyPrinter::chain({"[", filled(std::move(list)), "]"});
  }
  PrettyPrinter operator()(const FunctionPtr& f) {
    return "function " + quoted_text(f ? f->text() : "", '"');
  }
  PrettyPrinter operator()(const Types& types) {
    std::string out = "types(";
    for (std::size_t i = 0; i < types.size(); ++i) out += (i ? ", " : "") + type(types[i]);
    return out + ")";
  }
  PrettyPrinter operator()(const ShardingPtr& s) { return s ? shared_.name(*s) : "sharding()"; }

 private:
  const TextOptions options_;
  const SharedParts shared_;
  int next_ = 0;
};

}  // namespace

std::string text_form(const Program& program, const TextOptions& options) {
  return TextWriter(program, options).all(program).layout(text_width);
}

}  // namespace shardax

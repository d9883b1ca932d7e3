// ir/serialize.cpp - writing and reading programs as bytes.
#include "ir/serialize.h"

#include <cstring>

#include "array/dtype.h"
#include "base/errors.h"
#include "base/index.h"
#include "ir/limits.h"
#include "ir/op.h"
#include "ir/param_name.h"
#include "ir/text/axis_marks.h"
#include "ir/verify.h"
#include "kernels/copy/copy.h"

namespace shardax {
namespace {

constexpr std::string_view magic = "shardax program";
constexpr std::int64_t version = 3;

// Programs that are deeper within others than files may have them are neither written nor read.
class Nesting {
 public:
  explicit Nesting(int& depth) : depth_(depth) {
    check_stack("a program within programs");
    if (++depth_ > max_nesting)
      value_error("export: programs lie within each other more than ", max_nesting,
                  " deep; call fewer functions within functions.");
  }
  ~Nesting() { --depth_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

 private:
  int& depth_;
};

class Writer {
 public:
  ArchiveMarks marks;
  std::string& bytes = marks.bytes;

  void number(std::int64_t n) {
    marks.integers.push_back(bytes.size());
    raw(&n, sizeof n);
  }
  void text(std::string_view s) {
    number(static_cast<std::int64_t>(s.size()));
    bytes.append(s);
  }
  void real(double x) {
    marks.elements.push_back({bytes.size(), 1, DType::float64});
    raw(&x, sizeof x);
  }
  template <class List, class F>
  void list(const List& items, F write) {
    number(static_cast<std::int64_t>(items.size()));
    for (const auto& item : items) write(item);
  }
  void ints(const Shape& shape) {
    list(shape, [&](std::int64_t n) { number(n); });
  }
  void vars(const auto& vs) {
    list(vs, [&](Var v) { number(v); });
  }
  void axes(const AxisSet& names) {
    list(names, [&](AxisName a) { text(concat(mark_of(a), ":", axis_text(a))); });
  }

  void type(const Type& t) {
    if (is_defined_key(t.dtype)) {
      value_error("export: keys of dtype ", name(t.dtype),
                  " belong to a generator that this process defines; give their key_data.");
    }
    text(name(t.dtype));
    number((t.weak ? 1 : 0) + (t.host ? 2 : 0));
    ints(t.shape);
    axes(t.varying);
    sharding(t.sharding);
  }

  void array(const Array& a) {
    type(a.type());
    const std::size_t at = bytes.size();
    if (itemsize(a.dtype()) > 0) marks.elements.push_back({at, index(a.type().size()), a.dtype()});
    bytes.resize(at + index(a.type().bytes()));
    kernels::copy_strided(reinterpret_cast<std::byte*>(bytes.data() + at),
                          row_major_strides(a.shape()), a.data(), a.strides(), a.shape(),
                          itemsize(a.dtype()));
  }

  void sharding(const ShardingPtr& known) {
    number(known != nullptr);
    if (!known) return;
    const Sharding& s = *known;
    const auto texts = [&](const std::vector<std::string>& names) {
      list(names, [&](const std::string& n) { text(n); });
    };
    texts(s.mesh_axes);
    list(s.mesh_shape, [&](std::int64_t n) { number(n); });
    list(s.devices, [&](int d) { number(d); });
    list(s.spec, texts);
    number(s.named);
    text(s.axis_types);
    texts(s.unreduced);
    texts(s.reduced);
    text(s.memory);
  }

  void program(const Program& p) {
    const Nesting nested(depth_);
    text(p.name);
    list(p.types, [&](const Type& t) { type(t); });
    vars(p.inputs);
    list(p.constants, [&](const Constant& c) {
      number(c.var);
      array(*c.value);
    });
    list(p.equations, [&](const Equation& e) { equation(e); });
    vars(p.outputs);
  }

 private:
  void raw(const void* data, std::size_t n) { bytes.append(static_cast<const char*>(data), n); }
  int depth_ = 0;

  void equation(const Equation& e) {
    if (find_op(e.op->name) != e.op) {
      value_error("export: '", e.op->name,
                  "' is a primitive of the user's own, whose rules are Python functions: it cannot "
                  "be written to a file.");
    }
    text(e.op->name);
    vars(e.inputs);
    vars(e.outputs);
    number(std::distance(e.params.begin(), e.params.end()));
    for (const auto& [key, value] : e.params) {
      text(key);
      number(static_cast<std::int64_t>(value.index()));
      std::visit([&](const auto& v) { param(v, *e.op); }, value);
    }
  }

  void param(std::monostate, const Op&) {}
  void param(bool b, const Op&) { number(b); }
  void param(std::int64_t n, const Op&) { number(n); }
  void param(double x, const Op&) { real(x); }
  void param(const std::string& s, const Op&) { text(s); }
  void param(const Ints& n, const Op&) { ints(n); }
  void param(DType d, const Op&) { text(name(d)); }
  void param(const AxisNames& a, const Op&) { axes(a.names); }
  void param(const ProgramPtr& p, const Op&) { program(*p); }
  void param(const Programs& ps, const Op&) {
    list(ps, [&](const ProgramPtr& p) { program(*p); });
  }
  void param(const FunctionPtr& f, const Op& op) {
    value_error("export: ", op.name, " calls the Python function ", f->text(),
                ", which cannot be written to a file. Compute what it gives beforehand, or pass it "
                "as an argument.");
  }
  void param(const Types& ts, const Op&) {
    list(ts, [&](const Type& t) { type(t); });
  }
  void param(const ShardingPtr& s, const Op&) { sharding(s); }
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  bool done() const { return bytes_.empty(); }
  std::int64_t number() {
    std::int64_t n;
    std::memcpy(&n, take(sizeof n), sizeof n);
    return n;
  }
  std::string text() {
    const std::size_t n = count(1);
    return std::string(take(n), n);
  }

  ProgramPtr program() {
    const Nesting nested(depth_);
    const MutableProgram p(new Program);
    p->name = text();
    p->types = list<Types>([&] { return type(); });
    p->inputs = vars<std::vector<Var>>(*p);
    p->constants = list<std::vector<Constant>>([&] {
      const Var v = var(*p);
      return Constant{v, array()};
    });
    p->equations = list<std::vector<Equation>>([&] { return equation(*p); });
    p->outputs = vars<std::vector<Var>>(*p);
    return p;
  }

 private:
  [[noreturn]] static void malformed() {
    value_error("export: the bytes are no exported program, or not all of it.");
  }
  const char* take(std::size_t n) {
    if (n > bytes_.size()) malformed();
    const char* at = bytes_.data();
    bytes_.remove_prefix(n);
    return at;
  }
  // The number of items that follow, of at least so many bytes each.
  std::size_t count(std::size_t bytes_each) {
    const std::int64_t n = number();
    if (n < 0 || index(n) > bytes_.size() / bytes_each) malformed();
    return index(n);
  }
  template <class List, class F>
  List list(F read) {
    List out;
    for (std::size_t n = count(sizeof(std::int64_t)); n-- > 0;) out.push_back(read());
    return out;
  }
  Shape ints() {
    return list<Shape>([&] { return number(); });
  }
  Var var(const Program& p) {
    const std::int64_t v = number();
    if (v < 0 || v >= static_cast<std::int64_t>(p.types.size())) malformed();
    return static_cast<Var>(v);
  }
  template <class List>
  List vars(const Program& p) {
    return list<List>([&] { return var(p); });
  }
  AxisSet axes() {
    return list<AxisSet>([&] {
      const std::string marked = text();
      const std::size_t end = marked.find(':');
      if (end == std::string::npos) malformed();
      const auto axis =
          marked_axis(std::string_view(marked).substr(0, end), marked.substr(end + 1));
      if (!axis) malformed();
      return *axis;
    });
  }
  // Names are numbered in the order in which a process meets them.
  AxisSet sorted_axes() {
    AxisSet out;
    for (const AxisName name : axes()) out = join(out, AxisSet{name});
    return out;
  }
  DType dtype() {
    const std::string wanted = text();
    for (int d = 0; d < dtype_count; ++d) {
      const auto dtype = static_cast<DType>(d);
      if (!is_defined_key(dtype) && name(dtype) == wanted) return dtype;
    }
    malformed();
  }
  Type type() {
    Type t;
    t.dtype = dtype();
    const std::int64_t marks = number();
    if (marks < 0 || marks > 3) malformed();
    t.weak = (marks & 1) != 0;
    t.host = (marks & 2) != 0;
    t.shape = ints();
    t.varying = sorted_axes();
    t.sharding = sharding();
    for (std::int64_t n : t.shape) {
      if (n < 0) value_error("export: a shape ", to_string(t.shape), " has a negative size.");
    }
    check_limits("export", t);
    if (t.sharding && t.sharding->spec.size() > t.rank()) {
      value_error("export: an array of shape ", to_string(t.shape), " is split along ",
                  t.sharding->spec.size(), " dimensions.");
    }
    return t;
  }
  ArrayPtr array() {
    const Type t = type();
    double bytes = itemsize(t.dtype);
    for (std::int64_t n : t.shape) bytes *= static_cast<double>(n);
    if (bytes > static_cast<double>(bytes_.size())) malformed();
    ArrayPtr out = empty_array(t);
    const auto n = index(t.bytes());
    if (n > 0) std::memcpy(out->data(), take(n), n);
    check_elements(*out);
    return out;
  }
  // Kernels take for granted that a truth value is 0 or 1.
  static void check_elements(const Array& a) {
    if (a.dtype() != DType::boolean) return;
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(a.data());
    for (std::int64_t i = 0; i < a.type().size(); ++i) {
      if (bytes[i] > 1) value_error("export: a truth value is ", int{bytes[i]}, ", not 0 or 1.");
    }
  }
  ShardingPtr sharding() {
    if (number() == 0) return nullptr;
    const auto texts = [&] { return list<std::vector<std::string>>([&] { return text(); }); };
    const Shared<Sharding> s(new Sharding);
    s->mesh_axes = texts();
    s->mesh_shape = list<std::vector<std::int64_t>>([&] { return number(); });
    s->devices = list<std::vector<int>>([&] { return static_cast<int>(number()); });
    s->spec = list<std::vector<std::vector<std::string>>>(texts);
    s->named = number() != 0;
    s->axis_types = text();
    s->unreduced = texts();
    s->reduced = texts();
    s->memory = text();
    check_sharding(*s);
    return s;
  }

  Equation equation(const Program& p) {
    const std::string op_name = text();
    Equation e{find_op(op_name), {}, {}, {}, nullptr};
    if (!e.op) value_error("export: there is no op '", op_name, "' in this version of shardax.");
    e.inputs = vars<Vars>(p);
    e.outputs = vars<Vars>(p);
    for (std::size_t n = count(2 * sizeof(std::int64_t)); n-- > 0;) {
      const ParamName key = ParamName::from_outside(text());
      e.params.set(key, param(number()));
    }
    return e;
  }

  ParamValue param(std::int64_t kind) {
    switch (kind) {
      case 0: return std::monostate();
      case 1: return number() != 0;
      case 2: return number();
      case 3: {
        double x;
        std::memcpy(&x, take(sizeof x), sizeof x);
        return x;
      }
      case 4: return text();
      case 5: return ints();
      case 6: return dtype();
      case 7: return AxisNames{axes()};
      case 8: return program();
      case 9: return list<Programs>([&] { return program(); });
      case 11: return list<Types>([&] { return type(); });
      case 12: return sharding();
      default: malformed();
    }
  }

  std::string_view bytes_;
  int depth_ = 0;
};
static_assert(std::variant_size_v<ParamValue> == 13, "each kind of param is written and read");

}  // namespace

ArchiveMarks serialize_marked(const Program& program) {
  Writer out;
  out.bytes.append(magic);
  out.number(version);
  out.program(program);
  return std::move(out.marks);
}

std::string serialize(const Program& program) { return std::move(serialize_marked(program).bytes); }

ProgramPtr deserialize(std::string_view bytes) {
  if (!bytes.starts_with(magic)) value_error("export: the bytes are no exported program.");
  Reader in(bytes.substr(magic.size()));
  const std::int64_t written = in.number();
  if (written != version) {
    value_error("export: the program was written in version ", written, " of the format; version ",
                version, " is read.");
  }
  ProgramPtr program = in.program();
  if (!in.done()) value_error("export: bytes follow the exported program.");
  check_program(*program, "export: the bytes describe no valid program", true);
  return program;
}

}  // namespace shardax

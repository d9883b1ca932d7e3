// array/dtype.cpp - tables of the element types and the promotion lattice.
#include "array/dtype.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "base/index.h"

namespace shardax {
namespace {

struct Row {
  std::string_view name;
  std::string_view short_name;
  int size;  // in bytes
  int bits = 8 * size;
};

constexpr std::array<Row, dtype_count> rows{{
    {"bool", "bool", 1},
    {"int1", "i1", 1, 1},
    {"int2", "i2", 1, 2},
    {"int4", "i4", 1, 4},
    {"int8", "i8", 1},
    {"int16", "i16", 2},
    {"int32", "i32", 4},
    {"int64", "i64", 8},
    {"uint1", "u1", 1, 1},
    {"uint2", "u2", 1, 2},
    {"uint4", "u4", 1, 4},
    {"uint8", "u8", 1},
    {"uint16", "u16", 2},
    {"uint32", "u32", 4},
    {"uint64", "u64", 8},
    {"float4_e2m1fn", "f4_e2m1fn", 1, 4},
    {"float6_e2m3fn", "f6_e2m3fn", 1, 6},
    {"float6_e3m2fn", "f6_e3m2fn", 1, 6},
    {"float8_e3m4", "f8_e3m4", 1},
    {"float8_e4m3", "f8_e4m3", 1},
    {"float8_e4m3b11fnuz", "f8_e4m3b11fnuz", 1},
    {"float8_e4m3fn", "f8_e4m3fn", 1},
    {"float8_e4m3fnuz", "f8_e4m3fnuz", 1},
    {"float8_e5m2", "f8_e5m2", 1},
    {"float8_e5m2fnuz", "f8_e5m2fnuz", 1},
    {"float8_e8m0fnu", "f8_e8m0fnu", 1},
    {"bfloat16", "bf16", 2},
    {"float16", "f16", 2},
    {"float32", "f32", 4},
    {"float64", "f64", 8},
    {"complex64", "c64", 8},
    {"complex128", "c128", 16},
    {"key<fry>", "key<fry>", 8},
    {"key<rbg>", "key<rbg>", 16},
    {"key<urbg>", "key<urbg>", 16},
    {"key<fry4>", "key<fry4>", 16},
    {"key<phx2>", "key<phx2>", 4},
    {"key<phx4>", "key<phx4>", 8},
    {"", "", 16},
    {"", "", 16},
    {"", "", 16},
    {"", "", 16},
    {"", "", 16},
    {"", "", 16},
    {"", "", 16},
    {"", "", 16},
    {"float0", "float0", 0},
}};

const Row& row(DType dtype) { return rows[index(dtype)]; }

constexpr int defined_count =
    static_cast<int>(DType::key_last) - static_cast<int>(DType::key_defined) + 1;

// The names of users' keys, each written once, before its dtype is known to anyone.
std::string& defined_name(DType dtype) {
  static std::array<std::string, defined_count> names;
  return names[index(dtype) - index(DType::key_defined)];
}

// The lattice of JAX's type promotion (docs: "Type promotion semantics"), as upward edges between
// the strong types and three weak ones. The join of two nodes is their least common ancestor.
constexpr int weak_int = dtype_count;
constexpr int weak_float = dtype_count + 1;
constexpr int weak_complex = dtype_count + 2;
constexpr int node_count = dtype_count + 3;

constexpr int node(DType dtype) { return static_cast<int>(dtype); }

using Edges = std::vector<std::pair<int, int>>;

const Edges& edges() {
  // Below numbers of fewer bits lie Python's scalars only, and nothing above them.
  static const Edges list = [] {
    Edges all{
        {node(DType::boolean), weak_int},
        {weak_int, node(DType::uint8)},
        {weak_int, node(DType::int8)},
        {node(DType::int8), node(DType::int16)},
        {node(DType::int16), node(DType::int32)},
        {node(DType::int32), node(DType::int64)},
        {node(DType::uint8), node(DType::int16)},
        {node(DType::uint8), node(DType::uint16)},
        {node(DType::uint16), node(DType::int32)},
        {node(DType::uint16), node(DType::uint32)},
        {node(DType::uint32), node(DType::int64)},
        {node(DType::uint32), node(DType::uint64)},
        {node(DType::int64), weak_float},
        {node(DType::uint64), weak_float},
        {weak_float, node(DType::bfloat16)},
        {weak_float, node(DType::float16)},
        {weak_float, weak_complex},
        {node(DType::bfloat16), node(DType::float32)},
        {node(DType::float16), node(DType::float32)},
        {node(DType::float32), node(DType::float64)},
        {node(DType::float32), node(DType::complex64)},
        {node(DType::float64), node(DType::complex128)},
        {weak_complex, node(DType::complex64)},
        {node(DType::complex64), node(DType::complex128)},
    };
    for (int d = 0; d < dtype_count; ++d) {
      if (is_narrow_integer(static_cast<DType>(d))) all.emplace_back(weak_int, d);
      if (is_narrow_float(static_cast<DType>(d))) all.emplace_back(weak_float, d);
    }
    return all;
  }();
  return list;
}

// The strict lattice: weak types join the strong ones of their kind, strong ones only themselves.
Edges strict_edges() {
  Edges list{{weak_int, weak_float}, {weak_float, weak_complex}};
  for (int d = 0; d < dtype_count; ++d) {
    const auto dtype = static_cast<DType>(d);
    if (is_integer(dtype)) list.emplace_back(weak_int, d);
    if (is_floating(dtype)) list.emplace_back(weak_float, d);
    if (is_complex(dtype)) list.emplace_back(weak_complex, d);
  }
  return list;
}

using Table = std::array<std::array<int, node_count>, node_count>;

// joins[a][b]: the common upper bound that every other common upper bound lies above.
Table make_joins(const Edges& edges) {
  std::array<std::array<bool, node_count>, node_count> above{};
  for (int i = 0; i < node_count; ++i) above[i][i] = true;
  for (int round = 0; round < node_count; ++round) {
    for (const auto& [low, high] : edges) {
      for (int i = 0; i < node_count; ++i) above[i][high] = above[i][high] || above[i][low];
    }
  }
  Table joins{};
  for (int a = 0; a < node_count; ++a) {
    for (int b = 0; b < node_count; ++b) {
      joins[a][b] = -1;
      for (int c = 0; c < node_count; ++c) {
        if (!above[a][c] || !above[b][c]) continue;
        bool least = true;
        for (int d = 0; d < node_count; ++d) {
          if (above[a][d] && above[b][d] && !above[c][d]) least = false;
        }
        if (least) joins[a][b] = c;
      }
    }
  }
  return joins;
}

int lattice_node(WeakDType t) {
  if (!t.weak) return node(t.dtype);
  if (is_integer(t.dtype)) return weak_int;
  if (is_complex(t.dtype)) return weak_complex;
  return is_floating(t.dtype) ? weak_float : node(t.dtype);
}

}  // namespace

int itemsize(DType dtype) { return row(dtype).size; }
int bit_width(DType dtype) { return row(dtype).bits; }
std::string_view name(DType dtype) {
  return is_defined_key(dtype) ? defined_name(dtype) : row(dtype).name;
}
std::string_view short_name(DType dtype) {
  return is_defined_key(dtype) ? defined_name(dtype) : row(dtype).short_name;
}

DType define_key(std::string_view tag) {
  constexpr int first = static_cast<int>(DType::key_defined);
  for (int d = first; d < first + defined_count; ++d) {
    std::string& name = defined_name(static_cast<DType>(d));
    if (!name.empty()) continue;
    name = concat("key<", tag, ">");
    return static_cast<DType>(d);
  }
  value_error("define_prng_impl: a process defines at most ", defined_count,
              " generators, and has as many already.");
}

DType real_dtype(DType d) {
  if (d == DType::complex64) return DType::float32;
  return d == DType::complex128 ? DType::float64 : d;
}

DType complex_dtype(DType d) {
  return d == DType::float64 || d == DType::complex128 ? DType::complex128 : DType::complex64;
}

DType canonical(DType dtype, bool x64) {
  if (x64) return dtype;
  switch (dtype) {
    case DType::int64: return DType::int32;
    case DType::uint64: return DType::uint32;
    case DType::float64: return DType::float32;
    case DType::complex128: return DType::complex64;
    default: return dtype;
  }
}

void float0_error(std::string_view op) {
  type_error("Called ", op,
             " with a float0 array. float0s do not support any operations by design, because they "
             "are not compatible with non-trivial vector spaces. If you didn't expect to get a "
             "float0 you might have accidentally taken a gradient with respect to an integer "
             "argument; np.zeros_like(x, dtype=float) is a regular array of zeros.");
}

namespace {

// A dtype in quotes; the class of Python's numbers where it is theirs.
std::string quoted_name(WeakDType d) {
  if (!d.weak) return concat("'", name(d.dtype), "'");
  return concat("\"<class '",
                is_complex(d.dtype)    ? "complex"
                : is_floating(d.dtype) ? "float"
                                       : "int",
                "'>\"");
}

}  // namespace

WeakDType promote(WeakDType a, WeakDType b, bool strict) {
  static const Table standard = make_joins(edges()), strict_joins = make_joins(strict_edges());
  if (a == b) return a;
  const int joined = (strict ? strict_joins : standard)[lattice_node(a)][lattice_node(b)];
  if (joined < 0 && !strict && (is_narrow(a.dtype) || is_narrow(b.dtype))) {
    const bool floats = is_narrow_float(a.dtype) || is_narrow_float(b.dtype);
    const int bits = bit_width(is_narrow(a.dtype) ? a.dtype : b.dtype);
    fail(ErrorKind::type_promotion_error, "Input dtypes ('", name(a.dtype), "', '", name(b.dtype),
         "') have no available implicit dtype promotion path. To avoid unintended promotion, ",
         floats ? concat(bits, "-bit floats") : "1-bit, 2-bit and 4-bit integers",
         " do not support implicit promotion. If you'd like your inputs to be promoted to another "
         "type, you can do so explicitly using e.g. x.astype('",
         floats ? "float32" : "int32", "')");
  }
  if (joined < 0) {
    if (a.dtype == DType::float0 || b.dtype == DType::float0) float0_error("an operation");
    if (strict) {
      fail(ErrorKind::type_promotion_error, "Input dtypes (", quoted_name(a), ", ", quoted_name(b),
           ") have no available implicit dtype promotion path when "
           "jax_numpy_dtype_promotion=strict. Try explicitly casting inputs to the desired "
           "output type, or set jax_numpy_dtype_promotion=standard.");
    }
    type_error("no promotion path between dtypes ", name(a.dtype), " and ", name(b.dtype), ".");
  }
  if (joined == weak_int) return {a.weak && is_integer(a.dtype) ? a.dtype : b.dtype, true};
  if (joined == weak_float) return {DType::float64, true};
  if (joined == weak_complex) return {DType::complex128, true};
  return {static_cast<DType>(joined), false};
}

}  // namespace shardax

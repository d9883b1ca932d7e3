// numpy/promote.h - promotion of jnp operands: common dtype, common shape.
//
// Dtypes follow JAX's lattice with weak types; while x64 is off, 64-bit results become 32-bit ones.
// If an array already has the wanted dtype and only `weak` differs, no op is bound.
#pragma once

#include <functional>
#include <span>

#include "ops/ops.h"

namespace shardax::numpy {

// The x64 switch: a default for the process, and an override for this thread (as the context
// manager sets it; -1: none).
bool x64_enabled();
void set_x64_default(bool enabled);
int x64_override();
void set_x64_override(int enabled);

// jax_explicit_x64_dtypes: the treatment of 64-bit dtypes that are asked for while x64 is off. If
// they are allowed, arrays of them keep them.
enum class ExplicitX64 { warn, error, allow };
ExplicitX64 explicit_x64();
void set_explicit_x64(ExplicitX64 rule);

// jax_numpy_dtype_promotion "strict": only weak types are promoted, and within their kind.
void set_strict_dtypes(bool strict);
// jax_numpy_rank_promotion: the treatment of operands of different ranks above 0.
enum class RankPromotion { allow, warn, raise };
using Warner = void (*)(const std::string& text);
void set_rank_promotion(RankPromotion rule, Warner warner);
// Both settings are about the user's own operands, not about those of a composition in the package:
// `is_user_code` says whose code promotes. Installed by objects/.
void set_promotion_scope(bool (*is_user_code)());
// While one exists, both settings hold in this thread: the operands are the user's.
class UserOperands {
 public:
  UserOperands();
  ~UserOperands();
  UserOperands(const UserOperands&) = delete;
  UserOperands& operator=(const UserOperands&) = delete;
};

inline DType canonical_dtype(DType dtype) { return canonical(dtype, x64_enabled()); }
// The dtypes of Python's int, float and complex.
DType default_int();
DType default_float();
DType default_complex();

// The type of the lattice of a value, and the join of several, canonical.
WeakDType lattice_type(const Value& value);
// Keys go with keys of the same generator only: others raise TypeError where a function of numbers
// joins them, by its name, else ValueError.
WeakDType join_types(std::span<const WeakDType> types, std::string_view function = {});
WeakDType result_type(const Values& values, std::string_view function = {});

// The treatment of operands by jnp functions beyond plain promotion.
enum class Promote {
  any,      // bool stays bool
  numeric,  // bool becomes int32
  inexact,  // bool and integers become the default float
};
WeakDType adjusted(WeakDType type, Promote rule);

// The value with that dtype and weak flag.
Value as_type(const Value& value, WeakDType type);
Values promote_dtypes(const Values& values, Promote rule = Promote::any,
                      std::string_view function = {});

// The shape to which all broadcast. Throws ValueError
// `Incompatible shapes for broadcasting: shapes=[(2, 3), (4,)]`.
Shape broadcast_shapes(std::span<const Shape> shapes);
// Does broadcasting `from` give `to`?
bool broadcasts_to(const Shape& from, const Shape& to);
// Operands of an elementwise op, ready to bind: all of one rank, or rank 0. If equal ranks do not
// fit, throws TypeError in the words of lax: `add got incompatible shapes for broadcasting: ...`.
Values promote_ranks(const Values& values, std::string_view op);
// The same with all of one shape, or rank 0: for compositions.
Values promote_shapes(const Values& values, std::string_view op);
// Every operand of the common shape.
Values broadcast_arrays(const Values& values);

// Calls `f` as a jitted function of that name. It is staged once per types of its arguments and
// static `key`, and bound as one op. `f` must depend on nothing else.
using Composition = std::function<Values(const Values&)>;
Values jitted(const std::string& name, const Values& args, const Composition& f,
              const std::string& key = "");
Value jitted1(const std::string& name, const Values& args,
              const std::function<Value(const Values&)>& f, const std::string& key = "");
// The same where the arguments are arrays and nothing is staged: programs show the ops of `f`.
Value jitted_at_once(const std::string& name, const Values& args,
                     const std::function<Value(const Values&)>& f, const std::string& key = "");

}  // namespace shardax::numpy

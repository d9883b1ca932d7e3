// ir/op.h - the record of an op: everything the system knows of it.
//
// Transformations, passes, bindings, docs and tests iterate over records; none of them names an
// op. Families of ops (ops/*.cpp) fill most fields through constructors such as `unary`.
//
// Rules run in "final style": they call functions on Values (ops/ops.h), which trace, stage or
// compute depending on the Values. Any rule therefore works under any nesting.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "codegen/vector/emit_kernel.h"
#include "ir/program.h"
#include "kernels/tiles/reduce.h"

namespace shardax::runtime {
class Transfer;
}

namespace shardax {

enum class Kind {
  elementwise,  // output[i] depends on input[i] only; rank-0 operands are broadcast
  reduction,    // combines elements along the param `axes`
  layout,       // rearranges: often a view
  collective,   // acts over named mapped axes; compiled away by batching
  control,      // carries programs
  other,        // a kernel of its own
};

struct JvpArgs {
  const Params& params;
  const Values& in;   // primal inputs
  const Values& out;  // primal outputs
  const Values& t;    // tangents of the inputs, null where zero; at least one is not
};
// In: as above. Out: tangents of the outputs, null where zero.
using JvpRule = Values (*)(const JvpArgs&);

// Ops that carry programs compute primal outputs and tangents together.
struct JvpResult {
  Values out;
  Values t;
};
using JvpBodyRule = JvpResult (*)(const Params& params, const Values& in, const Values& t);

// Splits an op into known results (computed here, on the primal inputs) and a linear function of
// the tangents. `nonzero` marks the inputs with a tangent. `linear` takes a tangent per input and
// gives one per output, null where zero.
struct Linearized {
  Values out;
  std::function<Values(const Values& t)> linear;
};
using LinearizeRule = Linearized (*)(const Params& params, const Values& in,
                                     const std::vector<bool>& nonzero);

struct TransposeArgs {
  const Params& params;
  const Values& ct;  // cotangents of the outputs, null where zero; at least one is not
  const Values& in;  // values of the inputs; null for those the op is linear in
  const Types& in_types;
  const Types& out_types;
  bool linear(std::size_t i) const { return !in[i]; }
};
// Out: one cotangent per input, null for zero and for those that are not linear.
using TransposeRule = Values (*)(const TransposeArgs&);

// The axis over which a program is being batched. Batched values carry it as dimension 0.
struct BatchAxis {
  std::int64_t size;
  AxisName name = -1;                   // -1: unnamed
  bool devices = false;                 // a device axis (pmap), not an ordinary vmap
  std::vector<std::string> split = {};  // the mesh axes that split it, as the user said
};
struct BatchArgs {
  const Op& op;
  const Params& params;
  const Values& in;
  const std::vector<bool>& batched;  // at least one is true, or the op uses `axis` by name
  const BatchAxis& axis;
};
struct Batched {
  Values out;
  std::vector<bool> batched;
};
using BatchRule = Batched (*)(const BatchArgs&);

// The programs that the params hold and the op runs (ir/regions.h), and the params with others,
// whose operands and results may differ too.
struct Regions;
using RegionsRule = Regions (*)(const Params& params);
using WithRegionsRule = Params (*)(const Params& params, const Regions& regions);
// Ops that call a Function: computes them on arrays, with nothing traced.
using EagerRule = Values (*)(const Params& params, const Values& in);
// The same ops, as staging records them: Functions that give outputs have become programs, whose
// captured values are further inputs.
struct StagedCall {
  Params params;
  Values in;
};
using StageRule = StagedCall (*)(const Params& params, const Values& in);

// The program that an op stands for where it is compiled: for ops without a kernel.
using ExpandRule = ProgramPtr (*)(const Params& params, const Types& in);

// A mapped axis and how many devices it has.
struct AxisExtent {
  AxisName name;
  std::int64_t size;
};
// The axes in scope, the innermost last. `closed`: there are no others.
struct AxesInScope {
  std::span<const AxisExtent> axes;
  bool closed;
};
// Throws where the params of a collective do not go with the axes that it names.
using AxesCheck = void (*)(const Op& op, const Params& params, const Types& in,
                           const AxesInScope& scope);

using TypeRule = Types (*)(const Op& op, const Types& in, const Params& params);

// One tile of an elementwise op: n elements, contiguous, of the dtypes the op was typed with.
// `extra` is the constant that MapKernel carries (an exponent, say).
using MapFunction = void (*)(void* out, const void* const* in, std::int64_t n, std::int64_t extra);
struct MapKernel {
  MapFunction function = nullptr;
  std::int64_t extra = 0;
  codegen::EmitKernel record = nullptr;  // the same for machine code; null: there is none
};
// 16-bit floats never reach `map`: the compiler widens them to float32 and rounds the result,
// unless the record says `half_native`.
using MapRule = MapKernel (*)(const Types& in, const Type& out, const Params& params);

// A strided window on memory, with element strides.
struct View {
  std::byte* data = nullptr;
  DType dtype = DType::float32;
  Shape shape;
  Shape strides;
};
// The map between dimensions of operands and of a result of type `out` (ir/dim_factors.h). Parallel
// dimensions of the first result are those of the others, too.
struct DimFactors;
using DimsRule = DimFactors (*)(const Params& params, const Types& in, const Type& out);
// The params for results of another shape of the same rank: of a device's part or of some rows.
using ResizeRule = Params (*)(const Params& params, const Shape& out);

// The split of a result over the mesh, given those of operands: the mesh axes that divide each
// dimension. `mesh` is that of the first operand that has a sharding, or of the param `sharding`;
// rules are in ops/sharding_rules/sharding_rules.h.
using Split = std::vector<std::vector<std::string>>;
struct SplitArgs {
  const Op& op;
  const Params& params;
  const Types& in;
  const Type& out;
  const std::vector<ShardingPtr>& shardings;  // of the operands, null where unknown
  const Sharding& mesh;
};
using SplitRule = Split (*)(const SplitArgs&);
// The op on one device that has parts of arrays: the splits of operands and results, and the params
// of the op on parts. Rules (ops/sharding_rules/spmd_partition_rules.h) choose splits that cost few
// messages, given the present splits of operands.
struct Halo {  // the overlap of a part of an operand with its neighbours, along one split dimension
  std::size_t operand = 0, dim = 0;
  std::int64_t before = 0, after = 0;  // elements; negative: so many of its own are left out
  Value fill;                          // beyond the ends of the array; null: zeros
};
struct Parts {
  std::vector<Split> in;
  Split out;  // of each result
  Params params;
  // The mesh axes over which the devices' results are to be joined, and the collective that does.
  std::vector<std::string> open = {};
  std::string_view joins = {};
  std::vector<Halo> halos = {};
  ProgramPtr instead = nullptr;  // of the whole operands, where its ops have better parts
};
using PartsRule = Parts (*)(const SplitArgs&);
// A device's part of the one result, where all operands are whole: of shape `part`, from `starts`
// on (an int32 scalar for each dimension). Null: it is to be cut out of the whole.
struct PartArgs {
  const Op& op;
  const Params& params;
  const Values& in;
  const Type& whole;
  const Shape& part;
  const Values& starts;
};
using PartRule = Value (*)(const PartArgs&);
// Throws where explicit axes of operands leave open how results are split
// (ops/sharding_rules/ambiguity.h).
using SplitCheck = void (*)(const Op& op, const Params& params, const Types& in, const Types& out);
// The mesh axes over which a result is still to be summed, and those over which its cotangents will
// be. Throws if the op does not commute with open sums of operands
// (ops/sharding_rules/unreduced_rules.h).
struct Sums {
  std::vector<std::string> unreduced, reduced;
};
using SumsRule = Sums (*)(const Op& op, const Types& in);

using Kernel = std::function<void(std::span<const View> in, std::span<const View> out)>;
using KernelRule = Kernel (*)(const Types& in, const Types& out, const Params& params);
// For ops that ask other processes: begins a message, whose results are there once the transfer is
// finished (runtime/transfer.h). Memory is left alone until then; the lists of views may go.
using MessageKernel = std::function<std::unique_ptr<runtime::Transfer>(std::span<const View> in,
                                                                       std::span<const View> out)>;
using MessageRule = MessageKernel (*)(const Op& op, const Types& in, const Types& out,
                                      const Params& params);

// The parameters as make_jaxpr prints them ("axes=(0,)"), where that is not simply the map.
using ShowRule = std::vector<std::string> (*)(const Params& params);
// The parameters that users see, where they are others than the op's own.
using ShownParamsRule = Params (*)(const Params& params);

// For layout ops: the strides and the offset (in elements) of the output as a view of the input's
// memory. False if only a copy will do.
struct ViewLayout {
  Shape strides;
  std::int64_t offset = 0;
};
using ViewRule = bool (*)(const Params& params, const Type& in, const Shape& in_strides,
                          const Type& out, ViewLayout& result);

// The loops of a reduction over elements of a dtype; 16-bit floats reduce as float32.
using ReduceRule = kernels::ReduceKernels (*)(DType dtype);

// The checks of checkify that concern an op by itself. JAX's list: selections, sign changes and
// layout only pass a NaN on.
using Checks = std::uint8_t;
constexpr Checks makes_nan = 1;  // out of numbers
constexpr Checks divides = 2;    // by operand 1, which may be 0

// The starts of the windows that an op reads or writes, one component after the other. For each
// component, the dimension of operand 0 along which it counts, and the last start that fits. All
// have the same shape, [n].
struct Starts {
  Value start;
  Value dimension;
  Value last;
};
using StartsRule = Starts (*)(const Params& params, const Values& in);

// The use that an op makes of PRNG keys, each of which is to be used once (analysis/key_reuse.h).
enum class KeyUse : std::uint8_t {
  by_kind,   // layout and window reads: forwards; in-place ops: updates; else consumes
  consumes,  // uses them up; keys among its results are used up too
  reads,     // leaves them as they are; the same of its results
  makes,     // leaves them; its results are new
  splits,    // uses them up; its results are new
  forwards,  // result i is operand i, rearranged or a part of it
  updates,   // result 0 is operand 0, changed by others, which are used up
  slices,    // uses the elements up from start_indices to limit_indices; its result is new
};

// A set of dtypes, one bit each.
using DTypeSet = std::uint64_t;
constexpr DTypeSet bit(DType d) { return DTypeSet{1} << static_cast<int>(d); }

// The number of operands that an op takes.
struct Operands {
  std::size_t least = 0, most = SIZE_MAX;
  constexpr Operands() = default;  // any number
  // NOLINTNEXTLINE(google-explicit-constructor): records say `.operands = 2`
  constexpr Operands(std::size_t count) : least(count), most(count) {}
  constexpr Operands(std::size_t least, std::size_t most) : least(least), most(most) {}
};
constexpr Operands at_least(std::size_t count) { return {count, SIZE_MAX}; }

struct OpSpec {
  std::string_view name;
  Operands operands = {};  // of ops that carry programs these say it, and of a user's own anyone
  std::string_view doc;
  Checks checks = 0;
  // Takes a machine as little time as a read or a write: an elementwise op whose result is rather
  // made again than kept.
  bool cheap = false;
  // Takes a few times that, as machine code: made again rather than fetched from beyond the caches.
  bool quick = false;
  bool draws = false;  // makes random bits of its operands
  Kind kind = Kind::other;
  DTypeSet dtypes = 0;  // of the operands, for families that share a type rule
  TypeRule type = nullptr;
  AxesCheck check_axes = nullptr;  // of collectives
  JvpRule jvp = nullptr;
  JvpBodyRule jvp_body = nullptr;  // instead of jvp
  LinearizeRule linearize =
      nullptr;  // with jvp_body; without it, the tangent part of jvp_body is recorded
  TransposeRule transpose = nullptr;
  BatchRule batch = nullptr;
  bool no_gradient = false;  // explicit: derivatives are zero or do not exist
  bool half_native = false;
  bool multiple_results = false;  // gives a list, also of one; so do ops that carry programs
  // The name of its effect ("IO"), for ops that must run, once (on a device axis: once per device),
  // in order.
  std::string_view effect = {};
  RegionsRule regions = nullptr;
  WithRegionsRule with_regions = nullptr;
  ExpandRule expand = nullptr;
  EagerRule eager = nullptr;
  StageRule stage = nullptr;
  MapRule map = nullptr;
  ReduceRule reduce = nullptr;
  ViewRule view = nullptr;
  DimsRule dims = nullptr;           // null: results may depend on any element
  ResizeRule resize = nullptr;       // null: the params say nothing of results' sizes
  SplitRule split = nullptr;         // null: by `dims`, of collectives by kind
  SplitCheck check_split = nullptr;  // null: by kind
  PartsRule parts = nullptr;         // null: by `dims`; of others a device computes the whole
  PartRule part = nullptr;           // null: by `dims`
  SumsRule sums = nullptr;           // null: by kind
  KernelRule kernel = nullptr;
  MessageRule message = nullptr;  // in place of a kernel
  // The kernel may find its result in the memory of operand 0, and then leaves the unchanged
  // elements alone.
  bool in_place = false;
  // Operands from this one on say where windows lie (0: none do).
  std::size_t first_index = 0;
  StartsRule starts = nullptr;
  ShowRule show = nullptr;
  ShownParamsRule shown_params = nullptr;
  KeyUse keys = KeyUse::by_kind;  // ops that carry programs: the use by these
};

class Op : public OpSpec {
 public:
  explicit Op(const OpSpec& spec);
  // An op that is not among all_ops: a user's.
  struct Unlisted {};
  Op(const OpSpec& spec, Unlisted) : OpSpec(spec) {}
  Op(const Op&) = delete;
  Op& operator=(const Op&) = delete;
};

// Does the equation, or one in a program that it carries, satisfy `test`?
bool any_equation(const Equation& eqn, const std::function<bool(const Equation&)>& test);
// Must it run although nothing uses its results?
bool has_effects(const Equation& eqn);
bool has_effects(const Program& program);
// The names of its effects, sorted.
std::vector<std::string_view> effects(const Program& program);

// All records, sorted by name.
const std::vector<const Op*>& all_ops();
const Op* find_op(std::string_view name);

// The shardings in the types of results, given operands some of which have one. Installed by
// analysis/.
using ShardingTypeRule = void (*)(const Op& op, const Types& in, const Params& params, Types& out);
void set_sharding_type_rule(ShardingTypeRule rule);

// The types of the outputs: the record's rule, and varying axes joined over the inputs except for
// collectives, whose rules change them.
Types infer_types(const Op& op, const Types& in, const Params& params);

}  // namespace shardax

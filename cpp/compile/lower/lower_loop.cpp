// compile/lower/lower_loop.cpp - a fused unit becomes a TileLoop.
#include <cstdio>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "array/half.h"
#include "base/errors.h"
#include "base/index.h"
#include "codegen/vector/lane.h"
#include "compile/lower/lower.h"
#include "compile/pipeline.h"
#include "ir/core_ops.h"
#include "ir/op.h"
#include "kernels/tiles/row_loop.h"
#include "kernels/tiles/small_loop.h"
#include "runtime/pool.h"

namespace shardax {
namespace {

class LoopStep final : public Step {
 public:
  LoopStep(kernels::TileLoop loop, std::string text)
      : loop_(std::move(loop)), small_(kernels::SmallLoop::of(loop_)), text_(std::move(text)) {
    if (!small_) rows_ = kernels::RowLoop::of(loop_);
  }
  void run(std::byte* const* base) const override {
    if (small_) return small_->run(base);
    if (rows_) return rows_->run(base, runtime::parallel_for_even);
    kernels::run_tile_loop(loop_, base, runtime::parallel_for_even);
  }
  std::string text() const override {
    return concat(loop_.native.code ? "native " : "", "loop ", to_string(loop_.shape), " ", text_,
                  "  [", loop_.loads.size(), " loads, ", loop_.stores.size(), " stores, ",
                  loop_.reductions.size(), " reductions]");
  }
  double cost() const override {
    double elements = 1;
    for (std::int64_t d : loop_.shape) elements *= static_cast<double>(d);
    return elements * 0.1 *
           static_cast<double>(loop_.instructions.size() + loop_.reductions.size() + 1);
  }

 private:
  kernels::TileLoop loop_;
  std::unique_ptr<const kernels::SmallLoop> small_;
  std::unique_ptr<const kernels::RowLoop> rows_;
  std::string text_;
};

// The source of an operand of the loop while it is being built.
struct Operand {
  enum class Kind { load, value, store } kind;
  int index;
};

// The kind of number that machine code computes with for a dtype.
codegen::Kind lane_kind(DType dtype) {
  codegen::Kind kind = codegen::Kind::none;
  visit_dtype(dtype, [&](auto zero) { kind = codegen::kind_of<decltype(zero)>; });
  return kind;
}

// Rounds accumulators of a reduction over 16-bit floats.
template <class Acc, class Half, Half (*round)(float)>
void finish_half(void* out, std::int64_t stride, const void* acc, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    static_cast<Half*>(out)[i * stride] =
        round(static_cast<float>(static_cast<const Acc*>(acc)[i]));
  }
}

kernels::ReduceKernels half_reduce(const Op& op, DType dtype) {
  kernels::ReduceKernels out = op.reduce(DType::float32);
  const bool wide = out.accumulator == DType::float64;
  if (dtype == DType::bfloat16) {
    out.finish = wide ? finish_half<double, bfloat16_t, to_bfloat16>
                      : finish_half<float, bfloat16_t, to_bfloat16>;
  } else {
    out.finish = wide ? finish_half<double, float16_t, to_float16>
                      : finish_half<float, float16_t, to_float16>;
  }
  return out;
}

class LoopLowering {
 public:
  LoopLowering(const Program& program, const FusionGroup& unit,
               const std::vector<const Window*>& windows, const Plan& plan, bool often)
      : program_(program), unit_(unit), windows_(windows), plan_(plan), often_(often) {}

  // `as_it_lies`: reduced dimensions stay between others. Null where no small loop can have them
  // there.
  std::unique_ptr<Step> run(bool as_it_lies) {
    order_dimensions(as_it_lies);
    if (as_it_lies && loop_.outer == 1) return nullptr;
    for (int e : unit_.equations) {
      const Equation& eqn = program_.equations[index(e)];
      if (!text_.empty()) text_ += ' ';
      text_ += eqn.op->name;
      if (eqn.op->kind == Kind::reduction) {
        reduction(eqn);
      } else {
        instruction(eqn);
      }
    }
    assign_registers();
    collapse();
    std::string listing;
    kernels::make_native(loop_, text_, often_, dump_flags().code ? &listing : nullptr);
    if (!listing.empty())
      std::fprintf(stderr, "-- machine code of: %s\n%s", text_.c_str(), listing.c_str());
    if (as_it_lies && !kernels::SmallLoop::of(loop_)) return nullptr;
    return std::make_unique<LoopStep>(std::move(loop_), text_);
  }

 private:
  const Type& type(Var v) const { return program_.type(v); }

  // Reduced dimensions go last if the fastest dimension in memory is among them, else first.
  void order_dimensions(bool as_it_lies) {
    const std::size_t rank = unit_.shape.size();
    order_.resize(rank);
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    if (!unit_.reduces) {
      loop_.shape = unit_.shape;
      return;
    }
    const auto reduced = [&](std::size_t d) {
      return std::find(unit_.axes.begin(), unit_.axes.end(), static_cast<std::int64_t>(d)) !=
             unit_.axes.end();
    };
    loop_.reduce_inner = rank == 0 || reduced(fastest_dimension());
    if (as_it_lies && !loop_.reduce_inner && are_neighbours(unit_.axes))
      for (std::int64_t d = 0; d < unit_.axes[0]; ++d) loop_.outer *= unit_.shape[index(d)];
    if (loop_.outer > 1) {
      loop_.shape = unit_.shape;
      for (std::size_t d = 0; d < rank; ++d)
        (reduced(d) ? loop_.reduced : loop_.kept) *= loop_.shape[d];
      split_ = index(unit_.axes[0]);
      second_split_ = index(unit_.axes.back()) + 1;
      return;
    }
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
      return loop_.reduce_inner ? reduced(a) < reduced(b) : reduced(a) > reduced(b);
    });
    for (std::size_t d : order_) {
      loop_.shape.push_back(unit_.shape[d]);
      (reduced(d) ? loop_.reduced : loop_.kept) *= unit_.shape[d];
      if (loop_.reduce_inner ? !reduced(d) : reduced(d)) ++split_;
    }
  }

  static bool are_neighbours(const Ints& dims) {
    return !dims.empty() && dims.back() - dims.front() + 1 == std::ssize(dims) &&
           std::is_sorted(dims.begin(), dims.end());
  }

  // The dimension of stride 1 of an operand in memory, preferably of one that repeats nothing.
  // Otherwise the last dimension that operands have.
  std::size_t fastest_dimension() const {
    for (const bool repeats : {false, true}) {
      std::optional<std::size_t> last;
      for (int e : unit_.equations) {
        for (Var v : program_.equations[index(e)].inputs) {
          const Window* window = windows_[index(v)];
          if (!window || made_here(v) || type(v).shape != unit_.shape) continue;
          const auto found = fastest_of(*window, repeats);
          if (found && !repeats) return *found;
          last = std::max(last, found);
        }
      }
      if (last) return *last;
    }
    for (std::size_t d = unit_.shape.size(); d-- > 0;) {
      if (unit_.shape[d] > 1) return d;
    }
    return unit_.shape.size() - 1;
  }

  std::optional<std::size_t> fastest_of(const Window& window, bool repeats) const {
    std::optional<std::size_t> found;
    for (std::size_t d = 0; d < unit_.shape.size(); ++d) {
      if (unit_.shape[d] <= 1) continue;
      if (window.strides[d] == 0 && !repeats) return {};
      if (window.strides[d] == 1 && !found) found = d;
    }
    return found;
  }

  bool made_here(Var v) const {
    for (int e : unit_.equations) {
      const Vars& out = program_.equations[index(e)].outputs;
      if (std::find(out.begin(), out.end(), v) != out.end()) return true;
    }
    return false;
  }

  kernels::TileAccess access(Var v) const {
    const Window& window = *windows_[index(v)];
    kernels::TileAccess out;
    out.pointer = window.slot;
    out.offset = window.offset;
    out.itemsize = itemsize(type(v).dtype);
    out.kind = lane_kind(type(v).dtype);
    for (std::size_t d : order_) out.strides.push_back(type(v).rank() == 0 ? 0 : window.strides[d]);
    return out;
  }

  int load(Var v) {
    const auto [it, added] = values_.try_emplace(v, 0);
    if (added) {
      it->second = static_cast<int>(entries_.size());
      entries_.push_back({Operand::Kind::load, static_cast<int>(loop_.loads.size())});
      loop_.loads.push_back(access(v));
      loop_.loads.back().known = known_integer(plan_, *windows_[index(v)]);
    }
    return it->second;
  }

  // The entry that holds v's elements: made here or loaded.
  int entry(Var v) {
    const auto it = values_.find(v);
    return it != values_.end() ? it->second : load(v);
  }

  int temporary() {
    entries_.push_back({Operand::Kind::value, -1});
    return static_cast<int>(entries_.size()) - 1;
  }

  void emit(const MapKernel& kernel, const std::vector<int>& in, int out) {
    kernels::TileInstruction instruction{kernel.function, kernel.extra, {}, out, kernel.record};
    for (int i : in) instruction.in.push_back(i);
    loop_.instructions.push_back(std::move(instruction));
  }

  int convert(int from, const Type& from_type, DType to) {
    const int out = temporary();
    convert_to(from, from_type, to, out);
    return out;
  }
  void convert_to(int from, const Type& from_type, DType to, int out) {
    const Op& op = core_ops().convert_element_type;
    const MapKernel kernel = op.map({from_type}, with_dtype(from_type, to), {});
    if (!kernel.function) {
      // Between the two 16-bit floats, by way of float32.
      const int wide = convert(from, from_type, DType::float32);
      convert_to(wide, with_dtype(from_type, DType::float32), to, out);
      return;
    }
    emit(kernel, {from}, out);
  }

  void instruction(const Equation& eqn) {
    const Var v = eqn.outputs[0];
    int out = -1;
    if (windows_[index(v)]) {
      out = static_cast<int>(entries_.size());
      entries_.push_back({Operand::Kind::store, static_cast<int>(loop_.stores.size())});
      loop_.stores.push_back(access(v));
    } else {
      out = temporary();
    }
    Types types;
    std::vector<int> in;
    bool half = false;
    for (Var operand : eqn.inputs) {
      types.push_back(type(operand));
      in.push_back(entry(operand));
      half = half || is_half(types.back().dtype);
    }
    Type result = type(v);
    half = (half || is_half(result.dtype)) && !eqn.op->half_native;
    if (half) {
      for (std::size_t i = 0; i < in.size(); ++i) {
        if (!is_half(types[i].dtype)) continue;
        in[i] = convert(in[i], types[i], DType::float32);
        types[i].dtype = DType::float32;
      }
      if (is_half(result.dtype)) result.dtype = DType::float32;
    }
    const MapKernel kernel = eqn.op->map(types, result, eqn.params);
    if (!kernel.function) {
      if (eqn.op == &core_ops().convert_element_type) {
        convert_to(in[0], types[0], result.dtype, out);
        values_[v] = out;
        return;
      }
      throw InternalError(concat("'", eqn.op->name, "' has no kernel for ", name(types[0].dtype)));
    }
    if (result.dtype != type(v).dtype) {
      const int wide = temporary();
      emit(kernel, in, wide);
      convert_to(wide, result, type(v).dtype, out);
    } else {
      emit(kernel, in, out);
    }
    values_[v] = out;
  }

  void reduction(const Equation& eqn) {
    const Var v = eqn.outputs[0];
    const Window& target = *windows_[index(v)];
    int in = entry(eqn.inputs[0]);
    DType dtype = type(eqn.inputs[0]).dtype;
    kernels::TileReduction r{};
    if (is_half(dtype)) {
      in = convert(in, type(eqn.inputs[0]), DType::float32);
      r.kernels = half_reduce(*eqn.op, dtype);
      dtype = DType::float32;
    } else {
      r.kernels = eqn.op->reduce(dtype);
    }
    r.in = in;
    r.itemsize = itemsize(dtype);
    r.accumulator_size = itemsize(r.kernels.accumulator);
    r.pointer = target.slot;
    r.offset = target.offset;
    r.out_itemsize = itemsize(type(v).dtype);
    loop_.reductions.push_back(r);
  }

  // Values that are not stored share registers: one is free again after its last use.
  void assign_registers() {
    std::vector<int> last_use(entries_.size(), -1);
    const int end = static_cast<int>(loop_.instructions.size());
    for (int i = 0; i < end; ++i) {
      for (int in : loop_.instructions[index(i)].in) last_use[index(in)] = i;
    }
    for (const auto& r : loop_.reductions) last_use[index(r.in)] = end;
    std::vector<int> free;
    std::vector<int> operand(entries_.size(), -1);
    std::vector<bool> released(entries_.size(), false);
    for (int i = 0; i < end; ++i) {
      const auto& instruction = loop_.instructions[index(i)];
      Operand& out = entries_[index(instruction.out)];
      if (out.kind == Operand::Kind::value) {
        if (free.empty()) {
          out.index = loop_.registers++;
        } else {
          out.index = free.back();
          free.pop_back();
        }
      }
      // Freed only now: a result of another width must not overwrite an operand.
      for (int in : instruction.in) {
        const auto k = index(in);
        if (entries_[k].kind != Operand::Kind::value || last_use[k] != i || released[k]) continue;
        released[k] = true;
        free.push_back(entries_[k].index);
      }
    }
    const int loads = static_cast<int>(loop_.loads.size());
    for (std::size_t k = 0; k < entries_.size(); ++k) {
      const Operand& e = entries_[k];
      operand[k] = e.kind == Operand::Kind::load    ? e.index
                   : e.kind == Operand::Kind::value ? loads + e.index
                                                    : loads + loop_.registers + e.index;
    }
    for (auto& instruction : loop_.instructions) {
      for (std::int32_t& in : instruction.in) in = operand[index(in)];
      instruction.out = operand[index(instruction.out)];
    }
    for (auto& r : loop_.reductions) r.in = operand[index(r.in)];
  }

  // Joins neighbouring dimensions that every access runs through densely; kept and reduced
  // dimensions stay apart.
  void collapse() {
    const std::size_t rank = loop_.shape.size();
    std::vector<kernels::TileAccess*> all;
    for (auto& a : loop_.loads) all.push_back(&a);
    for (auto& a : loop_.stores) all.push_back(&a);
    std::size_t kept = 0;
    bool boundary = false;
    Shape shape;
    for (std::size_t d = 0; d < rank; ++d) {
      if (unit_.reduces && (d == split_ || d == second_split_)) boundary = true;
      if (loop_.shape[d] == 1) continue;
      bool joins = kept > 0 && !boundary;
      for (const auto* a : all) {
        joins = joins && a->strides[kept - 1] == a->strides[d] * loop_.shape[d];
      }
      if (joins) {
        shape[kept - 1] *= loop_.shape[d];
        for (auto* a : all) a->strides[kept - 1] = a->strides[d];
        continue;
      }
      boundary = false;
      shape.push_back(loop_.shape[d]);
      for (auto* a : all) a->strides[kept] = a->strides[d];
      ++kept;
    }
    if (kept == 0 && rank > 0) {
      shape.push_back(1);
      for (auto* a : all) a->strides[0] = 0;
      kept = 1;
    }
    loop_.shape = shape;
    for (auto* a : all) a->strides.resize(kept);
  }

  const Program& program_;
  const FusionGroup& unit_;
  const std::vector<const Window*>& windows_;
  const Plan& plan_;
  bool often_;
  kernels::TileLoop loop_;
  std::vector<std::size_t> order_;
  std::size_t split_ = 0;         // the first dimension of the second kind (kept or reduced)
  std::size_t second_split_ = 0;  // the first kept one after reduced ones; 0: none
  std::vector<Operand> entries_;
  std::unordered_map<Var, int> values_;
  std::string text_;
};

}  // namespace

std::unique_ptr<Step> lower_loop(const Program& program, const FusionGroup& unit,
                                 const std::vector<const Window*>& windows, const Plan& plan,
                                 bool often) {
  const auto lowered = [&](bool as_it_lies) {
    return LoopLowering(program, unit, windows, plan, often).run(as_it_lies);
  };
  std::int64_t elements = 1;
  for (const std::int64_t d : unit.shape) elements *= d;
  const bool few = unit.reduces && elements <= kernels::SmallLoop::most_elements;
  std::unique_ptr<Step> small = few ? lowered(true) : nullptr;
  return small ? std::move(small) : lowered(false);
}

}  // namespace shardax

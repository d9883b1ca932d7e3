// compile/lower/steps.cpp - steps that call a kernel or copy.
#include "compile/lower/steps.h"

#include <memory>
#include <new>

#include "analysis/cost.h"
#include "base/errors.h"
#include "ir/core_ops.h"
#include "kernels/copy/copy.h"
#include "ops/linalg/product.h"
#include "runtime/pool.h"
#include "runtime/transfer.h"

namespace shardax {
namespace {

std::byte* address_of_window(const Window& w, std::byte* const* base) {
  return base[w.slot] + w.offset * itemsize(w.type.dtype);
}
View view_of_window(const Window& w, std::byte* const* base) {
  return {address_of_window(w, base), w.type.dtype, w.type.shape, w.strides};
}

// Products take the time of their operations at the speed of one core of a common server. Other
// kernels take the time of the memory that they read and write.
double kernel_cost(const Equation& eqn, const std::vector<Window>& in,
                   const std::vector<Window>& out) {
  Types operands, results;
  for (const Window& w : in) operands.push_back(w.type);
  for (const Window& w : out) results.push_back(w.type);
  const Cost cost = cost_of(*eqn.op, eqn.params, operands, results);
  const bool multiplies =
      eqn.op == &core_ops().dot_general || eqn.op == &core_ops().conv_general_dilated;
  if (!multiplies) return cost.bytes * 0.4;
  return cost.flops * static_cast<double>(itemsize(results[0].dtype)) / 320 + cost.bytes / 20;
}

std::string types_text(const std::vector<Window>& windows) {
  std::string out;
  for (const Window& w : windows) out.append(" ").append(short_string(w.type));
  return out;
}

// Views of operands, then of results. The few that most ops have are made without an allocation.
class Views {
 public:
  Views(const std::vector<Window>& in, const std::vector<Window>& out, std::byte* const* base)
      : count_(in.size() + out.size()) {
    if (count_ > few) many_.reserve(count_);
    std::size_t i = 0;
    for (const std::vector<Window>* windows : {&in, &out}) {
      for (const Window& w : *windows) {
        if (count_ > few) {
          many_.push_back(view_of_window(w, base));
        } else {
          new (room_ + i++ * sizeof(View)) View(view_of_window(w, base));
        }
      }
    }
  }
  ~Views() {
    if (count_ <= few) std::destroy_n(in_room(), count_);
  }
  Views(const Views&) = delete;
  Views& operator=(const Views&) = delete;
  std::span<const View> all() const { return {count_ > few ? many_.data() : in_room(), count_}; }

 private:
  static constexpr std::size_t few = 6;
  View* in_room() { return std::launder(reinterpret_cast<View*>(room_)); }
  const View* in_room() const { return std::launder(reinterpret_cast<const View*>(room_)); }

  std::size_t count_;
  alignas(View) std::byte room_[few * sizeof(View)];
  std::vector<View> many_;
};

// f(operands, results)
template <class F>
auto with_views(const F& f, const std::vector<Window>& in, const std::vector<Window>& out,
                std::byte* const* base) {
  const Views views(in, out, base);
  return f(views.all().first(in.size()), views.all().subspan(in.size()));
}

class KernelStep final : public Step {
 public:
  KernelStep(const Equation& eqn, Kernel kernel, std::vector<Window> in, std::vector<Window> out)
      : name_(eqn.op->name),
        cost_(kernel_cost(eqn, in, out)),
        kernel_(std::move(kernel)),
        in_(std::move(in)),
        out_(std::move(out)) {}
  void run(std::byte* const* base) const override { with_views(kernel_, in_, out_, base); }
  std::string text() const override { return concat(name_, " ->", types_text(out_)); }
  double cost() const override { return cost_; }

 private:
  std::string_view name_;
  double cost_;
  Kernel kernel_;
  std::vector<Window> in_, out_;
};

class MessageStep final : public Step {
 public:
  MessageStep(const Equation& eqn, MessageKernel kernel, std::vector<Window> in,
              std::vector<Window> out, bool ends_later)
      : name_(eqn.op->name),
        cost_(kernel_cost(eqn, in, out)),
        kernel_(std::move(kernel)),
        in_(std::move(in)),
        out_(std::move(out)),
        ends_later_(ends_later) {}
  void run(std::byte* const* base) const override {
    runtime::TransferPtr transfer = with_views(kernel_, in_, out_, base);
    if (!ends_later_) return transfer->finish();
    runtime::keep_transfer(this, std::move(transfer));
  }
  const char* kind() const override { return "message"; }
  std::string text() const override {
    return concat(name_, ends_later_ ? " begins ->" : " ->", types_text(out_));
  }
  // A message that waits gives the interpreter's lock back by itself (runtime/mpi.h).
  double cost() const override { return cost_; }

 private:
  std::string_view name_;
  double cost_;
  MessageKernel kernel_;
  std::vector<Window> in_, out_;
  bool ends_later_;
};

// The end of a message that began at another step.
class EndStep final : public Step {
 public:
  explicit EndStep(const Step& message) : message_(message) {}
  void run(std::byte* const*) const override { runtime::take_transfer(&message_)->finish(); }
  const char* kind() const override { return "message"; }
  std::string text() const override {
    const std::string text = message_.text();
    return text.substr(0, text.find(' ')) + " ends";
  }
  double cost() const override { return 0; }

 private:
  const Step& message_;
};

// A product whose operands need no copies: all but their addresses is known.
class ProductStep final : public Step {
 public:
  ProductStep(const kernels::MatmulArgs& product, double cost, std::vector<Window> in, Window out)
      : product_(product),
        cost_(cost),
        small_(kernels::small_product(product)),
        in_(std::move(in)),
        out_(std::move(out)) {}
  void run(std::byte* const* base) const override {
    const std::byte *a = address_of_window(in_[0], base), *b = address_of_window(in_[1], base);
    std::byte* c = address_of_window(out_, base);
    if (small_) return small_->run(a, b, c);
    kernels::MatmulArgs args = product_;
    args.a = a, args.b = b, args.c = c;
    kernels::matmul(args, runtime::parallel_for);
  }
  std::string text() const override {
    return concat("dot_general -> ", product_.adds ? "added to " : "", short_string(out_.type));
  }
  double cost() const override { return cost_; }

 private:
  kernels::MatmulArgs product_;
  double cost_;
  std::unique_ptr<const kernels::SmallProduct> small_;
  std::vector<Window> in_;
  Window out_;
};

std::unique_ptr<Step> product_step(const Equation& eqn, const std::vector<Window>& in,
                                   const Window& out, bool adds) {
  const auto seen = [](const Window& w) {
    return View{nullptr, w.type.dtype, w.type.shape, w.strides};
  };
  const ops::ProductDims dims(eqn.params, in[0].type.rank(), in[1].type.rank());
  auto product = ops::matmul_of(dims, seen(in[0]), seen(in[1]), out.type.dtype);
  if (!product || (adds && !kernels::matmul_adds(*product))) return nullptr;
  product->adds = adds;
  return std::make_unique<ProductStep>(*product, kernel_cost(eqn, in, {out}), in, out);
}

class CopyStep final : public Step {
 public:
  CopyStep(Window from, Window to) : from_(std::move(from)), to_(std::move(to)) {}
  void run(std::byte* const* base) const override {
    const View from = view_of_window(from_, base), to = view_of_window(to_, base);
    kernels::copy_strided(to.data, to.strides, from.data, from.strides, from.shape,
                          itemsize(from.dtype));
  }
  std::string text() const override { return "copy " + short_string(from_.type); }
  double cost() const override { return static_cast<double>(from_.type.bytes()) * 0.2; }

 private:
  Window from_, to_;
};

}  // namespace

std::unique_ptr<Step> kernel_step(const Equation& eqn, Kernel kernel, std::vector<Window> in,
                                  std::vector<Window> out) {
  if (eqn.op == &core_ops().dot_general) {
    if (std::unique_ptr<Step> product = product_step(eqn, in, out[0], false)) return product;
  }
  return std::make_unique<KernelStep>(eqn, std::move(kernel), std::move(in), std::move(out));
}

std::unique_ptr<Step> message_step(const Equation& eqn, MessageKernel kernel,
                                   std::vector<Window> in, std::vector<Window> out,
                                   bool ends_later) {
  return std::make_unique<MessageStep>(eqn, std::move(kernel), std::move(in), std::move(out),
                                       ends_later);
}

std::unique_ptr<Step> end_step(const Step& message) { return std::make_unique<EndStep>(message); }

std::unique_ptr<Step> adding_step(const Equation& product, const std::vector<Window>& in,
                                  const Window& out) {
  return product_step(product, in, out, true);
}

std::unique_ptr<Step> copy_step(Window from, Window to) {
  return std::make_unique<CopyStep>(std::move(from), std::move(to));
}

runtime::TaskText loop_text(const Step& step, std::string_view op) {
  return {std::string(op), step.location ? short_string(*step.location) : ""};
}

}  // namespace shardax

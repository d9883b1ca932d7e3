// compile/steps.cpp - steps that call a kernel or copy.
#include "compile/steps.h"

#include "base/errors.h"
#include "kernels/copy.h"

namespace shardax {
namespace {

View view_of_window(const Window& w, std::byte* const* base) {
  return {base[w.slot] + w.offset * itemsize(w.type.dtype), w.type.dtype, w.type.shape, w.strides};
}

double byte_cost(const Type& type) { return static_cast<double>(type.bytes()) * 0.1; }

class KernelStep final : public Step {
 public:
  KernelStep(const Equation& eqn, Kernel kernel, std::vector<Window> in, std::vector<Window> out)
      : name_(eqn.op->name), kernel_(std::move(kernel)), in_(std::move(in)), out_(std::move(out)) {}
  void run(std::byte* const* base) const override {
    std::vector<View> views;
    views.reserve(in_.size() + out_.size());
    for (const Window& w : in_) views.push_back(view_of_window(w, base));
    for (const Window& w : out_) views.push_back(view_of_window(w, base));
    const std::span<const View> all(views);
    kernel_(all.first(in_.size()), all.subspan(in_.size()));
  }
  std::string text() const override {
    std::string out = std::string(name_) + " ->";
    for (const Window& w : out_) out.append(" ").append(short_string(w.type));
    return out;
  }
  double cost() const override {
    double sum = 0;
    for (const Window& w : in_) sum += byte_cost(w.type);
    for (const Window& w : out_) sum += byte_cost(w.type);
    const bool product = name_ == "dot_general" || name_ == "conv_general_dilated";
    return product ? sum * 20 : sum * 4;
  }

 private:
  std::string_view name_;
  Kernel kernel_;
  std::vector<Window> in_, out_;
};

class CopyStep final : public Step {
 public:
  CopyStep(Window from, Window to) : from_(std::move(from)), to_(std::move(to)) {}
  void run(std::byte* const* base) const override {
    const View from = view_of_window(from_, base), to = view_of_window(to_, base);
    kernels::copy_strided(to.data, to.strides, from.data, from.strides, from.shape,
                          itemsize(from.dtype));
  }
  std::string text() const override { return "copy " + short_string(from_.type); }
  double cost() const override { return byte_cost(from_.type) * 2; }

 private:
  Window from_, to_;
};

}  // namespace

std::unique_ptr<Step> kernel_step(const Equation& eqn, Kernel kernel, std::vector<Window> in,
                                  std::vector<Window> out) {
  return std::make_unique<KernelStep>(eqn, std::move(kernel), std::move(in), std::move(out));
}

std::unique_ptr<Step> copy_step(Window from, Window to) {
  return std::make_unique<CopyStep>(std::move(from), std::move(to));
}

}  // namespace shardax

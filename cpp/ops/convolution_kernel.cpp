// ops/convolution_kernel.cpp - conv_general_dilated: operands for kernels/conv/convolution.h.
#include <algorithm>

#include "base/errors.h"
#include "base/index.h"
#include "kernels/conv/convolution.h"
#include "kernels/copy/copy.h"
#include "ops/convolution.h"
#include "runtime/allocator.h"
#include "runtime/pool.h"

namespace shardax::ops {
namespace {

using kernels::ConvAxis;

// `outer` and `inner` as one axis, where the operands and the result that have both allow it.
bool join(const ConvAxis& outer, ConvAxis& inner) {
  const auto fits = [&](std::int64_t a, std::int64_t b) { return a == b * inner.size; };
  if (inner.size <= 1 || outer.size == 0) {
    inner = inner.size == 0 ? inner : outer;
    return true;
  }
  if (!fits(outer.lhs, inner.lhs) || !fits(outer.rhs, inner.rhs) || !fits(outer.out, inner.out))
    return false;
  inner.size *= outer.size;
  return true;
}

// The elements of a view with its dimensions in another order in memory.
class Rearranged {
 public:
  Rearranged(View& view, const Ints& order) {
    Shape shape;
    for (std::int64_t d : order) shape.push_back(view.shape[index(d)]);
    const Shape dense = row_major_strides(shape);
    Shape strides(order.size(), 0);
    for (std::size_t i = 0; i < order.size(); ++i) strides[index(order[i])] = dense[i];
    bytes_ = index(itemsize(view.dtype));
    for (std::int64_t n : shape) bytes_ *= index(n);
    memory_ = runtime::allocate(bytes_);
    kernels::copy_strided(memory_, strides, view.data, view.strides, view.shape,
                          itemsize(view.dtype));
    view.data = memory_;
    view.strides = strides;
  }
  ~Rearranged() { runtime::deallocate(memory_, bytes_); }
  Rearranged(const Rearranged&) = delete;
  Rearranged& operator=(const Rearranged&) = delete;

 private:
  std::size_t bytes_;
  std::byte* memory_;
};

class ConvCall {
 public:
  ConvCall(const ConvNumbers& n, std::span<const View> in, const View& out)
      : n_(n), lhs_(in[0]), rhs_(in[1]), out_(out) {
    // The groups of channels are one more dimension, the last: it may lie apart from the channels.
    std::int64_t& channels = lhs_.shape[index(n.of_lhs() + n.lhs_spec[1])];
    channels /= n.feature_groups;
    const std::int64_t step = channels * lhs(n.lhs_spec[1]);
    lhs_.shape.push_back(n.feature_groups);
    lhs_.strides.push_back(step);
  }

  void run() {
    if (!place()) {
      // Dimensions that are summed over lie apart: they go beside the channels of each group.
      const auto groups = static_cast<std::int64_t>(lhs_.shape.size()) - 1;
      const Rearranged lhs(lhs_, beside({groups}, lhs_, Leading::rhs, n_.lhs_spec[1], n_.of_lhs()));
      const Rearranged rhs(rhs_, beside({}, rhs_, Leading::lhs, n_.rhs_spec[1], n_.of_rhs()));
      if (!place()) throw InternalError("conv_general_dilated: summed dimensions lie apart");
      return kernels::convolution(args_, runtime::parallel_for);
    }
    kernels::convolution(args_, runtime::parallel_for);
  }

 private:
  // The dimensions of `order`, summed ones and the one of channels first.
  Ints beside(Ints order, const View& view, Leading lacks, std::int64_t channel,
              std::int64_t leading) const {
    std::int64_t d = 0;
    for (std::int64_t kind : n_.leading) {
      if (static_cast<Leading>(kind) == Leading::summed) order.push_back(d);
      d += static_cast<Leading>(kind) != lacks;
    }
    order.push_back(leading + channel);
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(view.shape.size()); ++i)
      if (std::find(order.begin(), order.end(), i) == order.end()) order.push_back(i);
    return order;
  }

  std::int64_t lhs(std::int64_t spec) const { return lhs_.strides[index(n_.of_lhs() + spec)]; }
  std::int64_t rhs(std::int64_t spec) const { return rhs_.strides[index(n_.of_rhs() + spec)]; }
  std::int64_t out(std::int64_t spec) const { return out_.strides[index(n_.of_out() + spec)]; }
  std::int64_t lhs_size(std::int64_t spec) const { return lhs_.shape[index(n_.of_lhs() + spec)]; }
  std::int64_t rhs_size(std::int64_t spec) const { return rhs_.shape[index(n_.of_rhs() + spec)]; }

  // False if summed dimensions do not join the channels.
  bool place() {
    args_ = {};
    args_.highest_precision = n_.highest_precision;
    args_.dtype = lhs_.dtype;
    args_.out_dtype = out_.dtype;
    args_.lhs = lhs_.data, args_.rhs = rhs_.data, args_.out = out_.data;
    const std::int64_t batch = n_.lhs_spec[0], feature = n_.lhs_spec[1];
    const std::int64_t groups = std::max(n_.feature_groups, n_.batch_groups);
    const std::int64_t outputs = rhs_size(n_.rhs_spec[0]) / groups,
                       items = lhs_size(batch) / n_.batch_groups;
    args_.n = {items, lhs(batch), 0, out(n_.out_spec[0])};
    args_.o = {outputs, 0, rhs(n_.rhs_spec[0]), out(n_.out_spec[1])};
    args_.c = {rhs_size(n_.rhs_spec[1]), lhs(feature), rhs(n_.rhs_spec[1]), 0};
    const ConvAxis group{groups, n_.batch_groups > 1 ? items * lhs(batch) : lhs_.strides.back(),
                         outputs * args_.o.rhs, outputs * args_.o.out};
    std::size_t l = index(n_.of_lhs()), r = index(n_.of_rhs()), o = index(n_.of_out());
    SmallVector<ConvAxis, 4> apart;  // innermost first
    if (groups > 1) apart.push_back(group);
    for (std::size_t i = n_.leading.size(); i-- > 0;) {
      const auto kind = static_cast<Leading>(n_.leading[i]);
      ConvAxis axis;
      if (kind != Leading::rhs) axis.size = lhs_.shape[--l], axis.lhs = lhs_.strides[l];
      if (kind != Leading::lhs) axis.size = rhs_.shape[--r], axis.rhs = rhs_.strides[r];
      if (kind != Leading::summed) axis.out = out_.strides[--o];
      if (axis.size == 1) continue;
      if (kind == Leading::summed) {
        if (!join(axis, args_.c)) return false;
        continue;
      }
      ConvAxis& own = kind == Leading::lhs ? args_.n : args_.o;
      if (kind == Leading::both ? !apart.empty() && join(axis, apart.back()) : join(axis, own))
        continue;
      apart.push_back(axis);
    }
    for (std::size_t i = apart.size(); i-- > 0;) args_.batch.push_back(apart[i]);
    for (std::size_t d = 0; d < n_.spatial(); ++d) {
      const std::int64_t a = n_.lhs_spec[d + 2], b = n_.rhs_spec[d + 2], c = n_.out_spec[d + 2];
      args_.space.push_back({lhs_size(a), rhs_size(b), out_.shape[index(n_.of_out() + c)], lhs(a),
                             rhs(b), out(c), n_.strides[d], n_.padding[2 * d], n_.lhs_dilation[d],
                             n_.rhs_dilation[d]});
    }
    return true;
  }

  const ConvNumbers& n_;
  View lhs_, rhs_, out_;
  kernels::ConvArgs args_{};
};

}  // namespace

Kernel conv_kernel(const Types&, const Types&, const Params& params) {
  return [n = conv_numbers(params)](std::span<const View> in, std::span<const View> out) {
    ConvCall(n, in, out[0]).run();
  };
}

}  // namespace shardax::ops

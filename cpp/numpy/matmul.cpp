// numpy/matmul.cpp - jnp.matmul as one dot_general.
#include "base/errors.h"
#include "base/index.h"
#include "numpy/compose.h"

namespace shardax::numpy {

using namespace ops;

namespace {

// One operand: leading dimensions that broadcast, then the ones that are multiplied.
struct Side {
  Value value;
  bool matrix;            // has two dimensions to multiply, or one
  Ints squeezed;          // leading dimensions of size 1 that the other side repeats
  Ints batch;             // positions, after squeezing, of dimensions that both sides have
  Ints own;               // places in the result of dimensions that only this side has
  std::int64_t seen = 0;  // leading dimensions left after squeezing

  explicit Side(Value v) : value(std::move(v)), matrix(value->shape().size() > 1) {}
  std::int64_t lead() const {
    return matrix ? static_cast<std::int64_t>(value->shape().size()) - 2 : 0;
  }
  // The size of leading dimension i of `count`, counted from the front; -1 where it has none.
  std::int64_t size(std::int64_t i, std::int64_t count) const {
    const std::int64_t at = i - (count - lead());
    return at < 0 ? -1 : value->shape()[index(at)];
  }
  void keep(std::int64_t place) {
    own.push_back(place);
    ++seen;
  }
  void drop(std::int64_t i, std::int64_t count) { squeezed.push_back(i - (count - lead())); }
};

}  // namespace

Value matmul(const Value& a, const Value& b) {
  const UserOperands operands;
  for (int i = 0; i < 2; ++i) {
    if ((i ? b : a)->shape().empty()) {
      value_error("matmul input operand ", i, " must have ndim at least 1, but it has ndim 0");
    }
  }
  const Values in = promote_dtypes({a, b});
  const DType dtype = in[0]->dtype();
  Side left(in[0]), right(in[1]);
  const std::int64_t count = std::max(left.lead(), right.lead());
  Ints shared;  // places in the result of batch dimensions
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t l = left.size(i, count), r = right.size(i, count);
    if (l < 0) {
      right.keep(i);
    } else if (r < 0) {
      left.keep(i);
    } else if (l == 1) {
      right.keep(i);
      left.drop(i, count);
    } else if (r == 1) {
      left.keep(i);
      right.drop(i, count);
    } else if (l == r) {
      left.batch.push_back(left.seen++);
      right.batch.push_back(right.seen++);
      shared.push_back(i);
    } else {
      value_error("Incompatible shapes for matmul arguments: ", to_string(a->shape()), " and ",
                  to_string(b->shape()));
    }
  }
  if (left.matrix) left.own.push_back(count);
  if (right.matrix) right.own.push_back(count + (left.matrix ? 1 : 0));
  const Value x = squeeze(left.value, left.squeezed), y = squeeze(right.value, right.squeezed);
  const auto rank = [](const Value& v) { return static_cast<std::int64_t>(v->shape().size()); };
  const DotDims dims{
      {rank(x) - 1}, {rank(y) - 1 - (right.matrix ? 1 : 0)}, left.batch, right.batch};
  const Value product = dot_general(x, y, dims, dtype);
  // dot_general gives batch dimensions first; each goes to its place.
  Ints places = shared;
  places.append(left.own.begin(), left.own.end());
  places.append(right.own.begin(), right.own.end());
  Ints permutation(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    permutation[index(places[i])] = static_cast<std::int64_t>(i);
  }
  return transpose(product, permutation);
}

}  // namespace shardax::numpy

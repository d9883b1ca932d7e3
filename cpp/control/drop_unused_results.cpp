// control/drop_unused_results.cpp - rules that leave results out, and the cotangents of such.
#include "control/drop_unused_results.h"

#include "control/control.h"

namespace shardax {
namespace {

class WithoutResults final : public Function {
 public:
  WithoutResults(FunctionPtr inner, std::vector<bool> left, std::size_t groups)
      : inner_(std::move(inner)), left_(std::move(left)), groups_(groups) {}
  std::string text() const override { return inner_->text(); }
  const Function* origin() const override { return inner_.get(); }

  std::vector<Values> call(const Values& in) const override {
    std::vector<Values> out = inner_->call(in);
    for (std::size_t g = 0; g < groups_; ++g) out.at(g) = select(out.at(g), left_);
    return out;
  }

 private:
  FunctionPtr inner_;
  std::vector<bool> left_;
  std::size_t groups_;
};

class WithoutCotangents final : public Function {
 public:
  WithoutCotangents(FunctionPtr inner, const Types& results, const std::vector<bool>& left,
                    bool symbolic)
      : inner_(std::move(inner)), symbolic_(symbolic) {
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (!differentiable(results[i])) continue;
      types_.push_back(tangent_type(results[i]));
      left_.push_back(left[i]);
    }
  }
  std::string text() const override { return inner_->text(); }
  const Function* origin() const override { return inner_.get(); }

  std::vector<Values> call(const Values& in) const override {
    const std::size_t given = count_true(left_), residuals = in.size() - given;
    Values cotangents = spread(part(in, residuals, given), left_);
    for (std::size_t i = 0; !symbolic_ && i < cotangents.size(); ++i)
      cotangents[i] = zeros_if_null(cotangents[i], types_[i]);
    return inner_->call(joined(part(in, 0, residuals), cotangents));
  }

 private:
  FunctionPtr inner_;
  Types types_;
  std::vector<bool> left_;
  bool symbolic_;
};

}  // namespace

FunctionPtr without_results(const FunctionPtr& rule, const std::vector<bool>& left,
                            std::size_t groups) {
  return new WithoutResults(rule, left, groups);
}

FunctionPtr without_cotangents(const FunctionPtr& rule, const Types& results,
                               const std::vector<bool>& left, bool symbolic) {
  return new WithoutCotangents(rule, results, left, symbolic);
}

}  // namespace shardax

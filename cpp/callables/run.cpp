// callables/run.cpp - running programs, and donation.
#include "callables/run.h"

#include <algorithm>
#include <optional>

#include "analysis/key_reuse.h"
#include "ir/core_ops.h"

namespace shardax::callables {
namespace {

bool contains(const std::vector<int>& positions, int position) {
  return std::find(positions.begin(), positions.end(), position) != positions.end();
}

bool contains_name(const std::vector<Ref>& names, PyObject* name) {
  return name && std::any_of(names.begin(), names.end(),
                             [&](const Ref& n) { return PyUnicode_Compare(n.get(), name) == 0; });
}

}  // namespace

bool computes_at_once(const Values& values) {
  return !staging_in_progress() && bound_axes().empty() &&
         std::none_of(values.begin(), values.end(), [](const Value& v) { return v->is_tracer(); });
}

Values BoundOp::compute(const Values& arrays, const std::vector<bool>* donated) {
  if (!callable_) callable_ = std::make_unique<Callable>(program_of(op_, params_, arrays));
  std::optional<KeysInUse> keys;
  if (watching_key_reuse()) {
    const Op* jit = &core_ops().jit;
    keys.emplace(*program_of(op_, params_, arrays), arrays,
                 &op_ == jit ? "jit-compiled function" : op_.name);
  }
  Values outputs = (*callable_)(arrays, donated);
  detach(outputs);
  if (keys) keys->mark(outputs);
  return outputs;
}

void detach(Values& outputs) {
  for (Value& value : outputs) {
    if (value->is_tracer() || value->unique()) continue;
    const Array& array = as_array(value);
    value = view_of(array, array.type(), array.strides(), 0);
  }
}

Donation::Donation(const CallForm& form, const std::vector<int>& positions,
                   const std::vector<Ref>& names, const Types& inputs, const Types& outputs) {
  if (positions.empty() && names.empty()) return;
  const std::vector<LeafOwner> owners = leaf_owners(form);
  asked_.resize(owners.size());
  deleted_.resize(owners.size());
  std::vector<std::size_t> unmatched;
  for (std::size_t i = 0; i < owners.size(); ++i) {
    asked_[i] = contains(positions, owners[i].position) || contains_name(names, owners[i].name);
    if (asked_[i]) unmatched.push_back(i);
  }
  Types free = outputs;
  const auto hand_over = [&](auto fits) {
    std::erase_if(unmatched, [&](std::size_t i) {
      const auto match = std::find_if(free.begin(), free.end(),
                                      [&](const Type& type) { return fits(type, inputs[i]); });
      if (match == free.end()) return false;
      free.erase(match);
      deleted_[i] = true;
      return true;
    });
  };
  hand_over(same_shape_and_dtype);
  hand_over([](const Type& output, const Type& input) { return output.bytes() == input.bytes(); });
  if (std::find(deleted_.begin(), deleted_.end(), true) == deleted_.end()) deleted_.clear();
  std::string unusable;
  for (const std::size_t i : unmatched) {
    if (!unusable.empty()) unusable += ", ";
    unusable += objects::weak_string(inputs[i]);
  }
  if (unusable.empty()) return;
  const std::string text = "Some donated buffers were not usable: " + unusable +
                           ". No output has their size; donate arguments that an output replaces.";
  check(PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1));
}

void Donation::require_distinct(const Values& inputs) const {
  if (deleted_.empty()) return;
  std::vector<std::pair<const ValueBase*, std::size_t>> sorted;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]->is_tracer()) sorted.emplace_back(inputs[i].get(), i);
  }
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t k = 1; k < sorted.size(); ++k) {
    const auto [value, first] = sorted[k - 1];
    const std::size_t second = sorted[k].second;
    if (value != sorted[k].first || asked_[first] == asked_[second]) continue;
    fail(ErrorKind::runtime_error,
         "Attempt to donate an array that the same call also uses: leaves ", first, " and ", second,
         " of the arguments are one array of type ", to_string(value->type()),
         ". Pass a copy for one of them, or do not donate it.");
  }
}

void Donation::apply(const Values& inputs) const {
  for (std::size_t leaf = 0; leaf < deleted_.size(); ++leaf) {
    if (deleted_[leaf] && !inputs[leaf]->is_tracer()) as_array(inputs[leaf]).mark_deleted();
  }
}

}  // namespace shardax::callables

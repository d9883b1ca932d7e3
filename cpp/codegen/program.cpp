// codegen/program.cpp - nodes of vector programs, each once.
#include "codegen/program.h"

#include <algorithm>

namespace shardax::codegen {

namespace {
std::size_t hash_of(const Node& node) {
  std::size_t hash = static_cast<std::size_t>(node.code) * 16 + static_cast<std::size_t>(node.kind);
  constexpr std::size_t factor = 0x9E3779B97F4A7C15;
  for (const int in : node.in) hash = hash * factor + static_cast<std::size_t>(in + 1);
  hash = hash * factor + node.bits;
  return (hash ^ hash >> 32) * factor >> 32;
}
}  // namespace

int VectorProgram::add(const Node& given) {
  Node node = given;
  if (node.code == Code::select && is_float(node.kind)) {
    const Node& test = this->node(node.in[0]);
    if (test.code == Code::less && test.in[0] == node.in[2] && test.in[1] == node.in[1])
      node = {Code::max, node.kind, {node.in[1], node.in[2]}};
    else if (test.code == Code::less && test.in[0] == node.in[1] && test.in[1] == node.in[2])
      node = {Code::min, node.kind, {node.in[1], node.in[2]}};
  }
  if (2 * nodes_.size() >= places_.size()) {
    places_.assign(std::max<std::size_t>(128, 2 * places_.size()), -1);
    for (int i = 0; i < size(); ++i) *place(this->node(i)) = i;
  }
  int* found = place(node);
  if (*found < 0) {
    *found = size();
    nodes_.push_back(node);
  }
  return *found;
}

// Where the node's position stands, or can.
int* VectorProgram::place(const Node& node) {
  std::size_t at = hash_of(node) % places_.size();
  while (places_[at] >= 0 && !(this->node(places_[at]) == node)) at = (at + 1) % places_.size();
  return &places_[at];
}

VectorProgram VectorProgram::interleaved(int vectors) const {
  VectorProgram out;
  out.nodes_.reserve(nodes_.size() * static_cast<std::size_t>(vectors));
  std::vector<int> first(nodes_.size());  // of the copies, which stand one after the other
  const auto copy_of = [&](int i, int vector) {
    if (i < 0) return i;
    const int at = first[static_cast<std::size_t>(i)];
    return node(i).code == Code::constant ? at : at + vector;
  };
  for (int i = 0; i < size(); ++i) {
    first[static_cast<std::size_t>(i)] = out.size();
    const int copies = node(i).code == Code::constant ? 1 : vectors;
    for (int vector = 0; vector < copies; ++vector) {
      Node copy = node(i);
      if (copy.code == Code::input) copy.bits |= static_cast<std::uint64_t>(vector) << 32;
      for (int& in : copy.in) in = copy_of(in, vector);
      out.nodes_.push_back(copy);
    }
  }
  for (const Output& output : outputs) {
    for (int vector = 0; vector < vectors; ++vector)
      out.outputs.push_back({copy_of(output.node, vector), output.operand, vector});
  }
  return out;
}

int VectorProgram::work() const {
  std::vector<bool> needed(nodes_.size());
  for (const Output& output : outputs) needed[static_cast<std::size_t>(output.node)] = true;
  int count = 0;
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    if (!needed[i]) continue;
    const Code code = nodes_[i].code;
    count += code != Code::input && code != Code::constant && code != Code::view;
    for (const int in : nodes_[i].in) {
      if (in >= 0) needed[static_cast<std::size_t>(in)] = true;
    }
  }
  return count;
}

int VectorProgram::width() const {
  int width = 4;
  for (const Node& node : nodes_) width = std::max(width, width_of(node.kind));
  return width;
}

bool VectorProgram::is_uniform() const {
  const int width = this->width();
  return std::all_of(nodes_.begin(), nodes_.end(), [&](const Node& node) {
    return width_of(node.kind) == 0 || width_of(node.kind) == width;
  });
}

}  // namespace shardax::codegen

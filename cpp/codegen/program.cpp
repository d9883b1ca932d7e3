// codegen/program.cpp - nodes of vector programs, each once.
#include "codegen/program.h"

namespace shardax::codegen {

std::size_t VectorProgram::Hash::operator()(const Node& node) const {
  std::size_t hash = static_cast<std::size_t>(node.code) * 8 + static_cast<std::size_t>(node.kind);
  constexpr std::size_t factor = 0x9E3779B97F4A7C15;
  for (const int in : node.in) hash = hash * factor + static_cast<std::size_t>(in + 1);
  return hash * factor + node.bits;
}

int VectorProgram::add(const Node& given) {
  Node node = given;
  if (node.code == Code::select && is_float(node.kind)) {
    const Node& test = this->node(node.in[0]);
    if (test.code == Code::less && test.in[0] == node.in[2] && test.in[1] == node.in[1])
      node = {Code::max, node.kind, {node.in[1], node.in[2]}};
    else if (test.code == Code::less && test.in[0] == node.in[1] && test.in[1] == node.in[2])
      node = {Code::min, node.kind, {node.in[1], node.in[2]}};
  }
  const auto [place, is_new] = places_.try_emplace(node, size());
  if (is_new) nodes_.push_back(node);
  return place->second;
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
  int width = 0;
  for (const Node& node : nodes_) {
    const int own = width_of(node.kind);
    if (own == 0) continue;
    if (width != 0 && own != width) return 0;
    width = own;
  }
  return width == 0 ? 4 : width;  // truth values alone
}

}  // namespace shardax::codegen

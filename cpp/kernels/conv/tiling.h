// kernels/conv/tiling.h - tiling of float convolutions: blocks, and the contents of vectors.
//
// Private to kernels/conv.
#pragma once

#include "kernels/ceil_div.h"
#include "kernels/conv/block.h"

namespace shardax::kernels {

// A block is a box of outputs, some columns and a run of steps.
enum class Strategy {
  features,  // columns are features: rhs is packed into panels, outputs are rows
  outputs,   // columns are outputs along the last dimension, features are rows
  flat,      // the same for short lines: columns are outputs along the last two, gaps included
  lanes,     // columns are convolutions of the batch that lie side by side (depthwise)
  // columns are taps along the last dimension, whose sums are added up at the end. For a few
  // outputs of many taps each (the gradient of a kernel with few features)
  sums,
};

// The cut of a part into chunks.
struct Tiling {
  Strategy way;
  std::int64_t n;        // of a box
  Ints3 t;               // of a box, outputs along each line
  std::int64_t columns;  // of a chunk: features, lanes or taps
  std::int64_t apart;    // features that have taps as columns of their own: else 1
  std::int64_t n_parts, column_parts;
  Ints3 t_parts;
  std::int64_t batch;      // convolutions, or groups of lanes
  std::int64_t run, runs;  // steps that are added up before the next ones are, and how often
  bool split;              // runs are chunks of their own
  std::int64_t room;       // elements of the sums of a block
  // Outputs of each dimension by the taps that they see, or one segment of all.
  std::array<std::vector<Segment>, 3> segments;
  bool reads_padding = true;
  std::int64_t boxes() const { return n_parts * t_parts[0] * t_parts[1] * t_parts[2]; }
  std::int64_t blocks() const { return batch * boxes() * column_parts; }
};

// The facts about elements and the machine on which the choice depends, beside the shapes.
class Cutter {
 public:
  // `size`: bytes of the elements that sums are made of; `vector`, `panel`: how many of them a
  // vector and a packed panel have.
  Cutter(const ConvArgs& p, std::int64_t size, std::int64_t vector, std::int64_t panel);
  Tiling cut(const Part& part) const;
  // At the speed of one core of a common server.
  double nanoseconds(const Part& part) const;

  // Columns of the panels of this convolution, and a number of columns rounded up to panels.
  std::int64_t width() const;
  std::int64_t padded(std::int64_t columns) const { return parts_of(columns, width()) * width(); }
  std::int64_t batch() const { return batch_; }
  // Are the items of lhs adjacent, as the channels of images are in the gradient of a kernel?
  bool items_side_by_side() const { return p_.n.size > 1 && p_.n.lhs == 1; }

 private:
  Strategy way(const Part& part) const;
  bool has_lanes() const;
  void boxes(const Part& part, Tiling& cut, std::int64_t rows) const;
  void segments(const Part& part, Tiling& cut) const;
  double cycles(const Part& part, const Tiling& cut) const;

  const ConvArgs& p_;
  std::int64_t size_, vector_, panel_;
  std::int64_t batch_;
};

}  // namespace shardax::kernels

// control/shard_map.h - shard_map: a per-device program on blocks of arrays, over the axes of a
// mesh.
//
// It is pmap with several axes. Transformations act on the program of blocks
// (control/shard_map.cpp). When compiled, each axis is a `pmap`, one in the other
// (control/mesh_axes.cpp). A split array is viewed, without a copy, with a dimension for each axis:
//
//   x: f32[8,6], dimension 0 over 'a' (2) and 'b' (2), 1 over 'c' (3)
//   seen as f32[2,2,2,3,2]: a, b, rows of a block, c, columns of a block
#pragma once

#include <deque>

#include "transform/batch.h"

namespace shardax {

struct MeshAxes {
  struct Axis {
    AxisName name;
    std::int64_t size;
  };
  // For each dimension of an array, the axes that split it, major first. They are positions in
  // `axes` or, from axes.size() on, in `mesh`: axes outside of the mesh axes, which may label a
  // batch.
  using Blocks = std::vector<Ints>;

  std::vector<Axis> axes;  // outermost first
  std::vector<Blocks> in, out;
  ShardingPtr mesh;      // label of operands and results, but for the splits; or null
  bool given = false;    // the specs are the user's, not those of a derivative
  bool current = false;  // the mesh is the current one, not an argument of shard_map

  AxisSet names() const;  // in the order of the axes
  // Over checked axes, whether the devices have values of their own is a matter of types.
  bool follows_types() const;
  // The mesh axis that an entry of blocks stands for; null: it is one outside.
  const Axis* axis(std::int64_t entry) const;
  // The entry of blocks for an axis outside of the mesh axes, by its position in the mesh.
  std::int64_t outside(std::ptrdiff_t mesh_axis) const;
  // The user's name for an entry of blocks.
  const std::string& text_of(std::int64_t entry) const;
  // "(P('x',), P())"
  std::string specs_text(const std::vector<Blocks>& list) const;
  // Is it the processes' part of a mesh axis (array/process_axis.h)? The part of their devices
  // stands for both where users see the axes.
  bool across_processes(std::int64_t entry) const;
  // The number of blocks along a dimension that `split` splits.
  std::int64_t count(const Ints& split) const;
  // The axes that blocks do not mention.
  Ints unmentioned(const Blocks& blocks) const;
  // The label of an array whose blocks have a type: split by the mesh axes, then by others.
  ShardingPtr label(const Blocks& blocks, const Type& block) const;
  // The type of one block of an array, and of the array whose blocks have a type.
  Type block(Type whole, const Blocks& blocks) const;
  Type whole(Type block, const Blocks& blocks) const;
};

// The axes, in scope while the body is transformed: rules of the user's own may name them.
class MeshAxesScope {
 public:
  explicit MeshAxesScope(const MeshAxes& mesh_axes) {
    for (const MeshAxes::Axis& axis : mesh_axes.axes)
      scopes_.emplace_back(BoundAxis{axis.name, axis.size, true});
  }
  ~MeshAxesScope() {
    while (!scopes_.empty()) scopes_.pop_back();
  }
  MeshAxesScope(const MeshAxesScope&) = delete;
  MeshAxesScope& operator=(const MeshAxesScope&) = delete;

 private:
  std::deque<AxisScope> scopes_;
};

// The params of the op that runs `body`, a program of blocks.
Params shard_map_params(const MeshAxes& mesh_axes, const ProgramPtr& body);
MeshAxes mesh_axes_of(const Params& params);
// As programs show them.
Params shown_shard_map(const Params& params);

// The program of whole arrays that it stands for.
ProgramPtr program_of_mesh(const MeshAxes& mesh_axes, const ProgramPtr& body);

// The same at once, op by op: `body` is called with the values of all devices. It may set
// `mesh_axes.out` and other fields about results.
Values run_on_mesh(const MeshAxes& mesh_axes, const ValueFunction& body, const Values& in);

}  // namespace shardax

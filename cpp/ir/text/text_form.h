// ir/text/text_form.h - the textual form of programs: complete, and read back by ir/text/parse.h.
//
//   let @step = { lambda ; a:f32[] b:f32[]. let c:f32[] = add a b in (c) } in
//   { lambda d:f32[3]=[1.0, 2.0, 4.0]; e:f32[3] f:i32[]{'i'}. let
//       g:f32[] = reduce_sum[axes=(0,) out_sharding=None] e
//       h:f32[] _:f32[3] = scan[jaxpr=@step ...] g d
//       () = debug_callback[...] h
//     in (h, 2.0:f32*[]) }
//
// The form of `make_jaxpr`, with all that it leaves out. Before `;` stand the constants with their
// values (`splat 0.0` where all are alike), scalars as literals where they are used. Marks of
// types: `*` weak, `<host>` in the host's memory, `%0` the sharding. `{'i', V:'x', U:'y', R:'z'}`
// are the axes over which values vary (mapped, checked, unreduced, reduced; array/checked_axis.h).
// Params have their own names, order and kinds:
//
//   None True -3 2.5 "text" float32      (1, 2) integers       ('i', 'j') axes, axes() none
//   types(f32[3], i32[])  sharding(...)  { lambda ... } or @f  [{ lambda ... }, @f] programs
//
// Programs with several uses stand once, under a name (`let @f = ... in`), and so do shardings.
// Some parts are shown, and refused when read: Python functions (`function "f"`), constants of many
// elements (`elided`), primitives of the user's own. Without a trace are lines of the user's, named
// scopes, names of programs, labels of constants.
#pragma once

#include <string>

#include "ir/program.h"

namespace shardax {

struct TextOptions {
  // Constants of more elements, which are not all alike, are elided.
  std::int64_t most_elements = 64;
};
std::string text_form(const Program& program, const TextOptions& options = {});

}  // namespace shardax

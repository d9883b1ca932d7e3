// ops/collectives/process_ops.cpp - records of the collectives between processes.
#include "ops/collectives/process_ops.h"

#include <algorithm>
#include <cstring>

#include "array/process_axis.h"
#include "base/hash.h"
#include "base/index.h"
#include "kernels/copy/copy.h"
#include "ops/collectives/process_reductions.h"
#include "ops/family.h"
#include "runtime/message_times.h"
#include "runtime/processes.h"
#include "runtime/scratch.h"
#include "runtime/transfer.h"

namespace shardax::ops {
namespace {

// ---- memory ----------------------------------------------------------------------------------

using Bytes = runtime::Scratch<std::byte>;

std::size_t bytes_of(const Type& type) { return index(type.bytes()); }

void read_dense(const View& view, std::byte* to) {
  kernels::copy_strided(to, row_major_strides(view.shape), view.data, view.strides, view.shape,
                        itemsize(view.dtype));
}
void write_dense(const std::byte* from, const View& view) {
  kernels::copy_strided(view.data, view.strides, from, row_major_strides(view.shape), view.shape,
                        itemsize(view.dtype));
}

// The operand's bytes, row-major: its own memory, or a copy in `room`.
const std::byte* dense(const View& view, Bytes& room) {
  if (is_contiguous(view.shape, view.strides)) return view.data;
  Type type{view.dtype, false, view.shape, {}};
  room.resize(bytes_of(type));
  read_dense(view, room.data());
  return room.data();
}

// begin(from, to) with the bytes of one operand and those of one result, row-major.
template <class Begin>
runtime::TransferPtr send_dense(std::span<const View> views, std::span<const View> outs,
                                Begin&& begin) {
  const View &in = views[0], &out = outs[0];
  Bytes room, result;
  const std::byte* from = dense(in, room);
  if (is_contiguous(out.shape, out.strides)) {
    runtime::TransferPtr transfer = begin(from, out.data);
    if (!room.empty()) transfer->then = [room = std::move(room)] {};
    return transfer;
  }
  result.resize(bytes_of(Type{out.dtype, false, out.shape, {}}));
  runtime::TransferPtr transfer = begin(from, result.data());
  transfer->then = [room = std::move(room), result = std::move(result), out] {
    write_dense(result.data(), out);
  };
  return transfer;
}

// ---- records ---------------------------------------------------------------------------------

constexpr ParamKey<std::string> computation_key{"computation"};

const AxisSet& axes_of(const Params& params) { return params.axes(param::collective_axes); }

}  // namespace

runtime::MessageLabel message_label(const Op& op, const Types& in, const Params& params) {
  std::string text =
      concat(op.name, "[", params.has("computation") ? params.text(computation_key) : "");
  for (const AxisName axis : axes_of(params))
    text += concat(text.back() == '[' ? "" : " ", axis_text(axis));
  text += "]";
  std::size_t hash = hash_bytes(text);
  for (const Type& type : in) hash = mix(hash, hash_bytes(short_string(type)));
  constexpr std::size_t shown = 4;
  for (std::size_t i = 0; i < std::min(in.size(), shown); ++i)
    text += concat(" ", short_string(in[i]));
  if (in.size() > shown) text += concat(" and ", in.size() - shown, " more");
  if (const LocationPtr at = current_location()) text += concat(" at ", short_string(*at));
  runtime::MessageTimes& times = runtime::times_of(text);
  return {static_cast<std::uint32_t>(hash), std::move(text), &times};
}

namespace {

void check_process_axes(const Op& op, const Params& params) {
  const AxisSet& axes = axes_of(params);
  if (!axes.empty() && process_axes(axes).size() == axes.size()) return;
  value_error(op.name, ": axes=", to_string(AxisNames{axes}),
              "; expected process axes of a program that runs in several processes.");
}

std::int64_t group_size(const Params& params) {
  std::int64_t size = 1;
  for (const AxisName axis : axes_of(params)) size *= process_axis_size(axis);
  return size;
}

Types reduce_type(const Op& op, const Types& in, const Params& params) {
  check_process_axes(op, params);
  for (const Type& type : in) {
    if (type.dtype != in[0].dtype)
      type_error(op.name, ": operands of ", to_string(in[0]), " and ", to_string(type),
                 "; expected one dtype.");
  }
  reduction_for(params.text(computation_key), in[0].dtype);
  Types out = in;
  for (Type& type : out) {
    for (const AxisName axis : axes_of(params)) type.varying = without(type.varying, axis);
  }
  return out;
}

// Effects come to the devices of an axis also where these have one value.
template <BatchRule rule>
Batched batch_message(const BatchArgs& a) {
  return a.batched[0] ? rule(a) : Batched{bind(a.op, a.params, a.in), {false}};
}

// The values of all devices of an axis travel as one message, with their dimension behind that of
// processes.
Batched batch_slices(const BatchArgs& a) {
  return batched1(moveaxis(bind1(a.op, a.params, {moveaxis(a.in[0], 0, 1)}), 1, 0));
}
Batched batch_reduce(const BatchArgs& a) { return {bind(a.op, a.params, a.in), a.batched}; }

MessageKernel begin_reduce(const Op& op, const Types& in, const Types&, const Params& params) {
  const runtime::Reduction reduction = reduction_for(params.text(computation_key), in[0].dtype);
  std::size_t total = 0;
  for (const Type& type : in) total += index(type.size());
  return [group = process_group(axes_of(params)), reduction, total,
          label = message_label(op, in, params)](std::span<const View> views,
                                                 std::span<const View> outs) {
    if (views.size() == 1) {
      return send_dense(views, outs, [&](const std::byte* from, std::byte* to) {
        return runtime::all_reduce(from, to, total, reduction, group, label);
      });
    }
    Bytes room(total * reduction.itemsize);
    std::byte* next = room.data();
    const auto size_of = [](const View& v) { return bytes_of(Type{v.dtype, false, v.shape, {}}); };
    for (const View& view : views) {
      read_dense(view, next);
      next += size_of(view);
    }
    runtime::TransferPtr transfer =
        runtime::all_reduce(room.data(), room.data(), total, reduction, group, label);
    transfer->then = [room = std::move(room), size_of,
                      outs = std::vector<View>(outs.begin(), outs.end())] {
      const std::byte* from = room.data();
      for (const View& view : outs) {
        write_dense(from, view);
        from += size_of(view);
      }
    };
    return transfer;
  };
}

// A process waits for others: results are kept, once each, in order.
constexpr OpSpec message(OpSpec spec) {
  spec.effect = "Message";
  spec.no_gradient = true;
  spec.half_native = true;
  return spec;
}

const Op process_all_reduce_op{
    message({.name = "process_all_reduce",
             .operands = at_least(1),
             .doc = "Sums, maxima or minima over processes, of all operands in one message.",
             .type = reduce_type,
             .batch = batch_reduce,
             .multiple_results = true,
             .message = begin_reduce})};

const Op process_all_gather_op{
    message({.name = "process_all_gather",
             .operands = 1,
             .doc = "The operands of all processes, along a new first dimension.",
             .type = [](const Op& op, const Types& in, const Params& params) -> Types {
               check_process_axes(op, params);
               Type out = in[0];
               out.insert_dimension(0, group_size(params));
               return {out};
             },
             .batch = batch_message<[](const BatchArgs& a) -> Batched {
               return batched1(moveaxis(bind1(a.op, a.params, a.in), 1, 0));
             }>,
             .message = [](const Op& op, const Types& in, const Types&,
                           const Params& params) -> MessageKernel {
               return [group = process_group(axes_of(params)), bytes = bytes_of(in[0]),
                       label = message_label(op, in, params)](std::span<const View> views,
                                                              std::span<const View> outs) {
                 return send_dense(views, outs, [&](const std::byte* from, std::byte* to) {
                   return runtime::all_gather(from, to, bytes, group, label);
                 });
               };
             }})};

const Op process_all_to_all_op{message(
    {.name = "process_all_to_all",
     .operands = 1,
     .doc = "Slice k of dimension 0 goes to process k, from which slice k of the result is.",
     .type = [](const Op& op, const Types& in, const Params& params) -> Types {
       check_process_axes(op, params);
       if (in[0].rank() == 0 || in[0].shape[0] != group_size(params))
         value_error(op.name, ": the operand is ", to_string(in[0]), "; expected ",
                     group_size(params), " slices.");
       return {in[0]};
     },
     .batch = batch_message<batch_slices>,
     .message = [](const Op& op, const Types& in, const Types&,
                   const Params& params) -> MessageKernel {
       const std::vector<int> group = process_group(axes_of(params));
       return
           [group, bytes = bytes_of(in[0]) / group.size(), label = message_label(op, in, params)](
               std::span<const View> views, std::span<const View> outs) {
             return send_dense(views, outs, [&](const std::byte* from, std::byte* to) {
               return runtime::all_to_all(from, to, bytes, group, label);
             });
           };
     }})};

const Op process_reduce_scatter_op{
    message({.name = "process_reduce_scatter",
             .operands = 1,
             .doc = "The own slice along dimension 0 of the sum over processes.",
             .type = [](const Op& op, const Types& in, const Params& params) -> Types {
               check_process_axes(op, params);
               if (in[0].rank() == 0 || in[0].shape[0] != group_size(params))
                 value_error(op.name, ": the operand is ", to_string(in[0]), "; expected ",
                             group_size(params), " slices.");
               reduction_for("add", in[0].dtype);
               Type out = in[0];
               out.erase_dimension(0);
               return {out};
             },
             .batch = batch_message<[](const BatchArgs& a) -> Batched {
               return batched1(bind1(a.op, a.params, {moveaxis(a.in[0], 0, 1)}));
             }>,
             .message = [](const Op& op, const Types& in, const Types& out_types,
                           const Params& params) -> MessageKernel {
               return [group = process_group(axes_of(params)), n = index(out_types[0].size()),
                       reduction = reduction_for("add", in[0].dtype),
                       label = message_label(op, in, params)](std::span<const View> views,
                                                              std::span<const View> outs) {
                 return send_dense(views, outs, [&](const std::byte* from, std::byte* to) {
                   return runtime::reduce_scatter(from, to, n, reduction, group, label);
                 });
               };
             }})};

// The pairs of process positions (source, destination, ...): each process sends to as many as name
// it, and receives from at most one.
const Op process_permute_op{
    message({.name = "process_permute",
             .operands = 1,
             .doc = "The operand of the process that sends to this one; zeros where none does.",
             .type = [](const Op& op, const Types& in, const Params& params) -> Types {
               check_process_axes(op, params);
               return {in[0]};
             },
             .batch = batch_message<[](const BatchArgs& a) -> Batched {
               return batched1(bind1(a.op, a.params, a.in));
             }>,
             .message = [](const Op& op, const Types& in, const Types&,
                           const Params& params) -> MessageKernel {
               const std::vector<int> group = process_group(axes_of(params));
               const Ints& pairs = params.ints(param::perm);
               std::vector<int> destinations;
               int source = -1;
               for (std::size_t i = 0; i < pairs.size(); i += 2) {
                 const int from = group[index(pairs[i])], to = group[index(pairs[i + 1])];
                 if (from == runtime::process_index()) destinations.push_back(to);
                 if (to == runtime::process_index()) source = from;
               }
               return [destinations, source, bytes = bytes_of(in[0]),
                       label = message_label(op, in, params)](std::span<const View> views,
                                                              std::span<const View> outs) {
                 return send_dense(views, outs, [&](const std::byte* from, std::byte* to) {
                   return runtime::permute(from, to, bytes, destinations, source, label);
                 });
               };
             }})};

// ---- agreement -------------------------------------------------------------------------------

std::string process_list(const std::vector<int>& ranks) {
  std::string out = ranks.size() == 1 ? "process" : "processes";
  for (std::size_t i = 0; i < ranks.size(); ++i)
    out += concat(i == 0 ? " " : i + 1 == ranks.size() ? " and " : ", ", ranks[i]);
  return out;
}

// `choices` of all processes, one after the other, n each.
void check_agreement(std::span<const std::int32_t> choices, std::size_t n,
                     const std::vector<int>& group, const Params& params) {
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<int> with, without;
    for (std::size_t k = 0; k < group.size(); ++k)
      (choices[k * n + i] == choices[i] ? with : without).push_back(group[k]);
    if (without.empty()) continue;
    fail(ErrorKind::runtime_error, params.text(param::construct),
         ": the predicate differs between processes, and ", params.text(param::collective),
         " is inside: ", process_list(with), with.size() == 1 ? " goes" : " go", " one way, ",
         process_list(without),
         " another. They would wait for each other for ever. Make the "
         "predicate equal in all processes (with psum or pmax, say), or move the collective out of "
         "the ",
         params.text(param::construct), ".");
  }
}

const Op process_agree_op{message(
    {.name = "process_agree",
     .operands = 1,
     .doc = "The operand, int32, which all processes have; an error where they differ.",
     .type = [](const Op& op, const Types& in, const Params& params) -> Types {
       check_process_axes(op, params);
       if (in[0].dtype != DType::int32)
         type_error(op.name, ": the operand is ", to_string(in[0]), "; expected int32.");
       return {in[0]};
     },
     .batch = batch_message<[](const BatchArgs& a) -> Batched {
       return batched1(bind1(a.op, a.params, a.in));
     }>,
     .message = [](const Op& op, const Types& in, const Types&,
                   const Params& params) -> MessageKernel {
       return [group = process_group(axes_of(params)), params, bytes = bytes_of(in[0]),
               label = message_label(op, in, params)](std::span<const View> views,
                                                      std::span<const View> outs) {
         Bytes room(bytes * (group.size() + 1));
         std::byte* own = room.data() + bytes * group.size();
         read_dense(views[0], own);
         runtime::TransferPtr transfer = runtime::all_gather(own, room.data(), bytes, group, label);
         transfer->then = [room = std::move(room), own, bytes, &group, &params, out = outs[0]] {
           check_agreement({reinterpret_cast<const std::int32_t*>(room.data()),
                            room.size() / sizeof(std::int32_t)},
                           bytes / sizeof(std::int32_t), group, params);
           write_dense(own, out);
         };
         return transfer;
       };
     }})};

const Op process_index_op{
    {.name = "process_index",
     .operands = 0,
     .doc = "The position of this process along a process axis, int32.",
     .type = [](const Op& op, const Types&, const Params& params) -> Types {
       check_process_axes(op, params);
       return {Type{DType::int32, false, {}, {}}};
     },
     .batch = [](const BatchArgs& a) -> Batched { return {{bind1(a.op, a.params, {})}, {false}}; },
     .no_gradient = true,
     .kernel = [](const Types&, const Types&, const Params& params) -> Kernel {
       const std::vector<int> group = process_group(axes_of(params));
       const auto own = std::find(group.begin(), group.end(), runtime::process_index());
       return [position = static_cast<std::int32_t>(own - group.begin())](
                  std::span<const View>, std::span<const View> outs) {
         std::memcpy(outs[0].data, &position, sizeof position);
       };
     }}};

}  // namespace

std::int64_t message_processes(const Params& params) { return group_size(params); }

Value process_agree(const Value& choice, const AxisSet& axes, std::string_view collective,
                    std::string_view construct) {
  return bind1(process_agree_op,
               {{"axes", AxisNames{axes}},
                {"collective", std::string(collective)},
                {"construct", std::string(construct)}},
               {choice});
}

Values process_all_reduce(const Values& values, const AxisSet& axes, std::string_view computation) {
  return bind(process_all_reduce_op,
              {{"axes", AxisNames{axes}}, {"computation", std::string(computation)}}, values);
}

}  // namespace shardax::ops

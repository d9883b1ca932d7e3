// ops/collectives/process_ops.h - collectives between processes, which have kernels: messages.
//
// Programs of users have none. The compiler makes them of collectives over process axes
// (array/process_axis.h), once all other axes are dimensions:
//
//   psum[axes=('i@process', 'i')] a:f32[3]               one device's program
//   psum[axes=('i@process',)] (reduce_sum[axes=(0,)] a)  batched over 'i'
//   process_all_reduce[computation=add] (reduce_sum a)   compiled
#pragma once

#include "runtime/processes.h"
#include "trace/trace.h"

namespace shardax::ops {

// The label of the op's messages: its op, axes, types, and the current location.
runtime::MessageLabel message_label(const Op& op, const Types& in, const Params& params);
// The number of processes that take part in a message.
std::int64_t message_processes(const Params& params);

// Is it a message, or a collective over process axes that asks another process?
bool is_between_processes(const Equation& eqn);
// Is it a collective whose axes are process axes alone?
bool is_over_processes(const Equation& eqn);
// The program of operands of these types that such an equation stands for.
ProgramPtr over_processes(const Equation& eqn, const Types& in);

// An exchange in which processes send only the data that others need; null if over_processes has to
// gather.
Value exchange_processes(const Equation& eqn, const Value& x);

// The reductions of all values in one message; they have one dtype. `computation` is "add", "max"
// or "min". The record's name is "process_all_reduce".
Values process_all_reduce(const Values& values, const AxisSet& axes, std::string_view computation);
// An int32 choice of a branch, once all processes have the same; RuntimeError in all of them where
// they have not. `collective` is inside of `construct`, for the error.
Value process_agree(const Value& choice, const AxisSet& axes, std::string_view collective,
                    std::string_view construct);
// A value as it is sent. Numbers of fewer than 32 bits are added as wider ones, and NaNs do not
// count in maxima and minima.
Value as_sent(const Value& value, std::string_view computation);
// The computation of process_all_reduce for a collective: "add" for psum; "" if there is none.
std::string_view computation_of(const Op& op);

}  // namespace shardax::ops

// ir/core_ops.cpp - records by name, looked up once.
#include "ir/core_ops.h"

#include <string>

#include "base/errors.h"

namespace shardax {
namespace {

const Op& record_of(std::string_view name) {
  if (const Op* op = find_op(name)) return *op;
  throw InternalError("core_ops: no record is called '" + std::string(name) + "'");
}

}  // namespace

const CoreOps& core_ops() {
#define SHARDAX_CORE_OP(handle, name) record_of(name),
  static const CoreOps ops{SHARDAX_CORE_OPS(SHARDAX_CORE_OP)};
#undef SHARDAX_CORE_OP
  return ops;
}

bool is_add(const Op& op) { return &op == &core_ops().add || &op == &core_ops().add_any; }

}  // namespace shardax

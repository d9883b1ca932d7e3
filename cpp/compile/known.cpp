// compile/known.cpp - records by name, looked up once.
#include "compile/known.h"

namespace shardax {

const KnownOps& known() {
  static const KnownOps ops{*find_op("add"),
                            *find_op("broadcast_in_dim"),
                            *find_op("concatenate"),
                            *find_op("conv_general_dilated"),
                            *find_op("convert_element_type"),
                            *find_op("div"),
                            *find_op("dot_general"),
                            *find_op("dynamic_slice"),
                            *find_op("dynamic_update_slice"),
                            *find_op("gather"),
                            *find_op("mul"),
                            *find_op("neg"),
                            *find_op("optimization_barrier"),
                            *find_op("pad"),
                            *find_op("psum"),
                            *find_op("reduce_sum"),
                            *find_op("reshape"),
                            *find_op("scan"),
                            *find_op("select_n"),
                            *find_op("sharding_constraint"),
                            *find_op("slice"),
                            *find_op("squeeze"),
                            *find_op("stop_gradient"),
                            *find_op("transpose")};
  return ops;
}

bool adds(const Op& op) {
  static const Op& add_any = *find_op("add_any");
  return &op == &known().add || &op == &add_any;
}

}  // namespace shardax

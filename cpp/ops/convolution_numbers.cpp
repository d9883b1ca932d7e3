// ops/convolution_numbers.cpp - the type rule of convolutions, and how they are shown.
#include "base/index.h"
#include "ops/convolution.h"
#include "ops/elementwise/pairs.h"
#include "ops/family.h"

namespace shardax::ops {
namespace {

Shape without_leading(const Shape& shape, std::int64_t leading) {
  return Shape(shape.begin() + leading, shape.end());
}

constexpr const char* op_name = "conv_general_dilated";

void check_groups(const ConvNumbers& n, const Shape& lhs, const Shape& rhs) {
  const std::int64_t features = lhs[index(n.lhs_spec[1])], batch = lhs[index(n.lhs_spec[0])],
                     outputs = rhs[index(n.rhs_spec[0])], inputs = rhs[index(n.rhs_spec[1])];
  const std::int64_t groups = n.feature_groups, batch_groups = n.batch_groups;
  const auto positive = [](const char* what, std::int64_t count) {
    if (count < 1) value_error(op_name, " ", what, " must be a positive integer, got ", count, ".");
  };
  const auto divides_outputs = [&](const char* what, std::int64_t count) {
    if (outputs % count == 0) return;
    value_error(op_name, " rhs output feature dimension size must be a multiple of ", what,
                ", but ", outputs, " is not a multiple of ", count, ".");
  };
  positive("feature_group_count", groups);
  if (features % groups != 0) {
    value_error(op_name, " feature_group_count must divide lhs feature dimension size, but ",
                groups, " does not divide ", features, ".");
  }
  if (features / groups != inputs) {
    value_error(op_name,
                " lhs feature dimension size divided by feature_group_count must equal the rhs "
                "input feature dimension size, but ",
                features, " // ", groups, " != ", inputs, ".");
  }
  divides_outputs("feature_group_count", groups);
  positive("batch_group_count", batch_groups);
  if (batch % batch_groups != 0) {
    value_error(op_name, " batch_group_count must divide lhs batch dimension size, but ",
                batch_groups, " does not divide ", batch, ".");
  }
  divides_outputs("batch_group_count", batch_groups);
  if (groups > 1 && batch_groups > 1) {
    value_error(
        "At most one of batch_group_count and feature_group_count may be > 1, got "
        "batch_group_count=",
        batch_groups, " and feature_group_count=", groups);
  }
}

void check_spec(const char* name, const Ints& spec, std::size_t rank) {
  Ints sorted = spec;
  std::sort(sorted.begin(), sorted.end());
  if (sorted == iota_ints(rank)) return;
  type_error(op_name, " dimension_numbers: ", name, " must be a permutation of ", rank,
             " dimensions, got ", to_string(spec), ".");
}

void check_counts(const ConvNumbers& n) {
  const std::size_t count = n.spatial();
  if (n.strides.size() != count) {
    value_error(op_name,
                " window and window_strides must have the same number of dimensions, but got ",
                count, " and ", n.strides.size());
  }
  if (n.padding.size() != 2 * count) {
    type_error("Wrong number of explicit pads for convolution: expected ", count, ", got ",
               n.padding.size() / 2, ".");
  }
  const auto each = [&](const char* what, const Ints& values) {
    if (values.size() != count) {
      value_error(op_name, " ", what, " must have one entry per spatial dimension, ", count,
                  ", got ", to_string(values), ".");
    }
    for (std::int64_t v : values) {
      if (v < 1) value_error(op_name, " ", what, " must be positive, got ", to_string(values), ".");
    }
    check_window_numbers(op_name, what, values, false);
  };
  check_window_numbers(op_name, "padding", n.padding, true);
  each("window_strides", n.strides);
  each("lhs_dilation", n.lhs_dilation);
  each("rhs_dilation", n.rhs_dilation);
}

std::int64_t output_size(std::int64_t in, std::int64_t window, std::int64_t stride) {
  return in < window ? 0 : (in - window) / stride + 1;
}

void check_dtypes(const Op& op, const Type& lhs, const Type& rhs, const ParamValue* preferred) {
  check_dtype(op, lhs.dtype);
  check_dtype(op, rhs.dtype);
  if (lhs.dtype != rhs.dtype) {
    type_error("lax.conv_general_dilated requires arguments to have the same dtypes, got ",
               name(lhs.dtype), ", ", name(rhs.dtype), ".");
  }
  const DType* wanted = preferred ? std::get_if<DType>(preferred) : nullptr;
  if (!wanted) return;
  const auto kind = [](DType d) {
    return is_complex(d) ? 3 : is_floating(d) ? 2 : is_integer(d) ? 1 : 0;
  };
  if (kind(*wanted) != kind(lhs.dtype)) {
    type_error(
        "Input type is incompatible with `preferred_element_type`. The compatible combinations of "
        "(input_type, preferred_element_type) are (integral, integral), (integral, floating), "
        "(floating, floating), (complex, complex. Got ",
        name(lhs.dtype), " and ", name(*wanted), ".");
  }
  if (is_integer(lhs.dtype) && is_unsigned_integer(lhs.dtype) != is_unsigned_integer(*wanted)) {
    type_error("`preferred_element_type` must have the same signedness as the original type, ",
               name(lhs.dtype), "; got ", name(*wanted), ".");
  }
  if (itemsize(*wanted) < itemsize(lhs.dtype)) {
    type_error("`preferred_element_type` must not be narrower than the original type, ",
               name(lhs.dtype), "; got ", name(*wanted), ".");
  }
}

}  // namespace

void check_window_numbers(std::string_view op, const char* what, const Ints& values, bool padding) {
  const std::int64_t limit = padding ? std::int64_t{1} << 40 : INT32_MAX;
  for (std::int64_t v : values) {
    if (v <= limit && v >= -limit) continue;
    value_error(op, " ", what, ": ", v, " is too large; at most ", limit, " was expected.");
  }
}

ConvNumbers conv_numbers(const Params& p) {
  ConvNumbers n{p.ints(param::window_strides),
                p.ints(param::padding),
                p.ints(param::lhs_dilation),
                p.ints(param::rhs_dilation),
                p.ints(param::lhs_spec),
                p.ints(param::rhs_spec),
                p.ints(param::out_spec),
                p.integer(param::feature_group_count),
                p.integer(param::batch_group_count)};
  if (p.has("leading")) n.leading = p.ints(param::leading);
  const ParamValue* precision = p.find("precision");
  const auto* text = precision ? std::get_if<std::string>(precision) : nullptr;
  n.highest_precision = text && text->find("HIGHEST") != std::string::npos;
  return n;
}

// A window has elements, also where the operand has none.
void check_window(const ConvNumbers& n, const Shape& rhs) {
  for (std::size_t d = 0; d < n.spatial(); ++d) {
    if (rhs[index(n.rhs_spec[d + 2])] > 0) continue;
    value_error(op_name, " expects a window to have positive value for each of its dimensions, ",
                "but the kernel of shape ", to_string(rhs), " has 0 for dimension ", d, ".");
  }
}

// Leading dimensions that both operands have are of one size.
void check_leading(const ConvNumbers& n, const Shape& lhs, const Shape& rhs) {
  std::size_t from_lhs = 0, from_rhs = 0;
  for (const std::int64_t kind : n.leading) {
    const auto leading = static_cast<Leading>(kind);
    const bool in_lhs = leading != Leading::rhs, in_rhs = leading != Leading::lhs;
    if (in_lhs && in_rhs && lhs[from_lhs] != rhs[from_rhs]) {
      value_error(op_name, ": operands of shapes ", to_string(lhs), " and ", to_string(rhs),
                  " differ in a dimension that both are batched by.");
    }
    from_lhs += in_lhs;
    from_rhs += in_rhs;
  }
}

Types conv_type(const Op& op, const Types& in, const Params& params) {
  const ConvNumbers n = conv_numbers(params);
  const Type &a = in[0], &b = in[1];
  check_dtypes(op, a, b, params.find("preferred_element_type"));
  const auto has_rank = [](const Type& type, std::int64_t leading) {
    return static_cast<std::int64_t>(type.rank()) >= leading + 2;
  };
  const bool known = std::all_of(n.leading.begin(), n.leading.end(),
                                 [](std::int64_t kind) { return kind >= 0 && kind <= 3; });
  if (!known || !has_rank(a, n.of_lhs()) || !has_rank(b, n.of_rhs())) {
    value_error(op_name, ": operands have a batch (or output) and a feature dimension, got shapes ",
                to_string(a.shape), " and ", to_string(b.shape), ".");
  }
  const Shape lhs = without_leading(a.shape, n.of_lhs()),
              rhs = without_leading(b.shape, n.of_rhs());
  if (lhs.size() != rhs.size()) {
    value_error(op_name, " lhs and rhs must have the same number of dimensions, but got ",
                to_string(lhs), " and ", to_string(rhs), ".");
  }
  check_spec("lhs_spec", n.lhs_spec, lhs.size());
  check_spec("rhs_spec", n.rhs_spec, rhs.size());
  check_spec("out_spec", n.out_spec, lhs.size());
  check_groups(n, lhs, rhs);
  check_counts(n);
  check_window(n, rhs);
  check_leading(n, a.shape, b.shape);
  Shape out(lhs.size(), 0);
  out[index(n.out_spec[0])] = lhs[index(n.lhs_spec[0])] / n.batch_groups;
  out[index(n.out_spec[1])] = rhs[index(n.rhs_spec[0])];
  for (std::size_t d = 0; d < n.spatial(); ++d) {
    const std::int64_t size = dilated_size(lhs[index(n.lhs_spec[d + 2])], n.lhs_dilation[d]) +
                              n.padding[2 * d] + n.padding[2 * d + 1];
    if (size < 0) {
      Shape sizes;
      for (std::size_t i = 0; i < n.spatial(); ++i) sizes.push_back(lhs[index(n.lhs_spec[i + 2])]);
      value_error(
          "Negative padding is larger than the size of the corresponding dimension: got "
          "padding=",
          pairs_text(n.padding), " for lhs_shape[2:]=", to_string(sizes));
    }
    out[index(n.out_spec[d + 2])] = output_size(
        size, dilated_size(rhs[index(n.rhs_spec[d + 2])], n.rhs_dilation[d]), n.strides[d]);
  }
  Shape shape;
  std::size_t from_lhs = 0, from_rhs = 0;
  for (std::int64_t kind : n.leading) {
    const auto leading = static_cast<Leading>(kind);
    const bool shared = leading == Leading::both || leading == Leading::summed;
    if (shared && a.shape[from_lhs] != b.shape[from_rhs]) {
      value_error(op_name, ": leading dimensions of ", to_string(a.shape), " and ",
                  to_string(b.shape), " differ.");
    }
    if (leading != Leading::summed)
      shape.push_back(leading == Leading::rhs ? b.shape[from_rhs] : a.shape[from_lhs]);
    from_lhs += leading != Leading::rhs;
    from_rhs += leading != Leading::lhs;
  }
  shape.append(out.begin(), out.end());
  const ParamValue* preferred = params.find("preferred_element_type");
  const DType* wanted = preferred ? std::get_if<DType>(preferred) : nullptr;
  return {Type{wanted ? *wanted : a.dtype, a.weak && b.weak, shape, {}}};
}

std::vector<std::string> show_conv(const Params& p) {
  const auto value = [&](ParamName name) {
    const ParamValue* own = p.find(name);
    const std::string* text = own ? std::get_if<std::string>(own) : nullptr;
    const bool none = !own || std::holds_alternative<std::monostate>(*own);
    return concat(name, "=", none ? "None" : text ? *text : to_string(*own));
  };
  std::vector<std::string> out{value("batch_group_count"),
                               concat("dimension_numbers=ConvDimensionNumbers(", value("lhs_spec"),
                                      ", ", value("rhs_spec"), ", ", value("out_spec"), ")"),
                               value("feature_group_count"), value("lhs_dilation")};
  if (p.has("leading")) {
    constexpr const char* names[] = {"both", "lhs", "rhs", "summed"};
    std::string text;
    for (std::int64_t kind : p.ints(param::leading))
      text += concat(text.empty() ? "" : ", ", names[kind]);
    out.push_back(concat("leading=(", text, ")"));
  }
  for (const std::string& text :
       {std::string("out_sharding=None"), "padding=" + pairs_text(p.ints(param::padding)),
        value("precision"), value("preferred_element_type"), value("rhs_dilation"),
        value("window_strides")}) {
    out.push_back(text);
  }
  return out;
}

double conv_flops(const Types& in, const Types& out, const Params& params) {
  const ConvNumbers n = conv_numbers(params);
  double steps = 2;
  std::size_t from = 0;
  for (std::int64_t kind : n.leading) {
    const auto leading = static_cast<Leading>(kind);
    if (leading == Leading::summed) steps *= static_cast<double>(in[1].shape[from]);
    from += leading != Leading::lhs;
  }
  for (std::size_t i = 1; i < n.rhs_spec.size(); ++i)
    steps *= static_cast<double>(in[1].shape[from + index(n.rhs_spec[i])]);
  return steps * static_cast<double>(out[0].size());
}

}  // namespace shardax::ops

// callables/program/param_forms.cpp - the parameters of ops in the form that JAX gives them.
#include "callables/program/param_forms.h"

#include <algorithm>
#include <span>

#include "base/errors.h"
#include "callables/object.h"

namespace py = pybind11;

namespace shardax::callables {
namespace {

constexpr const char* gather_dims[] = {"offset_dims", "collapsed_slice_dims", "start_index_map",
                                       "operand_batching_dims", "start_indices_batching_dims"};
constexpr const char* scatter_dims[] = {"update_window_dims", "inserted_window_dims",
                                        "scatter_dims_to_operand_dims", "operand_batching_dims",
                                        "scatter_indices_batching_dims"};
constexpr const char* padding[] = {"low", "high", "interior"};

// Options of ops that are None in every program here.
struct Option {
  const char* name;
  std::span<const std::string_view> ops;
};
constexpr std::string_view placed[] = {"broadcast_in_dim", "convert_element_type", "iota",
                                       "reshape"};
constexpr std::string_view placed_out[] = {"dot_general", "reduce_sum", "rng_bit_generator"};
constexpr std::string_view permuted[] = {"reshape"};
constexpr std::string_view rounded[] = {"cbrt",     "cos",   "exp", "exp2", "expm1", "log", "log1p",
                                        "logistic", "rsqrt", "sin", "sqrt", "tan",   "tanh"};
constexpr std::string_view scattering[] = {"scatter",     "scatter-add", "scatter-max",
                                           "scatter-min", "scatter-mul", "scatter-sub"};
constexpr Option options[] = {{"sharding", placed},
                              {"out_sharding", placed_out},
                              {"dimensions", permuted},
                              {"accuracy", rounded},
                              {"update_jaxpr", scattering}};

py::object taken(py::dict& dict, const char* name) { return dict.attr("pop")(name); }

py::object lax_module(const char* name) {
  return import_module(concat("shardax.lax.", name).c_str());
}
py::object lax(const char* name) { return import_module("shardax.lax").attr(name); }

// The lists of dimensions of a gather or scatter as JAX's tuple of that class.
void join_dims(py::dict& params, std::span<const char* const> names, const char* numbers) {
  py::tuple dims(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) dims[i] = taken(params, names[i]);
  params["dimension_numbers"] = lax(numbers)(*dims);
  params["mode"] = lax("GatherScatterMode").attr("from_any")(params["mode"]);
}

bool spread_dims(py::dict& params, std::span<const char* const> names) {
  const py::object numbers = params["dimension_numbers"];
  if (!py::hasattr(numbers, names[0])) return false;
  for (const char* name : names) params[name] = numbers.attr(name);
  params.attr("pop")("dimension_numbers");
  return true;
}

bool all_ones(const py::object& values) {
  return !values.is_none() && std::all_of(values.begin(), values.end(), [](py::handle value) {
    return py::cast<std::int64_t>(value) == 1;
  });
}

}  // namespace

void to_jax_form(std::string_view op, py::dict& params) {
  if (op == "gather") join_dims(params, gather_dims, "GatherDimensionNumbers");
  if (std::ranges::find(scattering, op) != std::end(scattering)) {
    join_dims(params, scatter_dims, "ScatterDimensionNumbers");
    params["update_consts"] = py::tuple();
  }
  if (op == "pad") {
    const py::object sizes[] = {taken(params, padding[0]), taken(params, padding[1]),
                                taken(params, padding[2])};
    py::tuple config(py::len(sizes[0]));
    for (std::size_t i = 0; i < config.size(); ++i)
      config[i] =
          py::make_tuple(sizes[0][py::int_(i)], sizes[1][py::int_(i)], sizes[2][py::int_(i)]);
    params["padding_config"] = config;
  }
  if (params.contains("precision"))
    params["precision"] = lax_module("_dot").attr("precision_from_text")(params["precision"]);
  if (op == "fft") params["fft_type"] = lax("FftType")(params["fft_type"]);
  if (op == "slice" && all_ones(params["strides"])) params["strides"] = py::none();
  for (const Option& option : options) {
    if (!params.contains(option.name) && std::ranges::find(option.ops, op) != option.ops.end())
      params[option.name] = py::none();
  }
}

py::dict from_jax_form(const py::dict& given) {
  py::dict params = given.attr("copy")();
  for (const Option& option : options) {
    if (params.contains(option.name) && params[option.name].is_none()) taken(params, option.name);
  }
  if (params.contains("update_consts")) {
    taken(params, "update_consts");
    params.attr("pop")("update_jaxpr", py::none());
  }
  if (params.contains("dimension_numbers") &&
      (spread_dims(params, gather_dims) || spread_dims(params, scatter_dims)) &&
      !py::isinstance<py::str>(params["mode"])) {
    params["mode"] = lax_module("_indexing").attr("_mode")(params["mode"]);
  }
  if (params.contains("precision"))
    params["precision"] = lax_module("_dot").attr("precision_text")(params["precision"]);
  if (params.contains("padding_config")) {
    const py::object config = taken(params, "padding_config");
    for (std::size_t part = 0; part < 3; ++part) {
      py::tuple sizes(py::len(config));
      for (std::size_t i = 0; i < sizes.size(); ++i)
        sizes[i] = py::object(config[py::int_(i)])[py::int_(part)];
      params[padding[part]] = sizes;
    }
  }
  if (params.contains("limit_indices") && params.contains("strides") && params["strides"].is_none())
    params["strides"] = py::make_tuple(1) * py::int_(py::len(params["limit_indices"]));
  return params;
}

}  // namespace shardax::callables

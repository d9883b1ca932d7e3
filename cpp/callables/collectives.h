// callables/collectives.h - collectives over trees of values, as users call them.
//
// `axes` and `groups` as callables/transforms/devices.h says; psum, pmean, pmax and pmin also take
// dimensions.
#pragma once

#include "callables/python.h"

namespace shardax::callables {

// The collective of that name after which all devices have one value: "psum", "pmax", "pargmax". A
// Python number summed over named axes stays a Python number, so psum(1, axis) is the axis's size.
Ref reduce_over(std::string_view name, PyObject* tree, PyObject* axes, PyObject* groups);
Ref pmean(PyObject* tree, PyObject* axes, PyObject* groups);
Ref pbroadcast(PyObject* tree, PyObject* axes, std::int64_t source);
// `to`: in which state types then know it over checked axes: "varying", "invarying", "reduced".
Ref all_gather(PyObject* tree, PyObject* axes, PyObject* groups, std::int64_t dim, bool tiled,
               std::string_view to);
Ref psum_scatter(PyObject* tree, PyObject* axes, PyObject* groups, std::int64_t dim, bool tiled);
// `permutation` is any iterable of (source, destination) pairs.
Ref ppermute(PyObject* tree, PyObject* axes, PyObject* permutation);
Ref all_to_all(PyObject* tree, PyObject* axes, PyObject* groups, std::int64_t split_dim,
               std::int64_t concat_dim, bool tiled);
// To another state over the checked ones of the axes: pvary to "varying".
Ref pvary(PyObject* tree, PyObject* axes);
Ref pcast(PyObject* tree, PyObject* axes, std::string_view to, std::string_view user = "pcast");
// For blocks of arrays that are sums over axes: ops::first_term, and ops::value_of_reduced.
Ref first_term(PyObject* tree, PyObject* axes);
Ref value_of_reduced(PyObject* tree, PyObject* axes);
// The position along several axes counts them as one axis, row major.
Ref axis_index(PyObject* axes);
// Is a checked axis in scope?
bool follows_varying();
std::int64_t axis_size_of(PyObject* axes);

}  // namespace shardax::callables

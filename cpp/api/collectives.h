// api/collectives.h - collectives over trees of values, as users call them.
//
// Axes are a name, or a tuple or list of names; psum, pmean, pmax and pmin also take dimensions
// (integers) beside them. Names that are not in scope throw NameError.
#pragma once

#include "api/python.h"

namespace shardax::api {

enum class Reduction { sum, mean, max, min };

// A Python number summed over named axes stays a Python number: psum(1, axis) is the axis's size.
Ref reduce_over(Reduction reduction, PyObject* tree, PyObject* axes);
Ref all_gather(PyObject* tree, PyObject* axes, std::int64_t dim, bool tiled);
Ref psum_scatter(PyObject* tree, PyObject* axes, std::int64_t dim, bool tiled);
// `permutation` is any iterable of (source, destination) pairs.
Ref ppermute(PyObject* tree, PyObject* axes, PyObject* permutation);
Ref all_to_all(PyObject* tree, PyObject* axes, std::int64_t split_dim, std::int64_t concat_dim,
               bool tiled);
// Of several axes: as one axis, row major.
Ref axis_index(PyObject* axes);
std::int64_t axis_size_of(PyObject* axes);

}  // namespace shardax::api

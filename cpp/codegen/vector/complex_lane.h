// codegen/vector/complex_lane.h - complex numbers of lanes: a lane for each part.
//
// A complex number is two nodes, which a third one, of Code::pair, names together. Kernels that
// take complex numbers apart, add and multiply them write the nodes of their parts.
#pragma once

#include <complex>

#include "codegen/vector/lane.h"

namespace shardax::codegen {

template <class T>
class Lane<std::complex<T>> {
 public:
  struct Place {
    int node;
  };
  explicit Lane(Place place) : id(place.node), re_(part(place.node, 0)), im_(part(place.node, 1)) {}
  Lane(Lane<T> re, Lane<T> im)
      : id(Recording::current().add({Code::pair, kind_of<std::complex<T>>, {re.id, im.id}})),
        re_(re),
        im_(im) {}
  Lane(std::complex<T> x) : Lane(Lane<T>(x.real()), Lane<T>(x.imag())) {}

  Lane<T> real() const { return re_; }
  Lane<T> imag() const { return im_; }

  int id;

 private:
  static Lane<T> part(int node, std::size_t k) {
    return lane<T>(Recording::current().node(node).in[k]);
  }
  Lane<T> re_, im_;
};

template <class T>
using ComplexLane = Lane<std::complex<T>>;

// The complex number of two parts, plain or lanes.
template <class T>
std::complex<T> complex_number(T re, T im) {
  return {re, im};
}
template <class T>
ComplexLane<T> complex_number(Lane<T> re, Lane<T> im) {
  return {re, im};
}

template <class T>
ComplexLane<T> operator+(ComplexLane<T> a, ComplexLane<T> b) {
  return {a.real() + b.real(), a.imag() + b.imag()};
}
template <class T>
ComplexLane<T> operator-(ComplexLane<T> a, ComplexLane<T> b) {
  return {a.real() - b.real(), a.imag() - b.imag()};
}
template <class T>
ComplexLane<T> operator-(ComplexLane<T> a) {
  return {-a.real(), -a.imag()};
}
template <class T>
Lane<bool> operator==(ComplexLane<T> a, ComplexLane<T> b) {
  return a.real() == b.real() && a.imag() == b.imag();
}
template <class T>
Lane<bool> operator!=(ComplexLane<T> a, ComplexLane<T> b) {
  return !(a == b);
}
template <class T>
ComplexLane<T> conj(ComplexLane<T> a) {
  return {a.real(), -a.imag()};
}

}  // namespace shardax::codegen

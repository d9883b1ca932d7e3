// kernels/small_linalg/schur.h - Schur forms, one small matrix per lane.
#pragma once

#include "kernels/small_linalg/interleaved_lapack.h"

namespace shardax::kernels::interleaved {

// The Schur form in place of finite n x n matrices a. For pairs of complex eigenvalues, that of
// real ones has blocks of two rows, with equal diagonal elements and others of opposite signs. Its
// vectors in z, unless that is null. `taus` is room for n cells. Says which lanes have not
// converged. A matrix's result does not depend on its neighbours.
template <class L>
void schur_form(Cell<L>* a, Cell<L>* taus, Cell<L>* z, std::int64_t n, Index<L>& unfinished);

}  // namespace shardax::kernels::interleaved

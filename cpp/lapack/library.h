// lapack/library.h - the shared library with LAPACK's routines: found and loaded at first use.
//
// It is the OpenBLAS of the package scipy-openblas32: integers of 32 bits, symbols that begin with
// "scipy_". A process may hold NumPy's or SciPy's own copies beside it; they share nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace shardax::lapack {

using Int = std::int32_t;

// Gives the path of the library, or throws. Installed by the bindings.
using Finder = std::string (*)();
void set_finder(Finder finder);

// Loads the library unless it is there. Called where a kernel is made, on a thread that may ask
// Python for the path; measured: 1 ms.
void load();
// The address of a routine, such as "dgesdd_"; the library is loaded. Throws InternalError where it
// does not exist.
void* address(const std::string& name);

// OpenBLAS splits the work of a large matrix over two threads, on every machine with several
// processors and for every setting of our own. Bits depend on the split of the work, and so on
// shapes alone. While a Small lives it computes on the thread that calls it; any number of them
// live together, a large call by itself.
class Small {
 public:
  Small();
  ~Small();
  Small(const Small&) = delete;
  Small& operator=(const Small&) = delete;
};

// The floating-point operations of a call decide how it runs.
constexpr double medium_flops = 1e8;  // from here on two threads: 5 ms and more
constexpr double large_flops = 4e8;   // from here on the caller must poll meanwhile: 20 to 60 ms

// Runs `work`, which calls routines on matrices of at least medium_flops, with OpenBLAS's threads.
// From large_flops on it runs on a thread of its own while this one polls for interrupts. An
// interrupted call goes on until it ends, so `work` owns all the memory it touches. At the
// process's exit such calls are waited for.
void run_large(double flops, std::function<void()> work);

}  // namespace shardax::lapack

// kernels/copy/transposed.cpp - the choice of the instruction set.
#include "kernels/copy/transposed.h"

#include "base/target.h"

namespace shardax::kernels {

#if SHARDAX_X86_64
namespace avx2 {
extern const WordKernels<std::uint32_t> words_4;
extern const WordKernels<std::uint64_t> words_8;
}  // namespace avx2
namespace avx512 {
extern const WordKernels<std::uint32_t> words_4;
extern const WordKernels<std::uint64_t> words_8;
}  // namespace avx512
#endif

template <class T>
const WordKernels<T>* word_kernels() {
#if SHARDAX_X86_64
  static const bool longer = SHARDAX_CPU_SUPPORTS("avx512f") && SHARDAX_CPU_SUPPORTS("avx512vl"),
                    any = SHARDAX_CPU_SUPPORTS("avx2");
  if constexpr (sizeof(T) == 4)
    return longer ? &avx512::words_4 : any ? &avx2::words_4 : nullptr;
  else
    return longer ? &avx512::words_8 : any ? &avx2::words_8 : nullptr;
#else
  return nullptr;
#endif
}
template const WordKernels<std::uint32_t>* word_kernels<std::uint32_t>();
template const WordKernels<std::uint64_t>* word_kernels<std::uint64_t>();

}  // namespace shardax::kernels

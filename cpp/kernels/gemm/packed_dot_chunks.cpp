// kernels/gemm/packed_dot_chunks.cpp - the chunks of products of groups.
#include "kernels/gemm/packed_dot_chunks.h"

#include <algorithm>
#include <limits>

#include "kernels/ceil_div.h"
#include "runtime/pool.h"

namespace shardax::kernels {
namespace {

// Chunks of the second kind: rows, columns and sums stay in a second-level cache together.
constexpr std::int64_t own_rows = most_chunk_rows, own_columns = 256, own_groups = 256;

// Multiplications of a product that threads share with others of its batch.
constexpr double large = 64e6;

// Do chunks pack the columns which they multiply?
bool is_own(const MatmulArgs& p, const GroupLimits& limits, std::int64_t groups) {
  if (limits.least_own == 0 && p.m <= own_rows) return true;
  return groups >= std::max(limits.least_own, 2 * own_groups) &&
         (p.m <= 2 * own_rows || p.n <= 2 * own_columns);
}

// Chunks of nearly equal size. Threads have columns of their own, as far as there are enough and
// not many more rows, which each of them packs. So each packs most of the columns which it
// multiplies. Packed elements of another core take some 40 ns a line to write again.
void cut_shared(const MatmulArgs& p, const GroupLimits& limits, std::int64_t tile_rows,
                std::int64_t panel, GroupChunks& out) {
  constexpr std::int64_t fewest_chunks = 4, fewest_panels = 4, fewest_rows = 96;
  const std::int64_t tiles = parts_of(p.m, tile_rows), panels = parts_of(p.n, panel);
  const std::int64_t fitting = limits.words / out.stretch;
  out.down = parts_of(p.m, std::max(std::min(limits.rows, fitting), fewest_rows));
  std::int64_t across = parts_of(p.n, limits.columns);
  if (!out.by_items) {
    if (p.m <= 2 * p.n)
      across =
          std::max(across, std::min<std::int64_t>(runtime::thread_count(), panels / fewest_panels));
    while (out.down * across < runtime::enough_chunks(fewest_chunks)) {
      if (panels >= 2 * across) {
        across *= 2;
      } else if (tiles >= 2 * out.down) {
        out.down *= 2;
      } else {
        break;
      }
    }
  }
  out.columns = parts_of(panels, across) * panel;
}

// The chunks, of one turn of the threads or several, that take the least time. To pack an element
// takes as long as some multiplications.
void cut_own(const MatmulArgs& p, const GroupLimits& limits, std::int64_t tile_rows,
             std::int64_t panel, GroupChunks& out) {
  const std::int64_t threads = out.by_items ? 1 : runtime::thread_count();
  const std::int64_t tiles = parts_of(p.m, tile_rows), panels = parts_of(p.n, panel),
                     fewest = parts_of(p.m, own_rows), first = parts_of(p.n, own_columns),
                     last = std::max(first, std::min(panels, 4 * threads));
  double least = std::numeric_limits<double>::infinity();
  for (std::int64_t across = first; across <= last; ++across) {
    for (std::int64_t turns = 1; turns <= 4; ++turns) {
      const std::int64_t down = std::clamp(parts_of(turns * threads, across), fewest, tiles),
                         columns = parts_of(panels, across) * panel;
      const auto width = static_cast<double>(columns),
                 height = static_cast<double>(parts_of(tiles, down) * tile_rows);
      const double time = static_cast<double>(parts_of(down * across, threads)) *
                          (height * width + limits.packing * (height + width));
      if (time < least) least = time, out.down = down, out.columns = columns;
    }
  }
}

}  // namespace

GroupChunks cut_groups(const MatmulArgs& p, const GroupLimits& limits, std::int64_t groups,
                       std::int64_t tile_rows, std::int64_t panel) {
  GroupChunks out{};
  out.multiplications = static_cast<double>(p.m * p.n) * static_cast<double>(p.k);
  out.by_items = out.multiplications < (p.batch > 1 ? large : least_shared);
  out.own = is_own(p, limits, groups);
  out.stretch = out.own ? std::min(groups, own_groups) : groups;
  if (out.own)
    cut_own(p, limits, tile_rows, panel, out);
  else
    cut_shared(p, limits, tile_rows, panel, out);
  out.together = std::min(out.columns, std::max<std::int64_t>(GroupLimits{}.columns, panel));
  return out;
}

}  // namespace shardax::kernels

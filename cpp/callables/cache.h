// callables/cache.h - the programs of a function, one per signature.
//
// A signature is a call's form, the types of its leaves and the context. The context is the mapped
// axes in scope and the settings that change the result of tracing. Looking up the signature of the
// call before compares, without hashing. Entries are shared: a function may be called again while
// it is traced. Those used longest ago make room for new ones, so that shapes and static values
// that come and go do not pile up. Used with the interpreter's lock held.
#pragma once

#include <algorithm>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

#include "callables/call.h"
#include "callables/program_retention.h"
#include "callables/staging/context.h"

namespace shardax::callables {

struct Signature {
  CallForm form;
  Types types;
  Context context;
};

inline const Type& type_of(const Type& type) { return type; }
inline const Type& type_of(const Value& value) { return value->type(); }

// `leaves`: Values or Types.
template <class Leaves>
bool same_types(const Types& types, const Leaves& leaves) {
  return std::equal(types.begin(), types.end(), leaves.begin(), leaves.end(),
                    [](const Type& type, const auto& leaf) { return type == type_of(leaf); });
}

template <class Leaves>
Types types_of(const Leaves& leaves) {
  Types types;
  types.reserve(leaves.size());
  for (const auto& leaf : leaves) types.push_back(type_of(leaf));
  return types;
}

template <class Entry>
class Cache {
 public:
  using EntryPtr = std::shared_ptr<Entry>;

  // Null where the signature is new.
  template <class Leaves>
  EntryPtr find(FlatCall& call, const Leaves& values) {
    // Comparing may run user code, during which another call, or thread, changes the cache.
    std::shared_ptr<Item> last = last_;
    if (last && matches(*last, call, values)) return entry_of(std::move(last));
    const std::size_t key = hash(call, values);
    std::vector<std::shared_ptr<Item>> alike;
    const auto [begin, end] = items_.equal_range(key);
    for (auto it = begin; it != end; ++it) alike.push_back(*it->second);
    for (std::shared_ptr<Item>& item : alike) {
      if (!matches(*item, call, values)) continue;
      const auto [first, past] = items_.equal_range(key);
      const auto at = std::find_if(first, past, [&](const auto& it) { return *it.second == item; });
      if (at != past) {
        order_.splice(order_.begin(), order_, at->second);
        last_ = item;
      }
      return entry_of(std::move(item));
    }
    return nullptr;
  }

  template <class Leaves>
  void insert(FlatCall& call, const Leaves& values, EntryPtr entry) {
    const std::size_t key = hash(call, values);
    last_ = std::make_shared<Item>(
        Item{{call.form(), types_of(values), current_context()}, std::move(entry), key});
    order_.push_front(last_);
    items_.emplace(key, order_.begin());
    if (order_.size() <= most_signatures) return;
    const std::shared_ptr<Item> oldest = order_.back();  // dropped last: that may run Python
    forget(std::prev(order_.end()));
  }

  // For the only function that uses this cache: it may be shared with the table of caches, which
  // keeps none alive.
  static int traverse_own(const std::shared_ptr<Cache>& cache, visitproc visit, void* arg) {
    return cache.use_count() <= 2 ? cache->traverse(visit, arg) : 0;
  }
  static void clear_own(const std::shared_ptr<Cache>& cache) {
    if (cache.use_count() <= 2) cache->clear();
  }

  // Runs when the last function that uses the cache goes. Programs that hold functions of the host
  // would keep those alive, and through them perhaps the function that owns this cache.
  static void release_own(const std::shared_ptr<Cache>& cache) {
    if (cache.use_count() > 2) return;
    cache->last_ = nullptr;
    Order dying;
    for (auto at = cache->order_.begin(); at != cache->order_.end();) {
      const auto item = at++;
      if ((*item)->entry->functions.empty()) continue;
      dying.push_back(*item);
      cache->forget(item);
    }
  }

  // Null where nothing goes with the last function that uses it.
  static const void* left_by(const std::shared_ptr<Cache>& cache) {
    if (cache.use_count() > 2) return nullptr;
    for (const auto& item : cache->order_) {
      if (!item->entry->functions.empty()) return cache.get();
    }
    return nullptr;
  }

  std::size_t size() const { return items_.size(); }
  std::vector<Signature> signatures() const {
    std::vector<Signature> out;
    for (const auto& item : order_) out.push_back(item->signature);
    return out;
  }
  void clear() {
    last_ = nullptr;
    items_.clear();
    const Order dying = std::exchange(order_, {});
  }

 private:
  int traverse(visitproc visit, void* arg) const {
    for (const auto& item : order_) {
      if (const int stop = item->entry->functions.traverse(visit, arg)) return stop;
      const CallForm& form = item->signature.form;
      Py_VISIT(form.tree.object());
      for (const Ref& value : form.statics.values) Py_VISIT(value.get());
    }
    return 0;
  }

  // A program and its plan take some 5 KB.
  static constexpr std::size_t most_signatures = 1024;

  struct Item {
    Signature signature;
    EntryPtr entry;
    std::size_t key;
  };
  using Order = std::list<std::shared_ptr<Item>>;  // most recently used first

  // Owns the item, which owns the entry: as many counts as a copy of the entry's pointer.
  static EntryPtr entry_of(std::shared_ptr<Item> item) {
    Entry* const entry = item->entry.get();
    return EntryPtr(std::move(item), entry);
  }

  void forget(typename Order::iterator item) {
    const auto [first, last] = items_.equal_range((*item)->key);
    items_.erase(std::find_if(first, last, [&](const auto& at) { return at.second == item; }));
    order_.erase(item);
  }

  template <class Leaves>
  static bool matches(const Item& item, FlatCall& call, const Leaves& values) {
    const Signature& s = item.signature;
    return same_types(s.types, values) && context_is(s.context) && call.matches(s.form);
  }

  template <class Leaves>
  static std::size_t hash(FlatCall& call, const Leaves& values) {
    std::size_t h = call.hash();
    for (const auto& value : values) h = mix(h, shardax::hash(type_of(value)));
    return h;
  }

  Order order_;
  std::unordered_multimap<std::size_t, typename Order::iterator> items_;
  std::shared_ptr<Item> last_;
};

// The cache that all functions made from `fun` with equal `options` share, as long as `fun` lives.
// If `fun` has no weak references, a separate cache. `options` is compared with ==.
template <class C>
std::shared_ptr<C> shared_cache(PyObject* fun, PyObject* options) {
  const auto clear = [](void* cache) { static_cast<C*>(cache)->clear(); };
  const auto make = [] { return std::shared_ptr<void>(std::make_shared<C>()); };
  auto cache = std::static_pointer_cast<C>(shared_object(fun, options, make, clear));
  reuse_programs(fun, cache.get());
  return cache;
}

}  // namespace shardax::callables

// base/function_ref.h - a non-owning reference to a callable, for parameters only.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace shardax {

template <class Signature>
class FunctionRef;

template <class R, class... Args>
class FunctionRef<R(Args...)> {
 public:
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef>)
  FunctionRef(F&& f)  // NOLINT: implicit by design, like a function parameter
      : call_([](void* object, Args... args) -> R {
          return (*reinterpret_cast<std::remove_reference_t<F>*>(object))(
              std::forward<Args>(args)...);
        }) {
    if constexpr (std::is_function_v<std::remove_reference_t<F>>) {
      object_ = reinterpret_cast<void*>(&f);
    } else {
      object_ = const_cast<void*>(static_cast<const void*>(std::addressof(f)));
    }
  }
  R operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

 private:
  void* object_;
  R (*call_)(void*, Args...);
};

}  // namespace shardax

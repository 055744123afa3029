#pragma once

#include <cstddef>
#include <memory>
#include <unordered_set>

namespace kron {

// One shared copy of equal values. `Hash` gives equal values the same number.
template <class T, class Hash>
class SharedPool {
 public:
  using Shared = std::shared_ptr<const T>;

  Shared share(const T& value) {
    if (const auto known = values_.find(value); known != values_.end()) return *known;
    return *values_.insert(std::make_shared<const T>(value)).first;
  }

  // Lets go of what nobody else holds.
  void drop_unused() {
    std::erase_if(values_, [](const Shared& value) { return value.use_count() == 1; });
  }

  [[nodiscard]] std::size_t size() const { return values_.size(); }

 private:
  struct HashOf {
    using is_transparent = void;
    std::size_t operator()(const T& value) const { return Hash()(value); }
    std::size_t operator()(const Shared& value) const { return Hash()(*value); }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const T& a, const Shared& b) const { return a == *b; }
    bool operator()(const Shared& a, const T& b) const { return *a == b; }
    bool operator()(const Shared& a, const Shared& b) const { return *a == *b; }
  };

  std::unordered_set<Shared, HashOf, Equal> values_;
};

}  // namespace kron

#include "kron/http/budget.h"

namespace kron::http {

bool Budget::take(const User& user, std::size_t amount) {
  const std::scoped_lock lock(mutex_);
  if (amount > limit_.most - taken_) return false;
  if (!user.is_preferred) {
    if (taken_by_others_ + amount > limit_.most - limit_.kept) return false;
    std::size_t& own = taken_by_each_[user.name];
    if (own + amount > limit_.of_one_user) {
      if (own == 0) taken_by_each_.erase(user.name);
      return false;
    }
    own += amount;
    taken_by_others_ += amount;
  }
  taken_ += amount;
  return true;
}

void Budget::give_back(const User& user, std::size_t amount) {
  const std::scoped_lock lock(mutex_);
  taken_ -= amount;
  if (user.is_preferred) return;
  taken_by_others_ -= amount;
  const auto own = taken_by_each_.find(user.name);
  own->second -= amount;
  // As many entries as there are users who have something, not as have ever come.
  if (own->second == 0) taken_by_each_.erase(own);
}

bool Share::grow(std::size_t amount) {
  if (!budget_->take(user_, amount)) return false;
  amount_ += amount;
  return true;
}

void Share::release() {
  if (amount_ > 0) budget_->give_back(user_, std::exchange(amount_, 0));
}

}  // namespace kron::http

#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "kron/http/limits.h"
#include "kron/http/message.h"

namespace kron::http {

// An amount that all clients of a server share: connections, streams, bytes of bodies. May be used from any thread.
class Budget {
 public:
  // Who takes of it. One who is preferred has no cap of his own, and the part that is kept is for him.
  struct User {
    std::string name = {};
    bool is_preferred = true;
  };

  explicit Budget(const SharedLimit& limit) : limit_(limit) {}

  // False, and nothing is taken: there is not so much left for this user.
  bool take(const User& user, std::size_t amount);
  void give_back(const User& user, std::size_t amount);

 private:
  const SharedLimit limit_;
  std::mutex mutex_;
  std::size_t taken_ = 0;
  std::size_t taken_by_others_ = 0;                   // who are not preferred
  std::map<std::string, std::size_t> taken_by_each_;  // of the others
};

inline Budget::User user_of(const Principal& principal) { return {principal.name, principal.is_preferred}; }

// What one connection, stream or body has of a budget. Gives it back when it ends, on whatever thread.
class Share {
 public:
  Share(std::shared_ptr<Budget> budget, Budget::User user) : budget_(std::move(budget)), user_(std::move(user)) {}
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;
  ~Share() { release(); }

  // False, and it is as it was: see Budget::take.
  bool grow(std::size_t amount);
  void release();

  std::size_t amount() const { return amount_; }

 private:
  std::shared_ptr<Budget> budget_;
  Budget::User user_;
  std::size_t amount_ = 0;
};

}  // namespace kron::http

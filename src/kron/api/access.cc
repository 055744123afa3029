#include "kron/api/access.h"

#include <algorithm>

namespace kron::api {

std::string_view name_of(Right right) {
  switch (right) {
    case Right::none:
      break;
    case Right::ics:
      return "ics";
    case Right::read:
      return "read";
    case Right::operate:
      return "operate";
    case Right::admin:
    case Right::own:
      return "admin";
  }
  return "none";
}

bool is_own(const http::Credentials& peer, const Access& access) { return peer.uid == 0 || peer.uid == access.own; }

Right right_of(const http::Credentials& peer, const Access& access) {
  if (is_own(peer, access)) return Right::own;
  if (!access.group) return Right::none;
  const bool is_member =
      peer.gid == *access.group || std::ranges::find(peer.groups, *access.group) != peer.groups.end();
  return is_member ? std::min(access.of_group, Right::operate) : Right::none;
}

Right right_of(const http::Principal& principal) { return static_cast<Right>(principal.permissions); }

http::Listener::Identified principal_of(const http::Credentials& peer, const Access& access) {
  const Right right = right_of(peer, access);
  if (right == Right::none) {
    return http::problem(Error{Code::refused, "you may not use this socket; ask its operator"});
  }
  return http::Principal{.name = "uid " + std::to_string(peer.uid),
                         .permissions = static_cast<unsigned>(right),
                         .is_preferred = is_own(peer, access)};
}

}  // namespace kron::api

#include "kron/api/access.h"

#include <algorithm>

namespace kron::api {

bool is_own(const http::Credentials& peer, const Access& access) { return peer.uid == 0 || peer.uid == access.own; }

Right right_of(const http::Credentials& peer, const Access& access) {
  if (is_own(peer, access)) return Right::operate;
  if (!access.group) return Right::none;
  const bool is_member =
      peer.gid == *access.group || std::ranges::find(peer.groups, *access.group) != peer.groups.end();
  return is_member ? access.of_group : Right::none;
}

}  // namespace kron::api

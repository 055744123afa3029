#include "kron/api/access.h"

#include <algorithm>

namespace kron::api {

Right right_of(const http::Credentials& peer, const Access& access) {
  if (peer.uid == 0 || peer.uid == access.own) return Right::operate;
  if (!access.group) return Right::none;
  const bool is_member =
      peer.gid == *access.group || std::ranges::find(peer.groups, *access.group) != peer.groups.end();
  return is_member ? access.of_group : Right::none;
}

}  // namespace kron::api

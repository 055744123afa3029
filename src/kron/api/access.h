#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <sys/types.h>

#include "kron/http/listener.h"
#include "kron/http/unix_socket.h"

namespace kron::api {

// Each has those before it. ics: the calendar of what lies ahead, and nothing else; of tokens that stand in a path,
// where a calendar program keeps them. read: everything but secrets (secrets.h). operate: what changes jobs, runs and
// tasks, and can be done the other way again. admin: secrets, and what makes records forget. own: the tokens by which
// others come in; of root and the daemon's own user alone, on the daemon's own socket, so no token makes tokens.
enum class Right : std::uint8_t { none, ics, read, operate, admin, own };
std::string_view name_of(Right right);  // for people own is admin

// Who may do what: root and the daemon's own user everything, a group as configured, others nothing.
struct Access {
  uid_t own = 0;
  std::optional<gid_t> group = {};
  Right of_group = Right::read;  // operate at most
};

// root, or the daemon's own user.
bool is_own(const http::Credentials& peer, const Access& access);

Right right_of(const http::Credentials& peer, const Access& access);

// What the principal of a request may do.
Right right_of(const http::Principal& principal);

// The principal with that right. root and the daemon's own user are preferred: no other keeps them from the socket.
http::Listener::Identified principal_of(const http::Credentials& peer, const Access& access);

}  // namespace kron::api

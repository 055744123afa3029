#pragma once

#include <string>

#include "kron/base/result.h"
#include "kron/http/endpoint.h"

namespace kron::cli {

// What the flags say about which krond is meant; empty: nothing.
struct KrondOptions {
  std::string socket = {};     // its socket on this host
  std::string state_dir = {};  // its state directory on this host, which says where the socket is
  std::string url = {};        // where `kron web` serves it, perhaps on another host
  std::string token_file = {};
  std::string ca_file = {};
};

// Where krond listens on this host: `given`, else the socket of `state_dir`, else $KRON_SOCKET, else the socket of the
// default state directory. Empty: not given.
Result<std::string> socket_path(const std::string& given, const std::string& state_dir);

// The krond that is meant: a flag goes before the environment, and there $KRON_URL before $KRON_SOCKET. Reads the token
// and the authorities, of which a warning may go to standard error.
Result<http::Endpoint> krond_place(const KrondOptions& options);

}  // namespace kron::cli

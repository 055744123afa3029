#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "kron/base/instant.h"
#include "kron/base/result.h"
#include "kron/web/site.h"

namespace kron::cli {

// `kron web --service`: the front for many, which has no right of its own.
struct ServiceOptions {
  std::string web_socket = "/run/krond/web.sock";  // krond's
  std::vector<std::string> listen = {};  // addresses; empty: what the service manager hands over, else both loopbacks
  std::vector<std::string> public_urls = {};
  bool plain_http_behind_proxy = false;
  std::string tls_certificate = {};  // PEM files
  std::string tls_key = {};
  std::string tls_client_ca = {};  // PEM file: who connects must have a certificate of one of these authorities
  // How often it is looked whether the certificate was replaced, and whether anybody still needs us.
  Nanoseconds look = std::chrono::minutes(1);
  // One that the service manager starts at the first visit leaves when nobody has come for so long.
  Nanoseconds idle_exit = std::chrono::minutes(10);
};

// What the flags say about names and encryption, before anything listens. `is_local`: only this machine can connect.
// Refused, with the cure: what would send tokens in the clear, or serve nobody.
Result<web::Site> site_of(const ServiceOptions& options, bool is_local);

// Whether only this machine can connect to a numeric address with a port: 127.0.0.1:8126, [::1]:8126.
bool is_local_address(const std::string& address);

// Serves until a signal comes; the exit status.
int serve_for_many(const ServiceOptions& options);

}  // namespace kron::cli

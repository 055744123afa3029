#pragma once

#include <memory>
#include <string>

#include "kron/base/instant.h"

namespace kron::testing {

// A certificate with its key, as PEM.
struct Pem {
  std::string certificate;
  std::string key;
};

// From when to when a certificate counts, from now.
struct Validity {
  Seconds from = std::chrono::hours(-1);
  Seconds until = std::chrono::hours(24);
};

// An authority that is made when a test begins and forgotten when it ends.
class Authority {
 public:
  explicit Authority(const std::string& name);
  // One that another vouches for.
  Authority(const std::string& name, const Authority& issuer);
  ~Authority();

  [[nodiscard]] const std::string& certificate() const;  // PEM
  // `alternatives` as openssl has them: "IP:127.0.0.1,DNS:kube".
  [[nodiscard]] Pem issue(const std::string& name, const std::string& alternatives,
                          const Validity& validity = {}) const;

 private:
  struct Keys;
  std::unique_ptr<Keys> keys_;
};

}  // namespace kron::testing

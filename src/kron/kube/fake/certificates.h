#pragma once

#include <memory>
#include <string>

namespace kron::testing {

// A certificate with its key, as PEM.
struct Pem {
  std::string certificate;
  std::string key;
};

// An authority that is made when a test begins and forgotten when it ends.
class Authority {
 public:
  explicit Authority(const std::string& name);
  ~Authority();

  [[nodiscard]] const std::string& certificate() const;  // PEM
  // `alternatives` as openssl has them: "IP:127.0.0.1,DNS:kube".
  [[nodiscard]] Pem issue(const std::string& name, const std::string& alternatives) const;

 private:
  struct Keys;
  std::unique_ptr<Keys> keys_;
};

}  // namespace kron::testing

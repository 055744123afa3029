#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "kron/base/instant.h"
#include "kron/kube/config.h"

namespace kron::kube {

// What a connection shows and trusts, as texts.
struct Material {
  std::string authority = {};    // PEM; empty: those that the machine trusts
  std::string certificate = {};  // PEM, of the client; empty: none
  std::string key = {};
  std::string token = {};  // empty: none

  bool operator==(const Material&) const = default;
};

// The credentials of a Connection. Service accounts' tokens live for an hour and certificates for a day or a year: the
// files are read again once a minute, and when the server has refused what was in them. Stepped; not thread-safe.
class Credentials {
 public:
  using ReadFile = std::function<Result<std::string>(const std::string& path)>;
  static constexpr Seconds kReadAgain{60};

  Credentials(Connection connection, ReadFile read_file)
      : connection_(std::move(connection)), read_file_(std::move(read_file)) {}

  // An error only if there never was anything to show; later, what was read last goes on (trouble() says why). Unusable
  // texts, a token with a newline within it, are errors too.
  Result<Material> current(Nanoseconds monotonic);
  // The server has answered 401: the files are read at the next call, though not more often than once a second.
  void expire() { is_refused_ = true; }

  // Why the files could not be read the last time; empty: they could.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }
  [[nodiscard]] const Connection& connection() const { return connection_; }

 private:
  Result<Material> read() const;
  Status read_into(const TextOrFile& from, std::string& to) const;

  Connection connection_;
  ReadFile read_file_;
  std::optional<Material> material_;
  Nanoseconds tried_at_{0};
  bool is_refused_ = false;
  std::string trouble_;
};

}  // namespace kron::kube

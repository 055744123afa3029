#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "kron/base/instant.h"
#include "kron/kube/config.h"
#include "kron/kube/exec_plugin.h"

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
// files are read again once a minute, and when the server has refused what was in them. What an exec plug-in gives is
// used until it expires or is refused; whoever holds this runs the plug-in. Stepped; not thread-safe.
class Credentials {
 public:
  using ReadFile = std::function<Result<std::string>(const std::string& path)>;
  static constexpr Seconds kReadAgain{60};

  Credentials(Connection connection, ReadFile read_file)
      : connection_(std::move(connection)), read_file_(std::move(read_file)) {}

  // An error only if there never was anything to show, or what a plug-in gave has expired; later, what was read last
  // goes on (trouble() says why). Unusable texts, a token with a newline within it, are errors too.
  Result<Material> current(Nanoseconds monotonic);

  // The plug-in is to be run now: ahead of time, or because there is nothing to show. True once for each run, until
  // given() was called.
  bool wants_plugin(Nanoseconds monotonic);
  // There is nothing to show, and a run of the plug-in is under way: what is to be sent waits for it.
  [[nodiscard]] bool must_wait(Nanoseconds monotonic) const;
  // For whom, as the plug-in is told.
  [[nodiscard]] ExecCluster cluster() const;
  // What came of it.
  void given(const Result<ExecCredential>& credential, Nanoseconds monotonic, Instant wall);
  static constexpr Seconds kRunAgain{5};  // after a failure
  // The server has answered 401: the files are read at the next call, though not more often than once a second.
  void expire() { is_refused_ = true; }

  // Why the files could not be read the last time; empty: they could.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }
  [[nodiscard]] const Connection& connection() const { return connection_; }

 private:
  Result<Material> read() const;
  [[nodiscard]] bool is_given(Nanoseconds monotonic) const;
  Status read_into(const TextOrFile& from, std::string& to) const;

  Connection connection_;
  ReadFile read_file_;
  std::optional<Material> material_;
  Nanoseconds tried_at_{0};
  bool is_refused_ = false;
  std::string trouble_;

  // Of the plug-in.
  std::optional<ExecCredential> given_;
  std::optional<Nanoseconds> expires_;  // on the monotonic clock
  std::optional<Nanoseconds> renews_;   // likewise; some time before
  bool is_running_ = false;
  std::optional<Nanoseconds> run_at_;
  std::optional<Nanoseconds> failed_at_;
};

}  // namespace kron::kube

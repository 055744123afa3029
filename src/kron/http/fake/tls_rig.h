#pragma once

#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <string_view>

#include "kron/env/fake/certificates.h"
#include "kron/http/tls.h"
#include "kron/http/tls_source.h"
#include "kron/testing/temporary_directory.h"

// What the tests of TLS share: an authority with a certificate for this machine, as files, and two ends in memory.
namespace kron::testing {

inline constexpr char kThisMachine[] = "DNS:localhost,IP:127.0.0.1,IP:::1";

class TlsRig {
 public:
  TlsRig() : pem(authority.issue("localhost", kThisMachine)) {
    write("ca.pem", authority.certificate());
    use(pem);
  }

  void write(const std::string& name, std::string_view text) const {
    std::ofstream(directory.file(name), std::ios::binary) << text;
  }
  // The files of the server, from now on.
  void use(const Pem& other) const {
    write("cert.pem", other.certificate);
    write("key.pem", other.key);
  }

  http::TlsFiles files() const { return {directory.file("cert.pem"), directory.file("key.pem")}; }
  std::string ca_file() const { return directory.file("ca.pem"); }
  std::shared_ptr<const http::TlsContext> server() const { return http::TlsContext::for_server(files()).value(); }
  std::shared_ptr<const http::TlsContext> client() const { return http::TlsContext::for_client(ca_file()).value(); }
  std::shared_ptr<http::TlsSource> source() const { return http::TlsSource::open(files()).value(); }

  Authority authority{"Kron's tests"};
  Pem pem;
  TemporaryDirectory directory;
};

// Carries what one end has to say to the other, `at_once` bytes at a time, until neither has more.
inline Status carry(http::TlsSession& one, http::TlsSession& other, std::size_t at_once = std::size_t{1} << 30) {
  Status worst;
  const auto move = [&](http::TlsSession& from, http::TlsSession& to) {
    const std::string bytes = from.take_outgoing();
    for (std::size_t at = 0; at < bytes.size(); at += at_once) {
      const Status received = to.received(std::string_view(bytes).substr(at, at_once));
      if (!received && worst) worst = received;
    }
    return !bytes.empty();
  };
  while (true) {
    const bool moved = move(one, other);
    if (!move(other, one) && !moved) return worst;
  }
}

// All that has come.
inline std::string read_all(http::TlsSession& session, std::size_t room = 4096) {
  std::string all;
  std::string part(room, '\0');
  while (true) {
    const auto size = session.read(part);
    EXPECT_TRUE(size) << size.error().message;
    if (!size || *size == 0) return all;
    all.append(part, 0, *size);
  }
}

}  // namespace kron::testing

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

#include "kron/env/fake/certificates.h"
#include "kron/http/tls.h"

namespace {

using kron::http::TlsContext;
using kron::http::TlsSession;

void require(bool holds) {
  if (!holds) std::abort();
}

std::string in_memory(const char* name, std::string_view text) {
  const int file = ::memfd_create(name, 0);
  require(file >= 0 && ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  return "/proc/self/fd/" + std::to_string(file);
}

const kron::testing::Authority& authority() {
  static const kron::testing::Authority made("nobody");
  return made;
}

std::shared_ptr<const TlsContext> server_context() {
  static const auto context = [] {
    const kron::testing::Pem pem = authority().issue("kron.example", "DNS:kron.example");
    return TlsContext::for_server({in_memory("certificate", pem.certificate), in_memory("key", pem.key)}).value();
  }();
  return context;
}

// What a server makes of the bytes when they come in pieces of that size. Whatever they are, nobody who has no key gets
// through, what has failed stays so, and what is to be sent is bounded by what came.
void feed(std::string_view bytes, std::size_t piece) {
  TlsSession session = TlsSession::for_server(server_context()).value();
  std::size_t sent = 0;
  bool has_failed = false;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    const kron::Status received = session.received(bytes.substr(at, piece));
    require(!has_failed || !received);
    has_failed = !received;
    require(!session.is_established());
    char room[64];
    const auto size = session.read(room);
    require(has_failed ? !size : size && *size == 0);
    require(!session.write("x"));
    session.close();
    sent += session.take_outgoing().size();
  }
  require(sent <= 16384);
}

// A client that meets such a server.
void meet(std::string_view bytes) {
  static const auto context = TlsContext::for_client(in_memory("authorities", authority().certificate())).value();
  TlsSession session = TlsSession::for_client(context, "kron.example").value();
  require(session.received({}).has_value());
  (void)session.take_outgoing();
  (void)session.received(bytes);
  require(!session.is_established());
  (void)session.take_outgoing();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  feed(bytes, std::max<std::size_t>(bytes.size(), 1));
  feed(bytes, 7);
  meet(bytes);
  return 0;
}

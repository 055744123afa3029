#pragma once

#include <memory>
#include <variant>

#include "kron/http/limits.h"
#include "kron/http/message.h"

namespace kron::http {

class TlsContext;

// One way into a server: a socket that listens, and who it is that comes through it. Asked on the server's thread,
// where it holds up every other request.
class Listener {
 public:
  // Who it is; or the answer to one who is not served.
  using Identified = std::variant<Principal, Response>;

  virtual ~Listener() = default;

  // Listens, and does not block.
  virtual int descriptor() const = 0;

  // Who has connected, by what his socket tells. One who is not served is answered at once, and nothing of him is read.
  virtual Identified identify(int socket) const = 0;

  // Who sends this request, by what it says itself, as a token. Its head alone has been read, and of its body nothing
  // is before this has answered; `head.principal` is who connected.
  virtual Identified identify(const Request& head) const { return head.principal; }

  // For one who connects now; none: he is spoken to in the clear. Who is not served over TLS is told nothing.
  virtual std::shared_ptr<const TlsContext> tls() const { return nullptr; }

  // What those who come through it may cost, all together. Null: they share what the server's limits leave to all.
  virtual const Limits* limits() const { return nullptr; }
};

}  // namespace kron::http

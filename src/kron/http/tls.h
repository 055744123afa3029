#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "kron/base/instant.h"
#include "kron/base/result.h"

struct ssl_ctx_st;  // OpenSSL's SSL_CTX

// TLS 1.2 (ECDHE with AEAD) and 1.3 for HTTP/1.1, without sockets: bytes go in and out.
namespace kron::http {

// PEM files of a server.
struct TlsFiles {
  std::string certificate;     // and behind it those of the authorities between it and one that clients know
  std::string key;             // of it, without a passphrase
  std::string client_ca = {};  // authorities: who connects must have a certificate of one of them
};

// What sessions of one side share: certificate and key, or whom to trust. Never changed, so that it may be used from
// any thread; another certificate is another context.
class TlsContext {
 public:
  // An error names the file that cannot be used: one that is cut off, a key that is not the certificate's.
  static Result<std::shared_ptr<const TlsContext>> for_server(const TlsFiles& files);
  // Trusts the authorities of the file alone; empty: those of the system.
  static Result<std::shared_ptr<const TlsContext>> for_client(const std::string& ca_file = {});

  // Of a server: when the first of its certificates runs out.
  Instant expires() const { return expires_; }

 private:
  friend class TlsSession;
  TlsContext(std::shared_ptr<ssl_ctx_st> context, Instant expires) : context_(std::move(context)), expires_(expires) {}

  std::shared_ptr<ssl_ctx_st> context_;
  Instant expires_;
};

// Who is at the other end, when the handshake is over.
struct TlsPeer {
  std::string protocol;  // "TLSv1.3"
  std::string issuer;    // of its certificate; empty: it has none
  Instant expires = {};  // when the first of its certificates does
};

// One connection. It does no I/O: what came from the other end is received(), what is to go there is take_outgoing(),
// also after an error, which the other end is told so. For one thread.
class TlsSession {
 public:
  // Code internal: there is no memory for it.
  static Result<TlsSession> for_server(const std::shared_ptr<const TlsContext>& context);
  // `host` is a name or an address, and the other end must prove to be it.
  static Result<TlsSession> for_client(const std::shared_ptr<const TlsContext>& context, const std::string& host);

  TlsSession(TlsSession&&) noexcept;
  TlsSession& operator=(TlsSession&&) noexcept;
  ~TlsSession();

  // Bytes from the other end; none begins a client's handshake. Code refused: the other end is not who it must be;
  // unreachable: it does not speak TLS as we do.
  Status received(std::string_view encrypted);
  bool is_established() const;  // the handshake is over

  // How much came; 0: nothing now, and nothing ever when peer_closed(). Only what was received is read: whoever waits
  // for more asks here first.
  Result<std::size_t> read(std::span<char> room);
  // Whether there is something to read; reads nothing of it. Afterwards peer_closed() is up to date.
  Result<bool> has_something();
  bool peer_closed() const;  // it said that it sends no more

  // All of it goes out. Code conflict: the handshake is not over, or close() was called.
  Status write(std::string_view plain);
  // Says that no more will be sent.
  void close();

  // What is to be sent, in this order.
  std::string take_outgoing();

  std::optional<TlsPeer> peer() const;  // none before the handshake is over

 private:
  struct Parts;
  explicit TlsSession(std::unique_ptr<Parts> parts);
  static Result<TlsSession> make(const std::shared_ptr<const TlsContext>& context);

  std::unique_ptr<Parts> parts_;
};

}  // namespace kron::http

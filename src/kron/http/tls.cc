#include "kron/http/tls.h"

#include <algorithm>
#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <utility>

#include "kron/base/text.h"
#include "kron/http/tls_openssl.h"

namespace kron::http {
namespace {

struct TlsBioFree {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
using TlsBio = std::unique_ptr<BIO, TlsBioFree>;

constexpr std::size_t kTlsPiece = std::size_t{16} << 10;  // what a record holds

bool is_numeric_host(const std::string& host) {
  in6_addr ignored{};
  return ::inet_pton(AF_INET, host.c_str(), &ignored) == 1 || ::inet_pton(AF_INET6, host.c_str(), &ignored) == 1;
}

}  // namespace

struct TlsSession::Parts {
  struct Free {
    void operator()(SSL* freed) const { SSL_free(freed); }
  };

  std::unique_ptr<SSL, Free> ssl;
  std::string host = {};  // that a server must be
  bool peer_closed = false;
  bool is_closed = false;
  std::optional<Error> broken = {};

  // What the failure of a call with this return value means; ok when it only has to wait for the other end.
  Status judged(int returned) {
    switch (SSL_get_error(ssl.get(), returned)) {
      case SSL_ERROR_WANT_READ:
      case SSL_ERROR_WANT_WRITE:
        ERR_clear_error();
        return {};
      case SSL_ERROR_ZERO_RETURN:
        ERR_clear_error();
        peer_closed = true;
        return {};
      default:
        break;
    }
    const long verified = SSL_get_verify_result(ssl.get());
    const std::string reason = tls_reason();
    broken = Error{Code::unreachable, "TLS fails: " + reason};
    if (verified != X509_V_OK) {
      broken = Error{Code::refused, "the certificate of " + (host.empty() ? "the client" : host) +
                                        " is not accepted: " + X509_verify_cert_error_string(verified)};
      if (!host.empty()) {
        broken->message += "; it must be for that host, and of an authority of this system or of the CA file";
      }
    }
    return fail(*broken);
  }
};

TlsSession::TlsSession(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
TlsSession::TlsSession(TlsSession&&) noexcept = default;
TlsSession& TlsSession::operator=(TlsSession&&) noexcept = default;
TlsSession::~TlsSession() = default;

Result<TlsSession> TlsSession::make(const std::shared_ptr<const TlsContext>& context) {
  ERR_clear_error();
  auto parts = std::make_unique<Parts>();
  // It holds what it needs of the context.
  parts->ssl.reset(SSL_new(context->context_.get()));
  TlsBio in(BIO_new(BIO_s_mem()));
  TlsBio out(BIO_new(BIO_s_mem()));
  if (parts->ssl == nullptr || in == nullptr || out == nullptr) {
    return fail(Code::internal, "no memory for TLS: " + tls_reason());
  }
  SSL_set_bio(parts->ssl.get(), in.release(), out.release());
  return TlsSession(std::move(parts));
}

Result<TlsSession> TlsSession::for_server(const std::shared_ptr<const TlsContext>& context) {
  Result<TlsSession> made = make(context);
  if (made) SSL_set_accept_state(made->parts_->ssl.get());
  return made;
}

Result<TlsSession> TlsSession::for_client(const std::shared_ptr<const TlsContext>& context, const std::string& host) {
  Result<TlsSession> made = make(context);
  if (!made) return made;
  SSL* const ssl = made->parts_->ssl.get();
  made->parts_->host = host;
  SSL_set_connect_state(ssl);
  SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  const bool is_named = is_numeric_host(host)
                            ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host.c_str()) == 1
                            : SSL_set1_host(ssl, host.c_str()) == 1 && SSL_set_tlsext_host_name(ssl, host.c_str()) == 1;
  ERR_clear_error();
  if (!is_named || host.empty()) {
    return fail(Code::invalid, quoted(host, 200) + " is no name that a certificate can have");
  }
  return made;
}

Status TlsSession::received(std::string_view encrypted) {
  if (parts_->broken) return fail(*parts_->broken);
  SSL* const ssl = parts_->ssl.get();
  ERR_clear_error();
  // A memory BIO takes all, or there is no memory.
  while (!encrypted.empty()) {
    const std::string_view part = encrypted.substr(0, std::size_t{1} << 20);
    if (BIO_write(SSL_get_rbio(ssl), part.data(), static_cast<int>(part.size())) != static_cast<int>(part.size())) {
      parts_->broken = Error{Code::internal, "no memory for TLS: " + tls_reason()};
      return fail(*parts_->broken);
    }
    encrypted.remove_prefix(part.size());
  }
  if (is_established()) return {};
  const int returned = SSL_do_handshake(ssl);
  if (returned == 1) return {};
  Status judged = parts_->judged(returned);
  if (!judged || !parts_->peer_closed) return judged;
  parts_->broken = Error{Code::unreachable, "TLS fails: the other end closed it during the handshake"};
  return fail(*parts_->broken);
}

bool TlsSession::is_established() const { return SSL_is_init_finished(parts_->ssl.get()) == 1; }

bool TlsSession::peer_closed() const { return parts_->peer_closed; }

Result<std::size_t> TlsSession::read(std::span<char> room) {
  if (parts_->broken) return fail(*parts_->broken);
  if (!is_established() || room.empty()) return std::size_t{0};
  ERR_clear_error();
  std::size_t size = 0;
  const int returned = SSL_read_ex(parts_->ssl.get(), room.data(), room.size(), &size);
  if (returned == 1) return size;
  if (Status judged = parts_->judged(returned); !judged) return fail(judged.error());
  return std::size_t{0};
}

Result<bool> TlsSession::has_something() {
  if (parts_->broken) return fail(*parts_->broken);
  if (!is_established()) return false;
  ERR_clear_error();
  char next = 0;
  std::size_t size = 0;
  const int returned = SSL_peek_ex(parts_->ssl.get(), &next, 1, &size);
  if (returned == 1) return true;
  if (Status judged = parts_->judged(returned); !judged) return fail(judged.error());
  return false;
}

Status TlsSession::write(std::string_view plain) {
  if (parts_->broken) return fail(*parts_->broken);
  if (!is_established() || parts_->is_closed) return fail(Code::conflict, "nothing can be sent over TLS now");
  ERR_clear_error();
  while (!plain.empty()) {
    const std::string_view piece = plain.substr(0, kTlsPiece);
    std::size_t size = 0;
    const int returned = SSL_write_ex(parts_->ssl.get(), piece.data(), piece.size(), &size);
    if (returned != 1) {
      if (Status judged = parts_->judged(returned); !judged) return judged;
      // What goes to memory need not wait for anybody.
      return fail(Code::internal, "TLS takes no more bytes");
    }
    plain.remove_prefix(size);
  }
  return {};
}

void TlsSession::close() {
  if (parts_->broken || !is_established() || std::exchange(parts_->is_closed, true)) return;
  SSL_shutdown(parts_->ssl.get());
  ERR_clear_error();
}

std::string TlsSession::take_outgoing() {
  BIO* const bio = SSL_get_wbio(parts_->ssl.get());
  std::string outgoing(BIO_ctrl_pending(bio), '\0');
  if (!outgoing.empty()) BIO_read(bio, outgoing.data(), static_cast<int>(outgoing.size()));
  return outgoing;
}

std::optional<TlsPeer> TlsSession::peer() const {
  SSL* const ssl = parts_->ssl.get();
  if (!is_established()) return std::nullopt;
  TlsPeer peer{.protocol = SSL_get_version(ssl), .issuer = {}};
  X509* const own = SSL_get0_peer_certificate(ssl);
  if (own == nullptr) return peer;
  const TlsBio name(BIO_new(BIO_s_mem()));
  X509_NAME_print_ex(name.get(), X509_get_issuer_name(own), 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);
  peer.issuer.resize(BIO_ctrl_pending(name.get()));
  if (!peer.issuer.empty()) BIO_read(name.get(), peer.issuer.data(), static_cast<int>(peer.issuer.size()));
  peer.expires = tls_time(X509_get0_notAfter(own));
  const STACK_OF(X509)* const chain = SSL_get_peer_cert_chain(ssl);
  for (int i = 0; chain != nullptr && i < sk_X509_num(chain); ++i) {
    peer.expires = std::min(peer.expires, tls_time(X509_get0_notAfter(sk_X509_value(chain, i))));
  }
  return peer;
}

}  // namespace kron::http

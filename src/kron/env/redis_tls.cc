#include "kron/env/redis_tls.h"

#include <algorithm>
#include <arpa/inet.h>
#include <limits>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <utility>

#include "kron/base/text.h"

namespace kron {

// Not in the unnamed namespace: what has a name outside of this file consists of them.
template <auto kFree>
struct RedisTlsFree {
  template <class T>
  void operator()(T* object) const {
    kFree(object);
  }
};
using RedisTlsContext = std::unique_ptr<SSL_CTX, RedisTlsFree<SSL_CTX_free>>;
using RedisTlsSsl = std::unique_ptr<SSL, RedisTlsFree<SSL_free>>;

namespace {

// The first reason that OpenSSL has noted; what follows it are consequences.
std::string openssl_reason() {
  const unsigned long code = ERR_peek_error();
  const char* const reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  ERR_clear_error();
  return reason == nullptr ? "no reason given" : reason;
}

tl::unexpected<Error> unusable(std::string_view what, const std::string& file, std::string_view cure) {
  return fail(Code::refused, "the " + std::string(what) + " " + quoted(file, 200) +
                                 " cannot be used for TLS: " + openssl_reason() + "; " + std::string(cure));
}

bool is_ip_address(const std::string& host) {
  in6_addr ignored{};
  return ::inet_pton(AF_INET, host.c_str(), &ignored) == 1 || ::inet_pton(AF_INET6, host.c_str(), &ignored) == 1;
}

int int_size(std::size_t size) {
  return static_cast<int>(std::min<std::size_t>(size, std::numeric_limits<int>::max()));
}

Result<RedisTlsContext> context_for(const RedisTls& tls) {
  RedisTlsContext context(SSL_CTX_new(TLS_client_method()));
  if (context == nullptr) return fail(Code::internal, "OpenSSL cannot be used: " + openssl_reason());
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  if (tls.ca_file.empty()) {
    SSL_CTX_set_default_verify_paths(context.get());
  } else if (SSL_CTX_load_verify_locations(context.get(), tls.ca_file.c_str(), nullptr) != 1) {
    return unusable("ca_file", tls.ca_file, "it is a PEM file with the certificates of the authorities to trust");
  }
  if (tls.cert_file.empty()) return context;
  if (SSL_CTX_use_certificate_chain_file(context.get(), tls.cert_file.c_str()) != 1) {
    return unusable("cert_file", tls.cert_file, "it is a PEM file with our certificate");
  }
  if (SSL_CTX_use_PrivateKey_file(context.get(), tls.key_file.c_str(), SSL_FILETYPE_PEM) != 1) {
    return unusable("key_file", tls.key_file, "it is a PEM file with the key of our certificate, without a passphrase");
  }
  return context;
}

}  // namespace

struct RedisTlsSession::Parts {
  RedisTlsContext context;
  RedisTlsSsl ssl;
  std::string host;

  // What the failure of a call with this return value means; ok when it only has to wait for the server.
  Status judged(int returned) {
    switch (SSL_get_error(ssl.get(), returned)) {
      case SSL_ERROR_WANT_READ:
      case SSL_ERROR_WANT_WRITE:
        ERR_clear_error();
        return {};
      case SSL_ERROR_ZERO_RETURN:
        ERR_clear_error();
        return fail(Code::unreachable, "the server has closed the connection");
      default: {
        const long verified = SSL_get_verify_result(ssl.get());
        if (verified == X509_V_OK) return fail(Code::unreachable, "TLS fails: " + openssl_reason());
        ERR_clear_error();
        return fail(Code::refused, "the server's certificate is not accepted: " +
                                       std::string(X509_verify_cert_error_string(verified)) + "; it must be for " +
                                       quoted(host, 200) + " and signed by an authority of ca_file or of the system");
      }
    }
  }
};

RedisTlsSession::RedisTlsSession(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
RedisTlsSession::RedisTlsSession(RedisTlsSession&&) noexcept = default;
RedisTlsSession& RedisTlsSession::operator=(RedisTlsSession&&) noexcept = default;
RedisTlsSession::~RedisTlsSession() = default;

Result<RedisTlsSession> RedisTlsSession::make(const RedisTls& tls, const std::string& host) {
  ERR_clear_error();
  Result<RedisTlsContext> context = context_for(tls);
  if (!context) return fail(context.error());
  auto parts = std::make_unique<Parts>();
  parts->context = std::move(*context);
  parts->host = tls.server_name.empty() ? host : tls.server_name;
  parts->ssl.reset(SSL_new(parts->context.get()));
  BIO* const in = BIO_new(BIO_s_mem());
  BIO* const out = BIO_new(BIO_s_mem());
  if (parts->ssl == nullptr || in == nullptr || out == nullptr) return fail(Code::internal, "no memory for TLS");
  SSL* const ssl = parts->ssl.get();
  SSL_set_bio(ssl, in, out);
  SSL_set_connect_state(ssl);
  const bool is_named =
      is_ip_address(parts->host)
          ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), parts->host.c_str()) == 1
          : SSL_set1_host(ssl, parts->host.c_str()) == 1 && SSL_set_tlsext_host_name(ssl, parts->host.c_str()) == 1;
  if (!is_named) return fail(Code::refused, quoted(parts->host, 200) + " is no name that a certificate can have");
  return RedisTlsSession(std::move(parts));
}

void RedisTlsSession::received(std::string_view encrypted) {
  // A memory BIO takes all.
  BIO_write(SSL_get_rbio(parts_->ssl.get()), encrypted.data(), int_size(encrypted.size()));
}

void RedisTlsSession::take_output(std::string& out) {
  BIO* const bio = SSL_get_wbio(parts_->ssl.get());
  const std::size_t size = BIO_ctrl_pending(bio);
  const std::size_t before = out.size();
  out.resize(before + size);
  if (size > 0) BIO_read(bio, out.data() + before, int_size(size));
}

Result<bool> RedisTlsSession::shake_hands() {
  const int returned = SSL_do_handshake(parts_->ssl.get());
  if (returned == 1) return true;
  if (Status judged = parts_->judged(returned); !judged) return fail(judged.error());
  return false;
}

Result<std::size_t> RedisTlsSession::write(std::string_view plain) {
  if (plain.empty()) return std::size_t{0};
  const int returned = SSL_write(parts_->ssl.get(), plain.data(), int_size(plain.size()));
  if (returned > 0) return static_cast<std::size_t>(returned);
  if (Status judged = parts_->judged(returned); !judged) return fail(judged.error());
  return std::size_t{0};
}

Result<std::size_t> RedisTlsSession::read(std::span<char> room) {
  const int returned = SSL_read(parts_->ssl.get(), room.data(), int_size(room.size()));
  if (returned > 0) return static_cast<std::size_t>(returned);
  if (Status judged = parts_->judged(returned); !judged) return fail(judged.error());
  return std::size_t{0};
}

}  // namespace kron

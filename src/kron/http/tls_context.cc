#include <algorithm>
#include <ctime>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <utility>
#include <vector>

#include "kron/base/text.h"
#include "kron/env/small_file.h"
#include "kron/http/tls.h"
#include "kron/http/tls_openssl.h"

namespace kron::http {
namespace {

template <auto kFree>
struct TlsFree {
  template <class T>
  void operator()(T* object) const {
    kFree(object);
  }
};
using TlsContextPtr = std::unique_ptr<SSL_CTX, TlsFree<SSL_CTX_free>>;
using TlsText = std::unique_ptr<BIO, TlsFree<BIO_free>>;
using TlsCertificate = std::unique_ptr<X509, TlsFree<X509_free>>;
using TlsKey = std::unique_ptr<EVP_PKEY, TlsFree<EVP_PKEY_free>>;

constexpr std::size_t kMostPem = std::size_t{1} << 20;
constexpr unsigned char kHttp11[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
// Of TLS 1.2; those of 1.3 are all good.
constexpr char kCiphers[] = "ECDHE+AESGCM:ECDHE+CHACHA20";

Error unusable_file(std::string_view what, const std::string& file, const std::string& why) {
  return {Code::invalid, quoted(file, 200) + " cannot be used as " + std::string(what) + ": " + why};
}

// OpenSSL would ask at the terminal.
int no_passphrase(char*, int, int, void*) { return -1; }

Result<std::string> pem_in(std::string_view what, const std::string& file) {
  Result<SmallFile> read = read_small_file(file, kMostPem);
  if (!read) return fail(read.error());
  // A file that is just being written ends anywhere; to OpenSSL it is no PEM that is cut off within its first line.
  const std::size_t end = read->text.rfind("-----END ");
  const std::size_t line = end == std::string::npos ? end : read->text.find('\n', end);
  const bool is_cut = line != std::string::npos && read->text.find("\n-", line) != std::string::npos;
  if (is_cut) return fail(unusable_file(what, file, "it breaks off; is it still being written?"));
  return std::move(read->text);
}

TlsText bio_of(const std::string& text) { return TlsText(BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))); }

// All certificates of the file, at least one.
Result<std::vector<TlsCertificate>> certificates_in(std::string_view what, const std::string& file) {
  const Result<std::string> text = pem_in(what, file);
  if (!text) return fail(text.error());
  const TlsText bio = bio_of(*text);
  std::vector<TlsCertificate> certificates;
  ERR_clear_error();
  while (X509* const next = PEM_read_bio_X509(bio.get(), nullptr, no_passphrase, nullptr)) {
    certificates.emplace_back(next);
  }
  const bool is_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  const std::string why = tls_reason();
  if (!is_end) return fail(unusable_file(what, file, why));
  if (certificates.empty()) return fail(unusable_file(what, file, "there is no certificate in it; it must be PEM"));
  return certificates;
}

Result<TlsKey> key_in(const std::string& file) {
  constexpr std::string_view kWhat = "the key of a server";
  Result<std::string> text = pem_in(kWhat, file);
  if (!text) return fail(text.error());
  ERR_clear_error();
  TlsKey key(PEM_read_bio_PrivateKey(bio_of(*text).get(), nullptr, no_passphrase, nullptr));
  OPENSSL_cleanse(text->data(), text->size());
  if (key != nullptr) return key;
  return fail(unusable_file(kWhat, file, tls_reason() + "; it must be a PEM file with one key, without a passphrase"));
}

// One who offers protocols, but not ours, means somebody else.
int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* size, const unsigned char* offered,
                    unsigned int offered_size, void*) {
  unsigned char* found = nullptr;
  const int answer = SSL_select_next_proto(&found, size, kHttp11, sizeof kHttp11, offered, offered_size);
  *chosen = found;
  return answer == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

// One who asks for a name that the certificate is not for means somebody else too.
int check_asked_name(SSL* ssl, int* alert, void*) {
  const char* const name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
  X509* const own = SSL_get_certificate(ssl);
  if (name == nullptr || own == nullptr) return SSL_TLSEXT_ERR_NOACK;
  if (X509_check_host(own, name, 0, 0, nullptr) == 1 || X509_check_ip_asc(own, name, 0) == 1) return SSL_TLSEXT_ERR_OK;
  *alert = SSL_AD_UNRECOGNIZED_NAME;
  return SSL_TLSEXT_ERR_ALERT_FATAL;
}

Result<TlsContextPtr> new_context(const SSL_METHOD* method) {
  ERR_clear_error();
  TlsContextPtr context(SSL_CTX_new(method));
  if (context == nullptr || SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION) != 1 ||
      SSL_CTX_set_cipher_list(context.get(), kCiphers) != 1) {
    return fail(Code::internal, "OpenSSL cannot be used: " + tls_reason());
  }
  // Nothing is resumed: each connection is judged by the certificates of its own time.
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context.get(), 0);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET |
                                         SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS | SSL_MODE_AUTO_RETRY);
  return context;
}

Status trust_clients_of(SSL_CTX* context, const std::string& file) {
  const auto authorities = certificates_in("authorities of clients", file);
  if (!authorities) return fail(authorities.error());
  for (const TlsCertificate& authority : *authorities) {
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority.get()) != 1 ||
        SSL_CTX_add_client_CA(context, authority.get()) != 1) {
      return fail(unusable_file("authorities of clients", file, tls_reason()));
    }
  }
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  return {};
}

// Takes certificate and key. Returns when the first certificate runs out.
Result<Instant> use_identity(SSL_CTX* context, const TlsFiles& files) {
  constexpr std::string_view kWhat = "the certificate of a server";
  const auto chain = certificates_in(kWhat, files.certificate);
  if (!chain) return fail(chain.error());
  const Result<TlsKey> key = key_in(files.key);
  if (!key) return fail(key.error());
  ERR_clear_error();
  if (X509_check_private_key(chain->front().get(), key->get()) != 1) {
    ERR_clear_error();
    return fail(unusable_file("the key of a server", files.key,
                              "it is not the key of the certificate in " + quoted(files.certificate, 200) +
                                  "; both must be replaced together"));
  }
  bool is_good =
      SSL_CTX_use_certificate(context, chain->front().get()) == 1 && SSL_CTX_use_PrivateKey(context, key->get()) == 1;
  Instant expires = tls_time(X509_get0_notAfter(chain->front().get()));
  for (auto issuer = chain->begin() + 1; is_good && issuer != chain->end(); ++issuer) {
    is_good = SSL_CTX_add1_chain_cert(context, issuer->get()) == 1;
    expires = std::min(expires, tls_time(X509_get0_notAfter(issuer->get())));
  }
  if (!is_good) return fail(unusable_file(kWhat, files.certificate, tls_reason()));
  return expires;
}

}  // namespace

std::string tls_reason() {
  const unsigned long code = ERR_peek_error();
  const char* const reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  ERR_clear_error();
  return reason == nullptr ? "no reason given" : reason;
}

Instant tls_time(const asn1_string_st* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return {};
  return instant_of(::timegm(&parts));
}

Result<std::shared_ptr<const TlsContext>> TlsContext::for_server(const TlsFiles& files) {
  Result<TlsContextPtr> context = new_context(TLS_server_method());
  if (!context) return fail(context.error());
  const Result<Instant> expires = use_identity(context->get(), files);
  if (!expires) return fail(expires.error());
  if (!files.client_ca.empty()) {
    if (const Status trusted = trust_clients_of(context->get(), files.client_ca); !trusted)
      return fail(trusted.error());
  }
  SSL_CTX_set_alpn_select_cb(context->get(), choose_protocol, nullptr);
  SSL_CTX_set_tlsext_servername_callback(context->get(), check_asked_name);
  return std::shared_ptr<const TlsContext>(new TlsContext(*std::move(context), *expires));
}

Result<std::shared_ptr<const TlsContext>> TlsContext::for_client(const std::string& ca_file) {
  Result<TlsContextPtr> context = new_context(TLS_client_method());
  if (!context) return fail(context.error());
  SSL_CTX_set_verify(context->get(), SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_alpn_protos(context->get(), kHttp11, sizeof kHttp11);
  if (ca_file.empty()) {
    SSL_CTX_set_default_verify_paths(context->get());
  } else {
    constexpr std::string_view kWhat = "a list of authorities";
    const auto authorities = certificates_in(kWhat, ca_file);
    if (!authorities) return fail(authorities.error());
    for (const TlsCertificate& authority : *authorities) {
      if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context->get()), authority.get()) == 1) continue;
      return fail(unusable_file(kWhat, ca_file, tls_reason()));
    }
  }
  return std::shared_ptr<const TlsContext>(new TlsContext(*std::move(context), {}));
}

}  // namespace kron::http

#include "kron/env/fake/certificates.h"

#include <cstdio>
#include <cstdlib>
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace kron::testing {
namespace {

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

// A test cannot go on without its certificates.
template <class T>
T must(T value) {
  if (value) return value;
  std::fputs("OpenSSL makes no certificate\n", stderr);
  std::abort();
}

Key make_key() { return {must(EVP_EC_gen("P-256")), EVP_PKEY_free}; }

template <class Write>
std::string pem_of(Write write) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(must(BIO_new(BIO_s_mem())), BIO_free);
  must(write(bio.get()));
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

std::string pem_of(const Certificate& certificate) {
  return pem_of([&](BIO* bio) { return PEM_write_bio_X509(bio, certificate.get()); });
}

void extend(X509* certificate, X509* issuer, int what, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = must(X509V3_EXT_conf_nid(nullptr, &context, what, value.c_str()));
  must(X509_add_ext(certificate, extension, -1));
  X509_EXTENSION_free(extension);
}

Certificate make_certificate(const std::string& name, EVP_PKEY* key, X509* issuer, const Validity& validity) {
  static long serial = 0;
  Certificate made(must(X509_new()), X509_free);
  X509_set_version(made.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(made.get()), ++serial);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), validity.from.count());
  X509_gmtime_adj(X509_getm_notAfter(made.get()), validity.until.count());
  X509_NAME* subject = X509_get_subject_name(made.get());
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1,
                             0);
  X509_set_issuer_name(made.get(), issuer != nullptr ? X509_get_subject_name(issuer) : subject);
  X509_set_pubkey(made.get(), key);
  return made;
}

}  // namespace

struct Authority::Keys {
  Key key = make_key();
  Certificate certificate;
  std::string pem;

  Keys(const std::string& name, const Keys* issuer)
      : certificate(make_certificate(name, key.get(), issuer != nullptr ? issuer->certificate.get() : nullptr, {})) {
    const Keys& signer = issuer != nullptr ? *issuer : *this;
    extend(certificate.get(), signer.certificate.get(), NID_basic_constraints, "critical,CA:TRUE");
    must(X509_sign(certificate.get(), signer.key.get(), EVP_sha256()));
    pem = pem_of(certificate);
  }
};

Authority::Authority(const std::string& name) : keys_(std::make_unique<Keys>(name, nullptr)) {}
Authority::Authority(const std::string& name, const Authority& issuer)
    : keys_(std::make_unique<Keys>(name, issuer.keys_.get())) {}
Authority::~Authority() = default;

const std::string& Authority::certificate() const { return keys_->pem; }

Pem Authority::issue(const std::string& name, const std::string& alternatives, const Validity& validity) const {
  const Key key = make_key();
  const Certificate made = make_certificate(name, key.get(), keys_->certificate.get(), validity);
  extend(made.get(), keys_->certificate.get(), NID_subject_alt_name, alternatives);
  must(X509_sign(made.get(), keys_->key.get(), EVP_sha256()));
  return {pem_of(made), pem_of([&](BIO* bio) {
            return PEM_write_bio_PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
          })};
}

}  // namespace kron::testing
